"""Spatial algebra of many links and states at once, on JAX's arrays and on arrays of graph nodes.

Arrays have links first and states last: vectors (…, 3, N), matrices (…, 3, 3, N). Motion vectors
are (angular; linear), forces (moment; force), as in ``rbdgen.golden``. Products are spelt out, so
that every operation works on whole rows of states; arrays of graph nodes have one state.
"""

from __future__ import annotations

from typing import Any

Array = Any  # a JAX array, or a NumPy array of graph nodes and numbers


def mm(A: Array, B: Array) -> Array:
    """A B (…, i, k, N)."""
    return (A[..., :, :, None, :] * B[..., None, :, :, :]).sum(-3)


def mv(A: Array, x: Array) -> Array:
    """A x (…, i, N)."""
    return (A * x[..., None, :, :]).sum(-2)


def apart(xp: Any, x: Any) -> Any:
    """``x``, which JAX is to compute before what reads it.

    Its compiler would put all that led to ``x`` into each of its readers, which takes it longer,
    and computes the same again and again.
    """
    return xp.apart(x) if hasattr(xp, "apart") else x


def identity(xp: Any, k: int, like: Array) -> Array:
    """1 (k, k, 1), of the kind of number that ``like`` has."""
    return xp.eye(k, dtype=like.dtype)[..., None]


def transposed(A: Array) -> Array:
    return A.swapaxes(-3, -2)


def cross(xp: Any, a: Array, b: Array) -> Array:
    (a0, a1, a2), (b0, b1, b2) = (tuple(v[..., k, :] for k in range(3)) for v in (a, b))
    return xp.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], -2)


def hat(xp: Any, p: Array) -> Array:
    """p̂ (…, 3, 3, N), the matrix of ``p ×``."""
    x, y, z = (p[..., k, :] for k in range(3))
    o = 0 * x
    rows = [[o, -z, y], [z, o, -x], [-y, x, o]]
    return xp.stack([xp.stack(row, -2) for row in rows], -3)


def act(xp: Any, R: Array, p: Array, V: Array) -> Array:
    """A motion vector of a frame, seen from that in which the frame's pose is (R, p)."""
    w = mv(R, V[..., :3, :])
    return xp.concatenate([w, mv(R, V[..., 3:, :]) + cross(xp, p, w)], -2)


def act_columns(xp: Any, R: Array, p: Array, S: Array) -> Array:
    """The same of the columns of S (…, 6, k, N)."""
    w = mm(R, S[..., :3, :, :])
    return xp.concatenate([w, mm(R, S[..., 3:, :, :]) + mm(hat(xp, p), w)], -3)


def act_dual(xp: Any, R: Array, p: Array, F: Array) -> Array:
    """A force of a frame, seen from that in which the frame's pose is (R, p)."""
    f = mv(R, F[..., 3:, :])
    return xp.concatenate([mv(R, F[..., :3, :]) + cross(xp, p, f), f], -2)


def inverse(R: Array, p: Array) -> tuple[Array, Array]:
    """The pose (Rᵀ, −Rᵀ p) of the one frame in the other."""
    return transposed(R), -mv(transposed(R), p)


def motion_cross(xp: Any, V: Array, W: Array) -> Array:
    """V × W = ad_V W."""
    w, v = V[..., :3, :], V[..., 3:, :]
    a, b = W[..., :3, :], W[..., 3:, :]
    return xp.concatenate([cross(xp, w, a), cross(xp, w, b) + cross(xp, v, a)], -2)


def force_cross(xp: Any, V: Array, F: Array) -> Array:
    """V ×* F = −ad_Vᵀ F."""
    w, v = V[..., :3, :], V[..., 3:, :]
    m, f = F[..., :3, :], F[..., 3:, :]
    return xp.concatenate([cross(xp, w, m) + cross(xp, v, f), cross(xp, w, f)], -2)


def motion_transform(xp: Any, R: Array, p: Array) -> Array:
    """X (…, 6, 6, N): motion vectors into the frame whose pose is (R, p)."""
    E = transposed(R)
    low = -mm(E, hat(xp, p))
    zero = xp.concatenate([E, 0 * E], -2)
    return xp.concatenate([zero, xp.concatenate([low, E], -2)], -3)


def solved(xp: Any, A: Array, B: Array) -> Array:
    """A⁻¹ B by Gauss and Jordan without pivots, (…, k, k, N) and (…, k, m, N).

    For A that needs none: symmetric and positive definite, or 1 + C Q of two that are at least
    semidefinite.
    """
    M = xp.concatenate([A, B], -2)
    for j in range(A.shape[-2]):
        M = apart(xp, M)
        row = M[..., j, 1:, :] * xp.reciprocal(M[..., j, :1, :])
        rest = M[..., 1:, :] - M[..., :1, :] * row[..., None, :, :]
        M = xp.concatenate(
            [rest[..., :j, :, :], row[..., None, :, :], rest[..., j + 1 :, :, :]], -3
        )
    return apart(xp, M)
