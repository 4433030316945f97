"""The papers' misprints: as printed each is off by more than 1 %, corrected by rounding alone."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.golden.tree import motion_cross
from rbdgen.robot.model import Array
from rbdgen_host.parallel import constraints
from rbdgen_host.parallel.algebra import mm, motion_transform, mv, solved, transposed
from rbdgen_host.parallel.chains import random_chain
from rbdgen_host.parallel.forward import articulated_serial
from rbdgen_host.parallel.links import Links, links_of
from rbdgen_host.parallel.network import Network
from rbdgen_host.parallel.poses import poses

WRONG, RIGHT = 1e-2, 1e-12
N = 6


@pytest.fixture(scope="module")
def chain() -> tuple[Links, Array]:
    """Links, and X (n, 6, 6, 1) at a random q."""
    links = links_of(random_chain(N))
    q = np.random.default_rng(1).uniform(-3, 3, (N, 1))
    return links, motion_transform(np, *poses(np, links, q))


def off(found: Array, expected: Array) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def block_diagonal(blocks: Array) -> Array:
    """(n · r, n · c) of (n, r, c)."""
    n, r, c = blocks.shape
    whole = np.zeros((n, r, n, c))
    whole[range(n), :, range(n)] = blocks
    return whole.reshape(n * r, n * c)


def gamma(X: Array) -> Array:
    """Γ: each X below the diagonal."""
    whole = np.zeros((N, 6, N, 6))
    whole[range(1, N), :, range(N - 1)] = X[1:, ..., 0]
    return whole.reshape(6 * N, 6 * N)


def test_000_18_divides_by_omega(chain: tuple[Links, Array]) -> None:
    """ĉ = Ω⁻¹ τ̂ − Ω⁻¹ Sᵀ ẑ; printed Ω τ̂."""
    links, X = chain
    S = block_diagonal(links.S[..., 0])
    L = np.linalg.inv(np.eye(6 * N) - gamma(X))
    M = S.T @ L.T @ block_diagonal(links.inertia[..., 0]) @ L @ S
    I = articulated_serial(links, Network(links.parent), X)
    Ω = mm(transposed(links.S), mm(I, links.S))[:, 0, 0, 0]
    Π = mm(transposed(X), mm(I, links.S))[..., 0, 0] / Ω[:, None]
    Y = X[..., 0].swapaxes(1, 2) - Π[:, :, None] * links.S[:, None, :, 0, 0]
    up, P = np.zeros((N, 6, N, 6)), np.zeros((N, 6, N))
    up[range(N - 1), :, range(1, N)] = Y[1:]
    P[range(N - 1), :, range(1, N)] = Π[1:]
    up, P = up.reshape(6 * N, 6 * N), P.reshape(6 * N, N)
    tau = np.random.default_rng(2).normal(size=N)
    z = np.linalg.solve(np.eye(6 * N) - up, P @ tau)
    errors = []
    for first in (Ω * tau, tau / Ω):
        c = first - (S.T @ z) / Ω
        qdd = c - P.T @ np.linalg.solve(np.eye(6 * N) - up.T, S @ c)
        errors.append(off(qdd, np.linalg.solve(M, tau)))
    assert errors[0] > WRONG
    assert errors[1] < RIGHT


def test_001_algorithm_2_copies_first(chain: tuple[Links, Array]) -> None:
    """D and R of a round begin as the last round's; printed, lines 7 and 10 overwrite them."""
    links, _ = chain
    q = np.random.default_rng(1).uniform(-3, 3, (N, 1))
    own = constraints.blocks(links, Network(links.parent), poses(np, links, q))
    R = np.random.default_rng(3).normal(size=(N, 5, 1))
    A = np.zeros((N, 5, N, 5))
    for i in range(N):
        A[i, :, i] = own.D[i, ..., 0]
        if i + 1 < N:
            A[i, :, i + 1] = own.U[i, ..., 0]
            A[i + 1, :, i] = own.U[i, ..., 0].T
    expected = np.linalg.solve(A.reshape(5 * N, 5 * N), R.ravel())
    found = constraints.eliminated(np, own.D, own.U, R).ravel()
    assert off(found, expected) < 1e-10
    assert off(_uncopied(own.D, own.U, R).ravel(), expected) > WRONG


def _uncopied(D: Array, U: Array, R: Array) -> Array:
    h = 1
    while h < N:
        E = transposed(solved(np, D[h:], transposed(U)))
        K = transposed(solved(np, D[:-h], U))
        next_D, next_R = np.zeros_like(D), np.zeros_like(R)
        next_D[: N - h] = D[: N - h] - mm(E, transposed(U))
        next_D[h:] = next_D[h:] - mm(K, U)
        next_R[h:] = R[h:] - mv(K, R[:-h])
        next_R[: N - h] = next_R[: N - h] - mv(E, R[h:])
        D, R, U = next_D, next_R, -mm(E[: max(N - 2 * h, 0)], U[h:])
        h *= 2
    pinv = np.linalg.pinv(D[..., 0])
    return np.einsum("nij,njs->nis", pinv, R)


def test_001_2_has_the_sign_of_minus_ad(chain: tuple[Links, Array]) -> None:
    """(2b), (2c) hold with diag(−ad), as Ploen and Park write it; printed, with ad."""
    links, X = chain
    rng = np.random.default_rng(1)
    q = rng.uniform(-3, 3, (N, 1))
    qd, qdd = rng.uniform(-1, 1, (2, N))
    still = links_of(random_chain(N)).robot
    weightless = type(still)(still.name, still.joints, gravity=np.zeros(3))
    expected = golden.rnea(weightless, q.T, qd[None], qdd[None])[0]
    Γ, S, J = gamma(X), block_diagonal(links.S[..., 0]), block_diagonal(links.inertia[..., 0])
    L = np.linalg.inv(np.eye(6 * N) - Γ)
    V = L @ S @ qd
    errors = []
    for sign in (1, -1):
        ad_own = sign * block_diagonal(motion_cross((S @ qd).reshape(N, 6)))
        ad_V = sign * block_diagonal(motion_cross(V.reshape(N, 6)))
        A = L @ (S @ qdd + ad_own @ Γ @ V)
        errors.append(off(S.T @ L.T @ (J @ A + ad_V.T @ J @ V), expected))
    assert errors[0] > WRONG
    assert errors[1] < RIGHT


def test_the_first_correction_of_cfa_gains_digits() -> None:
    """Worst of 64 states of 16 links, beside articulated bodies."""
    robot = random_chain(16)
    links = links_of(robot)
    along = Network(links.parent)
    rng = np.random.default_rng(4)
    q, qd, qdd = rng.uniform(-3, 3, (64, 16)), *rng.uniform(-1, 1, (2, 64, 16))
    still = np.zeros_like(qd)
    rest = golden.rnea(robot, q, qd, qdd) - golden.rnea(robot, q, qd, still)
    place = poses(np, links, q.T)
    errors = [
        off(constraints.forward(links, along, place, rest.T[:, None], corrections)[:, 0], qdd.T)
        for corrections in (0, 1)
    ]
    assert errors[1] < min(1e-9, errors[0])
