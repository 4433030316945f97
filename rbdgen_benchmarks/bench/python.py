"""Calls from Python, of one state and of batches: ours beside Pinocchio's and beside C++."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rbdgen.api.results import Mismatch
from rbdgen.design.functions import BY_NAME, NEEDS
from rbdgen.design.loading import load
from rbdgen.graph.word import SYMMETRIC
from rbdgen.system.quoting import Progress
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.futures import CALLS

from ..compare.timing import times_of
from .cpu import processor
from .measurement import measurement

if TYPE_CHECKING:
    import pinocchio

# Robot and function, which Pinocchio has by `BY_NAME`; of gradients both give M, or M⁻¹, as well.
CASES = [("iiwa14", name) for name in ("id", "m", "fd", "minv", "did", "dfd")]
BATCH = 1024
LARGE = 100_000
RUNS, SECONDS = 60, 0.02  # calls take so long together, so many times; the least counts
CLOSE = 1e-9  # of the largest entry
HEAD = (
    *("call", "one state", "with out=", "Pinocchio", "by ours"),
    *(f"{BATCH}, new", "with out=", "C++", "new by C++", "out= by C++"),
    *(f"{LARGE}, new", "with out="),
)
START = "import time; t = time.process_time(); from rbdgen_host.driver import Dynamics\n"
START += "Dynamics({robot!r}); print(time.process_time() - t)"
ALONE = "import time; t = time.process_time(); import numpy; print(time.process_time() - t)"


def _legend() -> str:
    robot = CASES[0][0]
    whole, alone = (_least_of(code) for code in (START.format(robot=robot), ALONE))
    return (
        f"ns of CPU time of one thread, the least of {RUNS} runs, in float64. new: results are new "
        "arrays; with out=: written where the caller says. Pinocchio: its Python, of one state. "
        f"C++: the call of {BATCH} states in rows. Dynamics({robot!r}), compiled before, takes "
        f"{whole:.3f} s of CPU with its import, of which NumPy's import takes {alone:.3f}. "
        f"{processor()}, load {os.getloadavg()[1]:.1f}."
    )


@measurement(
    "python",
    "a minute",
    HEAD,
    cases=lambda: CASES,
    legend=_legend,
    page=True,
    robots=lambda: {robot for robot, _ in CASES},
)
def python(place: Path, progress: Progress, robot: str, function: str) -> Iterator[tuple[Any, ...]]:
    """Calls from Python: one state beside Pinocchio's, batches beside the same call in C++."""
    own = BY_NAME[function]
    functions = (function, *([own.together] if own.together else []))
    driver = Dynamics(robot, functions=functions, progress=progress)
    call, peer = getattr(driver, own.pinocchio), _peer(robot, own.pinocchio)
    rng = np.random.default_rng(1)

    def arrays(*leading: int) -> list[Any]:
        sizes = (driver.nq if name == "q" else driver.nv for name in NEEDS[function])
        return [rng.uniform(-1, 1, (*leading, size)) for size in sizes]

    one = arrays()
    _refuse_unlike(own.pinocchio, call(*one), peer(*one))
    progress(f"{robot} {function}: one state")
    ours, into, theirs = _least([_of(call, one), _into(call, one), lambda: peer(*one)])
    progress(f"{robot} {function}: batches")
    new, out = (x / BATCH for x in _least(_both(call, arrays(BATCH))))
    rows = times_of({function: driver._backend.programs[function]}, (BATCH,), 1, progress)
    cpp = rows[function].of[BATCH].rows
    large = [x / LARGE for x in _least(_both(call, arrays(LARGE)), runs=5)]
    yield (
        f"{robot} {own.pinocchio}",
        *(round(x) for x in (ours, into, theirs)),
        round(theirs / ours, 1),
        *(round(x, 1) for x in (new, out, cpp)),
        *(round(x / cpp, 2) for x in (new, out)),
        *(round(x, 1) for x in large),
    )


def _of(call: Callable[..., Any], arrays: list[Any]) -> Callable[[], Any]:
    return lambda: call(*arrays)


def _into(call: Callable[..., Any], arrays: list[Any]) -> Callable[[], Any]:
    """The call with its results written where they are the first time."""
    found = call(*arrays)
    return lambda: call(*arrays, out=found)


def _both(call: Callable[..., Any], arrays: list[Any]) -> list[Callable[[], Any]]:
    return [_of(call, arrays), _into(call, arrays)]


def _least(calls: list[Callable[[], Any]], runs: int = RUNS) -> list[float]:
    """ns of CPU time of each call: the least of runs that alternate."""
    counts = [_count(call) for call in calls]
    least = [np.inf] * len(calls)
    for _ in range(runs):
        for k, (call, count) in enumerate(zip(calls, counts, strict=True)):
            least[k] = min(least[k], _took(call, count) / count)
    return least


def _count(call: Callable[[], Any]) -> int:
    """The number of calls that take `SECONDS` together."""
    count = 1
    while (took := _took(call, count)) < SECONDS * 1e9 / 4:
        count *= 2
    return max(1, round(count * SECONDS * 1e9 / took))


def _took(call: Callable[[], Any], count: int) -> int:
    start = time.thread_time_ns()
    for _ in range(count):
        call()
    return time.thread_time_ns() - start


def _least_of(code: str) -> float:
    """Seconds that a program of Python prints: the least of five, after one that is not counted."""
    command = [sys.executable, "-c", code]
    said = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(6)]
    return min(float(own.stdout) for own in said[1:])


@cache
def _model(robot: str) -> tuple[pinocchio.Model, pinocchio.Data]:
    import pinocchio

    model = pinocchio.buildModelFromUrdf(load(robot)[0].robot)
    return model, model.createData()


def _peer(robot: str, name: str) -> Callable[..., Any]:
    """Pinocchio's function of a fixed arm, whose joints are in the order of ours."""
    import pinocchio

    model, data = _model(robot)
    function = getattr(pinocchio, name)
    return lambda *arrays: function(model, data, *arrays)


def _refuse_unlike(name: str, ours: Any, theirs: Any) -> None:
    """Mismatch where results differ; of symmetric ones Pinocchio may have the upper triangle."""
    returns = CALLS[name].returns
    if len(returns) == 1:
        ours, theirs = (ours,), (theirs,)
    for array, own, other in zip(returns, ours, theirs, strict=True):
        off = own - other
        if abs(np.triu(off) if array in SYMMETRIC else off).max() > CLOSE * abs(own).max():
            raise Mismatch(f"{name}: {array} is not Pinocchio's")
