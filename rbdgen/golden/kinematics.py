"""Where named frames are and how they move, linear part first.

Velocities, Jacobians and accelerations are in one of `REFERENCES`, as Pinocchio names them:
``local``, the frame's own axes and origin; ``world``, spatial vectors about the world's origin;
``local-world-aligned``, the frame's origin along the world's axes. In each of them the velocity is
J q̇, and its derivative J q̈ + J̇ q̇: a spatial acceleration in the first two, and in the last that
of a point (classical).

Centre of mass, energies and centroidal momentum, of all bodies that joints carry.

As Pinocchio has it: what is fixed to a fixed base is not counted, spatial quantities are at the
centre of mass, along the world's axes, linear part first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.frames import ALIGNED, LOCAL, WORLD, frame_of, moves
from ..robot.model import Array, Robot, RobotError
from ..robot.xml_lines import quoted
from . import tree
from .states import in_chunks, positions, tangents
from .tree import armatures, joint_pose, motion_cross, motion_transform, transform_vector


class Poses(NamedTuple):
    """Positions p (N, F, 3) [m] and rotations R (N, F, 3, 3), x_world = R x_frame + p."""

    p: Array
    R: Array


def frame_poses(robot: Robot, q: ArrayLike, links: Sequence[str]) -> Poses:
    """The poses of F links' frames at q (N, nq); RobotError where no joint moves such a link."""
    q = positions(robot, q)
    numbers = 20 * (len(robot.joints) + len(links))
    return Poses(*in_chunks(lambda robot, q: _frames(robot, q, links), robot, numbers, q))


def frame_jacobians(
    robot: Robot, q: ArrayLike, links: Sequence[str], reference: str = ALIGNED
) -> Array:
    """J (N, F, 6, nv): the frames' velocities are J q̇."""
    q = positions(robot, q)

    def kernel(robot: Robot, q: Array) -> tuple[Array]:
        p, R = world_poses(robot, q)
        places, axes = _referred(*_frames(robot, q, links), reference)
        G, own, S = tree.projection(robot), tree.columns(robot), tree.subspaces(robot)
        J = np.zeros((len(q), len(links), 6, len(G)))
        for f, link in enumerate(links):
            i, _ = frame_of(robot, link)
            while i >= 0:
                # from the body's frame to that of reference
                turned = R[i].swapaxes(1, 2) @ axes[:, f]
                J[:, f, :, own[i]] = (
                    motion_transform(turned, _times(R[i], places[:, f] - p[i])) @ S[i]
                )
                i = robot.joints[i].parent
        return (np.roll(J @ G, 3, axis=2),)

    numbers = len(links) * 12 * (tree.tree_size(robot) + 6) + 60 * len(robot.joints)
    (J,) = in_chunks(kernel, robot, numbers, q)
    return J


def frame_velocities(
    robot: Robot, q: ArrayLike, qd: ArrayLike, links: Sequence[str], reference: str = ALIGNED
) -> Array:
    """Twists (N, F, 6), linear then angular [m/s; rad/s]."""
    return _motions(robot, q, qd, links, reference)[0]


def frame_drifts(
    robot: Robot, q: ArrayLike, qd: ArrayLike, links: Sequence[str], reference: str = ALIGNED
) -> Array:
    """J̇ q̇ (N, F, 6): the frames' accelerations where q̈ = 0 [m/s²; rad/s²]."""
    return _motions(robot, q, qd, links, reference)[1]


def world_poses(robot: Robot, q: Array) -> tuple[Array, Array]:
    """p (joints, N, 3) and R (joints, N, 3, 3) of every body's frame in the world."""
    p, R = (
        np.zeros((len(robot.joints) + 1, len(q), 3)),
        np.zeros((len(robot.joints) + 1, len(q), 3, 3)),
    )
    R[-1] = np.eye(3)
    for i, joint in enumerate(robot.joints):
        turned, slid = joint_pose(joint, tree.position(robot, i, q))
        at = joint.placement.rotation @ slid[..., None] + joint.placement.translation[:, None]
        p[i] = p[joint.parent] + transform_vector(R[joint.parent], at[..., 0])
        R[i] = R[joint.parent] @ joint.placement.rotation @ turned
    return p[:-1], R[:-1]


def velocities(robot: Robot, q: Array, qd: Array) -> Array:
    """Spatial velocities (joints, N, 6) of all bodies in their own frames, angular part first."""
    return _spatial(robot, q, qd)[0]


def _spatial(robot: Robot, q: Array, qd: Array) -> tuple[Array, Array]:
    """The bodies' velocities, and their accelerations without q̈ and gravity."""
    rates, own, S = qd @ tree.projection(robot).T, tree.columns(robot), tree.subspaces(robot)
    X = tree.transforms(robot, q)
    v, a = np.zeros((2, len(robot.joints) + 1, len(q), 6))
    for i, joint in enumerate(robot.joints):
        vJ = rates[:, own[i]] @ S[i].T
        v[i] = transform_vector(X[i], v[joint.parent]) + vJ
        a[i] = transform_vector(X[i], a[joint.parent]) + transform_vector(motion_cross(v[i]), vJ)
    return v[:-1], a[:-1]


def _motions(
    robot: Robot, q: ArrayLike, qd: ArrayLike, links: Sequence[str], reference: str
) -> tuple[Array, Array]:
    q = positions(robot, q)
    (qd,) = tangents(robot, len(q), qd=qd)

    def kernel(robot: Robot, q: Array, qd: Array) -> tuple[Array, Array]:
        v, a = _spatial(robot, q, qd)
        places, R = _frames(robot, q, links)
        found = np.zeros((2, len(q), len(links), 6))
        for f, link in enumerate(links):
            i, pose = frame_of(robot, link)
            X = motion_transform(pose.rotation, pose.translation)
            twist, change = v[i] @ X.T, a[i] @ X.T
            if reference == ALIGNED:  # of the point: what is spatial, and ω × v
                change[:, 3:] += np.cross(twist[:, :3], twist[:, 3:])
            for k, own in enumerate((twist, change)):
                angular, linear = own[:, :3], own[:, 3:]
                if reference != LOCAL:
                    linear, angular = (transform_vector(R[:, f], x) for x in (linear, angular))
                if reference == WORLD:
                    linear = linear + np.cross(places[:, f], angular)
                found[k, :, f] = np.hstack([linear, angular])
        return found[0], found[1]

    twists, drifts = in_chunks(kernel, robot, 100 * (len(robot.joints) + len(links)), q, qd)
    return twists, drifts


def _referred(places: Array, turned: Array, reference: str) -> tuple[Array, Array]:
    """Origin (N, F, 3) and axes (N, F, 3, 3) in the world of the frames of reference of frames."""
    if reference == LOCAL:
        return places, turned
    upright = np.broadcast_to(np.eye(3), turned.shape)
    return (np.zeros_like(places) if reference == WORLD else places), upright


def _frames(robot: Robot, q: Array, links: Sequence[str]) -> tuple[Array, Array]:
    p, R = world_poses(robot, q)
    places, turned = np.zeros((len(q), len(links), 3)), np.zeros((len(q), len(links), 3, 3))
    for f, link in enumerate(links):
        i, pose = frame_of(robot, link)
        places[:, f] = p[i] + R[i] @ pose.translation
        turned[:, f] = R[i] @ pose.rotation
    return places, turned


def _times(R: Array, x: Array) -> Array:
    """Rᵀ x."""
    return np.einsum("nji,nj->ni", R, x)


class Energies(NamedTuple):
    """Kinetic and potential energy (N,) [J]; the latter is -m g·c."""

    kinetic: Array
    potential: Array


def mass_of(robot: Robot) -> float:
    """The mass of all bodies that joints carry [kg]."""
    return sum(joint.inertia.mass for i, joint in enumerate(robot.joints) if moves(robot, i))


def center_of_mass(robot: Robot, q: ArrayLike) -> Array:
    """c (N, 3) [m] at q (N, nq)."""
    q = positions(robot, q)
    (c,) = in_chunks(_center, robot, 30 * len(robot.joints), q)
    return c


def subtree_centers(robot: Robot, q: ArrayLike, links: Sequence[str]) -> Array:
    """Centres of mass (N, F, 3) [m] of all that the joint moves that moves each of F links.

    RobotError where that has no mass.
    """
    q = positions(robot, q)
    joints = [_carrier(robot, frame_of(robot, link)[0]) for link in links]
    members = [[i for i in range(len(robot.joints)) if _hangs(robot, i, on)] for on in joints]
    for link, own in zip(links, members, strict=True):
        if not sum(robot.joints[i].inertia.mass for i in own) > 0:
            raise RobotError(f"{robot.name}: frames: {quoted(link)} and what it carries weigh 0")

    def kernel(robot: Robot, q: Array) -> tuple[Array]:
        return (np.stack([_center_of(robot, q, own) for own in members], axis=1),)

    numbers = 30 * (len(robot.joints) + sum(map(len, members)))
    (centers,) = in_chunks(kernel, robot, numbers, q)
    return centers


def center_of_mass_jacobian(robot: Robot, q: ArrayLike) -> Array:
    """J (N, 3, nv): the centre of mass moves with J q̇. Linear momentum is mass times that."""
    return centroidal_map(robot, q)[:, :3] / mass_of(robot)


def centroidal_map(robot: Robot, q: ArrayLike) -> Array:
    """A (N, 6, nv): momentum about the centre of mass is A q̇ (Orin, Goswami and Lee 2013)."""
    q = positions(robot, q)
    size = tree.tree_size(robot)
    (A,) = in_chunks(_map, robot, 60 * len(robot.joints) + 12 * size * len(robot.joints), q)
    return A


def centroidal_momentum(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """h (N, 6) [kg m/s; kg m²/s]."""
    q = positions(robot, q)
    (qd,) = tangents(robot, len(q), qd=qd)

    def kernel(robot: Robot, q: Array, qd: Array) -> tuple[Array]:
        (c,), (p, R) = _center(robot, q), world_poses(robot, q)
        h = np.zeros((len(q), 6))
        for i, v in enumerate(velocities(robot, q, qd)):
            own = v @ tree.inertias(robot)[i].T
            h += np.einsum("nji,nj->ni", _from_center(R[i], p[i] - c), own)
        return (np.roll(h, 3, axis=1),)

    (h,) = in_chunks(kernel, robot, 120 * len(robot.joints), q, qd)
    return h


def energies(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Energies:
    """½ Σ vᵀ I v, rotors' ½ a q̇², and -m g·c."""
    q = positions(robot, q)
    (qd,) = tangents(robot, len(q), qd=qd)

    def kernel(robot: Robot, q: Array, qd: Array) -> tuple[Array]:
        kinetic = np.zeros(len(q))
        for v, inertia in zip(velocities(robot, q, qd), tree.inertias(robot), strict=True):
            kinetic += 0.5 * np.einsum("ni,ij,nj->n", v, inertia, v)
        rates = qd @ tree.projection(robot).T
        return (kinetic + 0.5 * rates**2 @ armatures(robot),)

    (kinetic,) = in_chunks(kernel, robot, 120 * len(robot.joints), q, qd)
    return Energies(kinetic, -mass_of(robot) * center_of_mass(robot, q) @ robot.gravity)


def _center(robot: Robot, q: Array) -> tuple[Array]:
    return (_center_of(robot, q, [i for i in range(len(robot.joints)) if moves(robot, i)]),)


def _center_of(robot: Robot, q: Array, joints: Sequence[int]) -> Array:
    """The centre of mass (N, 3) of some joints' bodies."""
    p, R = world_poses(robot, q)
    bodies = [(robot.joints[i].inertia, i) for i in joints]
    moments = [own.mass * p[i] + R[i] @ own.h for own, i in bodies]
    return np.sum(moments, axis=0).reshape(len(q), 3) / sum(own.mass for own, _ in bodies)


def _carrier(robot: Robot, i: int) -> int:
    """The joint that moves body ``i``."""
    while not robot.joints[i].kind.nv:
        i = robot.joints[i].parent
    return i


def _hangs(robot: Robot, i: int, on: int) -> bool:
    """Whether joint ``on`` moves body ``i``."""
    while i > on:
        i = robot.joints[i].parent
    return i == on


def _map(robot: Robot, q: Array) -> tuple[Array]:
    (c,), (p, R) = _center(robot, q), world_poses(robot, q)
    G, own, S = tree.projection(robot), tree.columns(robot), tree.subspaces(robot)
    X, inertias = tree.transforms(robot, q), tree.inertias(robot)
    A = np.zeros((len(q), 6, len(G)))
    for i in range(len(robot.joints)):
        # I_i J_i, column by column, to the centre of mass
        to_center = _from_center(R[i], p[i] - c).swapaxes(1, 2) @ inertias[i]
        j, carried = i, np.broadcast_to(np.eye(6), (len(q), 6, 6))
        while j >= 0:
            A[:, :, own[j]] += to_center @ carried @ S[j]
            carried = carried @ X[j]
            j = robot.joints[j].parent
    return (np.roll(A @ G, 3, axis=1),)


def _from_center(R: Array, r: Array) -> Array:
    """X (N, 6, 6), motion from the centre of mass to a frame that lies at ``r`` from it."""
    return motion_transform(R, r)
