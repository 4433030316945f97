"""Rollouts of many efforts from one state, as sampling controllers ask for: samples a second.

Model predictive path integral control (Williams et al., "Information theoretic MPC", ICRA 2017)
draws efforts around the last plan, follows each with forward dynamics and semi-implicit Euler, and
takes the mean of them, weighed by exp(−cost / temperature). Dynamics is asked for all samples at
once, step by step. Costs are summed outside.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen import golden
from rbdgen.api.structure import info
from rbdgen.design.loading import load
from rbdgen.robot.model import Array, Robot
from rbdgen.system.quoting import Progress
from rbdgen_host.driver import Dynamics

from .measurement import Row, measurement

Accelerations = Callable[[Array, Array, Array], Array]  # q̈ (N, nv) of q, q̇ and τ

ROBOT, SEED = "iiwa14", 1
PLANS = 100  # of a closed loop, a step of the plan apart
AWAY = 0.5  # rad, from where the arm is to where it goes, in each joint
FINER = 10  # steps of Runge and Kutta of the robot that is controlled, in one of the plan
INTERVAL, TARGET = 8, "xcup"  # of the accelerator
HEAD = ("", "threads", "dynamics", "with noise and costs", "rad off: before", "after")


@dataclass(frozen=True)
class Sampler:
    """``samples`` rollouts of ``horizon`` steps of ``step`` seconds.

    ``spread`` [rad/s²]: standard deviation of accelerations, which M at the first state turns into
    efforts; it is held for ``held`` steps. ``temperature``: by the costs' standard deviation.
    """

    samples: int = 1024
    horizon: int = 20
    step: float = 0.01
    spread: float = 8.0
    held: int = 5
    temperature: float = 0.1

    def efforts(self, rng: np.random.Generator, M: Array, plan: Array) -> Array:
        """(samples, horizon, nv) around ``plan`` (horizon, nv), which itself is the first one."""
        drawn = rng.normal(0.0, self.spread, (self.samples, -(-self.horizon // self.held), len(M)))
        drawn[0] = 0.0
        return plan + np.repeat(drawn, self.held, axis=1)[:, : self.horizon] @ M

    def costs(
        self, accelerations: Accelerations, q: Array, v: Array, efforts: Array, aim: Array
    ) -> Array:
        """(samples,), of rollouts from q and v (nv,)."""
        at, moving = np.tile(q, (len(efforts), 1)), np.tile(v, (len(efforts), 1))
        total = np.zeros(len(efforts))
        for k in range(efforts.shape[1]):
            moving = moving + self.step * accelerations(at, moving, efforts[:, k])
            at = at + self.step * moving
            total += ((at - aim) ** 2).sum(axis=1) + 0.02 * (moving**2).sum(axis=1)
        return total

    def better(self, efforts: Array, costs: Array) -> Array:
        """The weighed mean (horizon, nv)."""
        weights = np.exp(-(costs - costs.min()) / (self.temperature * max(costs.std(), 1e-12)))
        return np.tensordot(weights / weights.sum(), efforts, axes=1)


@dataclass
class Timed:
    """Accelerations, and the seconds that they took."""

    accelerations: Accelerations
    seconds: float = field(default=0.0)

    def __call__(self, q: Array, v: Array, tau: Array) -> Array:
        before = time.perf_counter()
        found = self.accelerations(q, v, tau)
        self.seconds += time.perf_counter() - before
        return found


@dataclass(frozen=True)
class Reached:
    """A closed loop's rates and distances from the aim.

    Rollouts a second, in dynamics alone and in all of a plan; the distance [rad] from the aim,
    before and after.
    """

    dynamics: float
    whole: float
    before: float
    after: float


def closed_loop(
    robot: Robot, accelerations: Accelerations, sampler: Sampler, plans: int
) -> Reached:
    """The robot, by the golden model in finer steps, under the sampler's plans."""
    rng = np.random.default_rng(SEED)
    q, v = np.zeros(robot.nv), np.zeros(robot.nv)
    aim = AWAY * rng.choice([-1.0, 1.0], robot.nv)
    bias = golden.rnea(robot, q[None], v[None], v[None])[0]
    plan = np.tile(bias, (sampler.horizon, 1))
    timed, before, spent = Timed(accelerations), float(np.linalg.norm(aim - q)), 0.0
    for _ in range(plans):
        started = time.perf_counter()
        efforts = sampler.efforts(rng, golden.crba(robot, q[None])[0], plan)
        plan = sampler.better(efforts, sampler.costs(timed, q, v, efforts, aim))
        spent += time.perf_counter() - started
        h, steps = np.array([sampler.step / FINER]), np.array([FINER])
        there = golden.rollout(robot, "rk4", (q[None], v[None]), plan[:1], h, steps)
        q, v = there[0][0], there[1][0]
        plan = np.vstack([plan[1:], plan[-1:]])
    count = plans * sampler.samples
    return Reached(count / timed.seconds, count / spent, before, float(np.linalg.norm(aim - q)))


@measurement("mppi", "minutes", HEAD, page=True)
def mppi(place: Path, progress: Progress) -> Generator[Row, None, str]:
    """Rollouts of many efforts from one state (MPPI): samples a second, and where an arm gets."""
    sampler, cores = Sampler(), os.cpu_count() or 1
    _, robot = load(ROBOT)
    for backend, threads in dict.fromkeys((("cpp", 1), ("cpp32", 1), ("cpp", cores))):
        progress(f"{backend}, {threads} threads")
        dynamics = Dynamics(ROBOT, backend, functions=("fd",), threads=threads, progress=progress)
        own = closed_loop(robot, _of(dynamics), sampler, PLANS)
        rates = [f"{rate / 1000:.1f} k/s" for rate in (own.dynamics, own.whole)]
        yield [backend, threads, *rates, f"{own.before:.2f}", f"{own.after:.3f}"]
    cycles = _cycles(sampler, progress)
    return (
        f"Samples of {sampler.horizon} steps, {sampler.samples} at a time, {PLANS} plans.\n"
        f"An accelerator of rollouts (euler, --ii {INTERVAL} --target {TARGET}) takes a task a\n"
        f"step, {cycles} cycles a sample: by calculation {1e5 / cycles:.1f} k/s for each 100 MHz.\n"
        "It is not placed."
    )


def _of(dynamics: Dynamics) -> Accelerations:
    kind = np.float32 if dynamics.backend == "cpp32" else np.float64

    def accelerations(q: Array, v: Array, tau: Array) -> Array:
        return dynamics.aba(*(np.ascontiguousarray(x, kind) for x in (q, v, tau)))

    return accelerations


def _cycles(sampler: Sampler, progress: Progress) -> int:
    """Cycles between a sample's end and the next one's, each step of it a task of its own."""
    choices: dict[str, Any] = {"functions": ("euler",), "accelerator": True}
    facts = info(ROBOT, progress, ii=INTERVAL, target=TARGET, **choices).facts
    return sampler.horizon * facts.tasks.functions["euler"].interval
