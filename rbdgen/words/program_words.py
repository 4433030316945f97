"""Words of a program of visits, as long as an error asks for: each template in fixed point."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..graph.accuracy import Worst
from ..graph.evaluate import Array
from ..graph.fixed import FixedGraph, Format
from ..graph.graph import Graph, source
from ..graph.node import Node, Op
from ..graph.verify import verify_fixed
from ..graph.visits import Program, Visit, VisitResult, factored
from ..system.quoting import Progress
from .ascent_schedule import joined as both
from .input_domain import MARGIN, Finer, InputDomain, Noisy, ulp, with_noise
from .instances import FixedProgram, computing
from .order import BEFORE_WORDS, UNITS, run, to_words, worst_error
from .precision import KEPT, smallest_width
from .program_ranges import column, visited
from .ranges import Ranges
from .word_options import Setting
from .wordlength import ANGLE_BITS, UNIT_WIDTHS, PrecisionError, angles, integer_bits

GUARD, GUARD_INVERTED = 2, 6  # bits, where M is inverted, which magnifies all that is left out
EVERY = 2  # of the samples that ranges are taken from: each makes a state for every visit
# what takes longer words than a multiplier does
ADDED = (Op.ADD, Op.SUB, Op.NEG, Op.SCALE, Op.RECIP, Op.MANTISSA, Op.EXPONENT)
LEAST = -(1 << 16)  # integer bits, of nothing yet
SETTLING = 4  # times that room makes errors, and errors room
# "in" or "out", a template, and which of its inputs or outputs; or "task", "", and its word
Port = tuple[str, str, str]


def fixed_program(program: Program, graph: Graph, given: InputDomain, width: int) -> FixedProgram:
    """The program in words of ``width`` bits, with the inputs and outputs of ``graph``.

    Whatever goes from visit to visit has one format at all its ends: that of the largest.
    """
    seen = both({k: own[::EVERY] for k, own in given.samples.items()}, given.extremes)
    columns: dict[Any, Array] = {**seen}
    whole_bits, deviations = _room(program, _seen(program, columns), given.limits, width)
    read, lowered = dict[str, Noisy](), dict[str, Graph]()
    for name, template in program.templates.items():
        limits = {
            port: (-_below(whole_bits["in", name, port]), _below(whole_bits["in", name, port]))
            for port in template.inputs
        }
        first, *others = (
            {p: column(program.reads[v][p], columns) for p in template.inputs}
            for v in program.of(name)
        )
        further = partial(iter, others)  # visit by visit: together they would fill the memory
        off = {port: deviations[name, port] for port in template.inputs}
        own = Noisy(limits, first, {}, frozenset(), further=further, off=off, width=width)
        units = run(UNITS, template, None) if divides(template) else template
        read[name], lowered[name] = own, run(BEFORE_WORDS, units, Setting(own, width))
    finer = _finer(program, lowered)  # of the graphs that become words: a pass may leave out a sum
    templates: dict[str, FixedGraph] = {}
    for name, template in lowered.items():
        _, fixed = to_words(template, replace(read[name], finer=finer[name]), width)
        templates[name] = _matched(name, fixed, whole_bits, width, finer[name])
    return _instantiated(program, templates, graph, given, width)


def divides(template: Graph) -> bool:
    """Whether a visit takes a reciprocal."""
    return any(node.op is Op.RECIP for node in template.nodes)


def _finer(program: Program, lowered: Mapping[str, Graph]) -> dict[str, Finer]:
    """Ports and results with `GUARD` more bits, which no multiplier sees.

    Ports that only additions read, and results that only such ports read. Outputs of the task have
    the design's width.
    """
    into = {
        (name, node.name)
        for name, own in lowered.items()
        for node in own.nodes
        if node.op is Op.INPUT and _only_added(own, node)
    }
    made = [
        (name, result, renamed(node)[0])
        for name, own in lowered.items()
        for result, node in own.outputs.items()
    ]
    out = {(name, result) for name, result, node in made if _only_added(lowered[name], node)}
    outputs = [word for word, _ in map(factored, program.outputs.values())]
    given = {(word.visit.template, word.name) for word in outputs if isinstance(word, VisitResult)}
    read = {
        ((visit.template, port), (word.visit.template, word.name))
        for visit, sources in program.reads.items()
        for port, (word, _) in ((port, factored(source)) for port, source in sources.items())
        if isinstance(word, VisitResult)
    }
    # what a visit passes on is a port and a result at once
    read |= {((t, node.name), (t, result)) for t, result, node in made if node.op is Op.INPUT}
    out -= given
    guard = GUARD_INVERTED if any(map(divides, program.templates.values())) else GUARD
    while True:  # both ends of a value that is passed on, or neither
        size = len(into) + len(out)
        out -= {word for port, word in read if port not in into}
        into -= {port for port, word in read if word not in out}
        if len(into) + len(out) == size:
            break
    return {
        name: Finer(guard, *(frozenset(x for t, x in found if t == name) for found in (into, out)))
        for name in lowered
    }


def _only_added(template: Graph, node: Node) -> bool:
    """Whether no multiplier of the template reads a node, and no table."""
    return all(
        user.op in ADDED or (user.is_shift and _only_added(template, user))
        for user in template.users[node]
    )


def _seen(program: Program, words: dict[Any, Array]) -> dict[Visit, dict[Node, float]]:
    """The largest magnitude of every node in each visit, with a margin.

    ``words``: (N,) of each of the task's; those of results that visits read are added.
    """
    wanted, seen = program.wanted, dict[Visit, dict[Node, float]]()
    for visit in program.reads:
        template, largest = program.templates[visit.template], dict[Node, float]()

        def watch(node: Node, values: Array, largest: dict[Node, float] = largest) -> None:
            largest[node] = MARGIN * float(np.abs(values).max())

        made = visited(program, visit, template, words, watch)
        words |= {result: values for result, values in made.items() if result in wanted}
        seen[visit] = largest
    return seen


def _room(
    program: Program,
    seen: Mapping[Visit, Mapping[Node, float]],
    limits: Mapping[str, tuple[float, float]],
    width: int,
) -> tuple[dict[Port, int], dict[tuple[str, str], float]]:
    """Room for values as large as ``seen``, and for the errors of the words that have this room.

    Integer bits of whatever is joined; and by template and input the largest deviation of what its
    visits read. The more integer bits a word has, the larger is its error, for which others need
    room.
    """
    sizes = {
        VisitResult(visit, name): seen[visit][node]
        for visit in program.reads
        for name, node in program.templates[visit.template].outputs.items()
    }
    most = dict[str, dict[Node, float]]()  # of each template's nodes
    for visit, own in seen.items():
        above = most.setdefault(visit.template, {})
        above |= {node: max(size, above.get(node, 0.0)) for node, size in own.items()}
    whole, off = _whole_bits(program, sizes, limits), dict[tuple[str, str], float]()
    for _ in range(SETTLING):
        deviations, off = dict[VisitResult, float](), dict[tuple[str, str], float]()
        for visit, sources in program.reads.items():
            template, name = program.templates[visit.template], visit.template
            ulps = {node: ulp(most[name][node], width) for node in template.nodes}
            ends = [(node, ("out", name, result)) for result, node in template.outputs.items()]
            ends += [(n, ("in", name, n.name)) for n in template.nodes if n.op is Op.INPUT]
            for node, port in ends:  # whose words have room for whatever is joined to them
                ulps[node] = max(ulps[node], 2.0 ** (whole[port] - width + 1))
            read_off = dict[str, float]()
            for node in template.nodes:
                if node.op is Op.INPUT:
                    read, by = factored(sources[node.name])
                    if isinstance(read, VisitResult):
                        lost = 0.0 if by == 1 else ulps[node] / math.sqrt(12)
                        read_off[node.name] = math.hypot(by * deviations[read], lost)
                    else:
                        read_off[node.name] = ulps[node] / math.sqrt(12)
                    off[name, node.name] = max(read_off[node.name], off.get((name, node.name), 0.0))
            ranges = Ranges(seen[visit], frozenset())
            room, errors = with_noise(template, ranges, read_off, ulps)
            for result, node in template.outputs.items():
                sizes[VisitResult(visit, result)] = room[node]
                # a sum has its word's last bit; a value that is passed on unchanged has it here
                last = 2.0 ** (whole["out", name, result] - width + 1) / math.sqrt(12)
                deviations[VisitResult(visit, result)] = max(errors[node], last)
        before, whole = whole, _whole_bits(program, sizes, limits)
        if whole == before:
            break
    return whole, off


def _whole_bits(
    program: Program,
    sizes: Mapping[VisitResult, float],
    limits: Mapping[str, tuple[float, float]],
) -> dict[Port, int]:
    """Integer bits of whatever is joined to each input and output of a template."""
    largest: dict[Port, float] = {}
    joined: dict[Port, Port] = {}
    # ports that read results times 2^k: for whatever output they read, and k
    shifts: dict[Port, set[tuple[Port, int]]] = {("in", *port): set() for port in program.shifted}

    def head(port: Port) -> Port:
        while joined.get(port, port) != port:
            port = joined[port]
        return port

    def reach(port: Port, value: float) -> None:
        largest[port] = max(largest.get(port, 0.0), value)

    for visit, sources in program.reads.items():
        name = visit.template
        for port, (read, by) in ((port, factored(s)) for port, s in sources.items()):
            own: Port = ("in", name, port)
            joined.setdefault(own, own)
            if isinstance(read, str) and by != 1:  # no other visit reads it
                reach(own, by * max(map(abs, limits[read])))
            elif isinstance(read, str):
                task: Port = ("task", "", read)
                joined.setdefault(task, task)
                joined[head(own)] = head(task)
                reach(own, max(map(abs, limits[read])))
            elif isinstance(read, float):
                reach(own, abs(read))
            else:
                other: Port = ("out", read.visit.template, read.name)
                joined.setdefault(other, other)
                if own in shifts:
                    shifts[own].add((other, int(math.log2(by))))
                else:
                    joined[head(own)] = head(other)
        for result in program.templates[name].outputs:
            there: Port = ("out", name, result)
            joined.setdefault(there, there)
            reach(there, sizes[VisitResult(visit, result)])
    together: dict[Port, float] = {}
    for end in joined:
        together[head(end)] = max(together.get(head(end), 0.0), largest.get(end, 0.0))
    # what is always zero, if in each visit for another reason, has a word like any other
    following = {head(port) for port in shifts}  # these have the bits that they read
    bits = {
        end: LEAST if end in following and not size else integer_bits(size or 1.0)
        for end, size in together.items()
    }
    into_shifted = [
        (head(port), head(out), power) for port, own in shifts.items() for out, power in own
    ]
    handed_on = [
        (head(("in", name, origin.name)), head(("out", name, result)), power)
        for name, template in program.templates.items()
        for result, node in template.outputs.items()
        for origin, power in [renamed(node)]
        if origin.op is Op.INPUT
    ]
    while True:  # what goes through as a multiple by a power of two has the bits that come in
        before = dict(bits)
        for into, out, power in into_shifted:  # no bit is lost but the last ones
            bits[into] = max(bits[into], bits[out] + power)
        for into, out, power in handed_on:
            bits[into] = max(bits[into], bits[out] - power)
            bits[out] = bits[into] + power
        if bits == before:
            return {end: bits[head(end)] for end in joined}


def renamed(node: Node) -> tuple[Node, int]:
    """The node that this is 2^k times of, and k."""
    k = 0
    while node.is_shift:
        k += math.frexp(node.value)[1] - 1
        (node,) = node.args
    return node, k


def _below(whole: int) -> float:
    """The largest value of a word with ``whole`` integer bits, less a small margin."""
    return float(2.0**whole * (1 - 2.0**-20))


def _matched(
    name: str, fixed: FixedGraph, whole: Mapping[Port, int], width: int, finer: Finer
) -> FixedGraph:
    """The template with its outputs trimmed, at either end, to the bits that its readers use."""
    formats = dict(fixed.formats)
    below, above = dict[Node, int](), dict[Node, int]()  # bits too many of the nodes that make them
    for result, node in fixed.graph.outputs.items():
        own, bits, origin = formats[node], whole["out", name, result], source(node)
        size = width + (finer.bits if result in finer.outputs else 0)
        below[origin] = max(own.fraction - (size - 1 - bits), below.get(origin, 0))
        above[origin] = max(own.width - 1 - own.fraction - bits, above.get(origin, 0))
    units: dict[Node, list[Node]] = {}  # angle → its sine and its cosine, which are of one width
    for node in fixed.graph.nodes:
        if node.op in (Op.SIN, Op.COS):
            units.setdefault(node.args[0], []).append(node)
    for cut in (below, above):
        for pair in units.values():
            cut |= dict.fromkeys(pair, min(cut.get(node, 0) for node in pair))
    for node in fixed.graph.nodes:
        if node.op is Op.MULC:  # powers of two only rename the bits
            own, of = fixed.formats[node], node.args[0]
            moved = fixed.formats[of].fraction - own.fraction
            fraction = formats[of].fraction - moved
            formats[node] = replace(own, width=formats[of].width, fraction=fraction)
        elif node in below:
            own = formats[node]
            left = max(own.width - below[node] - above[node], 2)
            formats[node] = replace(own, width=left, fraction=own.fraction - below[node])
    return verify_fixed(replace(fixed, formats=formats))


def _instantiated(
    program: Program,
    templates: Mapping[str, FixedGraph],
    graph: Graph,
    given: InputDomain,
    width: int,
) -> FixedProgram:
    """The whole robot: a copy of its template for every visit."""
    inputs, turning = {}, {node.name for node in angles(graph)}
    for name in graph.inputs:
        bits = width + (ANGLE_BITS if name in turning else 0)
        whole = integer_bits(max(map(abs, given.limits[name])))
        inputs[name] = Format(bits, bits - 1 - whole)
    return computing(program, templates, inputs, graph.outputs)


def program_within_error(
    program: Program, graph: Graph, given: InputDomain, error: float, progress: Progress
) -> tuple[FixedProgram, int]:
    """The program in the shortest words whose outputs are off by at most ``error``; their width.

    What goes from visit to visit has one word for all of them, so that one width is chosen. The
    error is measured on the ``few``, with a margin, as `within_error` does.
    """
    made, worst = dict[int, FixedProgram](), dict[int, Worst]()

    def error_at(width: int) -> float:
        made[width] = fixed_program(program, graph, given, width)
        worst[width] = worst_error(made[width].whole, graph, given)
        progress(f"error: {worst[width]} of words of {width} bits, {error:.2g} promised")
        return worst[width].share

    least, most = UNIT_WIDTHS
    width, _ = smallest_width(error_at, KEPT * error, {}, least)
    if width is None:
        raise PrecisionError(
            f"error {error:g} takes words of more than {most} bits where joints are "
            f"time-multiplexed; {min(worst.values())} is reached"
        )
    return made[width], width
