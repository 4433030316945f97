"""A graph in fixed point as functions for high-level synthesis: one, or one for each region."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from ..graph.fixed import FixedGraph
from ..graph.graph import source
from ..graph.node import Node, Op, Region
from .hls_integers import HlsIntegers, word
from .statement_order import chunks_of
from .words import MADE, Expression, Statements, UnitFunction, UnitFunctions

Resources = Mapping[tuple[str, Node], str]  # (mul, sincos or reciprocal, whose): dsp or fabric
LONGEST = 500  # operations of a function; longer graphs have one for each region


class HlsStatements(HlsIntegers, Statements):
    """Statements of one function.

    ``words``: of all functions so far. ``reads``: what others declare, by name, since several
    nodes may be one word; ``raised``: names of the overflows of each flag.
    """

    def __init__(
        self,
        units: UnitFunctions,
        fixed: FixedGraph,
        numbers: Mapping[Node, int],
        flags: Mapping[Node, int],
        words: dict[Node, Expression],
        resources: Resources,
        prefix: str = "t",
    ) -> None:
        super().__init__(units.tables, prefix)
        self.units, self.fixed, self.numbers, self.flags = units, fixed, numbers, flags
        self.words, self.resources = words, resources
        self.reads: dict[str, Expression] = {}
        self.raised: dict[int, list[str]] = {}
        self._calls = {}

    def compute(self, node: Node) -> None:
        self.products = self.resources.get((node.op.value, node), "")
        super().compute(node)

    def write(self, node: Node, word: Expression) -> None:
        self.words[node] = word

    def read(self, node: Node) -> Expression:
        word = self.words[node]
        if word.text.isidentifier() and word.text not in self.declared:
            self.reads[word.text] = word
        return word

    def raise_flag(self, node: Node, overflow: Expression) -> None:
        bit = self.let(f"n{self.numbers[node]}_over", overflow)
        self.raised.setdefault(self.flags[node], []).append(bit.text)

    def products_of(self, kind: str, node: Node) -> str:
        return self.resources.get((kind, node.args[0]), "")

    def call(self, function: UnitFunction, node: Node, *args: Expression) -> dict[str, Expression]:
        found = {}
        for own, (low, high) in function.outputs.items():
            found[own] = self.declare(f"n{self.numbers[node]}_{own}", low, high)
            self.statements.append(f"{found[own].type} {found[own].text};")
        operands = ", ".join(x.text for x in (*args, *found.values()))
        self.statements.append(f"{function.name}({operands});")
        return found


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
class HlsFunction:
    """A function: what it takes and gives, by name and type, and its lines."""

    name: str
    takes: tuple[tuple[str, str], ...]
    gives: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class HlsText:
    """Functions in the order of their calls, and what the function that calls them returns.

    ``results``: the word of each output; ``overflows``: the overflow bits that are its flag.
    """

    functions: tuple[HlsFunction, ...]
    results: tuple[str, ...]
    overflows: tuple[tuple[str, ...], ...]


def write(
    fixed: FixedGraph,
    flagged: Mapping[Node, frozenset[int]],
    resources: Resources,
    units: UnitFunctions,
) -> HlsText:
    """The graph's functions. ``flagged``: node → the outputs, by number, that it flags."""
    graph = fixed.graph
    nodes = [node for node in graph.nodes if node.op in MADE]
    numbers = {node: k for k, node in enumerate(graph.nodes)}
    sets = list(dict.fromkeys(flagged[n] for n in nodes if flagged.get(n)))
    flags = {n: sets.index(flagged[n]) for n in nodes if flagged.get(n)}
    words = {}
    for node in graph.nodes:
        if node.op is Op.INPUT:
            place = graph.inputs.index(node.name)
            words[node] = word(f"in{place}", fixed.inputs[node.name].width)
    for k, node in enumerate(fixed.parameters.values()):
        words[node] = word(f"held{k}", fixed.formats[node].width)
    parts = []
    for k, (name, own) in enumerate(regions(nodes)):
        prefix = f"t{k}_" if name else "t"
        part = HlsStatements(units, fixed, numbers, flags, words, resources, prefix)
        for node in own:
            part.compute(node)
        parts.append((name, part))
    outside = {name for _, part in parts for name in part.reads}
    outside |= {words[node].text for node in map(source, graph.outputs.values()) if node in words}
    functions, bits = [], {}
    for k, (name, part) in enumerate(parts):
        for flag, found in part.raised.items():
            bits[flag, k] = f"over{flag}_{k}"
            part.statements.append(f"const ap_uint<1> over{flag}_{k} = {' | '.join(found)};")
        given = [(own, term.type) for own, term in part.declared.items() if own in outside]
        given += [(f"over{flag}_{k}", "ap_uint<1>") for flag in part.raised]
        if not part.statements:  # all of its words are those of others
            continue
        said = set(re.findall(r"\w+", " ".join(part.statements)))
        taken = tuple((own, term.type) for own, term in part.reads.items() if own in said)
        functions.append(HlsFunction(name, taken, tuple(given), tuple(part.statements)))
    last = HlsStatements(units, fixed, numbers, flags, words, resources)
    results = [last.value(node).text for node in graph.outputs.values()]
    overflows = tuple(
        tuple(bit for (flag, _), bit in bits.items() if output in sets[flag])
        for output in range(len(graph.outputs))
    )
    return HlsText(tuple(functions), tuple(results), overflows)
