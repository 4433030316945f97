"""A graph in fixed point as functions for high-level synthesis: one, or one for each region."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op, Region
from ..graph.wires import source
from .ap import Term, constant, word_range
from .hls import MADE, Resources, Statements
from .hls_units import MadeOf
from .real import chunks_of
from .units import Units

LONGEST = 500  # operations of a function; longer graphs have one for each region


def regions(nodes: Sequence[Node]) -> list[tuple[str, list[Node]]]:
    """Names and operations of functions, in an order in which what they read is there.

    A region is one; where regions wait for each other, parts of the graph in its order are.
    """
    if len(nodes) <= LONGEST:
        return [("", list(nodes))]
    members: dict[Region | None, list[Node]] = {}
    before: dict[Region | None, list[Region | None]] = {}
    for node in nodes:
        members.setdefault(node.region, []).append(node)
        senders = before.setdefault(node.region, [])
        for arg in map(source, node.args):
            if arg.op in MADE and arg.region != node.region and arg.region not in senders:
                senders.append(arg.region)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        parts = chunks_of(list(nodes), LONGEST, LONGEST // 2)
        return [(f"part_{k}", part) for k, part in enumerate(parts, 1)]
    names = {own: f"{own[0]}_{own[1]}" if own else "shared" for own in order}
    return [(names[own], members[own]) for own in order]


@dataclass(frozen=True)
class Function:
    """A function: what it takes and gives, by name and type, and its lines."""

    name: str
    takes: tuple[tuple[str, str], ...]
    gives: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Written:
    """Functions in the order of their calls, and what the function that calls them returns.

    ``results``: the word of each output; ``overflows``: the overflow bits that are its flag.
    """

    functions: tuple[Function, ...]
    results: tuple[str, ...]
    overflows: tuple[tuple[str, ...], ...]


def write(
    fixed: FixedGraph,
    flagged: Mapping[Node, frozenset[int]],
    resources: Resources,
    units: Units[MadeOf],
) -> Written:
    """The graph's functions. ``flagged``: node → the outputs, by number, that it flags."""
    graph = fixed.graph
    nodes = [node for node in graph.nodes if node.op in MADE]
    names = {node: f"n{k}" for k, node in enumerate(graph.nodes)}
    sets = list(dict.fromkeys(flagged[n] for n in nodes if flagged.get(n)))
    flags = {n: sets.index(flagged[n]) for n in nodes if flagged.get(n)}
    words = {}
    for node in graph.nodes:
        if node.op is Op.INPUT:
            place = graph.inputs.index(node.name)
            words[node] = Term(f"in{place}", *word_range(fixed.inputs[node.name].width))
    for k, node in enumerate(fixed.held.values()):
        words[node] = Term(f"held{k}", *word_range(fixed.formats[node].width))
    parts = []
    for k, (name, own) in enumerate(regions(nodes)):
        part = Statements(
            prefix=f"t{k}_" if name else "t",
            fixed=fixed,
            units=units,
            resources=resources,
            flags=flags,
            words=words,
            names=names,
        )
        for node in own:
            part.compute(node)
        parts.append((name, part))
    outside = {name for _, part in parts for name in part.reads}
    outside |= {words[node].text for node in map(source, graph.outputs.values()) if node in words}
    functions, bits = [], {}
    for k, (name, part) in enumerate(parts):
        for flag, found in part.raised.items():
            bits[flag, k] = f"over{flag}_{k}"
            part.lines.append(f"const ap_uint<1> over{flag}_{k} = {' | '.join(found)};")
        given = [(own, term.type) for own, term in part.declared.items() if own in outside]
        given += [(f"over{flag}_{k}", "ap_uint<1>") for flag in part.raised]
        if not part.lines:  # all of its words are those of others
            continue
        said = set(re.findall(r"\w+", " ".join(part.lines)))
        taken = tuple((own, term.type) for own, term in part.reads.items() if own in said)
        functions.append(Function(name, taken, tuple(given), tuple(part.lines)))
    results = []
    for node in map(source, graph.outputs.values()):
        word = int(fixed.formats[node].quantize(node.value)) if node.op is Op.CONST else None
        results.append(words[node].text if word is None else constant(word).text)
    overflows = tuple(
        tuple(bit for (flag, _), bit in bits.items() if output in sets[flag])
        for output in range(len(graph.outputs))
    )
    return Written(tuple(functions), tuple(results), overflows)
