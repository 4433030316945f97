"""Word lengths: nothing too wide for a multiplier, nothing too narrow for its values."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from rbdgen.compiler import Core, compile_core, front_end
from rbdgen.dynamics.interface import input_limits, to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import Integers, evaluate_fixed
from rbdgen.graph.node import Node, Op
from rbdgen.passes.wordlength import ANGLE_BITS, LARGEST_INPUT, integer_bits
from rbdgen.robot.bounds import bounds
from rbdgen.robot.states import random_states

ROBOTS = ["pendulum", "gantry", "iiwa14", "hyq"]
STATES = 20_000


@cache
def core(name: str, width: int = 18) -> Core:
    return compile_core(front_end(name, width=width))


def columns(of: Core, n: int, seed: int) -> dict[str, np.ndarray]:
    """Random states of the robot within its design's limits, as graph inputs."""
    front = of.front
    box = bounds(front.design, front.canonical)
    state = random_states(front.canonical, box, n, seed)
    return to_columns(front.canonical, front.graph.inputs, state)


@pytest.mark.parametrize("name", ROBOTS)
def test_no_signal_overflows_in_states_that_it_was_not_sized_on(name: str) -> None:
    fixed = core(name).fixed
    states = columns(core(name), STATES, seed=77)
    largest: dict[Node, float] = {}
    evaluate(fixed.graph, states, lambda n, v: largest.update({n: float(np.abs(v).max())}))
    for node, magnitude in largest.items():
        form = fixed.formats[node]
        if not form.wraps:
            ulp = 2.0**-form.fraction
            assert magnitude <= form.real(np.int64(form.highest)) + 1.5 * ulp, node.index

    words = {k: fixed.inputs[k].quantize(v) for k, v in states.items()}
    assert not evaluate_fixed(fixed, words).overflowed


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("width", [12, 18, 25])
def test_no_multiplier_reads_a_wider_word(name: str, width: int) -> None:
    fixed = core(name, width).fixed
    products = [node for node in fixed.graph.nodes if node.op is Op.MUL]
    assert products
    widths = [fixed.formats[a].width for node in products for a in node.args]
    assert max(widths) == width
    for node in fixed.graph.nodes:
        if node.op in (Op.SIN, Op.COS):
            assert fixed.formats[node].width == width


@pytest.mark.parametrize("name", ROBOTS)
def test_every_word_stays_in_its_format(name: str) -> None:
    fixed = core(name).fixed
    states = columns(core(name), 500, seed=3)

    def inside(node: Node, words: Integers) -> None:
        form = fixed.formats[node]
        assert form.lowest <= np.min(words)
        assert np.max(words) <= form.highest

    evaluate_fixed(fixed, {k: fixed.inputs[k].quantize(v) for k, v in states.items()}, inside)


@pytest.mark.parametrize("name", ROBOTS)
def test_no_word_has_bits_that_its_operands_do_not_have(name: str) -> None:
    fixed = core(name).fixed
    for node in fixed.graph.nodes:
        out, of = fixed.formats[node], [fixed.formats[a] for a in node.args]
        if out.wraps:
            continue
        if node.op in (Op.ADD, Op.SUB):
            assert out.fraction <= max(f.fraction for f in of)
        elif node.op is Op.MUL:
            assert out.fraction <= sum(f.fraction for f in of)


@pytest.mark.parametrize("width", [12, 18, 32])
def test_inputs_hold_their_limits_and_angles_carry_more(width: int) -> None:
    of = core("gantry", width)
    front = of.front
    limits = input_limits(
        front.canonical, front.graph.inputs, bounds(front.design, front.canonical)
    )
    turning = {"q[3]", "q[4]"}
    for name, form in of.fixed.inputs.items():
        bits = min(width + ANGLE_BITS, LARGEST_INPUT) if name in turning else width
        assert form.width == bits
        largest = max(map(abs, limits[name]))
        assert form.real(np.int64(form.highest)) >= largest - 2.0**-form.fraction
        assert form.real(np.int64(form.highest)) < 2 * largest + 1  # not a bit too many


def test_integer_bits_are_the_fewest() -> None:
    for bound in (0.3, 0.5, 0.999, 1.0, 1.7, 2.0, 100.0, 2.0**-20):
        bits = integer_bits(bound)
        assert bound < 2.0**bits
        assert bound >= 2.0 ** (bits - 1)
    assert math.isfinite(integer_bits(0.0))


def test_wrapping_is_for_phases_only() -> None:
    graph, formats = core("hyq").fixed.graph, core("hyq").fixed.formats
    wrapping = [node for node in graph.nodes if formats[node].wraps]
    assert wrapping
    for node in wrapping:
        assert all(user.op in (Op.SIN, Op.COS) for user in graph.users[node])
