"""Second derivatives of inverse dynamics: the gradients of ``rnea``, differentiated once more.

Every vector of the recursive Newton-Euler algorithm is carried with its derivatives, first and
second, by all coordinates of the state: q, q̇ and q̈ of the tree, in this order. The one rule about
joints, X(q ⊕ δ) = exp(-(S δ)×) X(q), gives for A_j m = m × S_j

    ∂_j (X m) = A_j X m        ∂_k ∂_j (X m) = A_j A_k X m        for m held constant,

and of Xᵀ the transposes. Singh, Russell and Wensing, "On second-order derivatives of rigid-body
dynamics: theory & implementation" (IEEE T-RO 2024), have closed forms of the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot
from . import tree
from .drivetrain import curvatures
from .spatial import force_cross, motion_cross
from .states import external_forces, in_chunks, positions, tangents

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
