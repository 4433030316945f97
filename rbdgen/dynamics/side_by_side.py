"""Gradients in one frame, as visits that can stand side by side in a register.

In a common frame (``common_frame``) what one joint computes is the same for all joints, and so are
the entries of one axis and all columns below it: nothing is carried from joint to joint but sums.
So whole templates are lanes of one state: ``body``, ``field``, ``back`` and ``faster`` of all
joints, ``pair`` of one joint and those below it, ``column`` of all columns that M⁻¹ multiplies. The
rest, rotations and sums along paths, is little. Frames are those of the joints on the base, so that
a free base's rows are the columns themselves.

Forward dynamics takes M and the bias first, then q̈ (`Factors`), then what q̈ adds (``accelerated``).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..graph.graph import Graph
from ..graph.visits import Program, Visit
from ..graph.word import kind_of, spell
from ..robot.model import Robot
from ..robot.rotors import drivetrains
from .common_frame import CommonFrame, common_frame
from .composite import Gradient, Matrix
from .elimination import Order, Pattern, substituted
from .functions import Functions
from .interface import ProgramPorts
from .logarithmic import Logarithmic
from .networks import ONE_BY_ONE
from .recording import Recorder
from .recursions import AGAIN, LOGARITHMIC
from .scalars import Arithmetic, Scalar, Vector
from .spatial import is_zero
from .steps import times
from .vector_fields import Gathered, accelerated, gathered, gradient

INPUTS = {"q", "qd", "qdd", "tau"}
INVERSE = {"tau", "dtau_dq", "dtau_dqd", "M"}  # arrays of outputs
FORWARD = {"qdd", "dqdd_dq", "dqdd_dqd"}
FACTORS, COLUMN = "factors", "column"  # templates


def side_by_side(robot: Robot, graph: Graph, multiplications: int) -> Program | None:
    """Visits that compute the outputs of ``graph``, as it names them; None where there are none.

    Of gradients of inverse or of forward dynamics of a canonical ``robot`` without drivetrains,
    mimic joints, forces from outside and payload.
    """
    if not _computes(robot, graph):
        return None
    run, ports = Recorder(), ProgramPorts(frozenset(graph.inputs))
    forward = any(name in graph.outputs for name in _named("qdd", robot))
    root = robot.children[-1][0]
    functions = frozenset({"dfd" if forward else "did"})
    form = (functions, multiplications, LOGARITHMIC, ONE_BY_ONE, root)
    found = Functions(run, robot, *form, sizes=robot)
    state, order = found.state(ports), found.order
    if forward:
        state = replace(state, qdd=[0.0] * robot.nv)
    frame = common_frame(
        run,
        robot,
        state,
        network=ONE_BY_ONE,
        frame=root,
        multiplications=multiplications,
        sums=ONE_BY_ONE,
    )
    sums = Logarithmic(frame, state, about_O=True)
    here = gathered(sums)
    own = gradient(sums, here)
    if forward:
        tau = ports.vector("tau", robot.nv, order)
        outputs = _forward(run, graph, order, sums, here, own, tau)
    else:
        outputs = {
            spell(name, i, j): matrix[i][j]
            for name, matrix in zip(("M", "dtau_dq", "dtau_dqd"), own, strict=True)
            for i in order
            for j in order
        }
        outputs |= {spell("tau", k): here.tau[k] for k in order}
    return run.program({name: outputs[name] for name in graph.outputs})


def _computes(robot: Robot, graph: Graph) -> bool:
    """Whether the visits of this file can compute the graph."""
    gives = {kind_of(name) for name in graph.outputs}
    if not any(gives <= known and "_dq" in "".join(gives) for known in (INVERSE, FORWARD)):
        return False
    if not {kind_of(name) for name in graph.inputs} <= INPUTS or drivetrains(robot):
        return False
    if any(joint.mimic for joint in robot.joints):
        return False
    # a base whose motion is given has no outputs
    return any(spell(name, 0) in graph.outputs for name in ("tau", "qdd"))


def _named(array: str, robot: Robot) -> list[str]:
    return [spell(array, k) for k in range(robot.nv)]


def _forward(
    run: Recorder,
    graph: Graph,
    order: Order,
    sums: Logarithmic,
    here: Gathered,
    own: Gradient,
    tau: Vector,
) -> dict[str, Scalar]:
    """q̈ and its gradients, from the sums without acceleration."""
    at, bias = ("sums", 0), here.tau
    effort = [run(Visit("force", (k,)), at, operator.sub, tau[k], bias[k]) for k in order]
    solving = Factors.of(order, own.M)
    entries = [own.M[i][j] for i, j in solving.places]
    made = run(Visit(FACTORS, ()), at, solving.solved, run.arithmetic, entries, effort)
    L, inverses, x = made
    qdd = dict(zip(order, x, strict=True))
    again = replace(sums, frame=_again(sums.frame, run), _still={})
    dq = gradient(again, accelerated(again, here, qdd)).dtau_dq
    outputs = {spell("qdd", k): value for k, value in qdd.items()}
    for number, (name, matrix) in enumerate((("dqdd_dq", dq), ("dqdd_dqd", own.dtau_dqd))):
        for c in order:
            if all(spell(name, k, c) not in graph.outputs for k in order):
                continue
            b = [matrix[k][c] for k in order]
            visit = Visit(COLUMN, (number * len(own.M) + c,))
            x = run(visit, at, solving.column, L, inverses, b)
            found = zip(order, x, strict=True)
            outputs |= {spell(name, k, c): times(value, -1) for k, value in found}
    return outputs


def _again(frame: CommonFrame, run: Recorder) -> CommonFrame:
    """The frame whose steps are visits to templates of another name."""
    return replace(frame, steps=replace(frame.steps, run=run.again(AGAIN)))


@dataclass(frozen=True, eq=False)
class Factors:
    """M x = b by M = Lᵀ D L, for entries of M at ``places`` of its lower triangle.

    ``above``: the columns of each row of L, the nearest first, of coordinates ``order``.
    """

    order: Order
    places: Sequence[tuple[int, int]]
    above: Sequence[Sequence[int]]

    @classmethod
    def of(cls, order: Order, M: Matrix) -> Factors:
        """Factors of a matrix, by its entries that are not the number 0."""
        lower = [(i, j) for i in order for j in order if j <= i and not is_zero([M[i][j]])]
        return cls(order, lower, [*Pattern.of(M, order).above.values()])

    def solved(
        self, arithmetic: Arithmetic, entries: Vector, b: Vector
    ) -> tuple[list[Vector], Vector, Vector]:
        """Rows of L, 1 / D, and x of one b."""
        H = dict(zip(self.places, entries, strict=True))
        L: list[Vector] = []
        inverses: Vector = []
        for k, above in reversed(list(zip(self.order, self.above, strict=True))):
            inverse = arithmetic.recip(H[k, k])
            row = [H[k, i] * inverse for i in above]
            for a, i in enumerate(above):
                for j in above[a:]:
                    H[i, j] = H[i, j] - row[a] * H[k, j]
            L, inverses = [row, *L], [inverse, *inverses]
        return L, inverses, self.column(L, inverses, b)

    def column(self, L: list[Vector], inverses: Vector, b: Vector) -> Vector:
        """x = L⁻¹ D⁻¹ L⁻ᵀ b."""
        y, x = dict(zip(self.order, b, strict=True)), dict[int, Scalar]()
        rows = list(zip(self.order, self.above, L, inverses, strict=True))
        for k, above, row, _ in reversed(rows):
            for i, entry in zip(above, row, strict=True):
                y[i] = y[i] - entry * y[k]
        for k, above, row, inverse in rows:
            x[k] = substituted(inverse * y[k], row, [x[i] for i in above])
        return [x[k] for k in self.order]
