"""One datapath of dot products that multiplies a matrix with one vector after another."""

from __future__ import annotations

import numpy as np

from rbdgen.compile.dot_products import Vector, products, scale_of
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.visits import LIMB, inlined

MATRIX = np.array([[3.0, 0.0, -1.0], [0.25, 40.0, 0.5]])
LEFT, RIGHT = np.array([1.5, -2.0, 7.0]), np.array([0.125, 4.0, -3.0])
WORDS = {f"A[{i},{k}]": MATRIX[i, k] for i in range(2) for k in range(3)}
WORDS |= {f"x[{k}]": LEFT[k] for k in range(3)} | {f"y[{k}]": RIGHT[k] for k in range(3)}
ENTRIES = {(i, k): f"A[{i},{k}]" for i in range(2) for k in range(3) if MATRIX[i, k]}
SCALE = {0: 1, 1: 3, 2: -2}


def test_columns_side_by_side_and_in_turn() -> None:
    """Two vectors at once, then part of one, and a place that is for nobody."""
    whole = [
        Vector([0, 1], [(k, f"{of}[{k}]", "") for k in range(3)], _names(of), 2) for of in "xy"
    ]
    some = Vector([0, 1], [(2, "x[2]", ""), (1, "", ""), (0, "x[0]", "")], _names("z"))
    unread = Vector([0, 1], [(0, "", "")] * 3, {})
    program = products(ENTRIES, SCALE, [whole, [some, unread]], ("product", 0), negative=True)
    assert len(program.of(LIMB)) == 2
    found = evaluate(inlined(program, [*WORDS]), WORDS)
    for name, vector in {"x": LEFT, "y": RIGHT, "z": LEFT * [1, 0, 1]}.items():
        for i, value in enumerate(-MATRIX @ vector):
            assert found[f"{name}A[{i}]"] == value


def test_rows_in_turn() -> None:
    """The vector is a difference, and one of its words is nowhere."""
    slots = [(0, "x[0]", "y[0]"), (1, "", "y[1]"), (2, "x[2]", "")]
    rows = [[Vector([i], slots, {i: f"z[{i}]"})] for i in range(2)]
    program = products(ENTRIES, SCALE, rows, ("effort", 0))
    found = evaluate(inlined(program, [*WORDS]), WORDS)
    for i, value in enumerate(MATRIX @ (LEFT * [1, 0, 1] - RIGHT * [1, 1, 0])):
        assert found[f"z[{i}]"] == value


def test_scaled_entries_of_the_diagonal_are_at_most_one() -> None:
    for largest, scale in ((1.0, 0), (1.01, 1), (4.0, 1), (0.25, -1), (0.3, 0)):
        assert scale_of((-largest / 2, largest)) == scale
    assert scale_of((0.0, 0.0)) == -30


def _names(of: str) -> dict[int, str]:
    return {i: f"{of}A[{i}]" for i in range(2)}
