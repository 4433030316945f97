"""Random robots for property tests: any tree, physically possible inertias.

Joints are oblique, or plain as people draw them: axes along x, y or z, often parallel to the one
before, offsets along one axis, bodies with planes of symmetry. Code that reads zeros from a
robot's structure meets none on oblique robots, and code that is wrong only between zeros none on
plain ones; so a third of all robots is oblique, a third is plain, and the rest has both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rbdgen.robot.model import (
    Array,
    Drivetrain,
    Inertia,
    Joint,
    JointKind,
    Limits,
    Mimic,
    Robot,
    Transform,
    frozen,
)

SINGLE = (JointKind.REVOLUTE, JointKind.PRISMATIC)
ALL_KINDS = (*SINGLE, JointKind.FLOATING, JointKind.PLANAR)


def random_robot(
    rng: np.random.Generator,
    joints: int = 6,
    kinds: Sequence[JointKind] = SINGLE,
    branching: float = 0.3,
    mimic: float = 0.0,
    fixed: float = 0.0,
    floating_base: bool = False,
    plain: float | None = None,
) -> Robot:
    """A robot of ``joints`` joints, fixed ones and the floating base included.

    ``kinds`` are drawn with equal chance. ``branching`` is the chance that a joint does not go on
    from the joint before it but from any of its ancestors or the base; ``fixed`` that it is fixed;
    ``mimic`` that a revolute or prismatic joint mimics an earlier one; ``plain`` that it is plain,
    drawn where not given. Joints are in depth-first order.
    """
    made: list[Joint] = []
    if plain is None:
        plain = (0.0, 1.0, 0.7)[int(3 * rng.random())]
    for i in range(joints):
        if i == 0 and floating_base:
            kind = JointKind.FLOATING
        elif rng.random() < fixed:
            kind = JointKind.FIXED
        else:
            kind = kinds[int(rng.integers(len(kinds)))]
        drawn = _plain if plain and rng.random() < plain else _oblique
        placement, axis, inertia = drawn(rng)
        made.append(
            Joint(
                name=f"joint{i:03d}",
                kind=kind,
                parent=_random_parent(rng, made, branching),
                placement=placement,
                body=f"link{i:03d}",
                inertia=inertia,
                axis=frozen(axis),
                limits=_random_limits(rng, kind),
                mimic=_random_mimic(rng, made, mimic) if kind in SINGLE else None,
            )
        )
    base = random_inertia(rng)
    upright = plain and rng.random() < plain
    return Robot(
        name="random",
        joints=tuple(made),
        base_inertia=base,
        gravity=frozen([0.0, 0.0, -9.81] if upright else rng.normal(0.0, 5.0, 3)),
    )


def geared(robot: Robot, rng: np.random.Generator) -> Robot:
    """The robot with rotors, damping and friction on all joints of one coordinate."""
    joints = [
        replace(joint, drivetrain=Drivetrain(*rng.uniform(0.1, 2.0, 3), rng.uniform(0.5, 3.0)))
        if joint.kind in SINGLE
        else joint
        for joint in robot.joints
    ]
    return robot.with_joints(joints)


def lighter(robot: Robot, times: float) -> Robot:
    """The chain with every joint's body so many times as light, once more for each joint."""
    joints = [
        replace(joint, inertia=Inertia(*(x / times**k for x in (own.mass, own.h, own.J))))
        for k, joint in enumerate(robot.joints)
        for own in [joint.inertia]
    ]
    return robot.with_joints(joints)


def random_direction(rng: np.random.Generator) -> Array:
    """A unit vector (3,), uniform on the sphere."""
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def random_rotation(rng: np.random.Generator) -> Array:
    """A rotation (3, 3), uniform on SO(3)."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


def random_transform(rng: np.random.Generator) -> Transform:
    """Any rotation, a translation of a few decimetres."""
    return Transform(random_rotation(rng), rng.normal(0.0, 0.3, 3))


def random_inertia(rng: np.random.Generator) -> Inertia:
    """A possible rigid body of some kilograms and decimetres."""
    mass = rng.uniform(0.5, 5.0)
    # second moments about the centre of mass are positive, so J keeps the triangle inequality
    second = mass * rng.uniform(0.05, 0.3, 3) ** 2
    R = random_rotation(rng)
    J = R @ np.diag(second.sum() - second) @ R.T
    return Inertia.about_com(mass, rng.normal(0.0, 0.1, 3), J)


def _oblique(rng: np.random.Generator) -> tuple[Transform, Array, Inertia]:
    """Placement, axis (3,) and inertia of a joint without a zero in them."""
    return random_transform(rng), random_direction(rng), random_inertia(rng)


def _plain(rng: np.random.Generator) -> tuple[Transform, Array, Inertia]:
    """Placement, axis (3,) and inertia of a joint as people draw them, with many zeros."""
    x, y, z = np.eye(3)
    rotation = np.eye(3)
    if rng.random() < 0.4:  # one of the 24 rotations of a cube
        rotation = rotation[:, rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
        rotation *= np.linalg.det(rotation).round()
    ways = ([0.0, 0.0, 0.0], x, y, z, x + z)
    offset = rng.choice(ways) * rng.normal(0.0, 0.3)
    axis = (y, y, x, z, -z)[rng.integers(5)]
    mass = rng.uniform(0.5, 5.0)
    second = mass * rng.uniform(0.05, 0.3, 3) ** 2
    if rng.random() < 0.5:  # of revolution
        second[1] = second[0]
    center = rng.choice(ways) * rng.normal(0.0, 0.1)
    inertia = Inertia.about_com(mass, center, np.diag(second.sum() - second))
    return Transform(rotation, offset), axis, inertia


def _random_parent(rng: np.random.Generator, made: list[Joint], branching: float) -> int:
    """The joint before, or one of its ancestors: any other parent would break the order."""
    last = len(made) - 1
    if last < 0 or rng.random() >= branching:
        return last
    ancestors = [made[last].parent]
    while ancestors[-1] >= 0:
        ancestors.append(made[ancestors[-1]].parent)
    return ancestors[rng.integers(len(ancestors))]


def _random_limits(rng: np.random.Generator, kind: JointKind) -> Limits:
    if kind not in SINGLE or rng.random() < 0.3:
        return Limits()
    lower, upper = -rng.uniform(0.2, 2.5), rng.uniform(0.2, 2.5)
    return Limits(lower, upper, velocity=rng.uniform(1.0, 5.0), effort=rng.uniform(10.0, 100.0))


def _random_mimic(rng: np.random.Generator, made: list[Joint], chance: float) -> Mimic | None:
    masters = [i for i, joint in enumerate(made) if joint.kind in SINGLE and joint.mimic is None]
    if not masters or rng.random() >= chance:
        return None
    return Mimic(masters[rng.integers(len(masters))], rng.uniform(-2.0, 2.0), rng.normal())
