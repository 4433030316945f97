"""Inverse and forward dynamics by the name of a method, over whatever arrays results pass along.

Everything here takes and gives arrays with states last, of the robot's own coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from . import constraints, forward, inverse, mass
from .algebra import Array
from .links import Links
from .poses import poses

INVERSE: Mapping[str, Callable[..., Array]] = {
    "serial": inverse.serial,
    "link": inverse.link,
    "world": inverse.world,
    "axes": inverse.axes,
}
MASS = ("columns", "composite")
FORWARD: Mapping[str, Callable[..., Array] | None] = {
    "serial": forward.serial,
    "jsiia": None,  # from a mass matrix, which is the robot's and not the tree's
    "hybrid_abia": forward.hybrid,
    "scanned_abia": forward.scanned,
    "cfa": constraints.forward,
}
BIAS = "link"  # errors of forward dynamics are its bias's first, and this one's are least


def inverse_dynamics(
    links: Links, along: Any, method: str, q: Array, qd: Array, qdd: Array, f_ext: Array
) -> Array:
    """τ (nv, N) at q (nq, N), qd, qdd (nv, N), forces f_ext (n, 6, N) on links in their frames."""
    xp = along.xp
    tree = (of_tree(xp, links, qd), of_tree(xp, links, qdd))
    tau = INVERSE[method](links, along, poses(xp, links, q), *tree, f_ext)
    if links.driven:
        tau = tau + efforts(xp, links, *tree)
    return of_robot(xp, links, tau)


def efforts(xp: Any, links: Links, qd: Array, qdd: Array) -> Array:
    """a q̈ + d q̇ + c s(q̇ / w) of rotors, damping and friction, (n, k, N); see `Drivetrain`."""
    a, d, c, w = links.gears
    x = xp.clip(qd * (1 / w), -1.0, 1.0)
    return a * qdd + d * qd + c / 2 * x * (3 - x * x)


def mass_matrix(links: Links, along: Any, method: str, q: Array) -> Array:
    """M (nv, nv, N)."""
    xp = along.xp
    if method == "composite":
        M = mass.composite(links, along, poses(xp, links, q))
        if links.driven:
            size = links.own.size
            one = xp.eye(size, dtype=links.S.dtype).reshape(*links.own.shape, *links.own.shape, 1)
            M = M + links.gears[0][:, :, None, None] * one
        return matrix_of_robot(xp, links, M)
    # a column of each unit acceleration, at rest and without gravity: all of them as states
    still = replace(links, gravity=0 * links.gravity)
    nv, states = links.robot.nv, q.shape[-1]
    many = xp.repeat(q, nv, -1)
    units = xp.tile(xp.eye(nv, dtype=q.dtype), (1, states))  # (nv, states · nv)
    zero = 0 * xp.zeros((links.n, 6, 1), q.dtype)
    tau = inverse_dynamics(still, along, "link", many, 0 * units, units, zero)
    return tau.reshape(nv, states, nv).swapaxes(1, 2)


def forward_dynamics(
    links: Links, along: Any, method: str, q: Array, rest: Array, mass_by: str = "composite"
) -> Array:
    """q̈ (nv, N) of τ̂ = τ − ID(q, q̇, 0), (nv, N)."""
    xp = along.xp
    function = FORWARD[method]
    if function is None:
        return along.solve_symmetric(mass_matrix(links, along, mass_by, q), rest)
    found = function(links, along, poses(xp, links, q), of_tree(xp, links, rest))
    return of_robot(xp, links, found)


def of_tree(xp: Any, links: Links, v: Array) -> Array:
    """(n, k, N) of each link's own joint, from (nv, N): mimics follow."""
    if links.mimics:
        v = links.G @ v
    own = links.own
    if own.all():
        return v.reshape(*own.shape, v.shape[-1])
    place = np.where(own, np.cumsum(own).reshape(own.shape) - 1, 0)
    return xp.where(own[..., None], v[place], 0 * v[place])


def of_robot(xp: Any, links: Links, x: Array) -> Array:
    """(nv, N) from (n, k, N): forces of mimics go to their masters."""
    own = links.own
    flat = x.reshape(own.size, x.shape[-1])
    flat = flat if own.all() else flat[np.flatnonzero(own)]
    return links.G.T @ flat if links.mimics else flat


def matrix_of_robot(xp: Any, links: Links, M: Array) -> Array:
    """(nv, nv, N) from (n, k, n, k, N)."""
    own = links.own.ravel()
    M = M.reshape(own.size, own.size, M.shape[-1])
    if not own.all():
        M = M[np.ix_(own, own)]
    if links.mimics:
        for _ in range(2):  # Gᵀ M G: rows, then columns
            M = xp.tensordot(links.G.T, M, 1).swapaxes(0, 1)
    return M
