"""The whole of a program in words: a copy of its template in fixed point for every visit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..graph.fixed import INTEGER, FixedGraph, Format, renamed
from ..graph.graph import CopyingBuilder, Graph
from ..graph.integers import NUMBERS
from ..graph.node import Builder, Node, Op, Region
from ..graph.verify import verify_fixed
from ..graph.visits import Program, Visit, VisitResult, factored
from .wordlength import integer_bits

MIRROR: Region = ("mirror", 0)  # where inputs change their signs
NONE: Mapping[str, Format] = {}
LOWERED = (Op.MANTISSA, Op.EXPONENT)


@dataclass(frozen=True, eq=False)
class FixedProgram:
    """A program in words: its ``templates``, and ``whole``, the graph that all visits make.

    ``real``: the program over real numbers. ``copies``: for each visit, node of its template →
    node of ``whole``.
    """

    real: Program
    templates: Mapping[str, FixedGraph]
    whole: FixedGraph
    copies: Mapping[Visit, Mapping[Node, Node]]

    @property
    def template(self) -> FixedGraph:
        """The only one."""
        (template,) = self.templates.values()
        return template


def instantiate(
    program: Program,
    templates: Mapping[str, FixedGraph],
    inputs: Mapping[str, Format] = NONE,
    regions: Callable[[Visit], Region] | None = None,
) -> FixedProgram:
    """The program whose ``templates`` are in words; what is constant in a visit is worked out.

    Words that are read, or given, times -2^k are negated there; the most negative one becomes the
    most positive one. ``inputs``: those of the task that come first, in this order, and formats
    for the ones that no visit reads. ``regions``: of each visit; else its template's own.
    """
    made = _Instances(program, templates)
    for visit in program.reads:
        made.copy(visit, regions(visit) if regions else None)
    return made.program(inputs)


def computing(
    program: Program,
    templates: Mapping[str, FixedGraph],
    inputs: Mapping[str, Format],
    outputs: Iterable[str],
) -> FixedProgram:
    """The program, all of whose visits compute whatever their templates do.

    ``inputs`` and ``outputs`` are those of the whole, in this order.
    """
    named = replace(program, outputs={name: program.outputs[name] for name in outputs})
    regions = {v: (name, k) for name in templates for k, v in enumerate(program.of(name))}
    made = instantiate(named, templates, inputs, regions.__getitem__)
    # what a visit computes for nobody may overflow too, and then the hardware says so
    kept = tuple(n for copy in made.copies.values() for n in copy.values() if n.op is not Op.CONST)
    graph = Graph(made.whole.graph.inputs, made.whole.graph.outputs, kept)
    return replace(made, real=program, whole=verify_fixed(replace(made.whole, graph=graph)))


class _Instances:
    """The whole in the making."""

    def __init__(self, program: Program, templates: Mapping[str, FixedGraph]) -> None:
        self.real, self.templates = program, templates
        self.builder = CopyingBuilder()
        self.formats: dict[Node, Format] = {}
        self.inputs: dict[str, Format] = {}
        self.tasks: dict[str, Node] = {}
        self.outputs: dict[str, Node] = {}
        self.steps: dict[Node, int] = {}
        self.mantissas: dict[Node, int] = {}
        self.copies: dict[Visit, dict[Node, Node]] = {}
        self.shifted = program.shifted
        self.given: dict[Visit, list[tuple[str, str, float]]] = {}  # result, output, factor
        for name, source in program.outputs.items():
            word, by = factored(source)
            assert not isinstance(word, str), f"{name} is a word of the task"
            if isinstance(word, VisitResult):
                self.given.setdefault(word.visit, []).append((word.name, name, by))
        for visit, sources in program.reads.items():
            for port, own in templates[visit.template].inputs.items():  # those no node reads, too
                read, by = factored(sources[port])
                if isinstance(read, str):
                    self._take(read, renamed(own, 1 / abs(by)))

    def _take(self, name: str, word: Format) -> None:
        """A word of the task has no bits that one of its readers has not."""
        found = self.inputs.setdefault(name, word)
        assert found.width - found.fraction == word.width - word.fraction, f"{name}: two ranges"
        if word.fraction < found.fraction:
            self.inputs[name] = word

    def copy(self, visit: Visit, region: Region | None) -> None:
        """A visit's copy of its template, and the outputs that it gives."""
        template = self.templates[visit.template]
        ports = template.inputs.items()
        words = {port: self._read(visit, port, word, region) for port, word in ports}
        copy = copied(self.builder, template, words, self.formats, region)
        self.copies[visit] = copy
        for result, name, by in self.given.get(visit, ()):
            node = copy[template.graph.outputs[result]]
            self.outputs[name] = self._times(node, by, node.region or MIRROR)
        self.steps |= {copy[node]: count for node, count in template.steps.items()}
        self.mantissas |= {copy[node]: width for node, width in template.mantissas.items()}

    def _read(self, visit: Visit, port: str, word: Format, region: Region | None) -> Node:
        """The node that a visit reads at a port, in its template's ``word``."""
        of, by = factored(self.real.reads[visit][port])
        if isinstance(of, float):
            return self._constant(float(word.real(word.quantize(of))), word)
        if isinstance(of, VisitResult):
            node = self.copies[of.visit][self.templates[of.visit.template].graph.outputs[of.name]]
            if region is None:
                return self._times(node, by, MIRROR)
            node = self._times(node, by, region)
            shifted = (visit.template, port) in self.shifted
            shorter = self.formats[node].fraction > word.fraction
            return self._as(node, word, region) if shifted or shorter else node
        if of not in self.tasks:
            self.tasks[of] = self.builder.input(of)
            self.formats[self.tasks[of]] = self.inputs[of]
        return self._times(self.tasks[of], by, MIRROR)

    def _as(self, node: Node, word: Format, region: Region) -> Node:
        """A node in its reader's ``word``, where the last bits may be truncated."""
        if node.op is Op.CONST:  # in this visit alone
            own = math.floor(math.ldexp(node.value, word.fraction))
            return self._constant(math.ldexp(own, -word.fraction), word)
        with self.builder.in_region(region):  # a selection truncates; this one always takes a node
            node = self.builder.node(Op.SELECT, self._constant(0.0, word), node, node)
        self.formats[node] = word
        return node

    def _constant(self, value: float, word: Format) -> Node:
        node = self.builder.node(Op.CONST, value=value)
        self.formats[node] = word
        return node

    def _times(self, node: Node, by: float, region: Region) -> Node:
        """A node times ±2^k; but for the sign the bits are the same."""
        if node.op is Op.CONST and by != 1:  # in all states the same
            word = replace(renamed(self.formats[node], abs(by)), rounded=False)
            return self._constant(min(by * node.value, word.limits[1]), word)
        with self.builder.in_region(region):
            if abs(by) != 1:
                word = replace(renamed(self.formats[node], abs(by)), rounded=False)
                node = self.builder.node(Op.MULC, node, value=abs(by))
                self.formats[node] = word
            if by < 0:
                word = replace(self.formats[node], rounded=False, saturates=True)
                node = self.builder.node(Op.NEG, node)
                self.formats[node] = word
        return node

    def program(self, inputs: Mapping[str, Format]) -> FixedProgram:
        width = next(template.width for template in self.templates.values())
        for name, source in self.real.outputs.items():
            if isinstance(source, float):
                word = Format(width, width - 1 - integer_bits(abs(source)))
                self.outputs[name] = self._constant(source, word)
        words = {**inputs, **self.inputs}
        outputs = {name: self.outputs[name] for name in self.real.outputs}
        whole = FixedGraph(
            Graph(tuple(words), outputs), words, self.formats, width, self.steps, self.mantissas
        )
        return FixedProgram(self.real, self.templates, verify_fixed(whole), self.copies)


def copied(
    builder: Builder,
    template: FixedGraph,
    words: Mapping[str, Node],
    formats: dict[Node, Format],
    region: Region | None,
    zeros: bool = False,
) -> dict[Node, Node]:
    """Node of the template → its copy; ``words``: what its inputs are.

    What is constant is worked out; with ``zeros`` what a zero makes of the rest, too: no product,
    and no sum where the other operand has its bits. ``region``: of the copies, or their own.
    """
    copy: dict[Node, Node] = {}
    for node in template.graph.nodes:
        if node.op is Op.INPUT:
            copy[node] = words[node.name]
            continue
        word, args = template.formats[node], [copy[a] for a in node.args]
        constant = bool(args) and all(a.op is Op.CONST for a in args)
        constant = constant and node.op not in LOWERED  # shifts go by what a unit gives
        if node.op is Op.MULC and not constant:  # what is renamed may have fewer bits than its port
            own, of = template.formats[node.args[0]], formats[args[0]]
            moved = own.fraction - word.fraction
            word = replace(word, width=of.width, fraction=of.fraction - moved)
        if zeros and (left := _beside_zero(node, args, formats, word)) is not None:
            copy[node] = left
            continue
        with builder.in_region(region or node.region):
            if constant or (zeros and _makes_zero(node.op, args)):
                value = _worked_out(template, node, args, word) if constant else 0.0
                copy[node] = builder.node(Op.CONST, value=value)
            else:
                copy[node] = builder.node(node.op, *args, value=node.value)
        formats[copy[node]] = word
    return copy


def _makes_zero(op: Op, args: list[Node]) -> bool:
    """Whether a zero among its operands makes all of it zero."""
    return (op is Op.MUL and any(map(_is_zero, args))) or (op is Op.SCALE and _is_zero(args[0]))


def _is_zero(node: Node) -> bool:
    return node.op is Op.CONST and node.value == 0


def _beside_zero(
    node: Node, args: list[Node], formats: Mapping[Node, Format], word: Format
) -> Node | None:
    """The operand that a sum is, the other one being zero; None: it is no such, or loses bits."""
    if node.op not in (Op.ADD, Op.SUB) or word.wraps:
        return None
    a, b = args
    if _is_zero(b):
        left = a
    elif _is_zero(a) and node.op is Op.ADD:
        left = b
    else:
        return None
    own = formats[left]
    fits = own.fraction <= word.fraction and own.width - own.fraction <= word.width - word.fraction
    return left if fits and left.op is not Op.CONST else None


def _worked_out(template: FixedGraph, node: Node, args: list[Node], word: Format) -> float:
    """The value of a node of constants."""
    read = [template.formats[a].quantize(b.value) for a, b in zip(node.args, args, strict=True)]
    made = np.asarray(INTEGER[node.op](NUMBERS, template, node, *read))
    if (word.wrap(made) != made).any():
        raise AssertionError(f"{node.op.value} node {node.index} overflows on constants")
    return float(word.real(made))
