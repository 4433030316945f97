"""Errors of a core's words, against its graph."""

from __future__ import annotations

from rbdgen.compile.product import Product
from rbdgen.compile.samples import factors, sample_states
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.accuracy import SCALES, Accuracy
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import evaluate_fixed


def error_of(core: Product, seed: int) -> dict[str, float]:
    """Of each array the row that is off most, over what its scale allows, in states that no pass
    has seen."""
    front = core.front
    found = Accuracy(factors(front.design, front.canonical))
    for k, scale in enumerate(SCALES):
        state = sample_states(front.design, front.canonical, 5000, seed, share=scale.share)
        inputs = to_columns(front.canonical, front.graph.inputs, state)
        words = {name: word.quantize(inputs[name]) for name, word in core.fixed.inputs.items()}
        results = evaluate_fixed(core.fixed, words)
        assert not results.overflowed
        nodes = core.fixed.graph.outputs
        real = {n: core.fixed.formats[nodes[n]].real(x) for n, x in results.outputs.items()}
        found.add(k, real, evaluate(front.graph, inputs))
    worst: dict[str, float] = {}
    for (row, _), share in found.shares().items():
        worst[row.split("[")[0]] = max(share, worst.get(row.split("[")[0], 0.0))
    return worst
