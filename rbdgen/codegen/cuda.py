"""A graph over real numbers as CUDA: a thread for each state, straight-line kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise, repeat
from typing import Any

from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.visits import Program
from ..system.templates import render
from .interface import Array, ArrayEntry, ArrayInterface, rows
from .loops import LoopFacts, Loops, loops
from .nvcc import BETWEEN, SPARE, THREADS, Kernel, Use, guessed, kernel_of, live, overlaps, settled
from .real import PIVOTS, Part, Place, Straight, identifier, in_parts, literal
from .statement_order import computed, depth_first, joint_by_joint

MOST = 4000  # operations of a kernel: some 23 bytes of code each, and GPUs keep about 100 KB
CONSTANT = 65536  # bytes of constant memory, which all tables are in if they fit
MEASURED = 10_000  # operations; with more, nvcc takes minutes, and registers are all in use anyway
LONGEST = 100_000  # bytes of a kernel's code, which GPUs keep
AHEAD = 32  # inputs that are loaded before the first of them is used
CHEAP = 32  # operations, which take less time than a number takes to memory and back
# operations that count as more than one: a sine and a cosine are computed together
COST = {Op.SIN: 8, Op.COS: 8, **dict.fromkeys(PIVOTS, CHEAP + 1)}
WARP = 32  # threads that share what a block of rows has
SHARED = 48 * 1024  # bytes of a block's memory, which all GPUs have
FEW = 1024  # states, for which launches take longer than what is computed
TOGETHER = 5 * MOST  # operations that one kernel for few states has, at most
TRACED, BY_JOINT = "as traced", "joint by joint"  # orders of operations

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


def recomputing(
    chunks: Sequence[Sequence[Node]], outputs: Iterable[Node], in_double: Collection[Node] = ()
) -> list[list[Node]]:
    """The kernels, with what is cheap computed again in place of read from an earlier one.

    A kernel computes again what takes at most `CHEAP` operations, from inputs and from what it has
    already; all else it reads. None of it is in double, and none is a division.
    """
    place = {node: k for k, node in enumerate(node for chunk in chunks for node in chunk)}
    found: list[list[Node]] = []
    before = 0  # operations of earlier kernels
    for chunk in chunks:
        handed = {arg for node in chunk for arg in node.args if place.get(arg, before) < before}
        have, again = set[Node](), set[Node]()
        for end in sorted(handed, key=place.__getitem__):
            again |= _again(end, have, in_double)
            have |= again | {end}
        ready = list[Node]()
        for node in chunk:
            wanted = [arg for arg in node.args if arg in again]
            first = depth_first(again, wanted) if wanted else []
            ready += [*first, node]
            again.difference_update(first)
        before += len(chunk)
        found.append(ready)
    return _needed(found, outputs)


def _needed(chunks: Sequence[Sequence[Node]], outputs: Iterable[Node]) -> list[list[Node]]:
    """The kernels without what they compute for later ones that compute it again.

    What a later kernel reads, and an output, comes from the first kernel that computes it.
    """
    found, wanted, first = [], set(outputs), dict[Node, int]()
    for k, chunk in enumerate(chunks):
        for node in chunk:
            first.setdefault(node, k)
    for k, chunk in reversed([*enumerate(chunks)]):
        needed = {node for node in wanted if first.get(node) == k}
        own, kept = set(chunk), list[Node]()
        for node in reversed(chunk):
            if node in needed:
                kept.append(node)
                needed.update(node.args)
        wanted.update(arg for node in kept for arg in node.args if arg not in own)
        found.append(kept[::-1])
    return [own for own in reversed(found) if own] or [[]]


def _again(end: Node, have: Collection[Node], in_double: Collection[Node]) -> set[Node]:
    """The operations that ``end`` takes besides those in ``have``; none if they are not cheap."""
    cost, stack, found = 0, [end], set[Node]()
    while stack:
        node = stack.pop()
        if node in have or node in found or node.op in (Op.INPUT, Op.CONST):
            continue
        cost += COST.get(node.op, 1)
        if cost > CHEAP or node in in_double:
            return set()
        found.add(node)
        stack += node.args
    return found


def _waiting(order: Sequence[Node]) -> list[int]:
    """How many of the first k nodes others read."""
    at = {node: k for k, node in enumerate(order)}
    last = {arg: k for k, node in enumerate(order) for arg in node.args if arg in at}
    return overlaps(((at[node] + 1, end) for node, end in last.items()), len(order) + 1)


@dataclass(frozen=True)
class Cuda:
    """The files, and the kernels that they have; ``slots``: numbers of a state between kernels.

    ``room``: numbers of a state that functions of rows need besides. ``divides``: whether a state's
    mass matrix can be found to be singular. ``uses``: what the kernels take, if that was measured.
    ``order``: of operations, `TRACED` or `BY_JOINT`. ``moved``: numbers of a state that kernels
    write for later ones, and that these read. ``loops``: of a program that is written so.
    """

    files: Mapping[str, str]
    kernels: tuple[Kernel, ...]
    slots: int
    room: int = 0
    divides: bool = False
    uses: tuple[Use, ...] = ()
    order: str = TRACED
    moved: int = 0
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
    Where numbers are spilled, or go from kernel to kernel, as the graph was traced, the order
    `joint_by_joint` is tried, and taken if it moves less.
    ``in_double``: nodes that the functions of float compute in double; loops have none. ``shared``:
    the numbers that all states share, of the robot that this is made from. ValueError for a name
    that is no identifier, and for a constant that is not finite.
    """
    looped = loops(program, graph) if program else None
    nodes = computed(graph)

    def written(order: str, measure: Measure | None) -> Cuda:
        own = joint_by_joint(graph, nodes, interface) if order == BY_JOINT else nodes
        chunks = recomputing(kernels_of(own, most), graph.outputs.values(), in_double)
        given = graph, interface, name, about, looped, order, chunks, measure, in_double, shared
        return _written(*given)

    def best(measure: Measure | None) -> Cuda:
        found = written(TRACED, measure)
        if looped or not any(_moved(found)):
            return found
        return min(found, written(BY_JOINT, measure), key=_moved)

    found = best(None)
    if measure is None:
        return found
    # what goes from kernel to kernel is known without nvcc, which takes its time
    return written(found.order, measure) if found.moved else best(measure)


def _moved(made: Cuda) -> tuple[int, int]:
    """Bytes that a state moves through memory besides what comes in and goes out, in float, then
    in double: what is quicker is not to be made slower for the other."""

    def of(scalar: str, size: int) -> int:
        spilled = (u.spill_stores + u.spill_loads for u in made.uses if u.scalar == scalar)
        return size * made.moved + sum(spilled)

    return of("float", 4), of("double", 8)


class KernelPart(Part):
    """A kernel's statements: `AHEAD` inputs are under way, so that threads wait for memory once.

    ``takes`` and ``gives``: the places of each input and output in a row of all arrays; what all
    states share is in no row.
    """

    def __init__(self, takes: Sequence[int], gives: Sequence[Sequence[int]], *others: Any) -> None:
        super().__init__(*others)
        self._takes, self._gives = takes, gives
        self._uses: list[int] = []  # lines that first use inputs, in their order

    def load(self, place: Place) -> str:
        """The expression of an input, of its column and its place in a row."""
        assert isinstance(place, int)
        own = f"From<{place}, {self._takes[place]}>()" if place < len(self._takes) else place
        return f"io.load({own})"

    def put(self, place: Place, name: str, value: str) -> str:
        """The statement that stores an output in its column, or in its places in a row."""
        assert isinstance(place, int)
        places = ", ".join(map(str, (place, *self._gives[place])))
        return f"io.store(To<{places}>(), {value}); // {name}"

    def _read(self, node: Node) -> str:
        name = super()._read(node)
        if node.op is Op.INPUT:  # is loaded where the one that is so far ahead is used
            count, line = len(self._uses), self.lines.pop()
            at = self._uses[count - AHEAD] if count >= AHEAD else count
            self.lines.insert(at, line)
            self._uses = [own + (own >= at) for own in self._uses]
            self._uses.append(len(self.lines))
        return name


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
    ends_in, ends_out = _ends(interface.takes), _ends(interface.gives)
    takes = [_place(interface.takes, ends_in, interface.inputs[own]) for own in states]
    gives = [
        [_place(interface.gives, ends_out, own) for own in interface.outputs[name]]
        for name in graph.outputs
    ]
    if looped:
        made = Straight((), 0, looped.straight.divides)
        kernels: tuple[Kernel, ...] = (_looping(looped),)
        read = [set(states)]
    else:
        part = partial(KernelPart, takes, gives)
        made = in_parts(graph, chunks, in_double=in_double, part=part)
        spare = BETWEEN if len(chunks) > 1 else SPARE
        kernels = tuple(kernel_of(own, spare, same) for own in chunks)
        read = [_inputs_of(own) for own in chunks]
        read[-1] |= {own.name for own in graph.outputs.values() if own.op is Op.INPUT}
    read_by_any = set[str]().union(*read)
    slots = made.slots + 2 * made.slots_double
    numbers = WARP * sum(own.size | 1 for own in interface.gives)
    staged = numbers if 8 * numbers <= SHARED else 0
    whole = not looped and sum(map(len, chunks)) <= TOGETHER
    straight = whole and staged > 0 and len(kernels) == 1
    outputs = {at: k for k, own in enumerate(graph.outputs) for at in interface.outputs[own]}
    inputs = {interface.inputs[own]: k for k, own in enumerate(graph.inputs)}
    places_out = _places(interface.gives, outputs)
    room = 0 if straight else len(states) + len(graph.outputs) + slots
    values: dict[str, object] = {
        **about,
        **rows(interface),
        "name": identifier(name),
        "macro": name.upper(),
        "errors": True,
        "threads": THREADS,
        "few": FEW,
        "inputs": states,
        "shared": [literal(own, "double") for own in shared],
        "outputs": list(graph.outputs),
        "loops": looped,
        "order": order,
        "constant": looped is not None and looped.facts.bytes <= CONSTANT,
        "unread": [k for k, own in enumerate(states) if own not in read[-1]],
        "unread_by_all": [(k, takes[k]) for k, own in enumerate(states) if own not in read_by_any],
        "slots": slots,
        "room": room,
        "in_double": made.in_double,
        "slots_of_float": made.slots,
        "divides": made.divides,
        "staged": staged,
        "whole_kernel": whole,
        "straight": straight,
        "ends_in": ends_in,
        "ends_out": ends_out,
        "zeros": [k for k, (*_, column) in enumerate(places_out) if column < 0],
        "places_in": [place for place in _places(interface.takes, inputs) if place[-1] >= 0],
        "places_out": places_out,
    }
    parts = made.parts or ((),)
    sources, kernels, found = _settled(name, kernels, parts, values, measure, whole)
    files = dict(sources)
    values |= {"kernels": kernels, "uses": found}
    files["example.c"] = render(
        "cpp/example.c.jinja", takes=interface.takes, gives=interface.gives, **values
    )
    files |= {own: render(f"cuda/{own}.jinja", **values) for own in ("CMakeLists.txt", "README.md")}
    if interface.same is None:  # which is on the host, where XLA's arrays are not
        files[f"{values['name']}_xla.cc"] = render("cuda/xla.cc.jinja", **values)
    moved = sum(line.count("io.keep(") + line.count("io.kept(") for own in parts for line in own)
    moved += 2 * sum(line.count("_double(") for own in parts for line in own)
    facts = looped.facts if looped else None
    return Cuda(files, kernels, slots, room, made.divides, found, order, moved, facts)


def _inputs_of(nodes: Sequence[Node]) -> set[str]:
    """The inputs that operations read."""
    return {own.name for node in nodes for own in node.args if own.op is Op.INPUT}


def _ends(arrays: Sequence[Array]) -> list[int]:
    """The place at which each array ends in a row of all arrays."""
    return list(accumulate(own.size for own in arrays))


def _place(arrays: Sequence[Array], ends: Sequence[int], entry: ArrayEntry) -> int:
    """An entry's place in a row of all arrays."""
    k = next(k for k, own in enumerate(arrays) if own.name == entry.array)
    return ends[k] - arrays[k].size + entry.at


def _settled(
    name: str,
    kernels: tuple[Kernel, ...],
    parts: Sequence[Sequence[str]],
    values: Mapping[str, object],
    measure: Measure | None,
    whole: bool,
) -> tuple[dict[str, str], tuple[Kernel, ...], tuple[Use, ...]]:
    """Source and header, the kernels with the bounds that they have there, and what these take."""
    for first in chain([True], repeat(False)):
        written = [{"bounds": own, "lines": part} for own, part in zip(kernels, parts, strict=True)]
        all_of = _all_of(kernels) if whole else None
        files = {
            f"{name}.{kind}": render(
                f"cuda/source.{kind}.jinja", kernels=written, whole=all_of, **values
            )
            for kind in ("cu", "h")
        }
        uses = measure(files) if measure else ()
        better = settled(kernels, uses, first)
        if better == kernels:
            break
        kernels = better
    return files, kernels, uses


def _all_of(kernels: Sequence[Kernel]) -> dict[str, int]:
    """The launch bounds of one kernel that does the work of all, with a warp in each block."""
    return {
        key: THREADS // WARP * min(getattr(own, key) for own in kernels)
        for key in ("blocks_f32", "blocks_f64")
    }


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
