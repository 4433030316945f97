"""Words from proofs: none overflows, at few bits more; or a line says why there is no proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.design import Design
from rbdgen.graph.fixed import evaluate_fixed
from rbdgen.graph.node import Op
from rbdgen.robot.model import RobotError
from rbdgen.words.factor_bounds import NO_BOUNDS
from rbdgen.words.order import worst_error
from rbdgen.words.proven_ranges import prove
from rbdgen.words.ranges import RangeError
from rbdgen.words.wordlength import integer_bits
from tests.support.proven import made


@pytest.mark.parametrize(("robot", "worse"), [("hyq", 1.03), ("iiwa14", 2.1)])
def test_no_word_overflows(robot: str, worse: float) -> None:
    """Of all signals it is proven; states in which a search found signals largest raise no flag.
    ``worse``: the error of the coordinate that is off most, against that of searched words."""
    before, given, _, _ = made(robot, "id")
    words = FixedFunctions(front_end(robot, functions=("id",), proven="all"))
    ranges, fixed = words.whole
    assert prove(fixed, ranges.limits).holds == set(fixed.graph.nodes)
    inputs = {k: word.quantize(given.extremes[k]) for k, word in fixed.inputs.items()}
    assert not evaluate_fixed(fixed, inputs).overflowed
    graph, own = words.front.graph, words.given
    now, then = (worst_error(x, graph, own).share for x in (fixed, before))
    assert now <= worse * then
    for node in fixed.graph.nodes:  # products read no wider words
        if node.op is Op.MUL:
            assert all(fixed.formats[arg].width <= 18 for arg in node.args)


def test_one_bit_is_one_bit() -> None:
    """No range is wider than a bit more than the search asked for; nearly all are proven."""
    searched, _ = FixedFunctions(front_end("iiwa14_fast", functions=("id",), width=18)).whole
    ranges, fixed = FixedFunctions(
        front_end("iiwa14_fast", functions=("id",), proven="one-bit")
    ).whole
    pairs = zip(searched.bound.values(), ranges.bound.values(), strict=True)
    more = [integer_bits(b) - integer_bits(a) for a, b in pairs]
    assert max(more) == 1
    holds = prove(fixed, ranges.limits).holds
    able = [node for node in fixed.graph.nodes if fixed.overflowing(node)]
    proven = [node in holds for node in able]
    assert 0.95 <= np.mean(proven) < 1
    # what is called a proof is one, and has room for the error
    assert all(node in holds for node in ranges.proven)


def test_words_of_an_error_are_proven_too() -> None:
    words = FixedFunctions(front_end("pendulum", functions=("did",), proven="all", error=1e-4))
    ranges, fixed = words.whole
    assert prove(fixed, ranges.limits).holds == set(fixed.graph.nodes)
    assert worst_error(fixed, words.front.graph, words.given).share <= 1e-4


def test_limbs_in_turn_are_proven() -> None:
    core = compile_front(front_end("hyq", functions=("id",), proven="all", ii=4))
    assert core.plan.turns
    assert core.proof is not None
    assert core.proof.holds == set(core.plan.fixed.graph.nodes)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("difd", r"^proven: all: Minv\[0,0\] has no proof: nobody states its limits"),
    ],
)
def test_the_first_signal_without_a_proof_is_named(function: str, said: str) -> None:
    with pytest.raises(RangeError, match=said):
        compile_front(front_end("pendulum", functions=(function,), proven="all"))


def test_pivots_of_which_nothing_is_known_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a robot whose inertias are no bodies', say."""
    monkeypatch.setattr("rbdgen.dynamics.pivot_bounds.pivot_bounds", lambda robot: NO_BOUNDS)
    said = r"^proven: all: node \d+ \(exponent\) of region factor \d has no proof: nothing"
    with pytest.raises(RangeError, match=said):
        compile_front(front_end("iiwa14", functions=("minv",), proven="all"))


@pytest.mark.parametrize("choices", [{"accelerator": True}, {"fold": "joints"}])
def test_words_that_many_places_share_are_not_proven(choices: dict[str, Any]) -> None:
    with pytest.raises(RobotError, match=r"proven: one-bit: .* determines the words"):
        Design("arm.urdf", proven="one-bit", **choices)
