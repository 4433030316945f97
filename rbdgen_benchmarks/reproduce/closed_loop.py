"""A controller closed over a simulated arm, its gradient in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from rbdgen import golden
from rbdgen.compile.flow import front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.robot.model import Robot
from rbdgen.system.quoting import Progress
from rbdgen_host.driver import Dynamics

from ..bench.ilqr import KNOTS, Array, Gradient, Points, Robotics
from ..bench.trajectories import eight, tool
from .plant import Arms, Noise, seen
from .receding import Controller, Horizon, Reference, side_by_side
from .word_choices import TARGET, Choice, Size
from .word_gradients import PerSignal
from .word_sweep import Limits

ROBOT = "iiwa14"
PERIOD, PERIODS = 1e-3, 1500  # s
HORIZON = Horizon(knots=41, every=10, period=PERIOD)
LAP, REACH = 1.4, 1.0  # s that a figure eight and a reach take
REACHES = 2  # by seed
NOISE = Noise(position=1e-4, velocity=1e-2)
DELAY, DELAYS = 2, (1, 2)  # periods
PUSH, PUSHED = 20.0, (600, 700)  # N, periods
MOST = np.array([320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0])  # N·m, the arm's own
LIMITS = Limits(10.0, 800.0)
EFFORT = 1e-4  # 1 / (N·m)²
# Q of q and of q̇: at each knot but the last, at the last
FOLLOWED = ((100.0, 0.1), (1000.0, 1.0))
PLANNED = ((1e-2, 1e-3), (1e3, 1e1))
KINDS = ("followed", "planned")


@dataclass(frozen=True)
class Track:
    """How a task was followed: errors of the true state against the reference, over all periods.

    ``apart_mm``: the farthest that the tool is from where float64's loop has it in the same
    period, with the same noise and push. ``stuck``: share of periods in which no step lowered the
    cost. ``lost``: the arm ran away, and was stopped.
    """

    task: str
    kind: str
    rms_mm: float
    most_mm: float
    rms_rad: float
    most_rad: float
    apart_mm: float
    stuck: float
    lost: bool


@dataclass(frozen=True)
class Loop:
    """One gradient's loops. ``choice`` and ``size`` of its words; None of float64's. ``delay``: in
    periods."""

    function: str
    choice: Choice | None
    size: Size | None
    delay: int
    tracks: tuple[Track, ...]
    clipped: int
    overflowed: int


@dataclass(frozen=True)
class Motion:
    """Tasks: their names, of which kind, and what is asked of the loops."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    reference: Reference


def run(
    functions: Sequence[str],
    choices: Sequence[Choice],
    delays: Sequence[int],
    periods: int,
    progress: Progress,
) -> list[Loop]:
    """Loops of float64, of no gradient (function "none") and of words, for each delay.

    InputError where MuJoCo is missing; NoCompiler, CompilerError.
    """
    robot = front_end(ROBOT, functions=("id",)).robot
    motion = motions(robot, periods)
    Arms(ROBOT, motion.reference.states[:0, 0], PERIOD)  # or say at once that there are none
    dynamics = Dynamics(ROBOT, "cpp", functions=("fd", "minv", "dfd"), accelerator=False)
    robotics = Robotics(dynamics.aba, dynamics.computeMinverse)

    def exact(at: Points) -> tuple[Array, Array]:
        dq, dqd, _ = dynamics.computeABADerivatives(at.q, at.qd, at.tau)
        return dq, dqd

    @cache
    def words(function: str, choice: Choice) -> PerSignal:
        progress(f"{function}: words, {choice}")
        front = front_end(ROBOT, functions=(function,), target=TARGET, **asdict(LIMITS))
        return PerSignal(front, sample_inputs(front), choice, progress)

    kinds = [(function, choice) for function in functions for choice in choices]
    found: list[Loop] = []
    for delay in delays:
        own = [words(*kind) for kind in kinds]
        names: list[tuple[str, Choice | None, Size | None]]
        names = [("float64", None, None), ("none", None, None)]
        names += [(*kind, w.size) for kind, w in zip(kinds, own, strict=True)]
        before = [(w.counts.clipped, w.counts.overflowed) for w in own]
        gradients: list[Gradient] = [exact, without, *own]
        reference = motion.reference.repeated(len(gradients))
        gradient = side_by_side(gradients)
        controller = Controller(reference, HORIZON, robotics, gradient, delay, MOST)
        states, lost = _driven(motion, controller, len(gradients), periods, progress)
        tracks = _tracks(robot, motion, states, controller.stuck / periods, lost)
        counts = [(0, 0), (0, 0)]
        for w, (clipped, overflowed) in zip(own, before, strict=True):
            counts.append((w.counts.clipped - clipped, w.counts.overflowed - overflowed))
        for name, track, count in zip(names, tracks, counts, strict=True):
            found.append(Loop(*name, delay, track, *count))
    return found


def without(at: Points) -> tuple[Array, Array]:
    """Zero gradients of q̈, as of a controller without any."""
    nothing = np.zeros_like(at.Minv)
    return nothing, nothing


def motions(robot: Robot, periods: int) -> Motion:
    """A figure eight and reaches, each followed and planned.

    Followed: from one posture to the next by 10 s³ − 15 s⁴ + 6 s⁵, held close to it at every knot
    of the horizon. Planned: where the horizon ends is what counts, as in the sweep of
    trajectories; a reach has its goal alone.
    """
    t = np.arange(periods + HORIZON.ahead + max(DELAYS) + 1) * np.float64(PERIOD)
    path = eight(robot)
    around = CubicSpline(np.linspace(0, 1, KNOTS), np.r_[path[:-1], path[:1]], bc_type="periodic")
    share, rate = eased(t, LAP)
    lap = np.concatenate([around(share), around(share, 1) * rate[:, None]], axis=1)
    followed, planned, names = [lap], [lap], ["figure eight"]
    for seed in range(REACHES):
        rng = np.random.default_rng(seed)
        start = rng.uniform(-1.2, 1.2, robot.nv)
        way = rng.uniform(0.3, 1.2, robot.nv) * rng.choice([-1, 1], robot.nv)
        share, rate = eased(t, REACH)
        x = np.concatenate([start + np.outer(share, way), np.outer(rate, way)], axis=1)
        followed.append(x)
        planned.append(np.concatenate([x[:1], np.tile(x[-1], (len(x) - 1, 1))]))
        names.append(f"reach {seed}")
    states = np.array([*followed, *planned])
    flat = states[:, :, : robot.nv].reshape(-1, robot.nv)
    hold = golden.rnea(robot, flat, 0 * flat, 0 * flat).reshape(*states.shape[:2], -1)
    weights = np.repeat([_weights(robot.nv, *kind) for kind in (FOLLOWED, PLANNED)], len(names), 0)
    kinds = tuple(kind for kind in KINDS for _ in names)
    return Motion((*names, *names), kinds, Reference(states, hold, weights, EFFORT))


def eased(t: Array, duration: float) -> tuple[Array, Array]:
    """Share of the way, 0 to 1, and its rate, 1/s, at times from 0."""
    s = np.clip(t / duration, 0.0, 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2 / duration


def _weights(n: int, along: tuple[float, float], there: tuple[float, float]) -> Array:
    """Weights at the knots of a horizon, (K, 2n)."""
    found = np.tile(np.repeat(along, n), (HORIZON.knots, 1))
    found[-1] = np.repeat(there, n)
    return found


def _driven(
    motion: Motion, controller: Controller, times: int, periods: int, progress: Progress
) -> tuple[Array, NDArray[np.bool_]]:
    """True states (times, tasks, periods, 2n) of arms that a controller moves, and which of them,
    (times, tasks), were lost."""
    count, _, width = motion.reference.states.shape
    arms = Arms(ROBOT, controller.reference.states[:, 0, : width // 2], PERIOD)
    rngs = [np.random.default_rng(seed) for seed in range(count)]
    directions = np.array([rng.normal(size=3) for rng in rngs])
    force = PUSH * directions / np.linalg.norm(directions, axis=1)[:, None]
    push = np.tile(force, (times, 1))
    under_way = [controller.reference.hold[:, 0]] * controller.delay
    states = np.zeros((periods, times * count, width))
    for k in range(periods):
        if k % 100 == 0:
            progress(f"{len(push)} closed loops, delay {controller.delay}: {k * PERIOD:.1f} s")
        states[k] = arms.state
        # the same noise in all loops of a task
        noise = np.array([seen(np.zeros(width), NOISE, rng) for rng in rngs])
        under_way.append(controller(k, states[k] + np.tile(noise, (times, 1))))
        arms.advance(under_way.pop(0), push * (PUSHED[0] <= k < PUSHED[1]))
    by_task = states.reshape(periods, times, count, width)
    return np.moveaxis(by_task, 0, 2), arms.lost.reshape(times, count)


def _tracks(
    robot: Robot, motion: Motion, states: Array, stuck: Array, lost: NDArray[np.bool_]
) -> list[tuple[Track, ...]]:
    """The tracks of each gradient, the first of which is float64's."""
    _, count, periods, width = states.shape
    n = width // 2
    wanted = motion.reference.states[:, :periods, :n]
    places = tool(robot, states[..., :n].reshape(-1, n)).reshape(*states.shape[:3], 3)
    aims = tool(robot, wanted.reshape(-1, n)).reshape(count, periods, 3)
    off = 1e3 * np.linalg.norm(places - aims, axis=-1)
    apart = 1e3 * np.linalg.norm(places - places[0], axis=-1)
    bent = np.abs(states[..., :n] - wanted)
    return [
        tuple(
            Track(
                motion.names[k],
                motion.kinds[k],
                float(np.sqrt(np.mean(off[g, k] ** 2))),
                float(off[g, k].max()),
                float(np.sqrt(np.mean(bent[g, k] ** 2))),
                float(bent[g, k].max()),
                float(apart[g, k].max()),
                float(stuck.reshape(-1, count)[g, k]),
                bool(lost[g, k]),
            )
            for k in range(count)
        )
        for g in range(len(states))
    ]
