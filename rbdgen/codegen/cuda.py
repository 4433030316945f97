"""A graph over real numbers as CUDA: a thread for each state, straight-line kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, repeat

from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.visits import Program
from ..system.templates import render
from .interface import Array, ArrayEntry, ArrayInterface, rows
from .loops import LoopFacts, Loops, loops
from .nvcc import BETWEEN, SPARE, THREADS, Kernel, Use, guessed, kernel_of, live, overlaps, settled
from .real import Straight, computed, identifier, in_parts, literal, walks

MOST = 3000  # operations of a kernel: some 30 bytes of code each, and GPUs keep about 100 KB
CONSTANT = 65536  # bytes of constant memory, which all tables are in if they fit
LONGEST = 100_000  # bytes of a kernel's code, which GPUs keep
TRACED, WALKS = "as traced", "joint by joint"  # orders of operations

Measure = Callable[[Mapping[str, str]], tuple[Use, ...]]  # what kernels take, of source and header


def kernels_of(order: Sequence[Node], most: int = MOST) -> list[Sequence[Node]]:
    """A graph's operations in kernels of at most so many.

    One ends with a region if it can, where the fewest numbers wait for the kernels behind it.
    """
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
    return overlaps(((at[node] + 1, end) for node, end in last.items()), len(order) + 1)


@dataclass(frozen=True)
class Cuda:
    """The files, and the kernels that they have; ``slots``: numbers of a state between kernels.

    ``uses``: what the kernels take, if that was measured. ``order``: of operations, `TRACED` or
    `WALKS`. ``loops``: of a program that is written so.
    """

    files: Mapping[str, str]
    kernels: tuple[Kernel, ...]
    slots: int
    uses: tuple[Use, ...] = ()
    order: str = TRACED
    loops: LoopFacts | None = None


def cuda(
    graph: Graph,
    interface: ArrayInterface,
    name: str,
    about: Mapping[str, str],
    most: int = MOST,
    program: Program | None = None,
    measure: Measure | None = None,
    in_double: Collection[Node] = (),
    shared: Sequence[float] = (),
) -> Cuda:
    """``name``.cu, whose functions ``name``.h describes, and what builds and tries them.

    ``about``: ``robot`` and ``functions``, in words. ``most``: operations of a kernel. ``program``:
    visits that compute the graph, written as loops of one kernel in its place. ``measure``: what
    says what kernels take, by which launch bounds are chosen; else they are guessed from the graph.
    Where kernels spill as the graph was traced, `walks` are tried, and kept if they spill less.
    ``in_double``: nodes that the functions of float compute in double; loops have none. ``shared``:
    the numbers that all states share, of the robot that this is made from. ValueError for a name
    that is no identifier, and for a constant that is not finite.
    """
    looped = loops(program, graph) if program else None
    nodes = computed(graph)

    def written(order: str, nodes: Sequence[Node]) -> Cuda:
        chunks = kernels_of(nodes, most)
        given = graph, interface, name, about, looped, order, chunks, measure, in_double, shared
        return _written(*given)

    found = written(TRACED, nodes)
    if looped or not any(_spilled(found.uses)):
        return found
    other = written(WALKS, walks(graph, nodes, interface))
    return other if _spilled(other.uses) < _spilled(found.uses) else found


def _spilled(uses: Sequence[Use]) -> tuple[int, int]:
    """Bytes in float, then in double: what is quicker is not to be made slower for the other."""

    def of(scalar: str) -> int:
        return sum(u.spill_stores + u.spill_loads for u in uses if u.scalar == scalar)

    return of("float"), of("double")


def _written(
    graph: Graph,
    interface: ArrayInterface,
    name: str,
    about: Mapping[str, str],
    looped: Loops | None,
    order: str,
    chunks: Sequence[Sequence[Node]],
    measure: Measure | None,
    in_double: Collection[Node],
    shared: Sequence[float],
) -> Cuda:
    """The files of `cuda`, with the graph divided into kernels by ``chunks``."""
    same = interface.shared
    states = graph.inputs[: len(graph.inputs) - len(same)]
    assert same == graph.inputs[len(states) :]  # and numbered so
    if looped:
        made = Straight((), 0, looped.straight.divides)
        kernels: tuple[Kernel, ...] = (_looping(looped),)
        read = set[str]()
    else:
        made = in_parts(graph, chunks, in_double=in_double)
        spare = BETWEEN if len(chunks) > 1 else SPARE
        kernels = tuple(kernel_of(own, spare, same) for own in chunks)
        read = {own.name for node in chunks[-1] for own in node.args if own.op is Op.INPUT}
    slots = made.slots + 2 * made.slots_double
    outputs = {at: k for k, own in enumerate(graph.outputs) for at in interface.outputs[own]}
    inputs = {interface.inputs[own]: k for k, own in enumerate(graph.inputs)}
    values: dict[str, object] = {
        **about,
        **rows(interface),
        "name": identifier(name),
        "macro": name.upper(),
        "errors": True,
        "threads": THREADS,
        "inputs": states,
        "shared": [literal(own, "double") for own in shared],
        "outputs": list(graph.outputs),
        "loops": looped,
        "order": order,
        "constant": looped is not None and looped.facts.bytes <= CONSTANT,
        "unread": [k for k, own in enumerate(states) if own not in read],
        "slots": slots,
        "in_double": made.in_double,
        "slots_of_float": made.slots,
        "divides": made.divides,
        "places_in": [place for place in _places(interface.takes, inputs) if place[-1] >= 0],
        "places_out": _places(interface.gives, outputs),
    }
    parts = made.parts or ((),)
    sources, kernels, found = _settled(name, kernels, parts, values, measure)
    files = dict(sources)
    values |= {"kernels": kernels, "uses": found}
    files["example.c"] = render(
        "cpp/example.c.jinja", takes=interface.takes, gives=interface.gives, **values
    )
    files |= {own: render(f"cuda/{own}.jinja", **values) for own in ("CMakeLists.txt", "README.md")}
    if interface.same is None:  # which is on the host, where XLA's arrays are not
        files[f"{values['name']}_xla.cc"] = render("cuda/xla.cc.jinja", **values)
    return Cuda(files, kernels, slots, found, order, looped.facts if looped else None)


def _settled(
    name: str,
    kernels: tuple[Kernel, ...],
    parts: Sequence[Sequence[str]],
    values: Mapping[str, object],
    measure: Measure | None,
) -> tuple[dict[str, str], tuple[Kernel, ...], tuple[Use, ...]]:
    """Source and header, the kernels with the bounds that they have there, and what these take."""
    for first in chain([True], repeat(False)):
        written = [{"bounds": own, "lines": part} for own, part in zip(kernels, parts, strict=True)]
        files = {
            f"{name}.{kind}": render(f"cuda/source.{kind}.jinja", kernels=written, **values)
            for kind in ("cu", "h")
        }
        uses = measure(files) if measure else ()
        better = settled(kernels, uses, first)
        if better == kernels:
            break
        kernels = better
    return files, kernels, uses


def _looping(looped: Loops) -> Kernel:
    """The kernel that makes all visits: its numbers in use are those of the largest function."""
    at_once = max((live(own.nodes) for own in looped.templates), default=0)
    return guessed(looped.operations, at_once, BETWEEN)


def _places(arrays: Sequence[Array], columns: Mapping[ArrayEntry, int]) -> list[tuple[int, ...]]:
    """The places of a state's numbers: array, its size, offset, and column or -1."""
    return [
        (k, own.size, at, columns.get(ArrayEntry(own.name, at), -1))
        for k, own in enumerate(arrays)
        for at in range(own.size)
    ]
