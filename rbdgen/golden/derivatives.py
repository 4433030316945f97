"""Gradients of inverse and forward dynamics.

Inverse dynamics is differentiated line by line: every vector of the recursive Newton-Euler
algorithm is carried with the matrices of its derivatives, one column for each coordinate of the
tree (Carpentier and Mansard, RSS 2018; Echeandia and Wensing, JMR 2021). The one rule about joints,
X(q ⊕ δ) = exp(−(S δ)×) X(q), gives, for a motion vector m and a force vector f held constant,

    ∂(X m)/∂q = (X m) × S            ∂(Xᵀ f)/∂q = Xᵀ (S ×* f) = Xᵀ (f ×̄*) S

Forward dynamics follows from the implicit function: ID(q, q̇, q̈) = τ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot
from . import tree
from .articulated import aba, minv
from .drivetrain import armatures, slopes
from .spatial import (
    force_cross,
    force_cross_swapped,
    motion_cross,
    transform_vector,
    transpose_times,
)
from .states import external_forces, in_chunks, positions, tangents


class InverseDerivatives(NamedTuple):
    """Each (N, nv, nv), a row for each torque: ∂τ/∂q, ∂τ/∂q̇ and M = ∂τ/∂q̈."""

    dtau_dq: Array
    dtau_dqd: Array
    M: Array


class ForwardDerivatives(NamedTuple):
    """Each (N, nv, nv), a row for each acceleration: ∂q̈/∂q, ∂q̈/∂q̇ and M⁻¹ = ∂q̈/∂τ."""

    dqdd_dq: Array
    dqdd_dqd: Array
    Minv: Array


def rnea_derivatives(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, f_ext: ArrayLike | None = None
) -> InverseDerivatives:
    """Gradient of ``rnea`` at q (N, nq), qd (N, nv), qdd (N, nv).

    ∂/∂q is in the tangent space, along ``integrate``. ``f_ext``, as for ``rnea``, stays constant
    in the link's frame. Raises ValueError on wrong shapes.
    """
    q = positions(robot, q)
    qd, qdd = tangents(robot, len(q), qd=qd, qdd=qdd)
    f_ext = external_forces(robot, len(q), f_ext)
    size = tree.tree_size(robot)
    numbers = len(robot.joints) * (400 + 36 * size) + 6 * size**2
    return InverseDerivatives(*in_chunks(_rnea_derivatives, robot, numbers, q, qd, qdd, f_ext))


def aba_derivatives(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None
) -> ForwardDerivatives:
    """Gradient of ``aba`` at q (N, nq), qd (N, nv), tau (N, nv); conventions as above.

    Raises ValueError on wrong shapes, RobotError where the mass matrix is singular.
    """
    qdd = aba(robot, q, qd, tau, f_ext)
    dtau_dq, dtau_dqd, _ = rnea_derivatives(robot, q, qd, qdd, f_ext)
    # 0 = ∂ID/∂x + M ∂q̈/∂x
    Minv = minv(robot, q)
    return ForwardDerivatives(-Minv @ dtau_dq, -Minv @ dtau_dqd, Minv)


def _rnea_derivatives(
    robot: Robot, q: Array, qd: Array, qdd: Array, f_ext: Array
) -> tuple[Array, Array, Array]:
    G = tree.projection(robot)
    qd, qdd = qd @ G.T, qdd @ G.T
    own, S, inertia = tree.columns(robot), tree.subspaces(robot), tree.inertias(robot)
    X = tree.transforms(robot, q)
    n, size, slots = len(q), len(G), len(robot.joints) + 1
    v, a, f = np.zeros((3, slots, n, 6))
    # The body Jacobian J = ∂v/∂q̇ = ∂a/∂q̈, and the three derivatives of f, by column.
    J, dv_dq, da_dq, da_dqd, df_dq, df_dqd, df_dqdd = np.zeros((7, slots, n, 6, size))
    dtau_dq, dtau_dqd, M = np.zeros((3, n, size, size))
    a[-1] = tree.base_acceleration(robot)

    for i, joint in enumerate(robot.joints):
        at, up = own[i], joint.parent
        # v = X v_λ + S q̇
        vJ = qd[:, at] @ S[i].T
        Xv = transform_vector(X[i], v[up])
        v[i] = Xv + vJ
        J[i] = X[i] @ J[up]
        J[i, :, :, at] += S[i]
        dv_dq[i] = X[i] @ dv_dq[up]
        dv_dq[i, :, :, at] += motion_cross(Xv) @ S[i]
        # a = X a_λ + S q̈ + v × S q̇
        Xa = transform_vector(X[i], a[up])
        a[i] = Xa + qdd[:, at] @ S[i].T + transform_vector(motion_cross(v[i]), vJ)
        da_dq[i] = X[i] @ da_dq[up] - motion_cross(vJ) @ dv_dq[i]
        da_dq[i, :, :, at] += motion_cross(Xa) @ S[i]
        da_dqd[i] = X[i] @ da_dqd[up] - motion_cross(vJ) @ J[i]
        da_dqd[i, :, :, at] += motion_cross(v[i]) @ S[i]
        # f = I a + v ×* I v − f_ext;  ∂f/∂v = v ×* I + (I v) ×̄*
        h = v[i] @ inertia[i].T
        f[i] = a[i] @ inertia[i].T + transform_vector(force_cross(v[i]), h)
        df_dv = force_cross(v[i]) @ inertia[i] + force_cross_swapped(h)
        df_dq[i] = inertia[i] @ da_dq[i] + df_dv @ dv_dq[i]
        df_dqd[i] = inertia[i] @ da_dqd[i] + df_dv @ J[i]
        df_dqdd[i] = inertia[i] @ J[i]
    f[:-1] -= tree.body_forces(robot, f_ext)

    for i, joint in reversed(list(enumerate(robot.joints))):
        at, up = own[i], joint.parent
        # τ = Sᵀ f
        dtau_dq[:, at] = S[i].T @ df_dq[i]
        dtau_dqd[:, at] = S[i].T @ df_dqd[i]
        M[:, at] = S[i].T @ df_dqdd[i]
        # f_λ += Xᵀ f
        XT = X[i].swapaxes(1, 2)
        df_dq[i, :, :, at] += force_cross_swapped(f[i]) @ S[i]
        f[up] += transpose_times(X[i], f[i])
        df_dq[up] += XT @ df_dq[i]
        df_dqd[up] += XT @ df_dqd[i]
        df_dqdd[up] += XT @ df_dqdd[i]
    each = np.arange(size)
    dtau_dqd[:, each, each] += slopes(robot, qd)
    M[:, each, each] += armatures(robot)
    return G.T @ dtau_dq @ G, G.T @ dtau_dqd @ G, G.T @ M @ G
