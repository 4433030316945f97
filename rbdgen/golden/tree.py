"""Trees of joints: spatial vectors, motions of joints, drivetrains and payloads.

Rotors' inertias, damping and friction are of each coordinate of the tree; see ``Drivetrain``. Each
state of a batch may have a payload of its own.

Spatial vectors are dense arrays (Featherstone, RBDA chapter 2).

A motion vector is (angular; linear), a force vector (moment; force), both (6,). Every function
takes any number of leading batch axes and returns as many.

Every moving joint of the tree has coordinates of its own, mimic joints too.

The algorithms run on these tree coordinates. The robot's own, fewer ones follow by projection:
q̇_tree = G q̇, so by virtual work τ = Gᵀ τ_tree, M = Gᵀ M_tree G, and for every gradient likewise.
Without mimic joints G is the identity.

Quantities per body are kept in arrays with one slot more than there are joints: the last one is
the base, which index −1, the base's number as a parent, finds.

All five kinds of joints move in a subgroup of SE(3), so the motion subspace S is constant in the
body frame and the joint's transform follows X(q ⊕ δ) = exp(−(S δ)×) X(q): the one fact about joints
that the derivatives use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..robot.model import Array, Inertia, Joint, JointKind, Robot
from ..robot.variations import carrying


def armatures(robot: Robot) -> Array:
    """The rotor inertias on the diagonal of the tree's M (tree size,)."""
    return coefficients(robot)[0]


def efforts(robot: Robot, qd: Array) -> Array:
    """The efforts of damping and friction (N, tree size) at the tree's q̇ (N, tree size)."""
    _, d, c, w = coefficients(robot)
    x = np.clip(qd / w, -1.0, 1.0)
    # d q̇ + c s(q̇ / w),  s(x) = (3 x − x³) / 2
    return np.asarray(d * qd + c * x * (3 - x**2) / 2)


def slopes(robot: Robot, qd: Array) -> Array:
    """The derivative (N, tree size) of ``efforts`` by the velocity of the same coordinate."""
    _, d, c, w = coefficients(robot)
    x = np.clip(qd / w, -1.0, 1.0)
    return np.asarray(d + 1.5 * c / w * (1 - x**2))


def curvatures(robot: Robot, qd: Array) -> Array:
    """The derivative (N, tree size) of ``slopes``: zero from the width of friction on."""
    _, _, c, w = coefficients(robot)
    x = qd / w
    return np.asarray(np.where(np.abs(x) < 1.0, -3.0 * c / w**2 * x, 0.0))


def coefficients(robot: Robot) -> Array:
    """Armature, damping, friction and its width (4, tree size)."""
    numbers = np.zeros((4, tree_size(robot)))
    numbers[3] = 1.0
    for joint, own in zip(robot.joints, columns(robot), strict=True):
        if joint.kind.nv == 1:
            gears = joint.drivetrain
            numbers[:, own.start] = gears.armature, gears.damping, gears.friction, gears.width
    return numbers


def by_payload(payload: Array) -> Iterator[tuple[Array, NDArray[np.intp]]]:
    """Each payload (10,) that there is in a batch (N, 10), and which states have it."""
    kinds, which = np.unique(payload, axis=0, return_inverse=True)
    for k, own in enumerate(kinds):
        yield own, np.flatnonzero(which.reshape(-1) == k)


def for_each_payload(
    function: Callable[..., Array], robot: Robot, link: str, payload: Array, *arrays: Array
) -> Array:
    """``function(robot, *arrays)`` (N, …), each state with its payload (N, 10) on ``link``.

    States of the same payload are computed together.
    """
    if not len(payload):
        return function(robot, *arrays)
    parts = list(by_payload(payload))
    values = [
        function(carrying(robot, link, own), *(array[rows] for array in arrays))
        for own, rows in parts
    ]
    found = np.empty((len(payload), *values[0].shape[1:]))
    found[np.concatenate([rows for _, rows in parts])] = np.concatenate(values)
    return found


def cross_matrix(v: Array) -> Array:
    """v̂ (..., 3, 3), the matrix of ``v ×``, for v (..., 3)."""
    x, y, z = np.moveaxis(v, -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def motion_transform(R: Array, p: Array) -> Array:
    """X (..., 6, 6): motion vectors from parent to child coordinates (RBDA eq. 2.24).

    R (..., 3, 3), p (..., 3) is the child's pose in its parent, x_parent = R x_child + p. Force
    vectors go back with the transpose: f_parent = Xᵀ f_child.
    """
    E = np.swapaxes(R, -1, -2)
    X = np.zeros((*E.shape[:-2], 6, 6))
    # X = [  E      0 ]
    #     [ −E p̂    E ]
    X[..., :3, :3] = X[..., 3:, 3:] = E
    X[..., 3:, :3] = -E @ cross_matrix(p)
    return X


def motion_cross(v: Array) -> Array:
    """v× (..., 6, 6): ``(v×) m`` is the rate of a motion vector m carried by v (RBDA eq. 2.31)."""
    w = cross_matrix(v[..., :3])
    result = np.zeros((*v.shape[:-1], 6, 6))
    # v× = [ ŵ   0 ]
    #      [ û   ŵ ]
    result[..., :3, :3] = result[..., 3:, 3:] = w
    result[..., 3:, :3] = cross_matrix(v[..., 3:])
    return result


def force_cross(v: Array) -> Array:
    """v×* (..., 6, 6) = −(v×)ᵀ: the same for a force vector (RBDA eq. 2.32)."""
    return -np.swapaxes(motion_cross(v), -1, -2)


def force_cross_swapped(f: Array) -> Array:
    """f×̄* (..., 6, 6): ``(f×̄*) v = v ×* f``, the product seen as linear in v.

    Singh, Russell and Wensing, RA-L 2022, §II.
    """
    n = cross_matrix(f[..., :3])
    p = cross_matrix(f[..., 3:])
    result = np.zeros((*f.shape[:-1], 6, 6))
    # w × n + u × p and w × p, with v = (w; u):  [ −n̂  −p̂ ]
    #                                            [ −p̂   0 ]
    result[..., :3, :3] = -n
    result[..., :3, 3:] = result[..., 3:, :3] = -p
    return result


def inertia_matrix(inertia: Inertia) -> Array:
    """I (6, 6), momentum from velocity, about the body frame's origin (RBDA eq. 2.63)."""
    h = cross_matrix(inertia.h)
    # I = [ J    ĥ  ]
    #     [ ĥᵀ   m1 ]
    return np.block([[inertia.J, h], [h.T, inertia.mass * np.eye(3)]])


def transform_vector(A: Array, v: Array) -> Array:
    """A v (..., n) for A (..., n, m), v (..., m): a matrix for every vector of the batch."""
    return np.einsum("...ij,...j->...i", A, v)


def transpose_times(A: Array, v: Array) -> Array:
    """Aᵀ v (..., m) for A (..., n, m), v (..., n)."""
    return np.einsum("...ji,...j->...i", A, v)


def columns(robot: Robot) -> list[slice]:
    """Per joint its slice of the tree's velocity vector; empty for a fixed joint."""
    ends = np.cumsum([0, *(joint.kind.nv for joint in robot.joints)]).tolist()
    return [slice(start, end) for start, end in pairwise(ends)]


def tree_size(robot: Robot) -> int:
    """Length of the tree's velocity vector."""
    return sum(joint.kind.nv for joint in robot.joints)


def projection(robot: Robot) -> Array:
    """G (tree size, nv): ``q̇_tree = G q̇``."""
    G = np.zeros((tree_size(robot), robot.nv))
    own = columns(robot)
    for i in robot.moving:
        mimic = robot.joints[i].mimic
        G[own[i], robot.v_slices[i]] = (
            mimic.multiplier if mimic else np.eye(robot.joints[i].kind.nv)
        )
    return G


def position(robot: Robot, i: int, q: Array) -> Array:
    """The position (N, nq) of joint ``i``, with offsets and mimicry, from q (N, nq of robot)."""
    joint = robot.joints[i]
    if not joint.kind.nq:
        return np.zeros((len(q), 0))
    own = q[:, robot.q_slices[i]]
    if joint.mimic:
        own = joint.mimic.multiplier * own + joint.mimic.offset
    return own + joint.offset if joint.offset else own


def transforms(robot: Robot, q: Array) -> list[Array]:
    """Per joint X (N, 6, 6), motion vectors from the parent body's to the body's frame."""
    result = []
    for i, joint in enumerate(robot.joints):
        X_tree = motion_transform(joint.placement.rotation, joint.placement.translation)
        X_joint = motion_transform(*joint_pose(joint, position(robot, i, q)))
        result.append(X_joint @ X_tree)
    return result


def subspaces(robot: Robot) -> list[Array]:
    """Per joint S (6, nv)."""
    return [motion_subspace(joint) for joint in robot.joints]


def inertias(robot: Robot) -> list[Array]:
    """Per joint the inertia (6, 6) of its body."""
    return [inertia_matrix(joint.inertia) for joint in robot.joints]


def body_forces(robot: Robot, f_ext: Array) -> Array:
    """External force (joints, N, 6) on every joint's body, moment first, in the body frame.

    ``f_ext`` (N, moving, 6) is force first, in the frame that the file gave the link.
    """
    forces = np.zeros((len(robot.joints), len(f_ext), 6))
    for k, i in enumerate(robot.moving):
        frame = robot.joints[i].link_frame
        X_link = motion_transform(frame.rotation, frame.translation)
        # f_body = Xᵀ f_link
        forces[i] = np.roll(f_ext[:, k], 3, axis=-1) @ X_link
    return forces


def base_acceleration(robot: Robot) -> Array:
    """−g as a spatial acceleration (6,) of the base: weight comes with every body's inertia."""
    return np.concatenate([np.zeros(3), -robot.gravity])


def motion_subspace(joint: Joint) -> Array:
    """S (6, nv): body velocity relative to the parent is S q̇, in the body frame."""
    S = np.zeros((6, joint.kind.nv))
    match joint.kind:
        case JointKind.REVOLUTE:
            S[:3, 0] = joint.axis
        case JointKind.PRISMATIC:
            S[3:, 0] = joint.axis
        case JointKind.FLOATING:  # the user's twist has its linear part first
            S[3:, :3] = S[:3, 3:] = np.eye(3)
        case JointKind.PLANAR:
            F = plane_frame(joint.axis)
            S[3:, :2] = F[:, :2]
            S[:3, 2] = F[:, 2]
        case JointKind.FIXED:
            pass
    return S


def joint_pose(joint: Joint, position: Array) -> tuple[Array, Array]:
    """Pose (N, 3, 3), (N, 3) of the body in the joint frame at ``position`` (N, nq)."""
    n = len(position)
    R, p = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
    match joint.kind:
        case JointKind.REVOLUTE:
            R = turn(joint.axis, np.cos(position[:, 0]), np.sin(position[:, 0]))
        case JointKind.PRISMATIC:
            p = position * joint.axis
        case JointKind.FLOATING:
            R, p = quaternion_matrix(position[:, 3:]), position[:, :3]
        case JointKind.PLANAR:
            F = plane_frame(joint.axis)
            R, p = turn(joint.axis, position[:, 2], position[:, 3]), position[:, :2] @ F[:, :2].T
        case JointKind.FIXED:
            pass
    return R, p


def turn(axis: Array, cosine: Array, sine: Array) -> Array:
    """Rotation (N, 3, 3) about the unit vector ``axis`` by angles given as cosine, sine (N,)."""
    c, s = cosine[:, None, None], sine[:, None, None]
    # R = c 1 + s û + (1 − c) u uᵀ                                          (Rodrigues)
    return c * np.eye(3) + s * cross_matrix(axis) + (1 - c) * np.outer(axis, axis)


def quaternion_matrix(quaternion: Array) -> Array:
    """Rotation (N, 3, 3) of unit quaternions (N, 4) in the order x, y, z, w."""
    v = cross_matrix(quaternion[:, :3])
    w = quaternion[:, 3, None, None]
    # R = 1 + 2 w v̂ + 2 v̂²
    return np.eye(3) + 2 * w * v + 2 * v @ v


def plane_frame(normal: Array) -> Array:
    """F (3, 3): in-plane x, in-plane y and normal of a planar joint, as columns.

    F is the rotation by the smallest angle that takes z to the unit vector ``normal`` (half a turn
    about x when ``normal`` is −z), so a planar joint with axis z is Pinocchio's JointModelPlanar
    and any other one is that joint seen from a frame turned by F.
    """
    x, y, z = normal
    if z < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    # R = 1 + û + û² / (1 + z),  u = e_z × normal = (−y, x, 0)
    u = cross_matrix(np.array([-y, x, 0.0]))
    return np.eye(3) + u + u @ u / (1 + z)
