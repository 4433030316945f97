"""A graph cut into pieces computes what it did: every bit, and nothing twice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.compile.words import in_words, sample_inputs
from rbdgen.graph.fixed import FixedGraph, evaluate_fixed
from rbdgen.graph.node import Node, Op
from rbdgen.schedule.partition import Piece, cut
from tests.support.marks import slow

FUNCTIONS = ("id", "m", "minv", "did")
KINDS = {"rnea": "tau", "mass": "M", "inverse": "Minv", "gradient": "dtau"}


def whole_of(robot: str) -> FixedGraph:
    front = front_end(robot, functions=FUNCTIONS)
    return in_words(front, front.graph, sample_inputs(front), lambda _: None)[1]


def pieces_of(whole: FixedGraph) -> dict[str, Piece]:
    wanted: dict[str, list[str | Node]] = {
        "trig": [node for node in whole.graph.nodes if node.op is Op.SIN]
    }
    for name, kind in KINDS.items():
        wanted[name] = [o for o in whole.graph.outputs if o.split("[")[0].startswith(kind)]
    return cut(whole, wanted)


def one_after_the_other(
    pieces: Mapping[str, Piece], words: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    values = dict(words)
    for piece in pieces.values():
        values |= evaluate_fixed(piece.fixed, {n: values[n] for n in piece.fixed.inputs}).outputs
    return values


@pytest.mark.parametrize("robot", ["pendulum", "gantry", slow("iiwa14")])
def test_the_pieces_compute_what_the_whole_does(robot: str) -> None:
    """With words anywhere in their ranges, so that much wraps around."""
    whole = whole_of(robot)
    rng = np.random.default_rng(3)
    words = {
        name: rng.integers(word.lowest, word.highest, 500, endpoint=True)
        for name, word in whole.inputs.items()
    }
    expected = evaluate_fixed(whole, words).outputs
    found = one_after_the_other(pieces_of(whole), words)
    assert expected
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)


def test_no_operation_is_made_twice_or_lost() -> None:
    whole = whole_of("gantry")
    pieces = pieces_of(whole)
    counts = [piece.fixed.graph.operations() for piece in pieces.values()]
    for kind in ("mul", "add", "recip"):
        assert sum(count[kind] for count in counts) == whole.graph.operations()[kind]
    assert list(pieces) == ["trig", *KINDS]
    for name, piece in pieces.items():  # words come from pieces before
        assert set(piece.reads.values()) <= set(list(pieces)[: list(pieces).index(name)])


def test_a_shifter_has_its_own_exponent() -> None:
    """Where a piece divides by what another one has normalised."""
    front = front_end("iiwa14", functions=("fd",), accelerator=True)
    whole = in_words(front, front.graph, sample_inputs(front), lambda _: None)[1]
    scaled = [node for node in whole.graph.nodes if node.op is Op.SCALE]
    pivots = {node.args[1].args[0] for node in scaled}
    pieces = cut(whole, {"pivots": list(pivots), "rest": list(whole.graph.outputs)})
    assert sum(n.op is Op.EXPONENT for n in pieces["rest"].fixed.graph.nodes) == len(pivots)
    rng = np.random.default_rng(4)
    words = {
        name: rng.integers(word.lowest, word.highest, 300, endpoint=True)
        for name, word in whole.inputs.items()
    }
    found = one_after_the_other(pieces, words)
    for name, values in evaluate_fixed(whole, words).outputs.items():
        np.testing.assert_array_equal(found[name], values)


def test_a_piece_of_outputs_alone_is_kept_and_one_of_nothing_is_not() -> None:
    whole = whole_of("pendulum")
    tau = [name for name in whole.graph.outputs if name.startswith("tau")]
    pieces = cut(whole, {"first": tau, "again": tau, "nothing": []})
    assert list(pieces) == ["first", "again"]
    assert not pieces["again"].fixed.graph.operations()["add"]
    assert set(pieces["again"].reads.values()) == {"first"}
