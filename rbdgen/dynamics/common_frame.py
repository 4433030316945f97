"""One frame for each tree that stands on the base: the axes of one of its bodies, at this instant.

Along the same axes vectors add without being turned, so a recursion becomes a sum over a path. Only
rotations are composed, along the path from the frame's body c to each other, by a prefix network;
on an edge that leads towards the base the joint's rotation is the other way round. With c in the
middle of its tree the paths are half as long. A base at rest couples nothing, so every tree has its
own c; the base is needed for the weight alone, which the joint on it turns.

Lathrop ("Parallelism in manipulator dynamics", IJRR 1985) composes all the motion along such paths,
in the links' own axes; here it is sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from ..graph.node import Region
from ..graph.visits import Visit
from ..robot.model import Robot
from .motion import Relative, RobotState, relative
from .networks import BY_THREES, path_sums, plus, scan, subtree_sums
from .repeated import by_kind, by_place
from .rnea import summed
from .scalars import Scalar, Vector
from .spatial import (
    ZERO,
    Tensor,
    Twist,
    dot,
    matvec,
    product,
    scale,
    transposed,
)
from .steps import SUMS, Runner

T = TypeVar("T")
Segment = tuple[Tensor, list[Vector]]  # of a path: its rotation, and vectors seen from its start

ONE: Tensor = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


@dataclass(frozen=True)
class Steps:
    """Hands steps to ``run``, those of a tree in one region, ("sums", i) with i of `joined_roots`.

    A region for each level of a sum would cost a cycle at each crossing, 9 of iiwa's 58.
    ``network``: of sums over paths and subtrees.
    """

    run: Runner
    region: Mapping[int, int]
    network: str = BY_THREES
    numbers: Iterator[int] = field(default_factory=count)

    def at(self, i: int) -> Region:
        """Where what is body ``i``'s is computed."""
        return SUMS, self.region[i]

    def __call__(self, visit: Visit, step: Callable[..., T], *args: Any) -> T:
        """The results of a step in a visit whose key begins with a body."""
        return self.run(visit, self.at(visit.key[0]), step, *args)

    def plus(self, i: int, a: Vector, b: Vector) -> Vector:
        """a + b, of vectors of any length."""
        return self(Visit(f"add_of{len(a)}", (i, next(self.numbers))), plus, a, b)

    def path_sums(
        self, items: Mapping[int, Vector], parent: Mapping[int, int]
    ) -> dict[int, Vector]:
        """Each body's vector added to those of all its ancestors."""
        return path_sums(items, parent, self.plus, self.network)

    def subtree_sums(
        self, items: Mapping[int, Vector], parent: Mapping[int, int]
    ) -> dict[int, Vector]:
        """Each body's vector added to those of its whole subtree."""
        return subtree_sums(items, parent, self.plus, self.network)

    def summed(self, i: int, a: Scalar, b: Scalar) -> Scalar:
        """a + b, b where nothing was there yet."""
        return summed(self.run, (i, next(self.numbers)), self.at(i), a, b)


@dataclass
class CommonFrame:
    """The geometry and motion of each body in a common frame, along the axes of its tree's body c.

    ``nearer``  body → its neighbour on the way to c, -1 for c itself.
    ``W``       the body's axes; ``o`` [m] its origin from c's; ``lever`` from its parent's origin,
                zero for a joint on the base.
    ``rates``, ``changes``  the joint's own S q̇ and S q̈ about the body's origin (angular; linear).
    ``weight``  the base's acceleration less gravity, in the axes of the tree of that joint.
    """

    robot: Robot
    steps: Steps
    nearer: dict[int, int]
    relative: dict[int, Relative]
    W: dict[int, Tensor]
    rates: dict[int, Twist]
    changes: dict[int, Twist]
    lever: dict[int, Vector] = field(default_factory=dict)
    o: dict[int, Vector] = field(default_factory=dict)
    weight: dict[int, Vector] = field(default_factory=dict)

    @property
    def parent(self) -> dict[int, int]:
        return {i: joint.parent for i, joint in enumerate(self.robot.joints)}

    def from_centre(self, ways: Mapping[int, Vector]) -> dict[int, Vector]:
        """Σ from c to each body of ways from parent to child: minus where the way leads up."""
        signed = {}
        for i, near in self.nearer.items():
            if near >= 0:
                down = self.robot.joints[i].parent == near
                signed[i] = ways[i] if down else self._reversed(i, ways[near])
        found = self.steps.path_sums(signed, self.nearer)
        return {i: found.get(i, ZERO) for i in self.nearer}

    def _reversed(self, i: int, way: Vector) -> Vector:
        return self.steps(Visit("reversed", (i, next(self.steps.numbers))), scale, -1.0, way)


def common_frame(
    run: Runner,
    robot: Robot,
    state: RobotState,
    *,
    network: str = "sklansky",
    frame: int | None = None,
    multiplications: int = 4,
    sums: str = BY_THREES,
) -> CommonFrame:
    """Rotations and places of all bodies of a canonical robot.

    ``network``: how rotations are composed; ``sums``: how vectors are added; ``frame``: the body
    that its tree's frame is of, in place of its centre.
    """
    steps = Steps(run, joined_roots(robot), sums)
    own = {i: relative(run, robot, i, state, multiplications, steps.at(i)) for i in steps.region}
    nearer: dict[int, int] = {}
    for tree in trees(robot):
        nearer |= rerooted(robot, tree, frame if frame in tree else centre(robot, tree))
    edges: dict[int, Segment] = {}
    for i, near in nearer.items():
        if near >= 0:
            down = robot.joints[i].parent == near
            E = own[i].E if down else transposed(own[near].E)
            visit = by_kind("edge" if down else "edge_up", robot, i)
            edges[i] = E, steps(visit, _rotated, E, [*own[i].rates, *own[i].changes])

    def glue(i: int, X: Segment, Y: Segment) -> Segment:
        return steps(Visit("glue", (i, next(steps.numbers))), _glued, X, Y)

    found = scan(edges, nearer, glue, network)
    for i, near in nearer.items():
        if near < 0:
            found[i] = ONE, [*own[i].rates, *own[i].changes]
    made = CommonFrame(
        robot,
        steps,
        nearer,
        own,
        {i: W for i, (W, _) in found.items()},
        {i: (v[0], v[1]) for i, (_, v) in found.items()},
        {i: (v[2], v[3]) for i, (_, v) in found.items()},
    )
    for i, joint in enumerate(robot.joints):
        if joint.parent < 0:
            made.lever[i] = ZERO
            made.weight[i] = steps(by_place("weight", robot, i), matvec, made.W[i], own[i].weight)
        else:
            W = made.W[joint.parent]
            made.lever[i] = steps(Visit("lever", (i,)), matvec, W, own[i].place)
    made.o = made.from_centre(made.lever)
    return made


def _rotated(E: Tensor, vectors: list[Vector]) -> list[Vector]:
    return [matvec(E, v) for v in vectors]


def _glued(X: Segment, Y: Segment) -> Segment:
    """X, nearer to c, and Y after it."""
    return product(X[0], Y[0]), _rotated(X[0], Y[1])


def roots(robot: Robot) -> dict[int, int]:
    """Joint → the joint on the base that carries it, or itself."""
    found: dict[int, int] = {}
    for i, joint in enumerate(robot.joints):
        found[i] = i if joint.parent < 0 else found[joint.parent]
    return found


def joined_roots(robot: Robot) -> dict[int, int]:
    """Joint → the first joint of its tree, and of those that mimic joints join to that.

    M couples such trees: two regions of them would wait for each other.
    """
    root = roots(robot)
    region = {tree: tree for tree in root.values()}
    for i, joint in enumerate(robot.joints):
        if joint.mimic:
            first, second = sorted((region[root[i]], region[root[joint.mimic.joint]]))
            region = {tree: first if own == second else own for tree, own in region.items()}
    return {i: region[tree] for i, tree in root.items()}


def trees(robot: Robot) -> list[list[int]]:
    """The joints of each tree that stands on the base."""
    found: dict[int, list[int]] = {}
    for i, root in roots(robot).items():
        found.setdefault(root, []).append(i)
    return list(found.values())


def centre(robot: Robot, tree: list[int]) -> int:
    """The body whose farthest other is nearest; of several, that which is nearest to all."""

    def distances(c: int) -> list[int]:
        far = {c: 0}
        for i, near in rerooted(robot, tree, c).items():
            if near >= 0:
                far[i] = far[near] + 1
        return list(far.values())

    return min(tree, key=lambda c: (max(distances(c)), sum(distances(c)), c))


def rerooted(robot: Robot, tree: list[int], c: int) -> dict[int, int]:
    """Body → its neighbour towards c, nearer ones first; -1 for c."""
    near: dict[int, list[int]] = {i: [] for i in tree}
    for i in tree:
        if (p := robot.joints[i].parent) >= 0:
            near[i].append(p)
            near[p].append(i)
    found, order = {c: -1}, [c]
    for i in order:
        for k in near[i]:
            if k not in found:
                found[k] = i
                order.append(k)
    return found


def turned(W: Tensor, T: Tensor) -> Tensor:
    """W T Wᵀ of a symmetric T."""
    half = product(W, T)
    entries: dict[tuple[int, int], Scalar] = {}
    for i in range(3):
        for j in range(i, 3):
            entries[i, j] = entries[j, i] = dot(half[i], W[j])
    return [[entries[i, j] for j in range(3)] for i in range(3)]
