"""Every word of a design beside the values that it has to hold."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..compile.flow import Core
from ..compile.product import Product
from ..compile.scheduled import Accelerated
from ..draw.word_ranges import Row
from ..graph.fixed import FixedGraph, Integers
from ..graph.node import Node, Op
from ..tasks.model import evaluate_task
from .traffic import inputs_of, within_limits

STATES = 200  # tasks of each function; every word of every stage is looked at


@dataclass(frozen=True)
class Signal:
    """A word of the design beside what it is for.

    ``top``: the power of two that the word ends below; ``fraction``: bits behind its point;
    ``needs``: the power of two of the largest value, -inf where that is 0 or not known; ``how``
    that is known: "proven", allowed for, and no state within the limits overflows the word;
    "searched", allowed for; "seen", in random states.
    """

    name: str
    word: str
    largest: str
    top: int
    fraction: int
    needs: float
    how: str

    @property
    def spare(self) -> str:
        """Bits above the largest value."""
        return "–" if self.needs == -math.inf else f"{self.top - self.needs:.2f}"

    @property
    def row(self) -> Row:
        """The same, to be drawn."""
        return Row(self.top, self.fraction, self.needs)


def signals_of(product: Product, seed: int) -> dict[str, list[Signal]]:
    """Region or stage → its signals."""
    if isinstance(product, Core):
        return core_signals(product)
    return stage_signals(product, seed)


def core_signals(core: Core) -> dict[str, list[Signal]]:
    """Region → its signals; those of the graph that is scheduled, with what they are made for."""
    found: dict[str, list[Signal]] = {}
    for node in _words(core.fixed):
        kind, joint = node.region or ("inputs", 0)
        how = "proven" if core.proof and node in core.proof.holds else "searched"
        signal = _signal(core.fixed, node, core.ranges.bound.get(node), how)
        found.setdefault(f"{kind} {joint}" if node.region else kind, []).append(signal)
    return found


def stage_signals(made: Accelerated, seed: int) -> dict[str, list[Signal]]:
    """Stage → its signals, with the largest values that `STATES` random tasks of each function
    bring there, as the integer model has them."""
    state = within_limits(made, STATES, seed)
    largest: dict[tuple[str, Node], float] = {}

    def watch(stage: str, node: Node, words: Integers) -> None:
        here = stages[stage].fixed.formats[node].real(np.abs(words).max())
        largest[stage, node] = max(largest.get((stage, node), 0.0), float(here))

    stages = made.accelerator.stages
    for function, words in inputs_of(made, state).items():
        evaluate_task(made.accelerator, function, words, watch)
    return {
        name: [
            _signal(stage.fixed, node, largest.get((name, node)), "seen")
            for node in _words(stage.fixed)
        ]
        for name, stage in stages.items()
    }


def _words(fixed: FixedGraph) -> list[Node]:
    """The nodes that have a word of their own."""
    return [n for n in fixed.graph.nodes if n.op is not Op.CONST and n in fixed.formats]


def _signal(fixed: FixedGraph, node: Node, largest: float | None, how: str) -> Signal:
    word = fixed.formats[node]
    name = node.name or f"%{node.index} {node.op.name.lower()}"
    for output, own in fixed.graph.outputs.items():
        if own is node:
            name += f", which is {output}"
            break
    return Signal(
        name,
        f"{word.width}.{word.fraction}",
        "not known" if largest is None else f"{largest:.4g}",
        word.width - 1 - word.fraction,
        word.fraction,
        math.log2(largest) if largest else -math.inf,
        how,
    )
