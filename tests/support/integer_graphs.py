"""Random graphs in fixed point, of all operations, and C functions of graphs to be called."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rbdgen.codegen.c_file import c_files
from rbdgen.graph.fixed import FixedGraph, Format, Integers, evaluate_fixed
from rbdgen.graph.graph import Graph, source
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.verify import GraphError, verify_fixed

WARNINGS = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror")
ABOUT = {"robot": "none", "functions": "some"}
Flagged = dict[Node, frozenset[int]]


class Compiled:
    """A graph's function in C, in a library in ``folder``."""

    def __init__(
        self,
        fixed: FixedGraph,
        flagged: Mapping[Node, frozenset[int]],
        folder: Path,
        flags: Sequence[str] = ("-O1",),
    ) -> None:
        files, facts = c_files(fixed, flagged, "made", ABOUT)
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        library = folder / "made.so"
        command = ["gcc", *WARNINGS, *flags, "-shared", "-fPIC", str(folder / "made.c")]
        subprocess.run([*command, "-o", str(library)], check=True)
        self.fixed, self.type = fixed, np.dtype(facts["word"].removesuffix("_t"))
        self.batch = ctypes.CDLL(str(library)).made_batch
        self.batch.argtypes = [ctypes.c_size_t, *[ctypes.c_void_p] * 3]
        self.batch.restype = ctypes.c_size_t

    def run(self, words: Mapping[str, Integers]) -> tuple[Integers, NDArray[np.bool_]]:
        """Words (N, outputs) and flags."""
        given = np.stack([words[name] for name in self.fixed.inputs], axis=1)
        given = np.ascontiguousarray(given.astype(self.type))
        shape = len(given), len(self.fixed.graph.outputs)
        found, flags = np.full(shape, -1, self.type), np.full(shape, 2, np.uint8)
        overflowed = self.batch(len(given), given.ctypes.data, found.ctypes.data, flags.ctypes.data)
        assert set(np.unique(flags)) <= {0, 1} and overflowed == flags.any(axis=1).sum()
        return found.astype(np.int64), flags != 0


def expected(
    fixed: FixedGraph, flagged: Mapping[Node, frozenset[int]], words: Mapping[str, Integers]
) -> tuple[Integers, NDArray[np.bool_]]:
    """Words (N, outputs) and flags, by the integer model."""
    done = evaluate_fixed(fixed, words)
    found = np.stack(list(done.outputs.values()), axis=1)
    flags = np.zeros(found.shape, np.bool_)
    for node, where in done.overflowed.items():
        flags[:, sorted(flagged[node])] |= where[:, None]
    return found, flags


def all_words(rng: np.random.Generator, fixed: FixedGraph, states: int) -> dict[str, Integers]:
    """Words (N,) of all inputs, each as likely as any other; the first are the lowest, the second
    the highest."""
    found = {}
    for name, word in fixed.inputs.items():
        own = rng.integers(word.lowest, word.highest, states, endpoint=True)
        own[:2] = word.lowest, word.highest
        found[name] = own
    return found


def random_graph(rng: np.random.Generator, nodes: int, widest: int) -> tuple[FixedGraph, Flagged]:
    """A graph that hardware can be made of, with an output for every node that nothing reads.

    An overflow flags what is computed from the node.
    """
    b = Builder()
    inputs = {f"x[{k}]": _format(rng, widest) for k in range(4)}
    formats = {b.input(name): word for name, word in inputs.items()}
    steps: dict[Node, int] = {}
    made = [*formats, b.const(float(rng.normal()))]
    formats[made[-1]] = _format(rng, widest)
    while len(made) < nodes:
        op = rng.choice([op for op in Op if op not in (Op.INPUT, Op.CONST, Op.RECIP)])
        with suppress(GraphError), b.region("forward", 0):
            made.append(_node(rng, b, op, made, formats, steps, widest))
    outputs, place = {}, {}
    users = Graph((), {f"y[{n.index}]": n for n in made}).users
    for node in dict.fromkeys(made):  # what is alike was made once
        if node.op is not Op.INPUT and (not users[node] or rng.random() < 0.1):
            place[node] = len(outputs)
            outputs[f"y[{node.index}]"] = node
    fixed = FixedGraph(Graph(tuple(inputs), outputs), inputs, formats, widest, steps)
    reached: dict[Node, set[int]] = {}
    for node in reversed(fixed.graph.nodes):
        own = {place[node]} if node in place else set()
        reached[node] = own.union(*(reached[user] for user in fixed.graph.users[node]))
    return verify_fixed(fixed), {node: frozenset(own) for node, own in reached.items()}


def _format(rng: np.random.Generator, widest: int) -> Format:
    return Format(int(rng.integers(2, widest + 1)), widest // 2 + int(rng.integers(-6, 6)))


def _node(
    rng: np.random.Generator,
    b: Builder,
    op: Op,
    made: Sequence[Node],
    formats: dict[Node, Format],
    steps: dict[Node, int],
    widest: int,
) -> Node:
    """A node of ``op`` on some of those made; GraphError where hardware cannot do it."""

    def some(of: Sequence[Node]) -> Node:
        return of[int(rng.integers(len(of)))]

    pick = [some(made) for _ in range(3)]
    fractions = [formats[x].fraction for x in pick]
    width = int(rng.integers(2, widest + 3))
    wraps, saturates = (rng.random() < 0.05 for _ in "ab")
    out = Format(width, min(max(fractions[:2]) - int(rng.integers(-2, 6)), widest))
    value, args = 0.0, pick[:2]
    match op:
        case Op.MUL:
            fraction = min(sum(fractions[:2]) + 3, widest // 2 + int(rng.integers(-6, 6)))
            out = Format(width, fraction, rng.random() < 0.5)
        case Op.NEG:
            args = pick[:1]
            out = Format(width, fractions[0] - int(rng.integers(-2, 4)), saturates=saturates)
        case Op.MULC:
            args, value = pick[:1], 2.0 ** int(rng.integers(1, 4))
            own = formats[pick[0]]
            out = Format(own.width, own.fraction - round(np.log2(value)), False, own.wraps)
        case Op.SATURATE:
            args, value = pick[:1], 0.7 * 2.0 ** (width - 1 - int(rng.integers(2)) - out.fraction)
        case Op.SIN | Op.COS:
            args, value = [some([n for n in made if formats[n].fraction >= 12])], 1.0
            bits = 12 + args[0].index % (min(widest, 32) - 11)  # of both
            out = Format(bits, bits - 1)
        case Op.MANTISSA | Op.EXPONENT:
            args = pick[:1]
            args = [some([*steps]) if steps and rng.random() < 0.5 else source(pick[0])]
            own = formats[args[0]]
            trial = FixedGraph(
                Graph((), {}), {}, formats, max(12, min(widest, 32)), steps | {args[0]: 3}
            )
            node = b.node(op, *args)
            unit = trial.reciprocal(node)
            out = (
                Format(unit.width, unit.width - 2)
                if op is Op.MANTISSA
                else Format(unit.exponent_width, 0)
            )
        case Op.SCALE:
            args = [pick[0], some([n for n in made if n.op is Op.EXPONENT] or pick)]
            out = Format(width, min(fractions[0] - int(rng.integers(-3, 6)), widest))
        case Op.SELECT:
            args = pick
            out = Format(width, min(fractions[1] - int(rng.integers(-2, 4)), widest))
        case _:
            out = Format(width, out.fraction, wraps=wraps)
    node = b.node(op, *args, value=value)
    if node in formats:
        return node
    own_steps = steps | ({args[0]: 3} if op in (Op.MANTISSA, Op.EXPONENT) else {})
    own = formats | {node: out}
    verify_fixed(FixedGraph(Graph(_inputs(own), {"y": node}), {}, own, widest, own_steps))
    formats[node] = out
    steps.update(own_steps)
    return node


def _inputs(formats: Mapping[Node, Format]) -> tuple[str, ...]:
    return tuple(node.name for node in formats if node.op is Op.INPUT)
