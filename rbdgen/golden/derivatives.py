"""First and second derivatives of dynamics, and those by inertial parameters.

Inverse dynamics is differentiated line by line: every vector of the recursive Newton-Euler
algorithm is carried with the matrices of its derivatives, one column for each coordinate of the
tree (Carpentier and Mansard, RSS 2018; Echeandia and Wensing, JMR 2021). The one rule about joints,
X(q ⊕ δ) = exp(−(S δ)×) X(q), gives, for a motion vector m and a force vector f held constant,

    ∂(X m)/∂q = (X m) × S            ∂(Xᵀ f)/∂q = Xᵀ (S ×* f) = Xᵀ (f ×̄*) S

Forward dynamics follows from the implicit function: ID(q, q̇, q̈) = τ.

Second derivatives are the gradients of ``rnea``, differentiated once more.

Every vector of the recursive Newton-Euler algorithm is carried with its derivatives, first and
second, by all coordinates of the state: q, q̇ and q̈ of the tree, in this order. The one rule about
joints, X(q ⊕ δ) = exp(-(S δ)×) X(q), gives for A_j m = m × S_j

    ∂_j (X m) = A_j X m        ∂_k ∂_j (X m) = A_j A_k X m        for m held constant,

and of Xᵀ the transposes. Singh, Russell and Wensing, "On second-order derivatives of rigid-body
dynamics: theory & implementation" (IEEE T-RO 2024), have closed forms of the same.

The regressor is the derivative of τ by the bodies' inertial parameters, in which τ is linear: the
force on each body, of an inertia that is one of ten units, is passed down to the base (Atkeson, An
and Hollerbach 1986).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Inertia, Robot
from . import tree
from .articulated import aba, minv
from .states import external_forces, in_chunks, positions, tangents
from .tree import (
    armatures,
    curvatures,
    force_cross,
    force_cross_swapped,
    motion_cross,
    slopes,
    transform_vector,
    transpose_times,
)


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


MOTION = motion_cross(np.eye(6))  # (6, 6, 6): v × m = Σ v_k MOTION[k] m
FORCE = force_cross(np.eye(6))  # v ×* f likewise


class SecondDerivatives(NamedTuple):
    """Second derivatives of τ, each (N, nv, nv, nv), the first index that of the torque i.

    ``d2tau_dq2``     ∂(∂τ_i/∂q_j)/∂q_k: symmetric in j and k, unless both are of one joint that
                      turns and slides, whose directions do not commute
    ``d2tau_dqd2``    ∂²τ_i/∂q̇_j ∂q̇_k: symmetric in j and k
    ``d2tau_dq_dqd``  ∂²τ_i/∂q_j ∂q̇_k
    ``dM_dq``         ∂M_ij/∂q_k = ∂²τ_i/∂q̈_j ∂q_k: symmetric in i and j
    """

    d2tau_dq2: Array
    d2tau_dqd2: Array
    d2tau_dq_dqd: Array
    dM_dq: Array


def rnea_second_derivatives(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, f_ext: ArrayLike | None = None
) -> SecondDerivatives:
    """Derivatives of ``rnea_derivatives`` at q (N, nq), qd (N, nv), qdd (N, nv).

    Those by q are in the tangent space, along ``integrate``. ``f_ext``, as for ``rnea``, stays
    constant in the link's frame. Raises ValueError on wrong shapes.
    """
    q = positions(robot, q)
    qd, qdd = tangents(robot, len(q), qd=qd, qdd=qdd)
    f_ext = external_forces(robot, len(q), f_ext)
    size = 3 * tree.tree_size(robot)
    numbers = 18 * (len(robot.joints) + 3) * size**2
    return SecondDerivatives(*in_chunks(_second_derivatives, robot, numbers, q, qd, qdd, f_ext))


@dataclass
class _Jet:
    """A vector (N, 6), its derivatives (N, 6, K) and second derivatives (N, 6, K, K).

    The last index is of the derivative that was taken last.
    """

    value: Array
    first: Array
    second: Array

    @classmethod
    def zero(cls, n: int, size: int) -> _Jet:
        return cls(np.zeros((n, 6)), np.zeros((n, 6, size)), np.zeros((n, 6, size, size)))

    def __add__(self, other: _Jet) -> _Jet:
        return _Jet(self.value + other.value, self.first + other.first, self.second + other.second)

    def times(self, A: Array) -> _Jet:
        """A m, of a constant A (6, 6) or (N, 6, 6)."""
        first = A @ self.first
        n, _, size = first.shape
        second = (A @ self.second.reshape(n, 6, -1)).reshape(n, 6, size, size)
        return _Jet((A @ self.value[..., None])[..., 0], first, second)

    def moved(self, generators: Array, own: slice) -> _Jet:
        """Y m of Y that is 1 here, and ∂_j Y = A_j Y of the coordinates ``own``: A (6, 6, …)."""
        value, first, second = self.value, self.first.copy(), self.second.copy()
        first[:, :, own] += np.einsum("abj,nb->naj", generators, value)
        second[:, :, :, own] += np.einsum("abk,nbj->najk", generators, self.first)
        second[:, :, own, :] += np.einsum("abj,nbk->najk", generators, first)
        return _Jet(value, first, second)

    def moved_back(self, generators: Array, own: slice) -> _Jet:
        """The same of ∂_j Y = Y A_j."""
        swapped = _Jet(self.value, self.first, self.second.swapaxes(2, 3))
        found = swapped.moved(generators, own)
        return _Jet(found.value, found.first, found.second.swapaxes(2, 3))


def _product(tensor: Array, u: _Jet, w: _Jet) -> _Jet:
    """Σ u_k tensor[k] w, of a bilinear form (6, 6, 6)."""
    U, W = (np.einsum("cab,nc...->nab...", tensor, x) for x in (u.value, u.first))
    mixed = np.einsum("nabj,nbk->najk", W, w.first)
    V = np.einsum("cab,nb->nac", tensor, w.value)
    n, size = len(w.value), w.first.shape[2]
    flat = (n, 6, size * size)
    second = U @ w.second.reshape(flat) + V @ u.second.reshape(flat)
    return _Jet(
        np.einsum("nab,nb->na", U, w.value),
        U @ w.first + V @ u.first,
        second.reshape(n, 6, size, size) + mixed + mixed.swapaxes(2, 3),
    )


def _second_derivatives(
    robot: Robot, q: Array, qd: Array, qdd: Array, f_ext: Array
) -> tuple[Array, ...]:
    G = tree.projection(robot)
    qd, qdd = qd @ G.T, qdd @ G.T
    own, S, inertia = tree.columns(robot), tree.subspaces(robot), tree.inertias(robot)
    X, given = tree.transforms(robot, q), tree.body_forces(robot, f_ext)
    n, size, slots = len(q), len(G), len(robot.joints) + 1
    v, a, f = ([_Jet.zero(n, 3 * size) for _ in range(slots)] for _ in range(3))
    hessian = np.zeros((n, size, 3 * size, 3 * size))
    a[-1].value += tree.base_acceleration(robot)
    # A_j m = m × S_j
    turning = [-np.einsum("kab,kj->abj", MOTION, axes) for axes in S]

    for i, joint in enumerate(robot.joints):
        at, up = own[i], joint.parent
        along = _Jet.zero(n, 3 * size)  # S q̇
        along.value += qd[:, at] @ S[i].T
        along.first[:, :, at.start + size : at.stop + size] += S[i]
        change = _Jet.zero(n, 3 * size)  # S q̈
        change.value += qdd[:, at] @ S[i].T
        change.first[:, :, at.start + 2 * size : at.stop + 2 * size] += S[i]
        # v = X v_λ + S q̇
        v[i] = v[up].times(X[i]).moved(turning[i], at) + along
        # a = X a_λ + S q̈ + v × S q̇
        a[i] = a[up].times(X[i]).moved(turning[i], at) + change + _product(MOTION, v[i], along)
        # f = I a + v ×* I v - f_ext
        f[i] = a[i].times(inertia[i]) + _product(FORCE, v[i], v[i].times(inertia[i]))
        f[i].value -= given[i]

    for i, joint in reversed(list(enumerate(robot.joints))):
        # τ = Sᵀ f
        hessian[:, own[i]] = np.einsum("aj,nakl->njkl", S[i], f[i].second)
        # f_λ += Xᵀ f
        turned = f[i].moved_back(turning[i].swapaxes(0, 1), own[i])
        f[joint.parent] = f[joint.parent] + turned.times(X[i].swapaxes(1, 2))
    by_q, by_qd, by_qdd = (slice(k * size, (k + 1) * size) for k in range(3))
    each = np.arange(size)
    hessian[:, each, each + size, each + size] += curvatures(robot, qd)
    blocks = (by_q, by_q), (by_qd, by_qd), (by_q, by_qd), (by_qdd, by_q)
    return tuple(
        np.einsum("nabc,ai,bj,ck->nijk", hessian[:, :, one, other], G, G, G, optimize=True)
        for one, other in blocks
    )


UNITS = ("m", "mx", "my", "mz", "xx", "xy", "yy", "xz", "yz", "zz")  # as toDynamicParameters has it


def joint_torque_regressor(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
    """Y (N, nv, 10 · bodies) of τ = Y π at q (N, nq), qd (N, nv), qdd (N, nv).

    π has, for each body of ``robot.moving``, in its link's frame, mass, first moment (3) and
    inertia about the frame's origin, xx, xy, yy, xz, yz, zz. τ is that of rigid bodies: rotors,
    damping, friction and external forces are no part of it. Raises ValueError on wrong shapes.
    """
    q = positions(robot, q)
    qd, qdd = tangents(robot, len(q), qd=qd, qdd=qdd)
    numbers = len(robot.joints) * (300 + 10 * tree.tree_size(robot))
    (Y,) = in_chunks(_regressor, robot, numbers, q, qd, qdd)
    return Y


def _regressor(robot: Robot, q: Array, qd: Array, qdd: Array) -> tuple[Array]:
    G = tree.projection(robot)
    qd, qdd = qd @ G.T, qdd @ G.T
    own, S, X = tree.columns(robot), tree.subspaces(robot), tree.transforms(robot, q)
    v, a = np.zeros((2, len(robot.joints) + 1, len(q), 6))
    a[-1] = tree.base_acceleration(robot)
    Y = np.zeros((len(q), len(G), len(robot.moving), len(UNITS)))
    for i, joint in enumerate(robot.joints):
        vJ = qd[:, own[i]] @ S[i].T
        v[i] = transform_vector(X[i], v[joint.parent]) + vJ
        aJ = qdd[:, own[i]] @ S[i].T + transform_vector(motion_cross(v[i]), vJ)
        a[i] = transform_vector(X[i], a[joint.parent]) + aJ
    for b, i in enumerate(robot.moving):
        frame = robot.joints[i].link_frame
        X_link = tree.motion_transform(frame.rotation, frame.translation)
        for p, unit in enumerate(UNITS):
            inertia = X_link.T @ _unit_inertia(unit) @ X_link
            # f = I a + v ×* I v
            f = a[i] @ inertia.T + transform_vector(force_cross(v[i]), v[i] @ inertia.T)
            j = i
            while j >= 0:
                # τ = Sᵀ f;  f_λ = Xᵀ f
                Y[:, own[j], b, p] = f @ S[j]
                f, j = transpose_times(X[j], f), robot.joints[j].parent
    return (G.T @ Y.reshape(len(q), len(G), -1),)


def _unit_inertia(name: str) -> Array:
    """I (6, 6) of a body whose parameter of this name is 1, all others 0."""
    h, J = np.zeros(3), np.zeros((3, 3))
    axes = ["xyz".index(letter) for letter in name.removeprefix("m")]
    if len(axes) == 1:
        h[axes] = 1.0
    elif axes:
        J[axes[0], axes[1]] = J[axes[1], axes[0]] = 1.0
    return tree.inertia_matrix(Inertia(float(name == "m"), h, J))
