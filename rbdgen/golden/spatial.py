"""Spatial vectors as dense arrays (Featherstone, RBDA chapter 2).

A motion vector is (angular; linear), a force vector (moment; force), both (6,). Every function
takes any number of leading batch axes and returns as many.
"""

from __future__ import annotations

import numpy as np

from ..robot.model import Array, Inertia


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
