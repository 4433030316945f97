"""How many blocks a multiprocessor is to have room for: what bounds the registers of a thread.

A guess comes from the graph. Where there is nvcc, what its assembler reports has the last word.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ..graph.node import Node, Op
from ..system.records import Record
from .nvcc import Use

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
