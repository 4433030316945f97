"""NVIDIA's compiler: which blocks a multiprocessor has room for, and what kernels take.

That number bounds the registers of a thread. It is guessed from the graph, and where nvcc is
installed, what its assembler reports decides.
"""

from __future__ import annotations

import os
import re
import sysconfig
import tempfile
from collections.abc import Container, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path

from ..graph.node import Node, Op
from ..system.compiler import Command, command_of, sections
from ..system.quoting import Refusal
from ..system.records import Record
from ..system.signals import run_child

THREADS = 128  # of a block
REGISTERS = 65536 // THREADS  # of 32 bits, of a multiprocessor, for one thread of each block
GRANULE = 8  # registers are given so many at a time
SPARE = 28  # for addresses, and operations under way
BETWEEN = 48  # the same where kernels hand on numbers: more are on their way from memory and to it
FEWEST, LARGEST = 2, 8  # blocks: a thread has at most 255 registers; 64 cost nothing


@dataclass(frozen=True)
class Kernel(Record):
    """Consecutive operations of a graph.

    ``live``: numbers that are in use at once, at most. ``blocks``: how many a multiprocessor is to
    have room for at once, of 128 threads each, in float and in double.
    """

    operations: int
    live: int
    blocks_f32: int
    blocks_f64: int


def kernel_of(
    nodes: Sequence[Node], spare: int = SPARE, same: Container[str] = frozenset()
) -> Kernel:
    """The bounds of a kernel that computes these; ``spare``: registers for all but numbers.

    ``same``: inputs that all states share, which operations read from constant memory.
    """
    return guessed(len(nodes), live(nodes, same), spare)


def guessed(operations: int, at_once: int, spare: int) -> Kernel:
    """The bounds of a kernel that has so many numbers in use at once."""
    blocks = most_blocks(at_once + spare), most_blocks(2 * at_once + spare)
    return Kernel(operations, at_once, *blocks)


def most_blocks(registers: int) -> int:
    """The most blocks that leave each thread ``registers``, so that none is spilled to memory."""
    fits = [
        blocks
        for blocks in range(FEWEST, LARGEST + 1)
        if REGISTERS // blocks // GRANULE * GRANULE >= registers
    ]
    return max(fits, default=FEWEST)


def settled(kernels: Sequence[Kernel], uses: Sequence[Use], first: bool) -> tuple[Kernel, ...]:
    """The kernels with bounds as their use, on all architectures, says.

    Where a kernel spills, there is room for one block less, down to `FEWEST`. Where it does not,
    the ``first`` time, for as many as its registers leave room for. Bounds that stay are final.
    """
    found = list(kernels)
    for k, kernel in enumerate(kernels):
        for scalar, key in (("float", "blocks_f32"), ("double", "blocks_f64")):
            own = [use for use in uses if (use.kernel, use.scalar) == (f"kernel_{k}", scalar)]
            blocks: int = getattr(kernel, key)
            if any(use.spill_stores or use.spill_loads for use in own):
                blocks = max(blocks - 1, FEWEST)
            elif first and own:
                blocks = max(blocks, most_blocks(max(use.registers for use in own)))
            found[k] = replace(found[k], **{key: blocks})
    return tuple(found)


def live(nodes: Sequence[Node], same: Container[str] = frozenset()) -> int:
    """Numbers that are there at once: from where each is made, or first read, to its last use.

    Constants and the inputs ``same`` are not among them.
    """
    first: dict[Node, int] = {}
    last: dict[Node, int] = {}
    for k, node in enumerate(nodes):
        for own in (*node.args, node):
            if own.op is not Op.CONST and not (own.op is Op.INPUT and own.name in same):
                first.setdefault(own, k)
                last[own] = k
    return max(overlaps(((first[own], last[own]) for own in first), len(nodes)), default=0)


def overlaps(spans: Iterable[tuple[int, int]], size: int) -> list[int]:
    """How many of the spans, ends included, cover each place."""
    change = [0] * (size + 1)
    for start, end in spans:
        change[start] += 1
        change[end + 1] -= 1
    return list(accumulate(change))[:size]


FLAGS = ("-std=c++17", "-O3")
SCALARS = {"f": "float", "d": "double"}
ARCHITECTURES = ("sm_80", "sm_90")  # of A100, of H100
_ENTRY = re.compile(
    r"Function properties for \S*?\d(kernel_\d+)I([fd])E.*\n"
    r"\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\n"
    r".*Used (\d+) registers"
)
_SECTION = re.compile(r"\.text\.\S*?\d(kernel_\d+)I([fd])E")


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
    """The resources of the kernels of columns of a file, by ptxas, for such as ``sm_90``.

    The others have no launch bounds that depend on them. Raises NoCompiler.
    """
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as folder:
        place = Path(folder) / "kernels.cubin"
        own = f"-D{source.stem.upper()}_BOUNDS", "-cubin", "-Xptxas", "-v"
        said = compiled(source, place, f"-arch={architecture}", *own)
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
