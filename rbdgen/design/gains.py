"""Gains and limits of a design's controller, by the coordinates of a robot."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..robot.angles import endless
from ..robot.model import Array, Robot, RobotError
from .arrays import gain_inputs
from .bounds import Bounds, bounds
from .checks import by_joint
from .choices import KD, KP
from .design import Design
from .functions import FOLLOWING, LAWS
from .limits import known_limits

CLOCK = 160e6  # Hz, for an example
LOOSE = 8.0  # a term of a law by itself saturates at so many times what their sum saturates at


@dataclass(frozen=True, eq=False)
class Gains:
    """Numbers of a law, (nv,) each.

    ``kp``, ``kd``: as the law has them; the largest ones, where they come with each task.
    ``acceleration`` [rad/s², m/s²], ``effort`` [N·m, N]: what is commanded saturates there, at
    infinity where nobody says. ``error``, ``rate``: where e and ė saturate, powers of two from
    `LOOSE` times what takes all of that; infinite likewise. ``around``: the coordinates of
    joints without limits, whose angles are modulo a turn. ``inputs``: whether gains come with each
    task.
    """

    law: str
    kp: Array
    kd: Array
    acceleration: Array
    effort: Array
    error: Array
    rate: Array
    around: frozenset[int]
    inputs: bool = False


def law_of(design: Design) -> str | None:
    """The design's controller, of which there is one at most."""
    return next((name for name in design.functions if name in LAWS), None)


def gains_of(design: Design, robot: Robot) -> Gains | None:
    """The gains and limits of the design's controller; None without one."""
    law = law_of(design)
    if law is None:
        return None
    for i in robot.free:
        if robot.joints[i].kind.nv != 1:
            raise RobotError(
                f'{robot.name}: {law}: joint "{robot.joints[i].name}" has several coordinates, and '
                "a controller is of joints that turn or slide; --base fixed, or another robot"
            )
    kp = _by_coordinate(design.kp, KP.get(law, 0.0), robot)
    kd = _by_coordinate(design.kd, KD.get(law, math.nan), robot)
    kd = np.where(np.isnan(kd), 2 * np.sqrt(kp), kd)
    box = bounds(design, robot)
    effort = np.array(known_limits(design, robot)["effort_limit"])
    most = box.qdd if law == "computed_torque" else effort
    with np.errstate(divide="ignore"):
        error, rate = _power_of_two(LOOSE * most / kp), _power_of_two(LOOSE * most / kd)
    inputs = bool(gain_inputs(design))
    return Gains(law, kp, kd, box.qdd, effort, error, rate, endless(robot), inputs)


def random_references(
    design: Design, robot: Robot, state: dict[str, Array], rng: np.random.Generator, share: float
) -> None:
    """Draw what a controller, if the design has one, follows near ``state``, and its gains.

    Each term of the law takes up to that ``share`` of what the sum saturates at, where a reference
    within the limits of positions and velocities does. So the sum saturates in some states.
    """
    gains, box = gains_of(design, robot), bounds(design, robot)
    if gains is None:
        return
    n = len(state["q"])
    if gains.law in FOLLOWING:
        most = gains.acceleration if gains.law == "computed_torque" else gains.effort
        for name, of, gain, lower, upper in (
            ("q_ref", "q", gains.kp, box.q_lower, box.q_upper),
            ("qd_ref", "qd", gains.kd, -box.qd, box.qd),
        ):
            far = np.minimum(share * most / gain, upper - lower)
            drawn = state[of] + rng.uniform(-far, far, (n, robot.nv))
            state[name] = np.clip(drawn, lower, upper)
        state["qdd_ref"] = share * rng.uniform(-box.qdd, box.qdd, (n, robot.nv))
    if gains.inputs:
        for name, most in (("kp", gains.kp), ("kd", gains.kd)):
            state[name] = most * rng.uniform(0.5, 1.0, (n, robot.nv))


def reference_limits(gains: Gains, box: Bounds) -> dict[str, tuple[Array, Array]]:
    """The least and the largest of each array that a controller takes besides a state."""
    zero = np.zeros(len(gains.kp))
    return {
        "q_ref": (box.q_lower, box.q_upper),
        "qd_ref": (-box.qd, box.qd),
        "qdd_ref": (-box.qdd, box.qdd),
        "kp": (zero, gains.kp),
        "kd": (zero, gains.kd),
    }


def notes_of_law(design: Design, robot: Robot) -> list[str]:
    """Notes on what the design's controller has for gains, and where it saturates."""
    gains = gains_of(design, robot)
    if gains is None:
        return []
    names = (("kp", gains.kp), ("kd", gains.kd))
    said = " and ".join(f"{name} {_few(own)}" for name, own in names if own.any())
    who = "up to those of --kp and --kd" if design.gains == "inputs" else "--kp and --kd say others"
    without = [f"{k}" for k in np.flatnonzero(np.isinf(gains.effort))]
    limits = f"tau_c saturates at {_few(gains.effort)} N·m or N (--effort)"
    if len(without) == robot.nv:
        limits = "tau_c does not saturate, since nobody says at which effort (--effort)"
    elif without:
        limits += f", but for coordinates {', '.join(without)}, of which nobody says at which"
    if gains.law == "computed_torque":
        sums = f"; the acceleration does at {_few(gains.acceleration)} rad/s² or m/s²"
        limits += f"{sums} (--acceleration)"
    notes = [f"{gains.law}: {said} ({who}); {limits}"]
    if design.tick is not None:
        notes.append(
            f"tick: every {design.tick} cycles, {1e-3 * CLOCK / design.tick:.4g} kHz of a clock of "
            f"{1e-6 * CLOCK:g} MHz; a command more than {design.watchdog} ticks late (--watchdog), "
            "or no state since the tick before, ends in gravity compensation with damping"
        )
    return notes


def _few(values: Array) -> str:
    """The numbers of all coordinates: one where they are the same."""
    texts = [f"{value:.4g}" for value in values]
    return texts[0] if len(set(texts)) == 1 else ", ".join(texts)


def _by_coordinate(said: float | str | None, usual: float, robot: Robot) -> Array:
    """A number for each coordinate, from one by joint."""
    numbers = by_joint(said) if said is not None else {}
    found = np.empty(robot.nv)
    for i in robot.free:
        own = numbers.get(robot.joints[i].name, numbers.get("", usual))
        found[robot.v_slices[i]] = own
    return found


def _power_of_two(values: Array) -> Array:
    """The next power of two from each number on, infinite where that is."""
    finite = np.where(np.isfinite(values) & (values > 0), values, 1.0)
    return np.where(np.isfinite(values), 2.0 ** np.ceil(np.log2(finite)), np.inf)
