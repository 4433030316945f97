"""Word lengths: nothing too wide for a multiplier, nothing too narrow for its values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.bounds import bounds, random_states
from rbdgen.design.design import Design
from rbdgen.dynamics.interface import input_limits, to_columns
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import FixedGraph, Format, Integers, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.reciprocal import WIDEST, exponent_width
from rbdgen.passes.identities import reciprocals
from rbdgen.robot.model import RobotError
from rbdgen.words.input_domain import InputDomain
from rbdgen.words.order import worst_error
from rbdgen.words.ranges import Ranges
from rbdgen.words.wordlength import (
    ANGLE_BITS,
    GUARD,
    LARGEST_INPUT,
    integer_bits,
    least_exponent,
    needed_fraction,
    wordlength,
)
from tests.support.made import compiled
from tests.support.marks import slow

ROBOTS = ["pendulum", "gantry", "iiwa14", "hyq"]
STATES = 20_000


def core(name: str, width: int = 18) -> Product:
    return compiled(name, width=width)


def columns(of: Product, n: int, seed: int) -> dict[str, np.ndarray]:
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
@pytest.mark.parametrize("width", [12, 18, slow(25)])
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


def divided(width: int, least: float, chosen: int | None = None) -> tuple[FixedGraph, Ranges]:
    """x / a in fixed point: |x| ≤ 1, a from ``least`` to 4; ``chosen``: fraction bits of all."""
    b = Builder()
    x, a = b.input("x"), b.input("a")
    graph = reciprocals(Graph(("x", "a"), {"y": b.mul(x, b.recip(a))}))
    pivot = next(n for n in graph.nodes if n.name == "a")
    bound = dict.fromkeys(graph.nodes, 1.0) | {pivot: 4.0, graph.outputs["y"]: 8 / least}
    ranges = Ranges(bound, frozenset(), {pivot: least})
    inputs = {"x": Format(width, width - 1), "a": Format(width + 6, width + 2)}
    bits = None if chosen is None else dict.fromkeys(graph.nodes, chosen)
    return wordlength(graph, ranges, width, inputs, bits), ranges


@pytest.mark.parametrize("binades", range(16))
def test_a_reciprocal_has_an_exponent_for_every_pivot_and_no_bit_more(binades: int) -> None:
    fixed, ranges = divided(18, 4.0 * 2.0**-binades)
    exponent = next(n for n in fixed.graph.nodes if n.op is Op.EXPONENT)
    (pivot,) = exponent.args
    word, unit = fixed.formats[pivot], fixed.reciprocal(exponent)
    # of the largest word, and of the smallest that the reciprocal is sized for
    largest, smallest = (
        math.frexp(word.real(np.array(word.highest)))[1],
        (least_exponent(ranges, pivot)),
    )
    smallest = max(smallest, 1 - word.fraction)
    assert unit.top == largest and unit.lowest <= smallest
    fewer = replace(unit, steps=unit.steps - 1)
    assert unit.steps == 1 or fewer.lowest > smallest
    own = fixed.formats[exponent]
    assert (own.fraction, own.width) == (0, exponent_width(unit.lowest, unit.top))
    words = np.array([word.highest, max(1, int(math.ldexp(0.5, smallest + word.fraction)))])
    found = evaluate_fixed(fixed, {"x": np.zeros(2, np.int64), "a": words})
    assert not found.overflowed


def test_a_product_with_a_mantissa_keeps_the_bits_that_its_shift_brings_up() -> None:
    """One below the last bit of what the shift by the smallest exponent makes of it."""
    for least in (0.25, 0.5, 2.0):
        fixed, ranges = divided(18, least)
        scale = next(n for n in fixed.graph.nodes if n.op is Op.SCALE)
        product, exponent = scale.args
        needed = needed_fraction(fixed.graph, ranges, 18)
        assert needed[scale] == 17 - integer_bits(8 / least)
        wanted = needed[scale] + 1 - least_exponent(ranges, exponent.args[0])
        most = 17 - integer_bits(ranges.bound[product]) + GUARD
        assert needed[product] == min(wanted, most)
    assert wanted < most


@pytest.mark.parametrize("binades", [4, 12, 24])
def test_shifted_words_fit_64_bits(binades: int) -> None:
    """However many bits are asked for: as many as there is room for."""
    fixed, _ = divided(18, 4.0 * 2.0**-binades, chosen=50)
    scale = next(n for n in fixed.graph.nodes if n.op is Op.SCALE)
    x, unit = fixed.formats[scale.args[0]], fixed.reciprocal(scale.args[1])
    fraction = fixed.formats[scale].fraction
    shifted = x.width + fraction - x.fraction - unit.lowest
    assert shifted <= WIDEST
    assert shifted == WIDEST or fraction in (50, x.fraction + unit.top)


def test_guard_bits_take_no_multiplier() -> None:
    """Sums of more exact terms, as soon, with operands of the same width."""
    found = []
    for guard in (1, 2):
        made = compile_front(front_end("pendulum", functions=("did",), width=18, guard=guard, ii=1))
        states = columns(made, 2000, seed=5)
        given = InputDomain({}, {}, states, frozenset())
        error = worst_error(made.fixed, made.front.graph, given).share
        found.append((error, made.plan.latency, made.plan.multipliers))
    (coarse, *before), (fine, *after) = found
    assert fine < 0.9 * coarse
    assert before == after


@pytest.mark.parametrize("choices", [{"error": 1e-3}, {"accelerator": True}, {"fold": "joints"}])
def test_guard_bits_are_of_words_of_a_width(choices: dict[str, Any]) -> None:
    with pytest.raises(RobotError, match=r"guard: 2: .* determines the words"):
        Design("arm.urdf", guard=2, **choices)
