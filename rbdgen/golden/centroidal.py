"""Centre of mass, energies and centroidal momentum, of all bodies that joints carry.

As Pinocchio has it: what is fixed to a fixed base is not counted, spatial quantities are at the
centre of mass, along the world's axes, linear part first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.frame_lookup import moves
from ..robot.model import Array, Robot
from . import tree
from .drivetrain import armatures
from .kinematics import velocities, world_poses
from .spatial import motion_transform
from .states import in_chunks, positions, tangents


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
    p, R = world_poses(robot, q)
    moments = [
        joint.inertia.mass * p[i] + R[i] @ joint.inertia.h
        for i, joint in enumerate(robot.joints)
        if moves(robot, i)
    ]
    return (np.sum(moments, axis=0).reshape(len(q), 3) / mass_of(robot),)


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
