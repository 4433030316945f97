"""NVIDIA's compiler, where it is installed, and what its assembler says of kernels."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..system.elf import sections
from ..system.records import Record
from ..system.refusal import Refusal
from ..system.stopping import run_child

FLAGS = ("-std=c++17", "-O3")
_ENTRY = re.compile(
    r"Function properties for \S*?\d(kernel_\d+|to_rows|to_columns)I([fd])E.*\n"
    r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r".*Used (\d+) registers"
)
_SECTION = re.compile(r"\.text\.\S*?\d(kernel_\d+|to_rows|to_columns)I([fd])E")


class NoCompiler(Refusal, RuntimeError):
    """There is no nvcc here, or it cannot compile, in one line."""


@dataclass(frozen=True)
class Use(Record):
    """What a kernel takes: registers of a thread; bytes that it spills, and of its code."""

    kernel: str
    scalar: str  # float or double
    registers: int
    spill_stores: int
    spill_loads: int
    code: int


def find_nvcc() -> str:
    """The compiler: $NVCC, on the PATH, in $CUDA_HOME, or of NVIDIA's packages; NoCompiler."""
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    places = [
        os.environ.get("NVCC"),
        shutil.which("nvcc"),
        *(Path(home) / "bin/nvcc" for home in [os.environ.get("CUDA_HOME")] if home),
        *sorted(packages.glob("*/bin/nvcc"), reverse=True),
    ]
    for place in places:
        if place and os.access(place, os.X_OK):
            return str(place)
    raise NoCompiler("no nvcc; install CUDA, or: pip install nvidia-cuda-nvcc nvidia-cuda-runtime")


def compiled(source: Path, target: Path, *flags: str) -> str:
    """What nvcc says while it makes ``target`` of ``source``; NoCompiler with its complaint."""
    done = run_child([find_nvcc(), *FLAGS, *flags, "-o", str(target), str(source)])
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"status {done.returncode}"]
        raise NoCompiler(f"nvcc: {said[0]}")
    return done.stdout + done.stderr


def uses(source: Path, architecture: str) -> tuple[Use, ...]:
    """Of each kernel of the file, by ptxas, for such as ``sm_90``; NoCompiler."""
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as folder:
        place = Path(folder) / "kernels.cubin"
        said = compiled(source, place, f"-arch={architecture}", "-cubin", "-Xptxas", "-v")
        code = {
            found.groups(): size
            for name, size in sections(place.read_bytes()).items()
            if (found := _SECTION.match(name))
        }
    scalars = {"f": "float", "d": "double"}
    return tuple(
        Use(kernel, scalars[own], int(registers), int(stores), int(loads), code[kernel, own])
        for kernel, own, _, stores, loads, registers in sorted(_ENTRY.findall(said))
    )
