"""The mass matrix: the composite-rigid-body algorithm (Featherstone, RBDA table 6.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..robot.model import Array, Robot
from . import tree
from .batch import in_chunks, positions
from .drivetrain import armatures


def crba(robot: Robot, q: ArrayLike) -> Array:
    """M (N, nv, nv), both triangles, at q (N, nq): ``τ = M q̈ + bias``.

    Raises ValueError on a wrong shape.
    """
    q = positions(robot, q)
    numbers = 150 * len(robot.joints) + 3 * tree.tree_size(robot) ** 2
    (M,) = in_chunks(_crba, robot, numbers, q)
    return M


def _crba(robot: Robot, q: Array) -> tuple[Array]:
    G, own, S = tree.projection(robot), tree.columns(robot), tree.subspaces(robot)
    X = tree.transforms(robot, q)
    M = np.zeros((len(q), len(G), len(G)))
    composite = np.zeros((len(robot.joints) + 1, len(q), 6, 6))
    for i, inertia in enumerate(tree.inertias(robot)):
        composite[i] = inertia

    for i, joint in reversed(list(enumerate(robot.joints))):
        XT = X[i].swapaxes(1, 2)
        # Iᶜ_λ += Xᵀ Iᶜ X
        composite[joint.parent] += XT @ composite[i] @ X[i]
        # F = Iᶜ S;  M_ii = Sᵀ F
        F = composite[i] @ S[i]
        M[:, own[i], own[i]] = S[i].T @ F
        j = i
        while robot.joints[j].parent >= 0:
            # F = Xᵀ F;  M_ji = S_jᵀ F, on the way to the base
            F = X[j].swapaxes(1, 2) @ F
            j = robot.joints[j].parent
            M[:, own[j], own[i]] = S[j].T @ F
            M[:, own[i], own[j]] = M[:, own[j], own[i]].swapaxes(1, 2)
    return (G.T @ (M + np.diag(armatures(robot))) @ G,)
