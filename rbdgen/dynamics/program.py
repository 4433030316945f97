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

and those of ``elimination``, ``inverse`` and ``solver``, where M is. A joint on the base has
templates of its own, ``out_base`` and so on: most of what its parent gives is zero, and nothing
goes on from it. So has a joint of another kind, see ``templates``.

What does not depend on the acceleration is computed once, however many passes there are
(``repeated``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..design.choices import STEP, TURNING_FORMULATIONS
from ..design.functions import ALONE, SLOPES
from ..graph.graph import Graph
from ..graph.node import Builder, Node
from ..graph.visits import Program, Visit
from ..graph.word import indices, kind_of, spell
from ..robot.frames import frame_of
from ..robot.model import Array, JointKind, Robot
from ..robot.variations import PAYLOAD
from .balance import balance_of
from .functions import Functions
from .interface import WRENCH, ProgramPorts
from .motion import RobotState, told
from .recording import Recorder
from .scalars import Scalar
from .steps import HERE, TaskInput

OF_QDD = ("dqdd_dq", "dqdd_dqd")
INVERTED = ("Minv", "qdd", "qd_next", *OF_QDD)
SOLVED = {"minv", "fd", "dfd", "difd", "step"}
FUNCTION = {
    "tau": "id",
    **dict.fromkeys(("dtau_dq", "dtau_dqd"), "did"),
    "M": "m",
    "Minv": "minv",
    "qdd": "fd",
    "qd_next": "step",
    **{name: name for name in ALONE},
}  # an output's array → a function that gives it


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
    run, ports = Recorder(held={} if held is None else held), ProgramPorts(frozenset(graph.inputs))
    functions = _functions(graph)
    found = Functions(
        run,
        robot,
        functions,
        multiplications,
        formulation,
        network,
        frame,
        sizes=robot,
        base=min((indices(n)[0] for n in graph.outputs if kind_of(n) in INVERTED), default=0),
        external_forces=tuple(
            i
            for b, i in enumerate(robot.moving)
            if spell("f_ext", b, axis=WRENCH[0]) in graph.inputs
        ),
        payload=None if carrier is None else frame_of(robot, carrier, PAYLOAD),
        step=step,
    )
    state = found.state(ports)
    _turned(run, robot, state)
    if states is not None and formulation in TURNING_FORMULATIONS and "step" not in functions:
        sampled = _in_numbers(state, states)
        gradients = bool(functions & {*SLOPES})
        efforts = not functions <= {"m", "minv"}
        matrices = not functions <= {"id", *ALONE}
        order = found.order if functions & SOLVED else {}
        balance = balance_of(robot, sampled, order, efforts, matrices, gradients)
        found = replace(found, balance=balance)
    found.give(ports, state)
    return run.program({name: ports.outputs.get(name, 0.0) for name in graph.outputs})


def _functions(graph: Graph) -> frozenset[str]:
    """The functions whose outputs a graph has."""
    kinds = {kind_of(name) for name in graph.outputs}
    found = {name for kind, name in FUNCTION.items() if kind in kinds}
    if kinds & {*OF_QDD}:
        given = any(kind_of(name) == "Minv" for name in graph.inputs)
        found |= {"difd"} if given else {"dfd"}
    return frozenset(found)


def _turned(run: Recorder, robot: Robot, state: RobotState) -> None:
    """Put each revolute joint's sine and cosine in the state."""
    for i, joint in enumerate(robot.joints):
        if joint.kind is JointKind.REVOLUTE:
            own = told(robot, i, state)
            turns = own.multiplier / math.tau, _in_turns(own.offset)
            visit = Visit("turn_mimic" if joint.mimic else "turn", (i,))
            state.turns[i] = run(visit, ("turn", i), _turn, HERE, own.q[0], *turns)


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


def _turn(builder: Builder, q: Scalar, factor: Scalar, offset: Scalar) -> tuple[Scalar, Scalar]:
    """Sine and cosine of an angle, in turns: dropping whole turns drops bits."""
    angle = q * factor + offset
    return builder.sin(angle, 1.0), builder.cos(angle, 1.0)
