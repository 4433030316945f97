"""The times of the tool itself: seconds for a command, a front end, the driver.

Each is a process of its own. Its cache begins with what all designs share (the compiled search,
Verilator's runtime), so that no row has that in it, and no row has what an earlier session kept.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.system.quoting import Progress
from rbdgen.system.signals import run_child

from .measurement import Row, measurement

ROBOT, II = "iiwa14", 8  # the accelerator's
TARGET = "xcup"  # it takes 221 multipliers
LARGE: tuple[str, Mapping[str, Any]] = ("humanoid", {"functions": ("dfd",), "base": "floating"})
SMALL = "pendulum"  # its accelerator compiles what all share
TRIES = 5  # the least of so many, for what answers at once
# What answers at once, and its exit status.
AT_ONCE: tuple[tuple[tuple[str, ...], int], ...] = (
    (("--help",), 0),
    (("--version",), 0),
    (("generate", "iiwa14", "--widht", "18"), 2),
    (("info", "iiwa15"), 2),
)
HEAD = ("what", "s", "CPU s")
NOTE = (
    "CPU s: of the process and of those that it started. A call is timed in a new process, after\n"
    "the import that it needs; its CPU s are the whole process's. make test is no row: time it by\n"
    "itself, on an idle machine."
)
CALL = """
import time
from {module} import {name}
started = time.perf_counter()
{name}({arguments})
print(time.perf_counter() - started)
"""


@dataclass(frozen=True)
class Took:
    """The seconds that a process took, or a call in one, and the process's seconds of CPU."""

    seconds: float
    cpu: float


@dataclass(frozen=True)
class _Session:
    """Commands that share one cache."""

    cache: Path
    progress: Progress

    def command(self, *words: str | Path, status: int = 0) -> Took:
        """``rbdgen`` with these arguments; InputError where it ends otherwise than with status."""
        return self._run(["-m", "rbdgen", *map(str, words)], status)[0]

    def call(self, module: str, name: str, *given: object, **choices: object) -> Took:
        """A call of what ``module`` calls ``name``, in a new process."""
        arguments = [*map(repr, given), *(f"{key}={value!r}" for key, value in choices.items())]
        text = CALL.format(module=module, name=name, arguments=", ".join(arguments))
        took, said = self._run(["-c", text], 0)
        return Took(float(said.splitlines()[-1]), took.cpu)

    def _run(self, words: Sequence[str], status: int) -> tuple[Took, str]:
        self.progress(" ".join(" ".join(words).split()))
        before, started = _cpu(), time.monotonic()
        environment = os.environ | {"XDG_CACHE_HOME": str(self.cache)}
        done = run_child([sys.executable, *words], env=environment)
        took = Took(time.monotonic() - started, _cpu() - before)
        if done.returncode != status:
            said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise api.InputError(said[-1])
        return took, done.stdout


def _cpu() -> float:
    """Seconds of CPU that all processes took which ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@measurement("tool-latency", "half an hour", HEAD, legend=NOTE)
def tool(place: Path, progress: Progress) -> Iterator[Row]:
    """The tool's own time: commands, a front end, an accelerator's simulation, the driver."""
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix="tool-") as folder:
        for part in (_at_once, _large, _arm):
            for what, own in part(Path(folder), progress).items():
                yield [what, round(own.seconds, 2), round(own.cpu, 2)]


def _at_once(work: Path, progress: Progress) -> dict[str, Took]:
    """Help, version, and errors in arguments."""
    session = _Session(work / "cache", progress)
    found = {}
    for words, status in AT_ONCE:
        tries = [session.command(*words, status=status) for _ in range(TRIES)]
        found[f"rbdgen {' '.join(words)}"] = min(tries, key=lambda took: took.cpu)
    return found


def _large(work: Path, progress: Progress) -> dict[str, Took]:
    """The front end of the largest graph."""
    robot, choices = LARGE
    took = _Session(work / "cache", progress).call(
        "rbdgen.compile.flow", "front_end", robot, **choices
    )
    said = ", ".join(f"{key}={value!r}" for key, value in choices.items())
    return {f'front_end("{robot}", {said})': took}


def _arm(work: Path, progress: Progress) -> dict[str, Took]:
    """One accelerator: generated, simulated, called; and simulated with waves as if it were new."""
    shared, small = work / "cache", work / "small"
    session = _Session(shared, progress)
    session.command("generate", SMALL, "--accelerator", "--function", "id", "-o", small)
    session.command("waves", small)
    shutil.copytree(shared, work / "other", dirs_exist_ok=True)

    folder, copy = work / "arm", work / "copy"
    generate = ("generate", ROBOT, "--accelerator", "--ii", str(II), "--target", TARGET)
    found = {f"rbdgen {' '.join(generate)} -o D": session.command(*generate, "-o", folder)}
    shutil.copytree(folder, copy)
    found["rbdgen simulate D"] = session.command("simulate", folder)
    driver = ("rbdgen_host.driver", "Dynamics")
    found['Dynamics(D, "rtl") after that'] = session.call(*driver, str(folder), "rtl")
    for _ in range(2):
        again = session.call(*driver, ROBOT, "rtl", ii=II, target=TARGET)
    found[f'Dynamics("{ROBOT}", "rtl", ii={II}, target="{TARGET}") the second time'] = again
    other = _Session(work / "other", progress)
    found["rbdgen waves D, D new"] = other.command("waves", copy)
    return found
