"""Articulated-body inertias: the inward inertia pass of Featherstone, RBDA table 7.1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..robot.model import Array, Robot, RobotError
from . import tree
from .drivetrain import armatures

# Singular where a joint feels this much less inertia than its bodies have.
SMALLEST_PIVOT = 1e-14


class Articulated(NamedTuple):
    """Per joint: U (N, 6, nv), D (N, nv, nv), U D⁻¹ (N, 6, nv) and Iᵃ (N, 6, 6).

    D is the inertia that the joint feels, its rotor's included, Iᵃ the one that its parent feels
    through it.
    """

    U: list[Array]
    D: list[Array]
    UDinv: list[Array]
    Ia: list[Array]


def articulated_inertias(robot: Robot, X: list[Array]) -> Articulated:
    """Articulated inertias, from the tree's transforms X; RobotError where M is singular."""
    S, n = tree.subspaces(robot), len(robot.joints)
    own, rotor = tree.columns(robot), armatures(robot)
    shape = X[0].shape if X else (6, 6)
    # one slot more for the base, which index −1 finds
    IA = [np.broadcast_to(inertia, shape) for inertia in tree.inertias(robot)]
    IA.append(np.zeros(shape))
    U, D, UDinv, Ia = Articulated(*([np.empty(0)] * n for _ in range(4)))
    for i, joint in reversed(list(enumerate(robot.joints))):
        # U = Iᴬ S;  D = Sᵀ U + a
        U[i] = IA[i] @ S[i]
        D[i] = S[i].T @ U[i] + np.diag(rotor[own[i]])
        pivots = np.abs(np.linalg.eigvalsh(D[i]))
        if np.any(pivots <= SMALLEST_PIVOT * np.abs(IA[i]).max(axis=(1, 2))[:, None]):
            raise RobotError(
                f"{robot.name}: singular mass matrix: no inertia resists joint {joint.name!r}"
            )
        # Iᵃ = Iᴬ − U D⁻¹ Uᵀ;  Iᴬ_λ += Xᵀ Iᵃ X
        UT = U[i].swapaxes(1, 2)
        UDinv[i] = np.asarray(np.linalg.solve(D[i], UT), np.float64).swapaxes(1, 2)
        Ia[i] = IA[i] - UDinv[i] @ UT
        IA[joint.parent] = IA[joint.parent] + X[i].swapaxes(1, 2) @ Ia[i] @ X[i]
    return Articulated(U, D, UDinv, Ia)
