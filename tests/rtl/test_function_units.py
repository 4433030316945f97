"""The units of sines and reciprocals in Amaranth's own simulator, every bit; and as modules."""

from __future__ import annotations

import re

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal, signed

from rbdgen.graph.reciprocal import Reciprocal
from rbdgen.graph.sincos import SinCos
from rbdgen.rtl.function_units import FunctionPipeline, FunctionUnit, ReciprocalUnit, SinCosUnit
from rbdgen.rtl.multiplier import Multiplier
from tests.support.simulated import Product, cells, ports, streamed

TURNS = 2  # bits of an angle above its phase: whole turns, to be ignored
# First order, wider than its window, and narrower; then with a Newton step. And multipliers'
# latencies, no two the same.
RECIPROCALS = {
    "rbdgen_recip_12t0s3_12": (Reciprocal(12, 0, 3, 12), "dsp", (3,)),
    "rbdgen_recip_5t2s3_14_logic": (Reciprocal(5, 2, 3, 14), "logic", (2,)),
    "rbdgen_recip_30tm4s4_22": (Reciprocal(30, -4, 4, 22), "dsp", (6, 5, 7)),
}


def reciprocal_unit(name: str) -> ReciprocalUnit:
    """With multipliers that Amaranth simulates."""
    spec, style, latencies = RECIPROCALS[name]
    products = zip(spec.products, latencies, strict=True)
    return ReciprocalUnit(spec, tuple(Product(*widths, own, style) for widths, own in products))


def check_module(unit: FunctionUnit, own: dict[str, tuple[str, int, bool]]) -> str:
    """The text of a unit's module: its ports; no reset, and no lines of the source, which move."""
    text = unit.to_rtlil()
    assert f"module \\{unit.name}\n" in text
    assert "src" not in text
    assert "rst" not in text
    assert ports(text) == {"clk": ("input", 1, False), **own}
    return text


@pytest.mark.parametrize("name", RECIPROCALS)
def test_every_bit_of_a_reciprocal(name: str) -> None:
    unit = reciprocal_unit(name)
    spec, pipe = unit.spec, FunctionPipeline(unit)
    assert unit.name == name
    rng = np.random.default_rng(spec.width)
    ends = [0, 1, -1, -(1 << (spec.operand - 1)), (1 << (spec.operand - 1)) - 1]
    sizes = np.exp2(rng.uniform(0, spec.operand - 1, 300)).astype(np.int64)
    words = np.concatenate([ends, sizes, -sizes[:40]])
    outputs = [pipe.ports[own] for own in ("mantissa", "exponent", "outside")]
    found = streamed(pipe, [pipe.ports["operand"]], words[:, None], outputs, unit.latency)
    expected = np.stack([column.astype(np.int64) for column in spec.compute(words)], axis=1)
    assert expected[:, 2].any()
    assert not expected[:, 2].all()
    np.testing.assert_array_equal(found, expected)


def test_a_reciprocal_unit_as_a_module() -> None:
    """Its ports, and multipliers as instances."""
    spec, _, latencies = RECIPROCALS["rbdgen_recip_30tm4s4_22"]
    products = zip(spec.products, latencies, strict=True)
    unit = ReciprocalUnit(spec, tuple(Multiplier(*widths, own) for widths, own in products))
    own = {
        "operand": ("input", 30, True),
        "mantissa": ("output", 22, True),
        "exponent": ("output", spec.exponent_width, True),
        "outside": ("output", 1, False),
    }
    text = check_module(unit, own)
    kinds = {name: kind for name, (kind, _) in cells(text).items()}
    assert kinds == {f"multiply_{k}": one.name for k, one in enumerate(unit.multipliers)}
    for name, (_, connected) in cells(text).items():
        assert connected["clk"] == "clk [0]"
        assert connected["p"] == name.replace("multiply", "product")


def test_an_instance_of_a_reciprocal_unit() -> None:
    unit, top = reciprocal_unit("rbdgen_recip_12t0s3_12"), Module()
    own = {
        "operand": Signal(signed(12), name="w"),
        "mantissa": Signal(signed(12), name="x"),
        "exponent": Signal(signed(unit.spec.exponent_width), name="y"),
        "outside": Signal(name="z"),
    }
    top.submodules["one"] = unit.instance(**own)
    text = rtlil.convert(top, name="top", ports=list(own.values()), emit_src=False)
    connected = {"clk": "clk [0]", "operand": "w [11:0]", "mantissa": "x"}
    connected |= {"exponent": "y", "outside": "z"}
    assert cells(text) == {"one": (unit.name, connected)}


SINES = {
    "rbdgen_sincos_14p12_12_logic": (SinCos(12, 12), "logic", (2, 2)),
    "rbdgen_sincos_27p25_22": (SinCos(25, 22), "dsp", (3, 3, 6, 6)),
    # whose sine of 0 is -1 ulp
    "rbdgen_sincos_37p35_32": (SinCos(35, 32), "dsp", (4, 4, 5, 5)),
}


@pytest.mark.parametrize("name", SINES)
def test_every_bit_of_a_sine(name: str) -> None:
    """A few hundred angles, in Amaranth's own simulator."""
    spec, style, latencies = SINES[name]
    products = zip(spec.products, latencies, strict=True)
    made = tuple(Product(*widths, own, style) for widths, own in products)
    unit = SinCosUnit(spec, spec.phase + TURNS, made)
    assert unit.name == name
    pipe, turn = FunctionPipeline(unit), 1 << spec.phase
    rng = np.random.default_rng(spec.width)
    words = np.concatenate([np.arange(-2, 3) * turn // 4, rng.integers(-2 * turn, 2 * turn, 300)])
    outputs = [pipe.ports["sin"], pipe.ports["cos"]]
    found = streamed(pipe, [pipe.ports["angle"]], words[:, None], outputs, unit.latency)
    np.testing.assert_array_equal(found, np.stack(spec.compute(words), axis=1))


def test_a_sine_unit_as_a_module() -> None:
    """Its ports, and multipliers as instances."""
    spec = SinCos(25, 22)
    short = (Multiplier(*spec.products[0], 4, "logic"),) * 2
    unit = SinCosUnit(spec, 27, short + (Multiplier(*spec.products[-1], 4),) * 2)
    own = {"angle": ("input", 27, True), "sin": ("output", 22, True), "cos": ("output", 22, True)}
    text = check_module(unit, own)
    found = re.findall(r"^  cell \\(rbdgen_mul_\w+)", text, re.M)
    assert found == [own.name for own in unit.multipliers]


def test_an_instance_of_a_sine_unit() -> None:
    spec, top = SinCos(12, 12), Module()
    unit = SinCosUnit(spec, 14, (Multiplier(*spec.products[0], 5, "logic"),) * 2)
    x, y, z = Signal(signed(14), name="x"), Signal(signed(12), name="y"), Signal(12, name="z")
    top.submodules["one"] = unit.instance(angle=x, sin=y, cos=z)
    text = rtlil.convert(top, name="top", ports=[x, y, z], emit_src=False)
    connected = {"clk": "clk [0]", "angle": "x [13:0]", "sin": "y", "cos": "z"}
    assert cells(text) == {"one": (unit.name, connected)}
