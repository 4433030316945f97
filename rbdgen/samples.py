"""Random states with all that a design's functions need of them."""

from __future__ import annotations

import numpy as np

from . import golden
from .robot.bounds import bounds
from .robot.design import Design, given_coordinates, needs
from .robot.model import Array, Robot, RobotError
from .robot.states import State, random_states

INVERTING = {"fd", "minv", "dfd", "difd"}  # functions that need a regular mass matrix


def sample_states(
    design: Design, robot: Robot, n: int, seed: int | list[int], extremes: float = 0.0
) -> State:
    """States as ``random_states`` draws them within the design's limits, and what follows of them.

    Forces act only on the bodies that have a force input. ``tau``, where the functions need it,
    is what the drawn ``qdd`` takes, so the accelerations that forward dynamics gives stay within
    the design's limits; ``bias`` what the motion takes without acceleration of the joints;
    ``Minv`` is the inverse mass matrix at ``q``. A base whose motion is given is left out of tau
    (n, nv − 6) and Minv (n, nv − 6, nv − 6), else (n, nv), (n, nv, nv).
    """
    box = bounds(design, robot)
    state = random_states(robot, box, n, seed, extremes)
    for body, i in enumerate(robot.moving):
        if robot.joints[i].body not in design.external_forces:
            state["f_ext"][:, body] = 0.0
    needed, given = needs(design), given_coordinates(design, robot)
    if "tau" in needed:
        tau = golden.rnea(robot, *(state[k] for k in ("q", "qd", "qdd", "f_ext")))
        state["tau"] = tau[:, given:]
        if np.isfinite(box.effort).any():
            _hold(robot, state, box.effort[given:], given)
    if "bias" in needed:
        still = state["qdd"].copy()
        still[:, given:] = 0.0
        state["bias"] = golden.rnea(robot, state["q"], state["qd"], still, state["f_ext"])
    if "Minv" in needed:
        inverse = golden.joint_minv if given else golden.minv
        state["Minv"] = inverse(robot, state["q"])
    return state


def _entries(own: slice) -> range:
    return range(own.start, own.stop)


def _hold(robot: Robot, state: State, effort: Array, given: int) -> None:
    """Bring ``tau`` within ±``effort`` (nv − given,) in place: slower states, where they can be.

    τ = τ₀ + s (τ₁ − τ₀) with qdd times s and qd times √s. Where holding still takes too much,
    the state is another one's.
    """
    still = np.zeros_like(state["qd"])
    rest = golden.rnea(robot, state["q"], still, still, state["f_ext"])[:, given:]
    change = state["tau"] - rest
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(change == 0, np.inf, (effort - np.sign(change) * rest) / np.abs(change))
    held = np.less_equal(np.abs(rest), effort).all(axis=1)
    if len(rest) and not held.any():
        k = given + int(np.argmax((np.abs(rest) / effort).min(axis=0)))
        (name,) = (robot.joints[i].name for i in robot.free if k in _entries(robot.v_slices[i]))
        raise RobotError(
            f'effort: joint "{name}": too little to hold the robot still in any of {len(rest)} '
            f"states; it takes {np.median(np.abs(rest[:, k - given])):.3g} in half of them"
        )
    share = np.clip(room.min(axis=1), 0.0, 1.0)[:, None]
    state["qdd"] *= share
    state["qd"] *= np.sqrt(share)
    state["tau"] = rest + share * change
    others = np.flatnonzero(held)
    for k, bad in enumerate(np.flatnonzero(~held)):
        for array in state.values():
            array[bad] = array[others[k % len(others)]]


def refuse_singular(design: Design, robot: Robot) -> None:
    """RobotError, naming the joint, where a function needs M⁻¹ and the robot has none."""
    if INVERTING.intersection(design.functions) and robot.nv:
        few = random_states(robot, bounds(design, robot), 4, 1)
        inverse = golden.joint_minv if given_coordinates(design, robot) else golden.minv
        inverse(robot, few["q"])
