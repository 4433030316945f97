"""This machine's compilers and GPU, and what they make.

Code in C and C++ is compiled for this machine once, and kept by all that it may depend on. The GPU
is described by its driver. Sections are read of 64-bit ELF files: objects, shared libraries, and
output of NVIDIA's assembler.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shlex
import shutil
import struct
from collections.abc import Mapping, Sequence
from ctypes import byref, c_int
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .cache import cache_folder, cached, is_cached, named
from .quoting import Refusal
from .signals import run_child


class NoCompiler(Refusal, RuntimeError):
    """There is no C++ compiler, in one line that says what to install."""


class CompilerError(Refusal, RuntimeError):
    """The C++ compiler has refused its input, in one line: its first that speaks of an error."""


Command = tuple[str, ...]  # a program and what it is given first


def command_of(text: str) -> Command:
    """The command that a text such as ``$CXX`` names, with its program's path; () if there is none.

    A program, whatever blanks its path has, or words as a shell reads them: ``ccache g++ -m64``.
    """
    if found := shutil.which(text):
        return (found,)
    try:
        program, *rest = shlex.split(text)
    except ValueError:  # no word, or a quotation mark without another
        return ()
    found = shutil.which(program)
    return (found, *rest) if found else ()


def find_compiler() -> Command:
    """``$CXX``, which may be several words, else g++ or clang++; NoCompiler."""
    named = os.environ.get("CXX")
    found = command_of(named) if named else command_of("g++") or command_of("clang++")
    if not found:
        what = f"no C++ compiler {named}, which $CXX names" if named else "no C++ compiler"
        raise NoCompiler(f"{what}: install g++ (Debian: apt-get install g++)")
    return found


def compile_with(command: Sequence[str]) -> None:
    """Run a compiler or linker; CompilerError."""
    done = run_child(command)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines() or [f"exit status {done.returncode}"]
        first = next((line for line in lines if re.search(r"error", line, re.IGNORECASE)), lines[0])
        raise CompilerError(f"{Path(command[0]).name}: {first.strip()}")


def about(compiler: Command) -> str:
    """The compiler's description of itself, which distinguishes its versions."""
    files = [Path(found) for word in compiler if (found := shutil.which(word))]
    return _said(compiler, tuple(file.stat().st_mtime_ns for file in files))


@cache
def _said(compiler: Command, changed: tuple[int, ...]) -> str:
    return run_child([*compiler, "--version"]).stdout


def processor() -> str:
    """The processor's features, which ``-march=native`` depends on.

    A home folder may be shared by several machines.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


# of a C++ compiler; -O2 takes longer than it saves
FLAGS: tuple[str, ...] = ("-x", "c", "-std=c99", "-O1")
SHARED = ("-shared", "-fPIC")
LIBRARY = "library.so"


def c_library(
    files: Mapping[str, str], kept_only: bool = False, flags: Sequence[str] = FLAGS
) -> ctypes.CDLL | None:
    """The library of C or C++ files by name, from the cache or compiled into it.

    ``kept_only``: None unless it is in the cache. NoCompiler, CompilerError.
    """
    compiler = find_compiler()
    parts = compiler, about(compiler), processor(), (*flags, *SHARED), sorted(files.items())
    name = named("integers", *parts)
    if kept_only and not is_cached(cache_folder() / name, [LIBRARY]):
        return None

    def make(work: Path) -> None:
        build(files, work, flags)

    try:
        return ctypes.CDLL(str(cached(name, make, files=[LIBRARY]) / LIBRARY))
    except OSError as error:
        raise CompilerError(f"{name}: {error}") from None


def build(files: Mapping[str, str], into: Path, flags: Sequence[str] = FLAGS) -> Path:
    """The library in a folder, beside its files; NoCompiler, CompilerError."""
    for own, text in files.items():
        (into / own).write_text(text, "utf-8")
    sources = [str(into / own) for own in files if own.endswith((".c", ".cpp"))]
    made = into / LIBRARY
    compile_with([*find_compiler(), *flags, *SHARED, *sources, "-o", str(made)])
    return made


DRIVER = "libcuda.so.1"
MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…
LONGEST = 256  # bytes of a name


class NoGpu(Refusal, RuntimeError):
    """There is no GPU that CUDA runs on, in one line."""


@dataclass(frozen=True)
class Gpu:
    """The first one: its name, and what nvcc calls what it can do, as ``sm_90``."""

    name: str
    architecture: str


def find_gpu() -> Gpu:
    """The first GPU; NoGpu with what is missing."""
    try:
        driver = ctypes.CDLL(DRIVER)
    except OSError:
        raise NoGpu(f"no NVIDIA GPU here: its driver, {DRIVER}, is not installed") from None
    device, major, minor = c_int(), c_int(), c_int()
    name = ctypes.create_string_buffer(LONGEST)
    failed = (
        driver.cuInit(0)
        or driver.cuDeviceGet(byref(device), 0)
        or driver.cuDeviceGetName(name, LONGEST, device)
        or driver.cuDeviceGetAttribute(byref(major), MAJOR, device)
        or driver.cuDeviceGetAttribute(byref(minor), MINOR, device)
    )
    if failed:
        raise NoGpu(f"no NVIDIA GPU here: its driver answers with error {failed} of CUDA's")
    return Gpu(name.value.decode(), f"sm_{major.value}{minor.value}")


def sections(elf: bytes) -> dict[str, int]:
    """Name → bytes of each section."""
    (headers,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    # name, type, flags, address, offset, size
    rows = [struct.unpack_from("<IIQQQQ", elf, headers + k * size) for k in range(count)]
    table = rows[names][4]
    return {elf[table + row[0] : elf.index(b"\0", table + row[0])].decode(): row[5] for row in rows}
