"""Second derivatives of inverse dynamics: tangents of its gradients, and what follows from them.

The graph of ∂τ/∂q, ∂τ/∂q̇ and M is differentiated along each coordinate (``graph.tangent``), but
for the entries that follow from others. With D_ijk = ∂M_ij/∂q_k and E_ijk = ∂²τ_i/∂q_j ∂q̇_k

    ∂²τ_i/∂q̇_j ∂q̇_k = D_ijk + D_ikj - D_jki           twice Christoffel's symbol
    E_ijk = -E_kji  where D_ikj = 0                     since ∂τ/∂q̇ has Ṁ as its symmetric part
    E_bca + E_abc - E_bac = E_cba + E_acb - E_cab       both are the rate of Σ dm ∂_a x · ∂_b ∂_c x

(Siciliano et al., *Robotics*, §7.1 and 7.2, has the first two; the last follows from
τ_i = Σ dm ∂_i x · ẍ over particles at x). The last spares the entries with a above b above c, which
are carried the farthest. Directions of a joint that turns and slides do not commute. With
[e_j, e_k] = Σ γ_mjk e_m the first has Hamel's -Σ γ_mki M_mj + γ_mji M_mk besides, so that

    E_ijk + E_kji = Σ q̇_l (2 ∂_l D_ikj + 2 γ_mjl D_ikm - γ_mli D_mkj - γ_mlk D_mij)

and the second needs the zeros of all these D. The last is only for coordinates of joints that have
no other.

Singh, Russell and Wensing ("On second-order derivatives of rigid-body dynamics", T-RO 2024) have
closed forms. Tangents of composite bodies take fewer products: in links' frames most of what would
be multiplied is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

from ..graph.derivative import differentiate, one_way
from ..graph.graph import Graph
from ..graph.node import ANY, Builder, Node
from ..graph.word import spell
from ..robot.model import Robot
from ..robot.rotors import drivetrains
from .composite import Gradient, Matrix
from .drivetrains import curvature
from .interface import GraphPorts
from .motion import RobotState
from .scalars import Scalar
from .spatial import is_zero
from .tangent_space import brackets, seeds

Place = tuple[int, int, int]
Entries = dict[Place, Scalar]  # those that are not zero by structure
StateOf = Callable[[GraphPorts], RobotState]
NAMES = ("d2tau_dq2", "d2tau_dqd2", "d2tau_dq_dqd", "dM_dq")


def with_second_derivatives(
    robot: Robot, graph: Graph, found: Gradient, order: Mapping[int, int], state: StateOf
) -> Graph:
    """The graph traced anew, with derivatives of ``found``: M and the gradients of τ, by its nodes.

    ``order``: coordinate → its joint, of those that are wanted. ``state``: the state that the graph
    is of, of another interface.
    """
    face = GraphPorts(Builder())
    own = _Second(robot, face, state(face), order, found, graph)
    face.inputs[:] = graph.inputs
    face.outputs |= {name: own.copies[node] for name, node in graph.outputs.items()}
    entries = own.by_positions(), own.by_velocities(), own.by_both(), own.dM
    for name, values in zip(NAMES, entries, strict=True):
        for at, value in sorted(values.items()):
            face.gives(spell(name, *at), value)
    return one_way(face.graph(), [*own.regions, ANY])


class _Second:
    """The entries of each array (nv, nv, nv)."""

    def __init__(
        self,
        robot: Robot,
        face: GraphPorts,
        state: RobotState,
        order: Mapping[int, int],
        found: Gradient,
        graph: Graph,
    ) -> None:
        self.robot, self.order, self.builder, self.qd = robot, order, face.builder, state.qd
        self.places: list[Place] = list(product(order, order, order))
        # of a joint of several, all of its coordinates
        self.beside = {
            k: [m for m in order if order[m] == i and robot.joints[i].kind.nv > 1]
            for k, i in order.items()
        }
        # directions into which another one of the same joint turns k
        self.turned = {
            k: [m for m in own if any(self._bracket(m, k, other) for other in own)]
            for k, own in self.beside.items()
        }
        nodes = {
            spell(name, i, j): entry
            for name, matrix in found._asdict().items()
            for i, j in product(order, repeat=2)
            if isinstance(entry := matrix[i][j], Node)
        }
        whole = Graph(graph.inputs, graph.outputs | {f"of {n}": x for n, x in nodes.items()})
        self.regions = [node.region for node in whole.nodes]
        wanted = set(Graph(graph.inputs, nodes).nodes)
        made = differentiate(whole.nodes, self.builder, seeds(robot, state, order), wanted)
        self.copies, self._tangents = made.copies, made.tangents
        self.found = found
        self.dM = self._of({at: self._tangent(found.M, *at) for at in self.places})

    def by_positions(self) -> Entries:
        """Where two directions commute, the upper one's gradient is differentiated."""
        values: Entries = {}
        for i, j, k in self.places:
            first, last = (j, k) if self._joints(j, k) == 1 else sorted((j, k))
            values[i, j, k] = self._tangent(self.found.dtau_dq, i, first, last)
        return self._of(values)

    def by_velocities(self) -> Entries:
        values: Entries = {}
        for i, j, k in self.places:
            if j > k:
                values[i, j, k] = values[i, k, j]
                continue
            D = self.dM
            terms = [(1, D.get((i, j, k))), (1, D.get((i, k, j))), (-1, D.get((j, k, i)))]
            for m in self.beside[i]:
                terms.append((-self._bracket(m, k, i), self._M(m, j)))
                terms.append((-self._bracket(m, j, i), self._M(m, k)))
            values[i, j, k] = self._sum(terms)
        for k, gears in drivetrains(self.robot).items():
            if k in self.order:
                with self.builder.beside(self._copy(self.found.dtau_dqd[k][k])):
                    curved = curvature(self.builder, gears, self.qd[k])
                    values[k, k, k] = values[k, k, k] + curved
        return self._of(values)

    def by_both(self) -> Entries:
        values: Entries = {}
        symmetric = {at for at in self.places if not self._antisymmetric(*at)}
        spared = {at for at in symmetric if at[0] < at[1] < at[2] and self._single(*at)}
        for i, j, k in self.places:
            if (i, j, k) not in spared and (i > k or (i, j, k) in symmetric):
                values[i, j, k] = self._tangent(self.found.dtau_dqd, i, k, j)
        for i, j, k in self.places:
            if i < k and (i, j, k) not in symmetric:
                values[i, j, k] = self._sum([(-1, values[k, j, i])])
        for a, b, c in sorted(spared):
            plus, minus = ((c, b, a), (a, c, b), (b, a, c)), ((c, a, b), (b, c, a))
            terms = [(1, values.get(at)) for at in plus] + [(-1, values.get(at)) for at in minus]
            values[a, b, c] = self._sum(terms)
        return self._of(values)

    def _antisymmetric(self, i: int, j: int, k: int) -> bool:
        """Whether E_ijk = -E_kji for certain: each D of their sum is zero (module docstring)."""
        entries = [(i, k, j)]
        entries += [(i, k, m) for m in self.turned[j]]
        entries += [(m, k, j) for m in self.turned[i]]
        entries += [(m, i, j) for m in self.turned[k]]
        return self.dM.keys().isdisjoint(entries)

    def _single(self, *coordinates: int) -> bool:
        """Whether each is the only one of its joint."""
        return all(self.robot.joints[self.order[k]].kind.nv == 1 for k in coordinates)

    def _of(self, values: Entries) -> Entries:
        return {at: value for at, value in values.items() if not is_zero([value])}

    def _M(self, i: int, j: int) -> Scalar:
        return self._copy(self.found.M[i][j])

    def _copy(self, entry: Scalar) -> Scalar:
        return self.copies[entry] if isinstance(entry, Node) else entry

    def _tangent(self, matrix: Matrix, i: int, j: int, k: int) -> Scalar:
        """∂(matrix_ij)/∂q_k."""
        entry = matrix[i][j]
        return self._tangents[entry].get(k, 0.0) if isinstance(entry, Node) else 0.0

    def _sum(self, terms: list[tuple[int, Scalar | None]]) -> Scalar:
        """A sum of signed terms; absent and zero ones are left out."""
        used = [(sign, x) for sign, x in terms if sign and x is not None and not is_zero([x])]
        total: Scalar = 0.0
        with self.builder.beside(*(x for _, x in used)):
            for sign, x in sorted(used, key=lambda term: -term[0]):
                total = total + x if sign > 0 else total - x
        return total

    def _joints(self, *coordinates: int) -> int:
        """The number of distinct joints among coordinates."""
        return len({self.order[k] for k in coordinates})

    def _bracket(self, m: int, j: int, k: int) -> int:
        """γ_mjk."""
        i = self.order[m]
        if any(self.order[other] != i for other in (j, k)):
            return 0
        first = self.robot.v_slices[i].start
        return brackets(self.robot.joints[i].kind)[m - first][j - first][k - first]
