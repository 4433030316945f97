"""Calls within JAX on a CPU: compiled C++, the compiler's graphs and formulations beside frax."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.api.folder import InputError
from rbdgen.api.results import Mismatch
from rbdgen.design.functions import NEEDS
from rbdgen.design.loading import load
from rbdgen.system.quoting import Progress

from .cpu import processor
from .measurement import measurement

ROBOT = "iiwa14"
CASES = [(ROBOT, function, n) for function in ("m", "id", "fd") for n in (1, 1024)]
PEER = "frax"
# frax's own recommendation for a CPU, which both sides have here
FLAGS = (
    "--xla_cpu_multi_thread_eigen=false "
    "--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
)
RUNS, SECONDS = 40, 0.02  # calls take so long together, so many times; the least counts
CLOSE = 1e-9  # of the largest entry
METHODS = {"m": "composite", "id": "serial", "fd": "serial"}  # formulations, of the least time
HEAD = ("call", "states", PEER, "native", "graph", "formulation", "by native", "by graph")


def _legend() -> str:
    from importlib.metadata import version

    return (
        f"µs of CPU time of the process, the least of {RUNS} runs that alternate, in float64, in "
        f"jax.jit and jax.vmap. {PEER} {version(PEER)}, jax {version('jax')}; XLA_FLAGS as {PEER} "
        f"wants them. by: how many times {PEER}'s time is ours. formulation: "
        f"{', '.join(f'{name} by {own}' for name, own in METHODS.items())}. "
        f"{processor()}, load {os.getloadavg()[1]:.1f}."
    )


@measurement(
    "jax",
    "three minutes",
    HEAD,
    cases=lambda: CASES,
    legend=_legend,
    page=True,
    robots=lambda: {robot for robot, _, _ in CASES},
)
def within(
    place: Path, progress: Progress, robot: str, function: str, n: int
) -> Iterator[tuple[Any, ...]]:
    """Calls within JAX on a CPU, of one state and of batches, beside frax."""
    calls = _calls(robot, function)
    rng = np.random.default_rng(1)
    joints = len(load(robot)[1].joint_names)
    arrays = [rng.uniform(-1, 1, (n, joints)) for _ in NEEDS[function]]
    if n == 1:
        arrays = [own[0] for own in arrays]
    least = _least(_compiled(calls, arrays, n > 1, progress))
    theirs = least[PEER]
    yield (
        f"{robot} {function}",
        n,
        *(round(least[name], 1) for name in (PEER, "native", "graph", "formulation")),
        *(round(theirs / least[name], 2) for name in ("native", "graph")),
    )


@cache
def _models(robot: str) -> tuple[Any, Any]:
    """frax's and ours; InputError without frax."""
    if "jax" not in sys.modules:
        os.environ.setdefault("XLA_FLAGS", FLAGS)
    os.environ["JAX_ENABLE_X64"] = "1"
    try:
        Manipulator = import_module("frax.core.manipulator").Manipulator
    except ModuleNotFoundError:
        raise InputError(
            f"bench jax measures beside {PEER}, which is not installed: pip install {PEER}"
        ) from None
    from rbdgen_host.parallel import Dynamics
    from rbdgen_host.parallel.jax_installed import jax

    jax.config.update("jax_enable_x64", True)
    return Manipulator(str(load(robot)[0].robot)), Dynamics(robot)


def _calls(robot: str, function: str) -> Mapping[str, Callable[..., Any]]:
    """The calls of one state by their columns."""
    peer, ours = _models(robot)
    upwards = np.array([0, 0, 9.81, 0, 0, 0])
    theirs = {
        "m": peer.mass_matrix,
        "id": lambda q, qd, qdd: peer.rnea(q, qd, qdd, upwards, None),
        "fd": lambda q, qd, tau: peer.forward_dynamics(q, qd, tau, None),
    }
    own = {"m": ours.mass_matrix, "id": ours.inverse_dynamics, "fd": ours.forward_dynamics}
    call = own[function]

    def by(method: str) -> Callable[..., Any]:
        return lambda *x: call(*x, method=method)

    methods = {"native": "native", "graph": "graph", "formulation": METHODS[function]}
    return {PEER: theirs[function], **{name: by(method) for name, method in methods.items()}}


def _compiled(
    calls: Mapping[str, Callable[..., Any]], arrays: list[Any], many: bool, progress: Progress
) -> dict[str, Callable[[], Any]]:
    """Calls of compiled functions; Mismatch where results differ."""
    from rbdgen_host.parallel.jax_installed import jax, jnp

    given = [jnp.asarray(own) for own in arrays]
    found: dict[str, Callable[[], Any]] = {}
    expected = None
    for name, call in calls.items():
        progress(f"compiling {name}")
        own = jax.jit(jax.vmap(call) if many else call)
        result = np.asarray(own(*given))
        expected = result if expected is None else expected
        if abs(result - expected).max() > CLOSE * abs(expected).max():
            raise Mismatch(f"{name}: results are not {PEER}'s")
        found[name] = partial(own, *given)
    return found


def _least(calls: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """µs of CPU time of each call: the least of runs that alternate."""
    counts = {name: _count(call) for name, call in calls.items()}
    least = dict.fromkeys(calls, np.inf)
    for _ in range(RUNS):
        for name, call in calls.items():
            least[name] = min(least[name], 1e6 * _took(call, counts[name]) / counts[name])
    return least


def _count(call: Callable[[], Any]) -> int:
    """The number of calls that take `SECONDS` together."""
    count = 1
    while (took := _took(call, count)) < SECONDS / 4:
        count *= 2
    return max(1, round(count * SECONDS / took))


def _took(call: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call().block_until_ready()
    return time.process_time() - start
