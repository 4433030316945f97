"""A robot's functions as visits to what one joint, or one pair of joints, computes.

The recursions of ``outward``, ``rnea`` and ``composite``, recorded: numbers of the joint are inputs
like all others, so a datapath can serve every joint. Templates, of a revolute joint:

    turn     sine and cosine of a joint's angle
    out      a body's motion and the force that it asks for, from its parent's motion
    back     a joint's share of the way back: τ, its own entries, and what goes on to the parent
    column   what one coordinate makes, taken from one joint of its path to the base to the next,
             and the entries of the two
    external the force on a link, as its body takes it
    weigh    what a body weighs with its payload
    driven   what rotor, damping and friction of a joint add to its τ and to its own entries

and those of ``inverted``, where M is. A joint on the base has templates of its own, ``out_base``
and so on: most of what its parent gives is zero, and nothing goes on from it. So has a joint of
another kind, see ``templates``.

τ and ∂τ are at the acceleration that is given, the bias is without any, the gradients of q̈ are at
the one that is found. Where a design needs several, the way out and back for the bias has templates
``out_unforced`` and so on, and the one for gradients of q̈ ``out_again`` and so on. What does not
depend on the acceleration is in none of these: it is computed once (``repeated``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..design.choices import STEP, TURNING_FORMULATIONS
from ..design.functions import ALONE
from ..graph.graph import Graph
from ..graph.node import Builder, Node
from ..graph.visits import Program, Visit
from ..graph.word import indices, kind_of, spell
from ..robot.frames import frame_of
from ..robot.model import Array, JointKind, Robot
from ..robot.variations import PAYLOAD, SIZE
from .balance import balance_of
from .bodies import Payload
from .composite import Gradient, Matrix
from .elimination import Elimination
from .interface import WRENCH
from .inverted import (
    OF_QDD,
    accelerations,
    efforts_left,
    named_inverse,
    named_slopes,
    products,
    substitutions,
)
from .motion import RobotState, told
from .recording import Recorder
from .recursions import AGAIN, RecursionPass, Recursions
from .scalars import Scalar
from .stepping import Rates, euler, named
from .steps import HERE, TaskInput, in_units, times
from .units import ALIKE, Balance, Places

INVERTED = ("Minv", "qdd", "dqdd_dq", "qd_next")
UNFORCED = "_unforced"  # of templates, as AGAIN


def program(
    robot: Robot,
    graph: Graph,
    multiplications: int,
    carrier: str | None = None,
    states: Mapping[str, Array] | None = None,
    formulation: str = "composite",
    step: float = STEP,
    network: str = "sklansky",
    frame: int | None = None,
    held: dict[Node, str] | None = None,
) -> Program:
    """Visits that compute the outputs of ``graph``, whose functions lack none, as it names them.

    ``robot`` has ``chained_frames``; inputs that the graph has not are zero. ``carrier``: the link
    that carries a payload. ``states``: for words, joints are counted in units of their own
    (``balance``), which these inputs of the graph, (N,) each, say; outputs are then results times
    powers of two.
    ``formulation``: of `LOOPED_FORMULATIONS`; each has its templates, and some are of id alone.
    ``step`` [s]: of Euler's rule. ``network`` and ``frame``: as for ``common_frame``. ``held``:
    gets the words that stand for the numbers of a ``robot`` that has nodes for some; see
    ``Recorder``.
    """
    run = Recorder(held={} if held is None else held)
    kinds = {kind_of(name) for name in graph.outputs}
    inverse_given = any(kind_of(name) == "Minv" for name in graph.inputs)
    steps, forward = "qd_next" in kinds, bool(kinds & {"qdd", "qd_next"})
    slopes_asked = bool(kinds & {*OF_QDD})
    slopes_given = bool(kinds & {"dtau_dq", "dtau_dqd"}) or (slopes_asked and inverse_given)
    order = _solved(robot, graph)
    state = _state(run, robot, graph, carrier)
    matrices = not kinds <= {"tau", *ALONE}
    units = ALIKE
    if states is not None and formulation in TURNING_FORMULATIONS and not steps:
        efforts = slopes_given or forward or bool(kinds & {"tau", *ALONE})
        gradients = slopes_given or slopes_asked
        sampled = _in_numbers(state, states)
        units = balance_of(robot, sampled, order, efforts, matrices, gradients)
    at_rest = replace(state, qdd=[0.0 if k in order else x for k, x in enumerate(state.qdd)])

    at = Recursions(run, robot, formulation, network, frame, multiplications, balance=units)
    accelerated = slopes_given or bool(kinds & {"tau", *ALONE}) or not forward
    first = bias = at(state if accelerated else at_rest, matrices)
    if accelerated and forward:
        bias = at(at_rest, matrices, UNFORCED)
    outputs = _of_tau(first, units)
    if kinds & {"Minv", "qdd", "qd_next"}:
        side = None
        if forward:
            words = [times(x, units.at(k)) for k, x in enumerate(_task(graph, "tau", robot.nv))]
            left = [in_units(x, units.at(k) / units.effort(k)) for k, x in enumerate(bias.tau)]
            side = efforts_left(run, order, words, left)
        found = Elimination(run, _inverted(first.gradient, units).M, order, side)
        inverse = found.inverse() if steps or "Minv" in kinds else {}
        outputs |= named_inverse(inverse, units)
        if forward:
            solved, qdd = accelerations(run, found, units)
            outputs |= {spell("qdd", k): x for k, x in solved.items()}
        if steps or (slopes_asked and forward and not inverse_given):
            forced = [qdd.get(k, x) for k, x in enumerate(state.qdd)]
            again = at(replace(state, qdd=forced), matrices, AGAIN)
            slopes = substitutions(run, found, _inverted(again.gradient, units))
            outputs |= named_slopes(slopes, units)
            if steps:
                rates = Rates(qdd, [list(columns.values()) for columns in slopes], inverse)
                outputs |= named(euler(run, robot, step, state, rates))
    if slopes_asked and inverse_given:
        gradient = _inverted(first.gradient, units)
        outputs |= named_slopes(products(run, graph, order, gradient, units), units)
    return run.program({name: outputs[name] for name in graph.outputs})


def _task(graph: Graph, name: str, size: int) -> list[Scalar]:
    """Words of the task; those that the graph has not are zero."""
    words = [spell(name, k) for k in range(size)]
    return [TaskInput(word) if word in graph.inputs else 0.0 for word in words]


def _state(run: Recorder, robot: Robot, graph: Graph, carrier: str | None) -> RobotState:
    """The state that the task gives, with each revolute joint's sine and cosine."""
    forces = {i: _wrench(b, graph) for b, i in enumerate(robot.moving)}
    state = RobotState(
        _task(graph, "q", robot.nq),
        _task(graph, "qd", robot.nv),
        _task(graph, "qdd", robot.nv),
        {i: wrench for i, wrench in forces.items() if wrench},
        payload=_payload(robot, carrier, graph),
    )
    for i, joint in enumerate(robot.joints):
        if joint.kind is JointKind.REVOLUTE:
            own = told(robot, i, state)
            turns = own.multiplier / math.tau, _in_turns(own.offset)
            visit = Visit("turn_mimic" if joint.mimic else "turn", (i,))
            state.turns[i] = run(visit, ("turn", i), _turn, HERE, own.q[0], *turns)
    return state


def _in_numbers(state: RobotState, words: Mapping[str, Array]) -> RobotState:
    """The same of words of the task that are known, (N,) each."""

    def known(values: Sequence[Scalar]) -> list[Scalar]:
        return [words[x.name] if isinstance(x, TaskInput) else x for x in values]

    return RobotState(
        known(state.q),
        known(state.qd),
        known(state.qdd),
        {i: known(wrench) for i, wrench in state.f_ext.items()},
        payload={i: replace(own, words=known(own.words)) for i, own in state.payload.items()},
    )


def _in_turns(offset: Scalar) -> Scalar:
    """An angle in turns, at most half of one where it is known."""
    if isinstance(offset, Node):
        return offset * (1 / math.tau)
    turns = offset / math.tau
    return turns - round(turns)


def _of_tau(found: RecursionPass, units: Balance) -> dict[str, Scalar]:
    """τ, M and ∂τ by the names of outputs, in the robot's units."""
    outputs: dict[str, Scalar] = {
        spell(name, k): times(x, 1 / units.effort(k))
        for name in ("tau", *ALONE)
        for k, x in enumerate(found.tau)
    }
    names = ("M", "dtau_dq", "dtau_dqd")
    for name, matrix, unit in zip(names, found.gradient, units.entries, strict=True):
        outputs |= {
            spell(name, i, j): times(x, 1 / unit.get((i, j), 1.0))
            for i, row in enumerate(matrix)
            for j, x in enumerate(row)
        }
    return outputs


def _inverted(gradient: Gradient, units: Balance) -> Gradient:
    """M and gradients in the units in which M is inverted."""
    n = range(len(gradient.M))

    def read(matrix: Matrix, unit: Places, columns: Mapping[int, float]) -> Matrix:
        by = [[units.at(i) * columns.get(j, 1.0) / unit.get((i, j), 1.0) for j in n] for i in n]
        return [[in_units(matrix[i][j], by[i][j]) for j in n] for i in n]

    return Gradient(*map(read, gradient, units.entries, (units.coordinates, *units.sides)))


def _solved(robot: Robot, graph: Graph) -> dict[int, int]:
    """The coordinates of M's rows and columns that are inverted, root first → their joints."""
    owner = {k: i for i, at in robot.v_slices.items() for k in range(at.start, at.stop)}
    solved = {indices(n)[0] for n in graph.outputs if kind_of(n) in INVERTED}
    return {k: owner[k] for k in sorted(solved)}


def _payload(robot: Robot, carrier: str | None, graph: Graph) -> dict[int, Payload]:
    if carrier is None:
        return {}
    i, pose = frame_of(robot, carrier, PAYLOAD)
    return {i: Payload(_task(graph, PAYLOAD, SIZE), pose)}


def _wrench(b: int, graph: Graph) -> list[Scalar]:
    """The external force on the ``b``-th body, empty where there is none."""
    words = [spell("f_ext", b, axis=axis) for axis in WRENCH]
    return [TaskInput(word) for word in words] if words[0] in graph.inputs else []


def _turn(builder: Builder, q: Scalar, factor: Scalar, offset: Scalar) -> tuple[Scalar, Scalar]:
    """Sine and cosine of an angle, in turns: dropping whole turns drops bits."""
    angle = q * factor + offset
    return builder.sin(angle, 1.0), builder.cos(angle, 1.0)
