"""States of a robot whose frames are held: it stands, trots or leans on something.

    J q̇ = 0        J q̈ + J̇ q̇ + μ λ = 0        τ = ID(q, q̇, q̈) - Jᵀ λ

q̇, q̈ and λ are drawn; the motion is then the nearest one that leaves the frames where they are,
but for a tenth of the drawn velocities, and ``cfd`` of τ gives q̈ and λ back. Near postures in
which no moderate motion does that, of a straight limb, say, the frames give way, and λ is as much
more. Where a design has other functions besides, for which frames move, q̇ and q̈ stay as they are
drawn.

The motions of a robot that leave frames where they are: the nearest ones to any others.

    x - W Jᵀ (J W Jᵀ + E)⁻¹ (J x + r)

is near x, by the weights W, and has J x' + r nearly zero. E, small beside J W Jᵀ, lets the frames
give way where they cannot be held without rates that have no bound, as by a straight limb.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .. import golden
from ..design.arrays import held
from ..design.bounds import Bounds, State, random_states
from ..design.design import Design, stays
from ..dynamics.elimination import Column, Elimination, Matrix
from ..dynamics.scalars import Arithmetic, FloatScalars, Scalar
from ..dynamics.steps import Inline
from ..graph.graph import Graph
from ..graph.node import Builder, Node
from ..graph.word import DRAWN, HOLD, indices, spell
from ..robot.model import Array, Robot
from ..words.ascent import copied

YIELDING = 1e-3  # of the mean of J W Jᵀ's diagonal
SLIP = 0.1  # of the drawn velocities: frames are not quite at rest in states that come in
POSTURES, POSTURE_SEED = 64, 5  # of which that is the mean
LEAST = 1e-3  # of the largest singular value: what holds a frame by less does not
TINY = 1e-6  # N·m or N
WITHIN = 1 - 2.0**-40  # of the limits of velocities, which are then kept whatever is rounded


def random_holds(
    design: Design, box: Bounds, n: int, rng: np.random.Generator, extremes: float
) -> Array:
    """λ (n, F, 3 or 6), uniform within the limits, but the share ``extremes`` of them has every
    component at one of its limits."""
    axes, _ = held(design)
    largest = box.contact.components(axes)
    forces: Array = rng.uniform(-largest, largest, (n, len(design.frames), len(largest)))
    first = forces[: int(n * extremes)]
    first[:] = np.where(first < 0, -largest, largest)
    return forces


def held_motion(
    design: Design, robot: Robot, box: Bounds, state: State, forces: Array
) -> tuple[Array, Array, Array]:
    """q̇ and q̈ (n, nv) near those of the state, and Jᵀ λ (n, nv)."""
    q, (axes, damping), one = state["q"], held(design), FloatScalars()
    J = _jacobians(design, robot, q)
    support = np.asarray(np.einsum("nfav,nfa->nv", J, forces))
    if not stays(design):
        return state["qd"], state["qdd"], support
    J = J.reshape(len(q), -1, robot.nv)
    rows = [dict(enumerate(np.moveaxis(row, 0, -1))) for row in np.moveaxis(J, 1, 0)]
    grip = Grip(one, rows, (box.qd**2).tolist(), yielding(design, robot, box))
    still = grip.held(dict(enumerate(state["qd"].T)), [0.0] * len(rows), SLIP)
    qd = _stacked(slowed(one, still, (box.qd * WITHIN).tolist()))
    drift = golden.frame_drifts(robot, q, qd, design.frames)[:, :, :axes]
    rests = (drift + damping * forces).reshape(len(q), -1)
    return qd, _stacked(grip.held(dict(enumerate(state["qdd"].T)), list(rests.T))), support


def _jacobians(design: Design, robot: Robot, q: Array) -> Array:
    """J (n, F, 3 or 6, nv) of the held directions."""
    axes, _ = held(design)
    return golden.frame_jacobians(robot, q, design.frames)[:, :, :axes]


def _stacked(columns: Mapping[int, Array]) -> Array:
    return np.stack([columns[k] for k in sorted(columns)], axis=1)


def rest_on(design: Design, robot: Robot, q: Array, rest: Array, effort: Array) -> Array:
    """Efforts (n, nv) at rest, less the Jᵀ λ that brings them best within ``effort`` (nv,)."""
    J = _jacobians(design, robot, q).reshape(len(q), -1, robot.nv)
    shares = np.where(np.isfinite(effort), 1 / np.maximum(effort, TINY), 0.0)
    by = np.linalg.pinv(J.swapaxes(1, 2) * shares[:, None], rcond=LEAST)
    return np.asarray(rest - np.einsum("nrj,nrk,nk->nj", J, by, rest * shares))


def yielding(design: Design, robot: Robot, box: Bounds) -> list[float]:
    """The diagonal of E, frame by frame: a part of J W Jᵀ, of forces and of moments alike."""
    q = random_states(robot, box, POSTURES, POSTURE_SEED)["q"]
    J = _jacobians(design, robot, q)
    moves = ((J * box.qd) ** 2).sum(axis=3).mean(axis=(0, 1))
    means = np.repeat(moves.reshape(-1, 3).mean(axis=1), 3)
    own: list[float] = (YIELDING * np.where(means > 0, means, 1.0)).tolist()
    return own * len(design.frames)


def hold_limits(design: Design, box: Bounds) -> dict[str, tuple[float, float]]:
    """The interval of each component of λ, by its name as a coordinate."""
    return {
        spell(HOLD, f, a): (-float(most), float(most))
        for f in range(len(design.frames))
        for a, most in enumerate(box.contact.components(held(design)[0]))
    }


class HeldGraph:
    """The same over a graph's nodes: J and J̇ q̇ ``traced``, of inputs some of which are ``given``;
    velocities are drawn anew, accelerations are inputs."""

    def __init__(
        self,
        builder: Builder,
        design: Design,
        robot: Robot,
        box: Bounds,
        traced: Callable[[str], Graph],
        given: Mapping[str, Node],
    ) -> None:
        self.builder, self.design, (axes, self.damping) = builder, design, held(design)
        self.rows: dict[tuple[int, int], dict[int, Node]] = {
            (f, a): {} for f in range(len(design.frames)) for a in range(axes)
        }
        graph = traced("jac")
        copies = copied(builder, graph, given)
        for name, node in graph.outputs.items():
            f, a, k = indices(name)
            if a < axes:
                self.rows[f, a][k] = copies[node]
        self.motion: dict[str, Node] = {}
        if stays(design):
            self.motion = self._motion(robot, box, traced("drift"), given)

    def _motion(
        self, robot: Robot, box: Bounds, drift: Graph, given: Mapping[str, Node]
    ) -> dict[str, Node]:
        """q̇ and q̈ by name."""
        one = self.builder
        grip = Grip(
            one, list(self.rows.values()), (box.qd**2).tolist(), yielding(self.design, robot, box)
        )
        drawn = {k: one.input(spell(DRAWN, k)) for k in range(robot.nv)}
        still = grip.held(drawn, [0.0] * len(self.rows), SLIP)
        rates = slowed(one, still, (box.qd * WITHIN).tolist())
        found = {spell("qd", k): one.lift(x) for k, x in rates.items()}
        copies = copied(one, drift, {**given, **found})
        rests = []
        for f, a in self.rows:
            own = drift.outputs.get(spell("drift", f, a))
            gives_way = one.mul(self.damping, one.input(spell(HOLD, f, a))) if self.damping else 0.0
            rests.append(one.add(copies[own] if own else 0.0, gives_way))
        accelerations = {k: one.input(spell("qdd", k)) for k in range(robot.nv)}
        bent = grip.held(accelerations, rests)
        return found | {spell("qdd", k): one.lift(x) for k, x in bent.items()}

    def less_support(self, efforts: Mapping[str, Node]) -> dict[str, Node]:
        """The ``efforts`` by name, less Jᵀ λ."""
        found, one = dict(efforts), self.builder
        for (f, a), row in self.rows.items():
            for k, entry in row.items():
                share = one.mul(entry, one.input(spell(HOLD, f, a)))
                found[spell("tau", k)] = one.sub(found.get(spell("tau", k), 0.0), share)
        return found


class Grip:
    """The constraint of held frames in one state: ``rows`` of J, W and E by their diagonals."""

    def __init__(
        self,
        one: Arithmetic,
        rows: Sequence[Column],
        weights: Sequence[float],
        yielding: Sequence[float],
    ) -> None:
        self.one, self.rows = one, rows
        self.weighted = [{k: x * weights[k] for k, x in row.items()} for row in rows]
        self.factors = self._factors(yielding)

    def _factors(self, yielding: Sequence[float]) -> Elimination:
        G: Matrix = [[0.0] * len(self.rows) for _ in self.rows]
        for a, row in enumerate(self.weighted):
            for b in range(a + 1):
                G[a][b] = _dot(row, self.rows[b])
            G[a][a] = G[a][a] + yielding[a]
        return Elimination.of(Inline(self.one, "_grip"), G, dict.fromkeys(range(len(self.rows)), 0))

    def held(self, motion: Column, rests: Sequence[Scalar], slip: float = 0.0) -> Column:
        """The nearest to ``motion`` x with J x' + r = 0, of ``rests`` r by row; or, by a share
        ``slip``, towards x itself."""
        moves = {a: _dot(row, motion) + rests[a] for a, row in enumerate(self.rows)}
        by = self.factors.solve(moves)
        found = dict(motion)
        for a, row in enumerate(self.weighted):
            for k, x in row.items():
                if a in by:
                    found[k] = found.get(k, 0.0) - x * by[a] * (1 - slip)
        return found


def slowed(one: Arithmetic, motion: Column, limits: Sequence[float]) -> Column:
    """The motion, all of it as much slower as brings each coordinate within ± its limit."""
    largest: Scalar = 1.0
    for k, x in motion.items():
        share = x * (1 / limits[k])
        for side in (share, -share):
            largest = one.select(largest - side, side, largest)
    slower = one.recip(largest)
    return {k: x * slower for k, x in motion.items()}


def _dot(a: Column, b: Column) -> Scalar:
    total: Scalar = 0.0
    for k, x in a.items():
        if k in b:
            total = total + x * b[k]
    return total
