"""Every angle that a port can hold has its sine and cosine, to an ulp or two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.compile.flow import Front, compile_front, front_end
from rbdgen.dynamics.interface import turning_inputs
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import INTEGER, FixedGraph
from rbdgen.graph.graph import Graph
from rbdgen.graph.integers import NUMBERS
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.words.ranges import analyse
from rbdgen.words.wordlength import angles, for_wraparound

MOST = 1 << 16  # words in the middle of the range, beside all those at its ends
ENDS = 1 << 12


def cone(fixed: FixedGraph) -> list[Node]:
    """From angles to their sines."""
    turning = angles(fixed.graph)
    kinds = (Op.SIN, Op.COS, Op.CONST)
    return [node for node in fixed.graph.nodes if node in turning or node.op in kinds]


def sines(fixed: FixedGraph, name: str, words: np.ndarray) -> tuple[dict[Node, np.ndarray], int]:
    """Words of all sines, the other angles being zero; and how many words overflowed."""
    values: dict[Node, np.ndarray] = {}
    overflows = 0
    for node in cone(fixed):
        if node.op is Op.INPUT:
            made = words if node.name == name else np.zeros_like(words)
        else:
            made = np.asarray(
                INTEGER[node.op](NUMBERS, fixed, node, *(values[a] for a in node.args))
            )
        out = fixed.formats[node]
        values[node] = out.wrap(made)
        overflows += int((values[node] != made).sum()) if out.flags else 0
    return {n: v for n, v in values.items() if n.op in (Op.SIN, Op.COS)}, overflows


def check(front: Front, fixed: FixedGraph) -> None:
    read = {n.name for n in cone(fixed) if n.op is Op.INPUT}
    assert read
    assert read <= turning_inputs(front.design, front.canonical).keys()
    for name in sorted(read):
        word = fixed.inputs[name]
        step = max(1, (1 << word.width) // MOST)
        words = np.unique(
            np.concatenate(
                [
                    np.arange(word.lowest, word.highest, step),
                    np.arange(word.lowest, word.lowest + ENDS),
                    np.arange(word.highest - ENDS, word.highest) + 1,
                ]
            )
        )
        found, overflows = sines(fixed, name, words)
        assert overflows == 0
        given = {n: word.real(words) if n == name else np.zeros(1) for n in fixed.graph.inputs}
        exact: dict[Node, np.ndarray] = {}
        evaluate(fixed.graph, given, lambda n, v, exact=exact: exact.update({n: v}))
        for node, values in found.items():
            form = fixed.formats[node]
            assert np.abs(form.real(values) - exact[node]).max() < 3 * 2.0**-form.fraction


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("pendulum", {}),
        ("pendulum", {"width": 12}),
        ("pendulum", {"error": 1e-3}),
        ("hyq", {"fold": "limbs", "width": 16, "functions": ("m",)}),
        ("iiwa14", {"fold": "joints", "ii": 16, "functions": ("m",)}),
    ],
)
def test_words_beyond_a_turn_are_right(robot: str, choices: dict[str, Any]) -> None:
    front = front_end(robot, **choices)
    check(front, compile_front(front).fixed)


def test_bounds_are_those_of_the_words_ends() -> None:
    """±4 rad for limits of ±π, exactly, however the terms cancel."""
    b = Builder()
    q, p = b.input("q"), b.input("p")
    quarter = b.mul(0.25, q)
    part = b.sub(quarter, b.mul(0.0625, q))  # 0.1875 q
    whole = b.add(part, b.input("r"))
    graph = Graph(("q", "p", "r"), {"s": b.sin(whole, 1.0), "p": b.mul(p, p)})
    limits = {"q": (-np.pi, np.pi), "p": (-3.0, 3.0), "r": (-0.3, 0.3)}
    samples = {name: np.linspace(*ends, 9) for name, ends in limits.items()}
    ranges = analyse(graph, limits, samples)
    found = for_wraparound(graph, ranges, limits)
    assert found.bound[part] == pytest.approx(0.75, rel=2e-3)
    assert found.bound[whole] == pytest.approx(0.75 + 0.5, rel=2e-3)
    assert {part, whole} <= found.proven
    for node in set(graph.nodes) - angles(graph):
        assert found.bound[node] == ranges.bound[node]
