"""Inverse dynamics, its gradients and M as visits to what one joint, or one pair, computes.

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
    force    what an effort leaves when the bias is taken off
    product  a column of ∂τ times a given M⁻¹

and those of ``elimination``, which M⁻¹ and q̈ take.

A joint on the base has templates of its own, ``out_base`` and so on: most of what its parent gives
is zero, and nothing goes on from it. So has a joint of another kind, see ``templates``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..graph.graph import Graph
from ..graph.node import Builder
from ..graph.visits import Program, Visit
from ..graph.word import indices, kind_of, spell
from ..robot.model import JointKind, Robot
from ..robot.named import frame_of
from ..robot.payload import PAYLOAD, SIZE
from .balance import balance_of
from .bodies import Payload
from .composite import Columns
from .drivetrains import record
from .elimination import Elimination
from .factorisation import Matrix, Order
from .interface import WRENCH
from .motion import State, told
from .outward import move
from .recording import HERE, Recorder, Task, times
from .rnea import gather
from .scalars import Scalar, Vector
from .units import ALIKE, Balance, Units

AT_ACCELERATION = ("id", "did", "difd")  # a given one; fd takes the bias without any
SOLVING = ("minv", "fd", "difd")
FUNCTIONS = (*AT_ACCELERATION, "m", "minv", "fd")
GRADIENTS = {"dtau_dq", "dtau_dqd", "dqdd_dq", "dqdd_dqd"}
INVERTED = ("Minv", "qdd", "dqdd_dq")
ALONE = ("g", "nle")  # τ of id by another name, in a design of nothing else
COMPUTED = (
    f"{', '.join(FUNCTIONS[:-1])} and {FUNCTIONS[-1]} ({FUNCTIONS[-1]} without "
    f"{', '.join(AT_ACCELERATION[:-1])} and {AT_ACCELERATION[-1]}), or {' or '.join(ALONE)} alone"
)


def lacking(functions: Sequence[str]) -> list[str]:
    """Those of a design's functions that visits do not compute."""
    if len(functions) == 1 and functions[0] in ALONE:
        return []
    with_others = AT_ACCELERATION if "fd" in functions else ()
    return [name for name in functions if name not in FUNCTIONS or name in with_others]


def program(
    robot: Robot,
    graph: Graph,
    multiplications: int,
    carrier: str | None = None,
    balanced: bool = False,
) -> Program:
    """Visits that compute the outputs of ``graph``, whose functions lack none, as it names them.

    ``robot`` has ``chained_frames``; inputs that the graph has not are zero. ``carrier``: the link
    that carries a payload. ``balanced``: for words, joints are counted in units of their own where
    M is inverted (``balance``), and outputs are results times powers of two.
    """
    run, unit, order = Recorder(), Units(), _solved(robot, graph)
    kinds = {kind_of(name) for name in graph.outputs}
    weights = balance_of(robot, order) if balanced and order else ALIKE
    weights = replace(weights, power=2 if kinds & GRADIENTS else 1)

    def task(name: str, size: int) -> list[Scalar]:
        words = [spell(name, k) for k in range(size)]
        return [Task(word) if word in graph.inputs else 0.0 for word in words]

    forces = {i: _wrench(b, graph) for b, i in enumerate(robot.moving)}
    state = State(
        task("q", robot.nq),
        task("qd", robot.nv),
        task("qdd", robot.nv),
        {i: wrench for i, wrench in forces.items() if wrench},
        payload=_payload(robot, carrier, task),
    )
    for i, joint in enumerate(robot.joints):
        if joint.kind is JointKind.REVOLUTE:
            own = told(robot, i, state)
            offset = own.offset / math.tau
            turns = own.multiplier / math.tau, offset - round(offset)
            visit = Visit("turn_mimic" if joint.mimic else "turn", (i,))
            state.turns[i] = run(visit, ("turn", i), _turn, HERE, own.q[0], *turns)
    moved = move(run, robot, state, unit, multiplications, balance=weights)
    columns = Columns(run, robot, moved, unit, balance=weights)
    matrices = any(kind_of(name) not in ("tau", *ALONE) for name in graph.outputs)
    tau = gather(
        run, robot, moved, unit, observe=columns.add if matrices else None, balance=weights
    )
    M, dq, dqd = columns.gradient
    record(run, robot, state, tau, M, dqd, weights)
    outputs: dict[str, Scalar] = {
        spell(name, k): times(x, 1 / weights.at(k))
        for name in ("tau", *ALONE)
        for k, x in enumerate(tau)
    }
    if kinds & {"dqdd_dq", "dqdd_dqd"}:
        outputs |= _slopes(run, graph, order, (dq, dqd), weights)
    if kinds & {"Minv", "qdd"}:
        outputs |= _inverted(run, graph, order, M, tau, task("tau", robot.nv), weights)
    for name, matrix in (("M", M), ("dtau_dq", dq), ("dtau_dqd", dqd)):
        outputs |= {
            spell(name, i, j): times(x, 1 / (weights.at(i) * weights.at(j)))
            for i, row in enumerate(matrix)
            for j, x in enumerate(row)
        }
    return run.program({name: outputs[name] for name in graph.outputs})


def _solved(robot: Robot, graph: Graph) -> dict[int, int]:
    """The coordinates of M's rows and columns that are inverted, root first → their joints."""
    owner = {k: i for i, at in robot.v_slices.items() for k in range(at.start, at.stop)}
    solved = {indices(n)[0] for n in graph.outputs if kind_of(n) in INVERTED}
    return {k: owner[k] for k in sorted(solved)}


def _slopes(
    run: Recorder, graph: Graph, order: Order, gradients: tuple[Matrix, Matrix], units: Balance
) -> dict[str, Scalar]:
    """-M⁻¹ ∂τ by a given M⁻¹, column by column."""
    inverse: list[Vector] = []
    for i in order:
        names = {j: spell("Minv", i, j) for j in order if j <= i}
        inverse.append(
            [
                times(Task(name), 1 / (units.at(i) * units.at(j))) if name in graph.inputs else 0.0
                for j, name in names.items()
            ]
        )
    outputs: dict[str, Scalar] = {}
    for n, (kind, matrix) in enumerate(zip(("dqdd_dq", "dqdd_dqd"), gradients, strict=True)):
        for c, joint in order.items():
            column = [matrix[j][c] for j in order]
            found = run(Visit("product", (n, c)), ("product", joint), _product, inverse, column)
            for i, x in zip(order, found, strict=True):
                outputs[spell(kind, i, c)] = times(x, units.at(i) / units.at(c))
    return outputs


def _product(inverse: list[Vector], column: Vector) -> Vector:
    """-M⁻¹ b, from the lower triangle of M⁻¹."""
    size = range(len(column))
    rows = [[inverse[max(i, j)][min(i, j)] for j in size] for i in size]
    return [
        -sum((x * b for x, b in zip(row[1:], column[1:], strict=True)), row[0] * column[0])
        for row in rows
    ]


def _inverted(
    run: Recorder,
    graph: Graph,
    order: Order,
    M: Matrix,
    bias: Vector,
    efforts: Vector,
    units: Balance,
) -> dict[str, Scalar]:
    """M⁻¹ and q̈, as far as the graph has them; ``bias``: τ without acceleration."""
    wanted, side = {kind_of(name) for name in graph.outputs}, None
    if "qdd" in wanted:
        side = {
            k: run(Visit("force", (k,)), ("effort", i), operator.sub, effort, bias[k])
            for k, i in order.items()
            for effort in [times(efforts[k], units.at(k))]
        }
    found = Elimination(run, M, order, side)
    outputs: dict[str, Scalar] = {}
    if "Minv" in wanted:
        outputs |= {
            spell("Minv", i, j): times(x, units.at(i) * units.at(j))
            for (i, j), x in found.inverse().items()
        }
    if "qdd" in wanted:
        outputs |= {spell("qdd", k): times(x, units.at(k)) for k, x in found.solve().items()}
    return outputs


def _payload(
    robot: Robot, carrier: str | None, task: Callable[[str, int], list[Scalar]]
) -> dict[int, Payload]:
    if carrier is None:
        return {}
    i, pose = frame_of(robot, carrier, PAYLOAD)
    return {i: Payload(task(PAYLOAD, SIZE), pose)}


def _wrench(b: int, graph: Graph) -> list[Scalar]:
    """The external force on the ``b``-th body, empty where there is none."""
    words = [spell("f_ext", b, axis=axis) for axis in WRENCH]
    return [Task(word) for word in words] if words[0] in graph.inputs else []


def _turn(builder: Builder, q: Scalar, factor: Scalar, offset: Scalar) -> tuple[Scalar, Scalar]:
    """Sine and cosine of an angle, in turns: dropping whole turns drops bits."""
    angle = q * factor + offset
    return builder.sin(angle, 1.0), builder.cos(angle, 1.0)
