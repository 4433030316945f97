"""Proven ranges and errors of a leg and an arm beside sampled ones, and what proofs cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import Front, front_end
from rbdgen.compile.samples import sample_states
from rbdgen.design.choices import PROVEN
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import Array, evaluate
from rbdgen.graph.fixed import FixedGraph, evaluate_fixed
from rbdgen.system.quoting import Progress
from rbdgen.words.order import worst_error
from rbdgen.words.proven_ranges import output_errors, prove
from rbdgen.words.value_range import extents

from .measurement import Row, measurement

CASES = (("hyq", "id"), ("hyq", "did"), ("iiwa14_fast", "id"), ("iiwa14_fast", "did"))
STATES, CHUNK, SEED = 200_000, 20_000, 77
HEAD = (
    *("design", "proven", "could overflow", "proven not to", "worst error"),
    *("bound / largest found", "error bound / largest measured", "CPU seconds"),
)


@measurement(
    "proven", "minutes", HEAD, cases=lambda: [(*case, which) for case in CASES for which in PROVEN]
)
def proven(place: Path, progress: Progress, robot: str, function: str, which: str) -> Iterator[Row]:
    """HyQ's and iiwa 14's id and did with words that are searched, proven to a bit, all proven."""
    progress(f"{robot} {function}, proven: {which}")
    words = FixedFunctions(
        front_end(robot, functions=(function,), proven=which, width=18), progress
    )
    ranges, fixed = words.whole
    start = time.process_time()
    proof = prove(fixed, ranges.limits)
    bound = output_errors(fixed, ranges.limits)
    seconds = time.process_time() - start
    able = [node for node in fixed.graph.nodes if fixed.overflowing(node)]
    given, _ = words.given.searched(fixed.graph, progress)
    seen = extents(fixed.graph, given.states).largest
    outputs = [node for node in fixed.graph.outputs.values() if seen[node] > 0]
    off = largest_errors(words.front, fixed)
    yield [
        f"{robot} {function}",
        which,
        len(able),
        sum(node in proof.holds for node in able),
        float(f"{worst_error(fixed, words.front.graph, words.given).share:.3g}"),
        _middle_and_most([proof.largest[node] / seen[node] for node in outputs]),
        _middle_and_most([bound[name] / size for name, size in off.items() if size > 0]),
        round(seconds, 1),
    ]


def largest_errors(front: Front, fixed: FixedGraph) -> dict[str, float]:
    """The largest error of each output in random states, in half of which rates are at limits."""
    found: dict[str, float] = dict.fromkeys(fixed.graph.outputs, 0.0)
    for k in range(STATES // CHUNK):
        state = sample_states(front.design, front.canonical, CHUNK, [SEED, k], extremes=0.5)
        inputs: dict[str, Array] = to_columns(front.canonical, front.graph.inputs, state)
        words = {name: word.quantize(inputs[name]) for name, word in fixed.inputs.items()}
        made, exact = evaluate_fixed(fixed, words).outputs, evaluate(front.graph, inputs)
        for name, node in fixed.graph.outputs.items():
            off = np.abs(fixed.formats[node].real(made[name]) - exact[name]).max()
            found[name] = max(found[name], float(off))
    return found


def _middle_and_most(ratios: list[float]) -> str:
    return f"{np.median(ratios):.2f}, {max(ratios):.2f}"
