"""Random states with all that a design's functions need of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import golden
from ..design.arrays import given_coordinates, held, is_near, needs, pushed, root_of
from ..design.bounds import State, bounds, random_states, turns
from ..design.design import Design, holds
from ..design.functions import GIVES, INVERTING, OF_CONTACTS, ROLLOUTS
from ..design.gains import gains_of, random_references
from ..design.payload import LOADS, words_of
from ..dynamics.interface import any_roots, input_limits, revolute, to_columns
from ..dynamics.kinematics import Frames
from ..dynamics.trace import InNodes
from ..dynamics.trace import trace as trace_functions
from ..graph.accuracy import Accuracy
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from ..graph.word import DEVIATION, DRAWN, FAR, HOLD, ROOT, indices, kind_of, renamed, spell
from ..robot.frames import frame_of
from ..robot.model import BASE, Array, Robot, RobotError, Transform
from ..robot.rotors import without_friction
from ..robot.variations import PAYLOAD
from ..words.ascent import Domain, copied

if TYPE_CHECKING:
    from ..robot.model_parameters import ModelParameters
    from .parameters import Parameters

# functions that need a regular mass matrix
REGULAR = {*INVERTING, *OF_CONTACTS, "difd", *ROLLOUTS}
NEARBY_SEED, ROOT_SEED, HOLD_SEED, REFERENCE_SEED = 17, 23, 31, 41
FACTOR_STATES, FACTOR_SEED = 200, 37
STEP = "step"  # so far, as coordinates of a search
LOAD = "load"  # what a payload is made of, as such coordinates


def sample_states(
    design: Design,
    robot: Robot,
    n: int,
    seed: int | list[int],
    extremes: float = 0.0,
    share: float = 1.0,
) -> State:
    """States as ``random_states`` draws them within a share of the design's limits, and what
    follows of them.

    Forces act only on bodies that have a force input, and a payload is carried where the design has
    one. A controller's references are near (`random_references`). ``tau``, where it is needed, is
    what the drawn ``qdd`` takes, so the accelerations that forward dynamics gives stay within
    the design's limits; where frames are held, ``qd`` is near the drawn one, and ``tau`` what a
    motion near ``qdd`` takes, less what supports it (`holding`). ``bias`` is what the motion takes
    without acceleration of the joints;
    ``Minv`` is the inverse mass matrix at ``q``, or at a state nearby, where the design says so:
    each coordinate that is no entry of an orientation up to ``nearby`` off. A base whose motion is
    given is left out of tau (n, nv − 6) and Minv (n, nv − 6, nv − 6), else (n, nv), (n, nv, nv).
    """
    box = bounds(design, robot)
    state = random_states(robot, box, n, seed, extremes, share)
    forced = pushed(design, robot)
    state["f_ext"][:, [i not in forced for i in robot.moving]] = 0.0
    if design.payload is None:
        state[PAYLOAD][:] = 0.0
    needed, given = needs(design), given_coordinates(design, robot)
    if "tau" in needed:
        qdd, support = state["qdd"], np.zeros(robot.nv)
        if holds(design):
            from .holding import held_motion, random_holds

            forces = random_holds(design, box, n, _random(seed, HOLD_SEED), extremes)
            state["qd"], qdd, support = held_motion(design, robot, box, state, forces)
        tau = _rnea(design, robot, state, state["qd"], qdd) - support
        state["tau"] = tau[:, given:]
        if np.isfinite(box.effort).any():
            _hold(design, robot, state, box.effort[given:], given)
    random_references(design, robot, state, _random(seed, REFERENCE_SEED), share)
    if ROOT in needed:
        state[ROOT] = any_roots(n, _random(seed, ROOT_SEED))
    if "bias" in needed:
        still = state["qdd"].copy()
        still[:, given:] = 0.0
        if ROOT in needed:
            still[:, :BASE] = np.where(state[ROOT] < 0, state["qdd"][:, :BASE], 0.0)
        state["bias"] = _rnea(design, robot, state, state["qd"], still)
    if "Minv" in needed:
        inverse = golden.joint_minv if given else golden.minv
        at = _at(design, robot, state["q"], seed)
        state["Minv"] = _loaded(inverse, design, robot, state, at)
        if ROOT in needed:
            alone = _loaded(golden.apart_minv, design, robot, state, at)
            state["Minv"] = np.where(state[ROOT][..., None] < 0, alone, state["Minv"])
    return state


def factors(design: Design, robot: Robot) -> dict[str, float]:
    """Sizes of the words that columns of matrices are multiplied with, to compare the columns.

    The limits of velocities and accelerations, and the root mean square of the efforts that these
    take; of ``x``, which the columns of A stand for, positions count as 1. Other words are 1.
    """
    box = bounds(design, robot)
    state = random_states(robot, box, FACTOR_STATES, FACTOR_SEED)
    tau = golden.rnea(robot, state["q"], state["qd"], state["qdd"])
    found = {"qd": box.qd, "qdd": box.qdd, "tau": np.sqrt(np.mean(tau**2, axis=0))}
    found["x"] = np.concatenate([np.ones(robot.nv), box.qd])
    return {
        spell(kind, k): float(size) for kind, own in found.items() for k, size in enumerate(own)
    }


def accuracy_of(design: Design, robot: Robot) -> Accuracy:
    """Errors of a design's results, so far without states."""
    return Accuracy(factors(design, robot))


def _loaded(
    function: Callable[..., Array], design: Design, robot: Robot, state: State, *arrays: Array
) -> Array:
    """``function(robot, *arrays)``, of the robot with each state's payload."""
    if design.payload is None:
        return function(robot, *arrays)
    return golden.for_each_payload(function, robot, design.payload, state[PAYLOAD], *arrays)


def _rnea(design: Design, robot: Robot, state: State, qd: Array, qdd: Array) -> Array:
    return _loaded(golden.rnea, design, robot, state, state["q"], qd, qdd, state["f_ext"])


def _random(seed: int | list[int], besides: int) -> np.random.Generator:
    """A generator for draws beside the states themselves."""
    return np.random.default_rng([*([seed] if isinstance(seed, int) else seed), besides])


def note_of_near(design: Design) -> str | None:
    """A note on the accuracy of M⁻¹ refined from a nearby state's; None for other designs."""
    if not is_near(design):
        return None
    from ..dynamics.block_inverse import FARTHEST, LEFT_OUT

    return (
        f"inverse: near: X, which comes in as Minv, becomes X (1 + E)(1 + E²), E = 1 - M X; "
        f"{FAR} is 1 where √tr E² > {FARTHEST:g}, else at most {LEFT_OUT:.2g} of M⁻¹ is left out; "
        f"words have room for X, and random states have it, of coordinates up to "
        f"{design.nearby:g} rad or m off, orientations kept; what is farther overflows or is far"
    )


def _at(design: Design, robot: Robot, q: Array, seed: int | list[int]) -> Array:
    """The positions whose M⁻¹ comes in."""
    if not is_near(design):
        return q
    off = _random(seed, NEARBY_SEED).uniform(-design.nearby, design.nearby, q.shape)
    for turn in turns(robot).values():
        off[:, turn] = 0.0
    return q + off


def _entries(own: slice) -> range:
    return range(own.start, own.stop)


def _hold(design: Design, robot: Robot, state: State, effort: Array, given: int) -> None:
    """Bring ``tau`` within ±``effort`` (nv − given,) in place: slower states, where they can be.

    τ = τ₀ + s (τ₁ − τ₀) with qdd times s and qd times √s, but for damping and friction, which get
    less and are given the room that they take first. Where holding still takes too much, the state
    is another one's.
    """
    resisting, robot = robot, without_friction(robot)

    def resisted() -> Array | float:
        if robot is resisting:
            return 0.0
        motion = state["q"], state["qd"], np.zeros_like(state["qd"])
        of, but = (golden.rnea(own, *motion) for own in (resisting, robot))
        return np.asarray(of - but)[:, given:]

    first = resisted()
    whole, effort = effort, effort - np.abs(first)
    state["tau"] = state["tau"] - first
    still = np.zeros_like(state["qd"])
    rest = _rnea(design, robot, state, still, still)[:, given:]
    if holds(design):
        from .holding import rest_on

        rest = rest_on(design, robot, state["q"], rest, whole)
    change = state["tau"] - rest
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(change == 0, np.inf, (effort - np.sign(change) * rest) / np.abs(change))
    held = np.less_equal(np.abs(rest), effort).all(axis=1)
    if len(rest) and not held.any():
        with np.errstate(divide="ignore"):
            k = given + int(np.argmax((np.abs(rest) / np.maximum(effort, 0)).min(axis=0)))
        (name,) = (robot.joints[i].name for i in robot.free if k in _entries(robot.v_slices[i]))
        raise RobotError(
            f'effort: joint "{name}": too little to hold the robot still in any of {len(rest)} '
            f"states; it takes {np.median(np.abs(rest[:, k - given])):.3g} in half of them"
        )
    share = np.clip(room.min(axis=1), 0.0, 1.0)[:, None]
    state["qdd"] *= share
    state["qd"] *= np.sqrt(share)
    state["tau"] = rest + share * change + resisted()
    others = np.flatnonzero(held)
    for k, bad in enumerate(np.flatnonzero(~held)):
        for array in state.values():
            array[bad] = array[others[k % len(others)]]


def refuse_singular(design: Design, robot: Robot) -> None:
    """RobotError, naming the joint, where a function needs M⁻¹ and the robot has none."""
    if REGULAR.intersection(design.functions) and robot.nv:
        few = random_states(robot, bounds(design, robot), 4, 1)
        inverse = golden.joint_minv if given_coordinates(design, robot) else golden.minv
        inverse(robot, few["q"])


def refuse_dependent(design: Design, robot: Robot) -> None:
    """RobotError where contacts without damping hold more directions than their frames move in."""
    axes, damping = held(design)
    asking = [name for name in design.functions if name in OF_CONTACTS]
    if not asking or damping or not robot.nv:
        return
    few = random_states(robot, bounds(design, robot), 4, 1)
    J = golden.frame_jacobians(robot, few["q"], design.frames)[:, :, :axes]
    rows = J.shape[1] * J.shape[2]
    free = int(np.linalg.matrix_rank(J.reshape(len(J), rows, robot.nv)).max())
    if free < rows:
        raise RobotError(
            f"{robot.name}: {asking[0]}: {rows} directions are held, and "
            f"{', '.join(design.frames)} can only move in {free} of them, so what holds the rest "
            "is not determined; --contact-damping 0.01 makes those forces zero"
        )


def domain_of(
    design: Design,
    robot: Robot,
    inputs: Sequence[str],
    samples: State,
    held: Parameters | None = None,
) -> Domain:
    """The states within the limits of a design of a canonical ``robot``, whose graph has these
    ``inputs``; efforts, M⁻¹ and sines among them follow from a state. ``samples``: of the states.
    ``held``: what registers hold; by how much parameters are off is part of the states then.
    """
    derived = _derived(design, robot, inputs, held)
    made = derived.outputs.keys()
    names = dict.fromkeys(name for name in (*inputs, *derived.inputs) if name not in made)
    vectors = tuple(
        tuple(spell("q", k) for k in range(own.start, own.stop)) for own in turns(robot).values()
    )
    vectors = tuple(own for own in vectors if not names.keys().isdisjoint(own))
    names = dict.fromkeys(name for own in vectors for name in own) | names
    steps = [name for name in names if kind_of(name) == STEP]
    loads = [name for name in names if kind_of(name) == LOAD]
    forces = [name for name in names if kind_of(name) == HOLD]
    rates = [name for name in names if kind_of(name) == DRAWN]
    drawn = [*steps, *loads, *forces, *rates]  # by themselves, and no entries of a state
    own_names = [name for name in names if name not in drawn]
    deviations = [name for name in own_names if kind_of(name) == DEVIATION]
    box = bounds(design, robot)
    known = [name for name in own_names if name not in deviations]
    limits = input_limits(robot, known, box, gains=gains_of(design, robot))
    limits |= dict.fromkeys(deviations, (-1.0, 1.0))
    off = design.nearby
    limits |= dict.fromkeys(steps, (-off, off))
    limits |= {name: box.payload.loads()[indices(name)[0]] for name in loads}
    if forces:
        from .holding import hold_limits

        limits |= {name: hold_limits(design, box)[name] for name in forces}
    for name in rates:
        most = float(box.qd[indices(name)[0]])
        limits[name] = -most, most
    angles = {spell("q", robot.q_slices[i].start) for i in robot.free if i in revolute(robot)}
    whole = {k for k in angles & limits.keys() if limits[k][1] - limits[k][0] > math.tau - 1e-9}
    return Domain(
        limits,
        frozenset(whole),
        # a payload divides, too: of its coordinates accelerations are no polynomials
        frozenset(angles & limits.keys() - whole) | frozenset(loads),
        vectors,
        derived,
        to_columns(robot, own_names, samples)
        | _anywhere({name: limits[name] for name in drawn}, len(samples["q"])),
    )


def _anywhere(limits: Mapping[str, tuple[float, float]], n: int) -> dict[str, Array]:
    """Coordinates (n,) within limits, at random."""
    rng = np.random.default_rng(NEARBY_SEED)
    return {name: rng.uniform(lower, upper, n) for name, (lower, upper) in limits.items()}


def _nearby(builder: Builder, robot: Robot) -> dict[str, Node]:
    """Position → that of a state nearby."""
    kept = {k for turn in turns(robot).values() for k in _entries(turn)}
    return {
        spell("q", k): builder.add(builder.input(spell("q", k)), builder.input(spell(STEP, k)))
        for k in range(robot.nq)
        if k not in kept
    }


def frames_of(design: Design, robot: Robot) -> Frames:
    """The design's frames, each by the joint that moves it and its pose in that joint's body."""
    return [frame_of(robot, link) for link in design.frames]


def carried_by(design: Design, robot: Robot) -> tuple[int, Transform] | None:
    """The frame of the link that carries the payload, likewise."""
    return frame_of(robot, design.payload, PAYLOAD) if design.payload else None


def nodes_of(design: Design, numbers: ModelParameters) -> InNodes:
    """The robot, its frames and its payload's over nodes of a builder: an input for each number."""
    from .parameters import symbolic

    def in_nodes(builder: Builder) -> tuple[Robot, Frames, tuple[int, Transform] | None]:
        robot = symbolic(numbers, builder)
        return robot, frames_of(design, robot), carried_by(design, robot)

    return in_nodes


def _derived(design: Design, robot: Robot, inputs: Sequence[str], held: Parameters | None) -> Graph:
    """The ``inputs`` that follow from a state, as a graph over its coordinates."""
    builder = Builder()
    outputs: dict[str, Node] = {}
    given = given_coordinates(design, robot)
    carried: dict[str, Node] = {}
    if design.payload is not None and any(kind_of(name) == PAYLOAD for name in inputs):
        words = words_of([builder.input(spell(LOAD, k)) for k in range(LOADS)])
        carried = {spell(PAYLOAD, k): builder.lift(word) for k, word in enumerate(words)}
        outputs |= {name: carried[name] for name in inputs if name in carried}
    if held is not None:
        numbers, registers = held.from_deviations(builder)
        carried |= numbers
        outputs |= registers

    def traced(function: str) -> Graph:
        return trace_functions(
            robot,
            [function],
            external_forces=pushed(design, robot),
            root=root_of(design),
            frames=frames_of(design, robot),
            payload=carried_by(design, robot),
            in_nodes=nodes_of(design, held.numbers) if held else None,
        )

    held_graph = None
    if holds(design):
        from .holding import HeldGraph

        held_graph = HeldGraph(builder, design, robot, bounds(design, robot), traced, carried)
        outputs |= {name: node for name, node in held_graph.motion.items() if name in inputs}
    for field, gives in (("tau", "tau"), ("bias", "tau"), ("Minv", "Minv")):
        function = next(name for name, own in GIVES.items() if own == (gives,))
        wanted = [name for name in inputs if kind_of(name) == field]
        if not wanted:
            continue
        graph = traced(function)
        still: dict[str, Node] = {}
        if field == "bias":  # no acceleration but that of a base whose motion is given
            still = {spell("qdd", k): builder.const(0.0) for k in range(given, robot.nv)}
            if root_of(design) == "each":
                told = builder.input(spell(ROOT, 0))
                motion = {k: builder.input(spell("qdd", k)) for k in range(BASE)}
                still |= {spell("qdd", k): builder.select(told, x, 0.0) for k, x in motion.items()}
        if field == "Minv" and is_near(design):
            still = _nearby(builder, robot)
        if field == "tau" and held_graph:
            still = held_graph.motion
        copies = copied(builder, graph, {**still, **carried})
        made = {renamed(name, field): copies[node] for name, node in graph.outputs.items()}
        if field == "tau" and held_graph:
            made = held_graph.less_support(made)
        zero = builder.const(0.0)  # entries that are left out
        outputs |= {name: made.get(name, zero) for name in wanted}
    for name in inputs:
        if kind_of(name) in ("sin", "cos"):
            (i,) = indices(name)
            joint = robot.joints[i]
            own = builder.input(spell("q", robot.q_slices[i].start))
            factor, offset = 1.0, joint.offset
            if joint.mimic:
                factor, offset = joint.mimic.multiplier, offset + joint.mimic.offset
            angle = builder.add(builder.mul(factor, own), offset)
            outputs[name] = builder.sin(angle) if kind_of(name) == "sin" else builder.cos(angle)
    graph = Graph((), outputs)
    read = tuple(dict.fromkeys(node.name for node in graph.nodes if node.op is Op.INPUT))
    return Graph(read, outputs)
