"""From real numbers to words: the passes that need to know how large each signal gets, in order."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ..graph.evaluate import Array, evaluate
from ..graph.fixed import FixedGraph, evaluate_fixed
from ..graph.graph import Graph
from ..graph.node import Node
from ..graph.verify import verify, verify_fixed
from .balance import balance
from .constant_multiply import constant_multiply, has_constants, tolerances
from .given import Given, Progress
from .precision import affordable, fractions, gains
from .ranges import Ranges
from .wordlength import input_formats, wordlength

GAIN_SAMPLES = 256


def to_words(
    graph: Graph,
    given: Given,
    width: int,
    error: float | None = None,
    progress: Progress = lambda _: None,
) -> tuple[Ranges, FixedGraph]:
    """Constants as shifts and additions, sums in order, and a format for every signal.

    Words are of ``width`` bits, or of as many each as the ``error`` asks for, and then ``width``
    is what a hardware multiplier takes.
    """
    ranges = given.ranges(graph)
    while has_constants(graph):  # again where a negligible product left a constant factor
        slack = tolerances(graph, ranges, width, _fractions(graph, ranges, given, width, error))
        graph = verify(constant_multiply(graph, slack))
        ranges = given.ranges(graph)
    graph = verify(balance(graph))  # sums in the order in which their terms arrive
    given, ranges = given.searched(graph, progress)  # of the new additions too
    chosen = _fractions(graph, ranges, given, width, error)
    formats = input_formats(graph, given.limits, width, chosen)
    return ranges, verify_fixed(wordlength(graph, ranges, width, formats, chosen))


def _fractions(
    graph: Graph, ranges: Ranges, given: Given, width: int, error: float | None
) -> dict[Node, int] | None:
    """Fraction bits of each node that the error asks for, if one is asked for."""
    if error is None:
        return None
    gain = gains(graph, {k: v[-GAIN_SAMPLES:] for k, v in given.few.items()}, array_of(graph))
    return fractions(graph, ranges, gain, error, width)


def within_error(
    graph: Graph,
    given: Given,
    error: float,
    width: int,
    progress: Progress = lambda _: None,
) -> tuple[Ranges, FixedGraph]:
    """Words whose outputs are off by at most ``error``, measured on the ``few``.

    ``width``: of a hardware multiplier's operand.
    """
    return affordable(
        error,
        lambda aim: to_words(graph, given, width, aim, progress),
        lambda made: relative_error(made[1], graph, given.few),
    )


def array_of(graph: Graph) -> dict[str, str]:
    """Output → the array that it is an entry of."""
    return {name: name.partition("[")[0] for name in graph.outputs}


def relative_error(fixed: FixedGraph, graph: Graph, inputs: Mapping[str, Array]) -> float:
    """Of the array that is off most: root mean square, against the float graph's."""
    words = {name: word.quantize(inputs[name]) for name, word in fixed.inputs.items()}
    found, exact = evaluate_fixed(fixed, words).outputs, evaluate(graph, inputs)
    sums: dict[str, list[float]] = {}
    for name, array in array_of(graph).items():
        value = fixed.formats[fixed.graph.outputs[name]].real(found[name])
        total = sums.setdefault(array, [0.0, 0.0])
        total[0] += float(((value - exact[name]) ** 2).sum())
        total[1] += float((exact[name] ** 2).sum())
    return max((math.sqrt(e / size) for e, size in sums.values() if size), default=0.0)
