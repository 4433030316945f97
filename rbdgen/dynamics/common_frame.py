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

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from ..graph.node import Builder
from ..robot.model import JointKind, Robot
from .motion import State, joint_position, joint_rates, joint_turn
from .networks import At, path_sums, scan
from .scalars import Arithmetic, Scalar, Vector
from .spatial import (
    ZERO,
    ConstantRotation,
    Rotation,
    Tensor,
    Turn,
    Twist,
    add,
    dot,
    matvec,
    product,
    scale,
    transposed,
)

SUMS = "sums"  # the region of a tree
ONE: Tensor = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
STILL: Twist = (ZERO, ZERO)


@dataclass(frozen=True)
class Relative:
    """A joint by itself: its body's axes and origin seen from its parent's body.

    ``E``: coordinates in the body → in the parent's body; ``place`` [m]: the body's origin, along
    the parent's axes. ``rates`` (angular; linear) of the body's origin along the body's axes, S q̇;
    ``changes``: S q̈. ``weight``: acceleration of the base less gravity along the body's axes, of a
    joint on the base.
    """

    E: Tensor
    place: Vector
    rates: Twist
    changes: Twist
    weight: Vector


@dataclass
class CommonFrame:
    """What is known of each body once its rotation is, all along the axes of its tree's body c.

    ``nearer``  body → its neighbour on the way to c, -1 for c itself.
    ``W``       the body's axes; ``o`` [m] its origin from c's; ``lever`` from its parent's origin,
                zero for a joint on the base.
    ``rates``, ``changes``  the joint's own S q̇ and S q̈ about the body's origin (angular; linear).
    ``weight``  the base's acceleration less gravity, in the axes of the tree of that joint.
    """

    robot: Robot
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

    def from_centre(self, steps: Mapping[int, Vector], at: At) -> dict[int, Vector]:
        """Σ from c to each body of steps from parent to child: minus where the way leads up."""
        signed = {}
        for i, near in self.nearer.items():
            if near >= 0:
                down = self.robot.joints[i].parent == near
                signed[i] = steps[i] if down else scale(-1.0, steps[near])
        found = path_sums(signed, self.nearer, at)
        return {i: found.get(i, ZERO) for i in self.nearer}


@dataclass(frozen=True)
class OneRegion:
    """A builder that traces what is of any joint in the region of its ``first``: `joined_roots`."""

    builder: Builder
    first: Mapping[int, int]

    def sin(self, angle: Scalar) -> Scalar:
        return self.builder.sin(angle)

    def cos(self, angle: Scalar) -> Scalar:
        return self.builder.cos(angle)

    def recip(self, a: Scalar) -> Scalar:
        return self.builder.recip(a)

    def select(self, condition: Scalar, negative: Scalar, otherwise: Scalar) -> Scalar:
        return self.builder.select(condition, negative, otherwise)

    def region(self, kind: str, joint: int) -> AbstractContextManager[None]:
        return self.builder.region(SUMS, self.first[joint])


def common_frame(
    arithmetic: Arithmetic,
    robot: Robot,
    state: State,
    *,
    network: str = "sklansky",
    frame: int | None = None,
    multiplications: int = 4,
) -> CommonFrame:
    """Rotations and places of all bodies of a canonical robot.

    All in region ("sums", i), i of `joined_roots`. ``network``: how rotations are composed;
    ``frame``: the body that its tree's frame is of, in place of its centre.
    """

    def at(i: int) -> AbstractContextManager[Any]:
        return arithmetic.region(SUMS, root[i])

    root = joined_roots(robot)
    own: dict[int, Relative] = {}
    for i in root:
        with at(i):
            own[i] = relative(arithmetic, robot, i, state, multiplications)
    nearer: dict[int, int] = {}
    for tree in trees(robot):
        nearer |= rerooted(robot, tree, frame if frame in tree else centre(robot, tree))
    edges: dict[int, tuple[Tensor, list[Vector]]] = {}
    for i, near in nearer.items():
        if near >= 0:
            down = robot.joints[i].parent == near
            E = own[i].E if down else transposed(own[near].E)
            carried = [*own[i].rates, *own[i].changes]
            with at(i):
                edges[i] = E, [matvec(E, v) for v in carried]
    found = scan(
        edges,
        nearer,
        lambda X, Y: (product(X[0], Y[0]), [matvec(X[0], v) for v in Y[1]]),
        network,
        at,
    )
    for i, near in nearer.items():
        if near < 0:
            found[i] = ONE, [*own[i].rates, *own[i].changes]
    made = CommonFrame(
        robot,
        nearer,
        own,
        {i: W for i, (W, _) in found.items()},
        {i: (v[0], v[1]) for i, (_, v) in found.items()},
        {i: (v[2], v[3]) for i, (_, v) in found.items()},
    )
    for i, joint in enumerate(robot.joints):
        with at(i):
            if joint.parent < 0:
                made.lever[i] = ZERO
                made.weight[i] = matvec(made.W[i], own[i].weight)
            else:
                made.lever[i] = matvec(made.W[joint.parent], own[i].place)
    made.o = made.from_centre(made.lever, at)
    return made


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


def relative(
    arithmetic: Arithmetic, robot: Robot, i: int, state: State, multiplications: int
) -> Relative:
    """Joint ``i`` by itself."""
    joint = robot.joints[i]
    P, r = joint.placement.rotation.tolist(), joint.placement.translation.tolist()
    qd, qdd = joint_rates(robot, i, state)
    rotation: Rotation | Turn | None = None
    shift, rates, changes = ZERO, STILL, STILL
    match joint.kind:
        case JointKind.REVOLUTE:
            rotation = joint_turn(arithmetic, robot, i, state, multiplications)
            rates, changes = ([0.0, 0.0, *qd], ZERO), ([0.0, 0.0, *qdd], ZERO)
        case JointKind.PRISMATIC:
            shift = [0.0, 0.0, joint_position(robot, i, state)]
            rates, changes = (ZERO, [0.0, 0.0, *qd]), (ZERO, [0.0, 0.0, *qdd])
        case JointKind.PLANAR:
            x, y, cos, sin = state.q[robot.q_slices[i]]
            rotation, shift = Turn(cos, sin, multiplications), [x, y, 0.0]
            rates, changes = (([0.0, 0.0, v[2]], [*v[:2], 0.0]) for v in (qd, qdd))
        case JointKind.FLOATING:
            q = state.q[robot.q_slices[i]]
            rotation, shift = Rotation.of_quaternion(list(q[3:])), list(q[:3])
            rates, changes = ((v[3:], v[:3]) for v in (qd, qdd))
    weight = ConstantRotation(joint.placement.rotation).back([-float(g) for g in robot.gravity])
    if rotation is None:
        E = P
    else:
        weight = rotation.back(weight)
        E = transposed([matvec(P, column) for column in transposed(matrix(rotation))])
    return Relative(E, add(r, matvec(P, shift)), rates, changes, weight)


def matrix(rotation: Rotation | Turn) -> Tensor:
    """The nine entries of a rotation's matrix."""
    if isinstance(rotation, Rotation):
        return rotation.matrix
    c, s = rotation.cos, rotation.sin
    return [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]


def turned(W: Tensor, T: Tensor) -> Tensor:
    """W T Wᵀ of a symmetric T."""
    half = product(W, T)
    entries: dict[tuple[int, int], Scalar] = {}
    for i in range(3):
        for j in range(i, 3):
            entries[i, j] = entries[j, i] = dot(half[i], W[j])
    return [[entries[i, j] for j in range(3)] for i in range(3)]
