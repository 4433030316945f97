"""Programs that print times: compiled here once, run in turn."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..simulate.toolchain import in_cache
from ..system.cache import cached
from ..system.compiler import about, compile_with, find_compiler, processor
from ..system.data import data_folder
from ..system.stopping import run_child
from .folder import InputError

Progress = Callable[[str], None]
Commands = Mapping[str, Sequence[str | Path]]
PROCESSES = 5
FAST = ("-O3", "-march=native", "-DNDEBUG")
PLAIN = ("-O3", "-DNDEBUG")  # for any processor of the kind
PROGRAM = "program"
SOURCES = data_folder("templates") / "bench"
INCLUDE = re.compile(r'^#include "(.*)"$', re.MULTILINE)


def least(commands: Commands, processes: int = 0) -> dict[str, tuple[float, ...]]:
    """The numbers that each program prints, each the least of several processes (0: `PROCESSES`).

    The programs take turns, so that a busy minute is all of theirs.
    """
    found: dict[str, tuple[float, ...]] = {}
    for _ in range(processes or PROCESSES):
        for name, own in commands.items():
            new = tuple(map(float, said([str(word) for word in own]).split()))
            found[name] = tuple(map(min, found.get(name, new), new))
    return found


def program(
    name: str,
    flags: Sequence[str],
    source: str,
    say: Progress,
    what: str,
    parts: Sequence[Path] = (),
    optimised: Sequence[str] = FAST,
) -> Path:
    """A program of a source's text in C++, and of files in C, that is compiled once and kept.

    NoCompiler, CompilerError; SimulationError where the cache cannot be written.
    """
    compiler = find_compiler()
    headers = [SOURCES / own for own in INCLUDE.findall(source)]
    texts = [source, *(own.read_text("utf-8") for own in (*headers, *parts) if own.is_file())]
    of = digest_of(repr((about(compiler), processor(), flags, optimised, texts)))

    def make(work: Path) -> None:
        say(f"compiling {what}")
        place = work / "source.cpp"
        place.write_text(source, "utf-8")
        objects = [str(work / f"{part.stem}.o") for part in parts]
        for part, target in zip(parts, objects, strict=True):
            compile_with([*compiler, *optimised, "-x", "c", "-c", str(part), "-o", target])
        command = [*compiler, f"-I{SOURCES}", str(place), *objects, *flags]
        compile_with([*command, "-o", str(work / PROGRAM)])

    return kept_in_cache(f"{name}-{of}", say, make) / PROGRAM


def kept_in_cache(name: str, say: Progress, make: Callable[[Path], None]) -> Path:
    """The folder ``name`` of the cache, made if need be; SimulationError."""
    with in_cache():
        return cached(name, make, say)


def digest_of(text: str) -> str:
    """16 digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def said(command: Sequence[str]) -> str:
    """Run a program and return its output; InputError with its first line of complaint."""
    done = run_child(command)
    if done.returncode:
        reason = (done.stderr.splitlines() or [f"exit status {done.returncode}"])[0]
        raise InputError(f"{Path(command[0]).parent.name}: {reason}")
    return done.stdout
