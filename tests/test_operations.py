"""Every operation in NumPy, C, C++ for synthesis and Verilog: the same words, the same overflows.

NumPy's words are the specification (``tests/graph/test_fixed.py`` compares them with exact
fractions). A graph has a few nodes of each operation, in formats at random, whose operands take all
words where these are few. So an operation is told from the others, and compiled once with them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from rbdgen.codegen import hls_program as hls_library
from rbdgen.codegen.c_file import core_function, sources
from rbdgen.codegen.compiled import Compiled, CSources
from rbdgen.codegen.hls_program import hls_files
from rbdgen.graph.fixed import INTEGER, FixedGraph, Format, Integers, parameter_words
from rbdgen.graph.graph import Graph
from rbdgen.graph.integers import NUMBERS
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.verify import verify_fixed
from rbdgen.schedule.plan import flagged_outputs
from rbdgen.system.compiler import c_library
from tests.support.cores import shared_folder
from tests.support.integer_graphs import ABOUT, Flagged, all_words, expected, random_graph
from tests.support.small_cores import plan_of, verilated

Results = tuple[Integers, np.ndarray]
WAYS = ("c", pytest.param("hls", marks=pytest.mark.slow), "rtl")
STATES = 1 << 12
SMALL, WIDE = 4, 1  # formats of each operation: of few bits, and as robots have them
C = ("-x", "c", "-std=c99", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=undefined")


@dataclass
class Cases:
    """A graph of ``outputs``, each of its own inputs."""

    rng: np.random.Generator
    builder: Builder = field(default_factory=Builder)
    formats: dict[Node, Format] = field(default_factory=dict)
    steps: dict[Node, int] = field(default_factory=dict)
    inputs: dict[str, Format] = field(default_factory=dict)
    outputs: dict[str, Node] = field(default_factory=dict)
    together: list[list[str]] = field(default_factory=list)  # inputs of an output

    def input(self, word: Format) -> Node:
        name = f"x[{len(self.inputs)}]"
        node = self.builder.input(name)
        self.inputs[name] = self.formats[node] = word
        return node

    def node(self, op: Op, out: Format, *args: Node, value: float = 0.0) -> Node:
        """A node in a region of its own, whose flag no other raises."""
        with self.builder.region("forward", len(self.formats)):
            node = self.builder.node(op, *args, value=value)
        self.formats[node] = out
        return node

    def words(self) -> dict[str, Integers]:
        """All words of the inputs of an output, or some, the ends among them."""
        words = {}
        for names in self.together:
            own = [self.inputs[name] for name in names]
            bits = sum(word.width for word in own)
            if 1 << bits <= STATES:
                grids = np.meshgrid(*(np.arange(w.lowest, w.highest + 1) for w in own))
                words |= {n: np.resize(g, STATES) for n, g in zip(names, grids, strict=True)}
                continue
            for name, word in zip(names, own, strict=True):
                words[name] = self.rng.integers(word.lowest, word.highest, STATES, endpoint=True)
                words[name][:2] = word.lowest, word.highest
        return words

    def fixed(self) -> FixedGraph:
        graph = Graph(tuple(self.inputs), self.outputs)
        return verify_fixed(FixedGraph(graph, self.inputs, self.formats, 18, self.steps, chain=8))

    def between(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high, endpoint=True))


def nodes_of(cases: Cases, op: Op, wide: bool, first: bool) -> Iterator[Node]:
    """Nodes of an operation on new inputs."""
    largest = 18 if wide else 4
    words = [Format(cases.between(2, largest), cases.between(-2, largest)) for _ in range(op.arity)]
    fractions = [word.fraction for word in words]
    out = Format(cases.between(2, largest + 3), max(fractions, default=0) - cases.between(-2, 3))
    match op:
        case Op.INPUT:
            yield cases.input(Format(5, 2))
        case Op.CONST | Op.PARAMETER:
            value = cases.between(-9, 9) / 4
            node = cases.builder.const(value) if op is Op.CONST else None
            node = node or cases.builder.parameter(f"parameter[{len(cases.formats)}]", value)
            cases.formats[node] = Format(6, 2)
            yield cases.node(Op.ADD, Format(7, 2), node, cases.input(Format(5, 1)))
            yield node
        case Op.MULC:
            out = Format(words[0].width, fractions[0] - 1)
            yield cases.node(op, out, cases.input(words[0]), value=2.0)
        case Op.MUL:
            shifts = (0, 1, 2, 5, 6, 8) if first else (cases.between(-1, largest),)
            for shift, rounded in itertools.product(shifts, (False, True)):
                width = max(sum(word.width for word in words) - shift - cases.between(-1, 3), 2)
                pair = [cases.input(word) for word in words]
                yield cases.node(op, Format(width, sum(fractions) - shift, rounded), *pair)
        case Op.SIN | Op.COS:
            width = 27 if wide else 12
            angle = cases.input(Format(width, width, wraps=True))
            yield cases.node(op, Format(width, width - 1), angle, value=1.0)
        case Op.MANTISSA | Op.EXPONENT | Op.SCALE:
            pivot = cases.input(Format(18, 9) if wide else Format(cases.between(6, 10), 4))
            cases.steps[pivot] = 3
            k = cases.node(Op.EXPONENT, Format(2, 0), pivot)
            unit = FixedGraph(Graph((), {}), {}, cases.formats, 18, cases.steps).reciprocal(k)
            cases.formats[k] = Format(unit.exponent_width, 0)
            if op is Op.MANTISSA:
                yield cases.node(op, Format(unit.width, unit.width - 2), pivot)
                return
            yield k if op is Op.EXPONENT else cases.node(op, out, cases.input(words[0]), k)
        case Op.SATURATE:  # limits below, at and above the ends of the word, and a power of two
            out = Format(max(out.width, 3), out.fraction)
            top = out.limits[1]
            for most in (0.3 * top, top / 2, top, 1.7 * top):
                yield cases.node(op, out, cases.input(words[0]), value=most)
        case _:
            yield cases.node(op, out, *map(cases.input, words))
            if op is Op.NEG:
                x = cases.input(words[0])
                yield cases.node(op, Format(words[0].width, fractions[0], saturates=True), x)
            if op in (Op.ADD, Op.SUB):
                pair = [cases.input(word) for word in words]
                yield cases.node(op, Format(out.width, out.fraction, wraps=True), *pair)


def each_operation() -> tuple[FixedGraph, dict[str, Integers], dict[str, Op]]:
    """A graph, words of its inputs, and the operation of each output."""
    cases, of = Cases(np.random.default_rng(1)), {}
    for op in Op:
        if op is Op.RECIP:  # which is lowered
            continue
        for k in range(SMALL + WIDE):
            before = len(cases.inputs)
            nodes = list(nodes_of(cases, op, k >= SMALL, not k))
            for node in nodes:
                name = f"y[{len(of)}]"
                cases.outputs[name], of[name] = node, op
            new = [*cases.inputs][before:]
            size = max(len(new) // len(nodes), 1)
            cases.together += [new[k : k + size] for k in range(0, len(new), size)]
    return cases.fixed(), cases.words(), of


class Everywhere:
    """A graph in fixed point, with its words and flags in each way, once they are asked for.

    ``flagged``: the outputs that a node's overflow flags, as hardware's regions do unless given.
    """

    def __init__(
        self,
        fixed: FixedGraph,
        words: Mapping[str, Integers],
        folder: Path,
        flagged: Flagged | None = None,
    ) -> None:
        self.fixed, self.words, self.folder = fixed, words, folder
        self.plan = plan_of(fixed)
        self.flagged = flagged_outputs(self.plan) if flagged is None else flagged
        self.outputs = len(fixed.graph.outputs)
        self._found: dict[str, Results] = {}

    def results(self, way: str) -> Results:
        """Words (N, outputs), and which of them are flagged."""
        if way not in self._found:
            self._found[way] = getattr(self, f"_{way}")()
        return self._found[way]

    def _numpy(self) -> Results:
        return expected(self.fixed, self.flagged, self.words)

    def _c(self) -> Results:
        file, function, word = core_function(self.fixed, self.flagged, self.outputs, "made")
        files = sources(file, [function], word, {**ABOUT, "graph": "graph.txt"})
        return self._run(CSources(files, (function,), word), C)

    def _hls(self) -> Results:
        files, facts = hls_files(self.fixed, self.flagged, {}, 1, 0, "made", ABOUT)
        return self._run(hls_library.batch_source(files, facts, "made"), hls_library.flags())

    def _rtl(self) -> Results:
        tasks = np.stack([self.words[name] for name in self.fixed.inputs], axis=1)
        found = verilated(self.plan, self.folder, "made").run(tasks).outputs
        return found[:, : self.outputs], found[:, self.outputs :] != 0

    def _run(self, source: CSources, flags: tuple[str, ...]) -> Results:
        library = c_library(source.files, flags=flags)
        assert library is not None
        held = {
            name: np.full(STATES, word) for name, word in parameter_words({"": self.fixed}).items()
        }
        words, flagged = Compiled(source, library).run("", {**self.words, **held})
        return np.stack(list(words.values()), axis=1), flagged


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> tuple[Everywhere, dict[str, Op]]:
    fixed, words, of = each_operation()
    return Everywhere(fixed, words, shared_folder(tmp_path_factory, "operations")), of


@pytest.mark.rtl
class TestEveryOperation:
    """One meaning of each operation, whoever computes it."""

    @pytest.mark.parametrize("op", [op for op in Op if op is not Op.RECIP])
    @pytest.mark.parametrize("way", WAYS)
    def test_alone(self, way: str, op: Op, operations: tuple[Everywhere, dict[str, Op]]) -> None:
        graph, of = operations
        columns = [k for k, own in enumerate(of.values()) if own is op]
        for found, right in zip(graph.results(way), graph.results("numpy"), strict=True):
            np.testing.assert_array_equal(found[:, columns], right[:, columns])
        assert len(columns) > SMALL
        # what can overflow did, but not in all states
        flags = graph.results("numpy")[1][:, columns].mean(axis=0)
        overflows = {Op.ADD, Op.SUB, Op.NEG, Op.MUL, Op.EXPONENT, Op.SCALE, Op.SELECT}
        assert any(0 < share < 1 for share in flags) == (op in overflows)

    def test_reciprocals_are_lowered(self) -> None:
        with pytest.raises(TypeError, match=r"^recip is no unit"):
            INTEGER[Op.RECIP](NUMBERS, None, Builder().node(Op.RECIP))

    @pytest.mark.parametrize(
        ("way", "widest", "seed"),
        [
            *(("c", 18, 1), ("c", 32, 3)),
            pytest.param("hls", 18, 1, marks=pytest.mark.slow),
            pytest.param("hls", 32, 3, marks=pytest.mark.slow),
            pytest.param("rtl", 18, 1, marks=pytest.mark.slow),
        ],
    )
    def test_in_one_graph(self, way: str, widest: int, seed: int, tmp_path: Path) -> None:
        """A graph at random, of which overflows flag all that is computed from them."""
        rng = np.random.default_rng(seed)
        fixed, flagged = random_graph(rng, 100, widest)
        words = all_words(rng, fixed, STATES)
        graph = Everywhere(fixed, words, tmp_path, None if way == "rtl" else flagged)
        for found, right in zip(graph.results(way), graph.results("numpy"), strict=True):
            np.testing.assert_array_equal(found, right)
        assert way == "rtl" or 0.05 < graph.results(way)[1].mean() < 0.999
        assert {node.op for node in fixed.graph.nodes} >= {*Op} - {Op.RECIP, Op.PARAMETER}
