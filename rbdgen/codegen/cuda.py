"""A graph over real numbers as CUDA: a thread for each state, straight-line kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.visits import Program
from ..system.records import Record
from ..system.templates import render
from .interface import Array, Entry, Interface
from .loops import LoopFacts, Loops, loops
from .real import Straight, computed, identifier, in_parts
from .rows import rows

MOST = 3000  # operations of a kernel: some 30 bytes of code each, and GPUs keep about 100 KB
THREADS = 128  # of a block
REGISTERS = 65536 // THREADS  # of 32 bits, of a multiprocessor, for one thread of each block
GRANULE = 8  # registers are given so many at a time
SPARE = 28  # for addresses, and operations under way
BETWEEN = 48  # the same where kernels hand on numbers: more are on their way from memory and to it
CONSTANT = 65536  # bytes of constant memory, which all tables are in if they fit
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


def kernel_of(nodes: Sequence[Node], spare: int = SPARE) -> Kernel:
    """The bounds of a kernel that computes these; ``spare``: registers for all but numbers."""
    live = _live(nodes)
    return Kernel(len(nodes), live, _blocks(live + spare), _blocks(2 * live + spare))


def _blocks(registers: int) -> int:
    """As many as leave each thread that many registers, so that none waits in memory."""
    fits = [
        blocks
        for blocks in range(FEWEST, LARGEST + 1)
        if REGISTERS // blocks // GRANULE * GRANULE >= registers
    ]
    return max(fits, default=FEWEST)


def kernels_of(graph: Graph, most: int = MOST) -> list[list[Node]]:
    """The graph's operations in kernels of at most so many.

    One ends with a region if it can, where the fewest numbers wait for the kernels behind it.
    """
    order = computed(graph)
    waiting = _waiting(order)
    ends = [0]
    while len(order) - ends[-1] > most:
        start, left = ends[-1], len(order) - ends[-1]
        fair = left / math.ceil(left / most)
        window = range(start + math.ceil(0.6 * fair), start + min(most, int(1.4 * fair)) + 1)
        edges = [k for k in window if order[k - 1].region != order[k].region]
        ends.append(min(edges or window, key=lambda k: (waiting[k], -k)))
    return [order[a:b] for a, b in pairwise([*ends, len(order)])]


def _waiting(order: Sequence[Node]) -> list[int]:
    """How many of the first k nodes others read."""
    at = {node: k for k, node in enumerate(order)}
    last = {arg: k for k, node in enumerate(order) for arg in node.args if arg in at}
    return _overlaps(((at[node] + 1, end) for node, end in last.items()), len(order) + 1)


def _live(nodes: Sequence[Node]) -> int:
    """Numbers that are there at once: from where each is made, or first read, to its last use."""
    first: dict[Node, int] = {}
    last: dict[Node, int] = {}
    for k, node in enumerate(nodes):
        for own in (*node.args, node):
            if own.op is not Op.CONST:
                first.setdefault(own, k)
                last[own] = k
    return max(_overlaps(((first[own], last[own]) for own in first), len(nodes)), default=0)


def _overlaps(spans: Iterable[tuple[int, int]], size: int) -> list[int]:
    """How many of the spans, ends included, cover each place."""
    change = [0] * (size + 1)
    for start, end in spans:
        change[start] += 1
        change[end + 1] -= 1
    return list(accumulate(change))[:size]


@dataclass(frozen=True)
class Cuda:
    """The files, and the kernels that they have; ``slots``: numbers of a state between kernels.

    ``loops``: of a program that is written so.
    """

    files: Mapping[str, str]
    kernels: tuple[Kernel, ...]
    slots: int
    loops: LoopFacts | None = None


def cuda(
    graph: Graph,
    interface: Interface,
    name: str,
    about: Mapping[str, str],
    most: int = MOST,
    program: Program | None = None,
) -> Cuda:
    """``name``.cu, whose functions ``name``.h describes, and what builds and tries them.

    ``about``: ``robot`` and ``functions``, in words. ``most``: operations of a kernel. ``program``:
    visits that compute the graph, written as loops of one kernel in its place. ValueError for a
    name that is no identifier, and for a constant that is not finite.
    """
    looped = loops(program, graph) if program else None
    if looped:
        made = Straight((), 0, looped.straight.divides)
        kernels: tuple[Kernel, ...] = (_looping(looped),)
        read = set[str]()
    else:
        chunks = kernels_of(graph, most)
        made = in_parts(graph, chunks)
        spare = BETWEEN if len(chunks) > 1 else SPARE
        kernels = tuple(kernel_of(own, spare) for own in chunks)
        read = {own.name for node in chunks[-1] for own in node.args if own.op is Op.INPUT}
    outputs = {at: k for k, own in enumerate(graph.outputs) for at in interface.outputs[own]}
    inputs = {interface.inputs[own]: k for k, own in enumerate(graph.inputs)}
    values: dict[str, object] = {
        **about,
        **rows(interface),
        "name": identifier(name),
        "macro": name.upper(),
        "errors": True,
        "threads": THREADS,
        "kernels": [
            {"bounds": kernel, "lines": lines}
            for kernel, lines in zip(kernels, made.parts or ((),), strict=True)
        ],
        "inputs": list(graph.inputs),
        "outputs": list(graph.outputs),
        "loops": looped,
        "constant": looped is not None and looped.facts.bytes <= CONSTANT,
        "unread": [k for k, own in enumerate(graph.inputs) if own not in read],
        "slots": made.slots,
        "divides": made.divides,
        "places_in": [place for place in _places(interface.takes, inputs) if place[-1] >= 0],
        "places_out": _places(interface.gives, outputs),
    }
    files = {
        f"{name}.{kind}": render(f"cuda/source.{kind}.jinja", **values) for kind in ("cu", "h")
    }
    files["example.c"] = render(
        "cpp/example.c.jinja", takes=interface.takes, gives=interface.gives, **values
    )
    files |= {own: render(f"cuda/{own}.jinja", **values) for own in ("CMakeLists.txt", "README.md")}
    return Cuda(files, kernels, made.slots, looped.facts if looped else None)


def _looping(looped: Loops) -> Kernel:
    """The kernel that makes all visits: its numbers in use are those of the largest function."""
    live = max((_live(own.nodes) for own in looped.templates), default=0)
    blocks = _blocks(live + BETWEEN), _blocks(2 * live + BETWEEN)
    return Kernel(looped.operations, live, *blocks)


def _places(arrays: Sequence[Array], columns: Mapping[Entry, int]) -> list[tuple[int, ...]]:
    """Of each number of a state's rows: the array, its size, where it is, and its column, or -1."""
    return [
        (k, own.size, at, columns.get(Entry(own.name, at), -1))
        for k, own in enumerate(arrays)
        for at in range(own.size)
    ]
