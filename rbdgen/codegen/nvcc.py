"""NVIDIA's compiler, where it is installed, and what its assembler says of kernels."""

from __future__ import annotations

import os
import re
import sysconfig
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..system.compiler import Command, command_of
from ..system.elf import sections
from ..system.records import Record
from ..system.refusal import Refusal
from ..system.signals import run_child

FLAGS = ("-std=c++17", "-O3")
SCALARS = {"f": "float", "d": "double"}
ARCHITECTURES = ("sm_80", "sm_90")  # of A100, of H100
_ENTRY = re.compile(
    r"Function properties for \S*?\d(kernel_\d+|to_rows|to_columns)I([fd])E.*\n"
    r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r".*Used (\d+) registers"
)
_SECTION = re.compile(r"\.text\.\S*?\d(kernel_\d+|to_rows|to_columns)I([fd])E")


class NoNvcc(Refusal, RuntimeError):
    """There is no nvcc here, or it cannot compile, in one line."""


@dataclass(frozen=True)
class Use(Record):
    """The resources of a kernel: registers of a thread; bytes of stack, of spills, of code."""

    kernel: str
    architecture: str  # such as sm_90
    scalar: str  # float or double
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    code: int


def find_nvcc() -> Command:
    """The compiler: $NVCC, which may be several words, else one on the PATH, in $CUDA_HOME, or of
    NVIDIA's packages; NoCompiler."""
    if named := os.environ.get("NVCC"):
        if found := command_of(named):
            return found
        raise NoNvcc(f"no nvcc {named}, which $NVCC names")
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    places = [
        "nvcc",
        *(f"{home}/bin/nvcc" for home in [os.environ.get("CUDA_HOME")] if home),
        *map(str, sorted(packages.glob("*/bin/nvcc"), reverse=True)),
    ]
    for place in places:
        if found := command_of(place):
            return found
    raise NoNvcc("no nvcc; install CUDA, or: pip install nvidia-cuda-nvcc nvidia-cuda-runtime")


def version() -> str:
    """nvcc's version, such as 13.0.88; NoCompiler."""
    done = run_child([*find_nvcc(), "--version"])
    found = re.search(r"\bV(\d[\d.]*)", done.stdout)
    if done.returncode or not found:
        raise NoNvcc("nvcc: --version names none")
    return found[1]


def compiled(source: Path, target: Path, *flags: str) -> str:
    """Compile ``source`` to ``target`` and return nvcc's output; NoCompiler with its complaint."""
    done = run_child([*find_nvcc(), *FLAGS, *flags, "-o", str(target), str(source)])
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
        raise NoNvcc(f"nvcc: {said[0]}")
    return done.stdout + done.stderr


def uses(source: Path, architecture: str) -> tuple[Use, ...]:
    """The resources of each kernel of the file, by ptxas, for such as ``sm_90``; NoCompiler."""
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as folder:
        place = Path(folder) / "kernels.cubin"
        said = compiled(source, place, f"-arch={architecture}", "-cubin", "-Xptxas", "-v")
        code = {
            found.groups(): size
            for name, size in sections(place.read_bytes()).items()
            if (found := _SECTION.match(name))
        }
    all_of = []
    for kernel, own, *numbers in sorted(_ENTRY.findall(said)):
        stack, stores, loads, registers = map(int, numbers)
        scalar, size = SCALARS[own], code[kernel, own]
        all_of.append(Use(kernel, architecture, scalar, registers, stack, stores, loads, size))
    return tuple(all_of)


def uses_of(files: Mapping[str, str]) -> tuple[Use, ...]:
    """The same of a source and its header, by name, for all of `ARCHITECTURES`."""
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as folder, ThreadPoolExecutor() as pool:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, "utf-8")
        (source,) = Path(folder).glob("*.cu")
        found = pool.map(partial(uses, source), ARCHITECTURES)
        return tuple(use for own in found for use in own)
