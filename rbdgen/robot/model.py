"""The robot: a tree of bodies, each carried by one joint, with exact float64 parameters.

Body ``i`` is the link moved by joint ``i``; its frame is the joint's frame after the joint has
moved, so at position 0 it coincides with the joint's placement. Index -1 is the base. Everything
here is immutable; a rewrite (``rbdgen.robot.canonical``) returns a new robot.

Units are SI: metre, radian, kilogram. Spatial quantities that users see follow Pinocchio
(linear part first); inside the algorithms the order is Featherstone's (angular part first).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..system.quoting import Refusal

Array = NDArray[np.float64]
# The speed from which on friction has its whole size, unless somebody says: rad/s, m/s.
FRICTION_WIDTH = {"angular": 0.1, "linear": 0.01}


EARTH = (0.0, 0.0, -9.81)  # gravity [m/s²] unless said


class RobotError(Refusal, ValueError):
    """An error in a robot description, in one line for the person who wrote it."""


class NotFound(RobotError):
    """The robot or file ``name`` is not there."""

    def __init__(self, message: str, name: object) -> None:
        super().__init__(message)
        self.name = str(name)


def frozen(values: ArrayLike) -> Array:
    """A read-only float64 copy of ``values``, or one of scalars of another kind."""
    array = np.array(values)
    if array.dtype != object:  # nodes of a graph, say, of which a robot may be made, too
        array = array.astype(np.float64)
    array.setflags(write=False)
    return array


def skew(v: ArrayLike) -> Array:
    """The (3, 3) matrix of ``v ×``."""
    x, y, z = np.asarray(v, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@dataclass(frozen=True, eq=False)
class Transform:
    """Pose of a child frame in its parent: ``x_parent = rotation @ x_child + translation``."""

    rotation: Array = field(default_factory=lambda: frozen(np.eye(3)))
    translation: Array = field(default_factory=lambda: frozen(np.zeros(3)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "rotation", frozen(self.rotation))
        object.__setattr__(self, "translation", frozen(self.translation))

    def __matmul__(self, child: Transform) -> Transform:
        """The pose of ``child``'s frame (given in this frame) in this frame's parent."""
        return Transform(
            self.rotation @ child.rotation, self.rotation @ child.translation + self.translation
        )

    def inverse(self) -> Transform:
        return Transform(self.rotation.T, -self.rotation.T @ self.translation)


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass [kg], first moment h = m·c (3,) [kg·m] and rotational inertia J (3, 3) [kg·m²].

    J is about the origin of the frame, not about the centre of mass. After ``regroup_inertia``
    the ten numbers are base parameters and need not describe a possible rigid body.
    """

    mass: float = 0.0
    h: Array = field(default_factory=lambda: frozen(np.zeros(3)))
    J: Array = field(default_factory=lambda: frozen(np.zeros((3, 3))))

    def __post_init__(self) -> None:
        if isinstance(self.mass, float | int):
            object.__setattr__(self, "mass", float(self.mass))
        object.__setattr__(self, "h", frozen(self.h))
        object.__setattr__(self, "J", frozen(self.J))

    @classmethod
    def about_com(cls, mass: float, com: ArrayLike, inertia: ArrayLike) -> Inertia:
        """The inertia of a centre of mass ``com`` (3,) and ``inertia`` (3, 3) about it."""
        c = skew(com)
        return cls(mass, mass * np.asarray(com), np.asarray(inertia) - mass * c @ c)

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.h + other.h, self.J + other.J)

    def __neg__(self) -> Inertia:
        return Inertia(-self.mass, -self.h, -self.J)

    def seen_from(self, pose: Transform) -> Inertia:
        """The same body, expressed in the parent of ``pose`` (this frame's pose there).

        Parallel-axis rule in the form that also holds for zero mass: Featherstone, RBDA eq. 2.66.
        """
        R, p = pose.rotation, pose.translation
        h = R @ self.h
        P, H = skew(p), skew(h)
        J = R @ self.J @ R.T - P @ H - H @ P - self.mass * P @ P
        return Inertia(self.mass, h + self.mass * p, (J + J.T) / 2)

    @property
    def is_zero(self) -> bool:
        return self.mass == 0 and not self.h.any() and not self.J.any()


class JointKind(Enum):
    """The motion of a joint. ``nq`` numbers are its position, ``nv`` its velocity.

    REVOLUTE  turns by q about ``axis`` (continuous joints are revolute without position limits).
    PRISMATIC slides by q along ``axis``.
    FIXED     does not move.
    FLOATING  q = (x, y, z, quaternion x, y, z, w); velocity = body twist, linear then angular.
    PLANAR    moves in the plane normal to ``axis`` as Pinocchio's JointModelPlanar does:
              q = (x, y, cos θ, sin θ), velocity (vx, vy, ω) in the body frame.
    """

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    FLOATING = "floating"
    PLANAR = "planar"

    @property
    def nq(self) -> int:
        return {"fixed": 0, "floating": 7, "planar": 4}.get(self.value, 1)

    @property
    def nv(self) -> int:
        return {"fixed": 0, "floating": 6, "planar": 3}.get(self.value, 1)


ALIKE = 1e-4  # limbs that differ by no more are: words of 18 bits, rounded figures of a file
BASE = JointKind.FLOATING.nv  # of v's first entries are a floating base's
# rad/s or m/s. A file that says so much says "none": motors of joints reach 60 rad/s.
FASTEST = 100.0


@dataclass(frozen=True)
class Limits:
    """Position [rad or m], velocity and effort limits; infinite where the file names none.

    ``velocity`` is the file's number, whatever it is; ``speed`` is what bounds the joint.
    """

    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf

    @property
    def speed(self) -> float:
        """``velocity`` [rad/s or m/s], or infinite where that is zero, negative or `FASTEST`."""
        return self.velocity if 0 < self.velocity < FASTEST else np.inf


@dataclass(frozen=True)
class Mimic:
    """Position = multiplier · q[joint] + offset; ``joint`` is free itself (chains are resolved)."""

    joint: int
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Drivetrain:
    """The effort of rotor, gears and bearings, a part of τ of a joint of one coordinate:

        a q̈ + d q̇ + c s(q̇ / w),     s(x) = (3 x - x³) / 2 up to |x| = 1, and ±1 beyond

    ``armature`` a [kg·m² or kg]: the rotor's inertia times the squared reduction. ``damping`` d
    [N·m·s/rad or N·s/m], ``friction`` c [N·m or N], Coulomb's, and ``width`` w [rad/s or m/s], the
    speed from which on it has its whole size: s has a continuous slope, 3/2 at rest.
    """

    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    width: float = FRICTION_WIDTH["angular"]

    @property
    def is_zero(self) -> bool:
        return not (self.armature or self.damping or self.friction)

    @property
    def without_friction(self) -> Drivetrain:
        """The rotor's inertia alone."""
        return Drivetrain(self.armature)

    def reflected(self, multiplier: float) -> Drivetrain:
        """The same at a coordinate that moves the joint ``multiplier`` times as fast."""
        m = abs(multiplier)
        if m == 0:
            return Drivetrain()
        return Drivetrain(
            m * m * self.armature, m * m * self.damping, m * self.friction, self.width / m
        )


@dataclass(frozen=True, eq=False)
class Joint:
    """One joint and the body it moves.

    ``parent``    index of the joint that carries the parent body, -1 for the base; always smaller
                  than the joint's own index.
    ``placement`` joint frame in the parent body's frame at position 0.
    ``axis``      unit vector in the joint frame (meaningless for FIXED and FLOATING).
    ``body``      name of the moved link; ``inertia`` its inertia in the body frame.
    ``offset``    constant added to the position (only ``modified_dh`` sets it).
    ``link_frame`` pose, in the body frame, of the frame that the file gave the link: where
                  external forces are expressed. Identity until a rewrite moves the body frame.
    ``drivetrain`` of joints of one coordinate only.
    """

    name: str
    kind: JointKind
    parent: int
    placement: Transform
    body: str
    inertia: Inertia
    axis: Array = field(default_factory=lambda: frozen([0.0, 0.0, 1.0]))
    limits: Limits = Limits()
    mimic: Mimic | None = None
    offset: float = 0.0
    link_frame: Transform = field(default_factory=Transform)
    drivetrain: Drivetrain = Drivetrain()

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", frozen(self.axis))


@dataclass(frozen=True, eq=False)
class Frame:
    """A link that has become part of another's ``body``: its frame's ``pose`` in the frame that
    the file gave that one."""

    link: str
    body: str
    pose: Transform


@dataclass(frozen=True, eq=False)
class Robot:
    """A kinematic tree. ``joints`` are in depth-first order, children in file order.

    Vectors q (nq,), qd and tau (nv,) hold the free joints in that order; a mimic joint has no
    entry of its own. ``base_body`` and ``base_inertia`` describe the root link of a fixed base;
    ``merged`` the links that are no bodies any more.
    """

    name: str
    joints: tuple[Joint, ...]
    base_body: str = "base"
    base_inertia: Inertia = Inertia()
    gravity: Array = field(default_factory=lambda: frozen(EARTH))
    merged: tuple[Frame, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", frozen(self.gravity))
        object.__setattr__(self, "joints", tuple(self.joints))

    def with_joints(self, joints: list[Joint] | tuple[Joint, ...]) -> Robot:
        return replace(self, joints=tuple(joints))

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Indices of the joints that own entries of q: moving and not mimicking."""
        return tuple(i for i, j in enumerate(self.joints) if j.kind.nv and j.mimic is None)

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """Indices of the joints that are not fixed: the bodies that external forces act on."""
        return tuple(i for i, j in enumerate(self.joints) if j.kind.nv)

    @property
    def joint_names(self) -> list[str]:
        return [self.joints[i].name for i in self.free]

    @property
    def nq(self) -> int:
        return sum(self.joints[i].kind.nq for i in self.free)

    @property
    def nv(self) -> int:
        return sum(self.joints[i].kind.nv for i in self.free)

    @cached_property
    def q_slices(self) -> dict[int, slice]:
        """Joint index → its slice of q; a mimic joint has its master's."""
        return self._slices("nq")

    @cached_property
    def v_slices(self) -> dict[int, slice]:
        """Joint index → its slice of qd, qdd and tau; a mimic joint has its master's."""
        return self._slices("nv")

    def _slices(self, size: str) -> dict[int, slice]:
        slices: dict[int, slice] = {}
        start = 0
        for i in self.free:
            width = getattr(self.joints[i].kind, size)
            slices[i] = slice(start, start + width)
            start += width
        for i in self.moving:
            mimic = self.joints[i].mimic
            if mimic is not None:
                slices[i] = slices[mimic.joint]
        return slices

    @cached_property
    def children(self) -> dict[int, tuple[int, ...]]:
        """Joint index (or -1) → indices of the joints on its body."""
        found: dict[int, list[int]] = {i: [] for i in range(-1, len(self.joints))}
        for i, joint in enumerate(self.joints):
            found[joint.parent].append(i)
        return {i: tuple(c) for i, c in found.items()}

    @cached_property
    def depth(self) -> int:
        """Number of moving joints on the longest path from the base."""
        levels: list[int] = []
        for joint in self.joints:
            above = levels[joint.parent] if joint.parent >= 0 else 0
            levels.append(above + (1 if joint.kind.nv else 0))
        return max(levels, default=0)
