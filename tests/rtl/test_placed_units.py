"""Units that are put somewhere: their modules and connections, and what is noted of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.hdl import Const, Module, Signal, Value, signed

from rbdgen.design.target import Style, Target
from rbdgen.graph.fixed import INTEGER, FixedGraph, Format
from rbdgen.graph.graph import Graph
from rbdgen.graph.integers import NUMBERS
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.reciprocal import exponent_width
from rbdgen.rtl.function_units import PlacedUnit, ReciprocalUnit, SinCosUnit
from rbdgen.rtl.multiplier import Multiplier
from rbdgen.rtl.units import UNIT, Site, operand_of
from rbdgen.schedule.units import shifting
from tests.support.simulated import cells, streamed

PART = Target("", "", 0, dsp_latency=3, logic_latency=6)


def everything() -> tuple[FixedGraph, dict[str, Node]]:
    """A graph with one node of every operation that is a unit."""
    b = Builder()
    x, angle = b.input("x"), b.input("angle")
    nodes = {"product": x * angle, "sine": b.sin(angle, 1.0), "cosine": b.cos(angle, 1.0)}
    nodes |= {"mantissa": b.mantissa(x), "exponent": b.exponent(x)}
    nodes["scaled"] = b.scale(nodes["mantissa"], nodes["exponent"])
    nodes["half"] = b.mul(x, 0.5)
    of = {"x": Format(12, 7), "angle": Format(16, 14)}
    formats = {x: of["x"], angle: of["angle"], nodes["half"]: Format(12, 8)}
    formats |= {nodes["product"]: Format(14, 9, rounded=True), nodes["scaled"]: Format(18, 6)}
    formats |= {nodes["sine"]: Format(13, 12), nodes["cosine"]: Format(13, 12)}
    formats |= {nodes["mantissa"]: Format(22, 20), nodes["exponent"]: Format(4, 0)}
    graph = Graph(("x", "angle"), dict(nodes))
    return FixedGraph(graph, of, formats, 18, {x: 3}, {x: 22}), nodes


def placed(
    node: Node, fixed: FixedGraph, widths: Sequence[int], style: Style
) -> tuple[dict[str, Signal], list[PlacedUnit], dict[str, tuple[str, dict[str, str]]]]:
    """Outputs, what is noted, and the cells of a module that has but this unit."""
    place = UNIT[node.op].place
    assert place is not None
    m, made = Module(), list[PlacedUnit]()
    inputs = [Signal(signed(width), name=f"in_{k}") for k, width in enumerate(widths)]
    outputs = place(Site(m, fixed, made, PART, style, "here", "out_{}".format), node, *inputs)
    text = rtlil.convert(m, name="top", ports=[*inputs, *outputs.values()], emit_src=False)
    return outputs, made, cells(text)


def shapes(outputs: dict[str, Signal]) -> dict[str, tuple[str, int, bool]]:
    return {k: (v.name, len(v), v.shape().signed) for k, v in outputs.items()}


@pytest.mark.parametrize(("style", "latency"), [("dsp", 4), ("logic", 7)])
def test_a_multiplier(style: Style, latency: int) -> None:
    fixed, nodes = everything()
    outputs, made, found = placed(nodes["product"], fixed, [12, 20], style)
    unit = Multiplier(12, 20, latency, style)
    assert made == [unit]
    assert shapes(outputs) == {"p": ("out_p", 32, True)}
    connected = {"clk": "clk [0]", "a": "in_0 [11:0]", "b": "in_1 [19:0]", "p": "out_p"}
    assert found == {"here": (unit.name, connected)}


@pytest.mark.parametrize(("style", "latency"), [("dsp", 3), ("logic", 6)])
def test_a_sine_and_cosine_unit(style: Style, latency: int) -> None:
    fixed, nodes = everything()
    spec = fixed.sincos(nodes["sine"])
    products = (Multiplier(spec.slope_width, spec.delta_width, latency, style),) * 2
    unit = SinCosUnit(spec, 16, products)
    for name in ("sine", "cosine"):
        outputs, made, found = placed(nodes[name], fixed, [16], style)
        assert made == [unit, *products]
        assert shapes(outputs) == {"sin": ("out_sin", 13, True), "cos": ("out_cos", 13, True)}
        connected = {"clk": "clk [0]", "angle": "in_0 [15:0]", "sin": "out_sin", "cos": "out_cos"}
        assert found == {"here": (unit.name, connected)}


@pytest.mark.parametrize("style", ["dsp", "logic"])
def test_a_reciprocal_unit(style: Style) -> None:
    fixed, nodes = everything()
    spec = fixed.reciprocal(nodes["mantissa"])
    latencies = [PART.multiplier_latency(a, b, style) for a, b in spec.products]
    assert len(set(latencies)) == 2
    pairs = zip(spec.products, latencies, strict=True)
    products = tuple(Multiplier(a, b, latency, style) for (a, b), latency in pairs)
    unit = ReciprocalUnit(spec, products)
    for name in ("mantissa", "exponent"):
        outputs, made, found = placed(nodes[name], fixed, [12], style)
        assert made == [unit, *products]
        assert shapes(outputs) == {
            "mantissa": ("out_mantissa", 22, True),
            "exponent": ("out_exponent", spec.exponent_width, True),
            "outside": ("out_outside", 1, False),
        }
        connected = {name: f"out_{name}" for name in ("mantissa", "exponent", "outside")}
        connected |= {"clk": "clk [0]", "operand": "in_0 [11:0]"}
        assert found == {"here": (unit.name, connected)}


def test_what_is_made_adds_up() -> None:
    fixed, nodes = everything()
    m, made = Module(), list[PlacedUnit]()
    for name, widths in (("product", (12, 16)), ("sine", (16,)), ("mantissa", (12,))) * 2:
        place = UNIT[nodes[name].op].place
        assert place is not None
        site = Site(m, fixed, made, PART, "dsp", f"{name}_{len(made)}", str)
        place(site, nodes[name], *(Signal(signed(width)) for width in widths))
    assert len(made) == 2 * (1 + 1 + 2 + 1 + 3)
    assert made[:8] == made[8:]
    assert [type(one) for one in made if not isinstance(one, Multiplier)] == [
        SinCosUnit,
        ReciprocalUnit,
    ] * 2
    assert len(cells(rtlil.convert(m, name="top", ports=[], emit_src=False))) == 6


def test_results_are_taken_from_the_outputs_of_their_name() -> None:
    """All but a product's as they are."""
    fixed, nodes = everything()
    names = ("sin", "cos", "mantissa", "exponent", "outside")
    outputs: dict[str, Value] = {name: Signal(signed(8), name=name) for name in names}
    taken = {"sine": "sin", "cosine": "cos", "mantissa": "mantissa", "exponent": "exponent"}
    for name, output in taken.items():
        node = nodes[name]
        assert UNIT[node.op].result(fixed, node, outputs) is outputs[output]
    flags = {op: unit.flag for op, unit in UNIT.items() if unit.flag}
    assert flags == {Op.EXPONENT: "outside"}


def test_what_is_logic_and_what_is_placed() -> None:
    logic = {op for op, unit in UNIT.items() if unit.logic is not None}
    place = {op for op, unit in UNIT.items() if unit.place is not None}
    assert set(UNIT) == set(Op)
    assert logic == {Op.ADD, Op.SUB, Op.NEG, Op.SCALE, Op.SELECT, Op.SATURATE, Op.MUL}
    assert place == {Op.MUL, Op.SIN, Op.COS, Op.MANTISSA, Op.EXPONENT}
    assert {op: unit.port for op, unit in UNIT.items() if unit.port} == {
        Op.MUL: "p",
        Op.SIN: "sin",
        Op.COS: "cos",
        Op.MANTISSA: "mantissa",
        Op.EXPONENT: "exponent",
    }


@pytest.mark.parametrize("fraction", [2, 6, 12])
def test_scaling_is_a_pipeline_of_its_own(fraction: int) -> None:
    b = Builder()
    x, a = b.input("x"), b.input("a")
    z = b.scale(x, b.exponent(a))
    (_, k), of = z.args, {"x": Format(9, 6), "a": Format(10, 4)}
    formats = {x: of["x"], a: of["a"], k: Format(exponent_width(-2, 5), 0), z: Format(18, fraction)}
    fixed = FixedGraph(Graph(("x", "a"), {"z": z}), of, formats, 18, {a: 3})
    m, inputs = Module(), [Signal(signed(9), name="x"), Signal(signed(formats[k].width), name="k")]
    logic = UNIT[Op.SCALE].logic
    assert logic is not None
    given = [(signal, formats[node].fraction) for signal, node in zip(inputs, (x, k), strict=True)]
    wide = logic(m, fixed, z, *given)
    rng = np.random.default_rng(fraction)
    words = np.stack([rng.integers(-256, 256, 200), rng.integers(-2, 6, 200)], axis=1)
    found = streamed(m, inputs, words.tolist(), [wide], len(shifting(3)))
    assert [one for (one,) in found] == INTEGER[Op.SCALE](NUMBERS, fixed, z, *words.T).tolist()
    assert f"\\s{z.index}_1\n" in rtlil.convert(m, ports=inputs, emit_src=False)


def test_operands_are_constants_or_the_bits_of_where_they_come_from() -> None:
    b = Builder()
    x, held, c = b.input("x"), b.parameter("p[0]", 0.5), b.const(-0.75)
    half = b.mul(x, 0.5)
    nodes = [b.node(Op.ADD, half, c), b.node(Op.ADD, held, x)]
    word = {x: Format(8, 4), half: Format(8, 5), held: Format(6, 3), c: Format(5, 3)}
    graph = Graph(("x",), dict(zip("ab", nodes, strict=True)))
    fixed = FixedGraph(graph, {"x": word[x]}, word | dict.fromkeys(nodes, Format(9, 4)), 9)
    signals = {node: Signal(signed(word[node].width)) for node in (x, held)}

    def operand(node: Node, k: int) -> tuple[Value, int]:
        return operand_of(fixed, node, k, signals.__getitem__)

    for node, k, origin, fraction in ((0, 0, x, 5), (1, 0, held, 3), (1, 1, x, 4)):
        value, found = operand(nodes[node], k)
        assert value is signals[origin]
        assert found == fraction
    value, fraction = operand(nodes[0], 1)
    assert isinstance(value, Const)
    assert (value.value, value.shape(), fraction) == (-6, signed(5), 3)
