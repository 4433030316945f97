"""The sine and cosine unit in Verilog against ``SinCos.compute``, every bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rbdgen.design.target import Ports, Stream, Style, Target
from rbdgen.graph.sincos import INDEX, SinCos
from rbdgen.rtl.function_units import SinCosUnit
from rbdgen.rtl.multiplier import Multiplier
from rbdgen.rtl.multiply_add import behaviours
from rbdgen.schedule.units import sincos_products
from rbdgen.shell.emit import to_verilog
from rbdgen.system.records import NamedWord
from rbdgen.tools.model import Model
from rbdgen.tools.verilate import build
from rbdgen.words.wordlength import phase_bits

TURNS = 2  # bits of an angle above its phase: whole turns, to be ignored
# First and second order, both styles of multiplier, and phases coarser than the compiler's.
UNITS: list[tuple[SinCos, Style]] = [
    (SinCos(phase_bits(12), 12), "dsp"),
    (SinCos(12, 12), "logic"),
    (SinCos(phase_bits(18), 18), "dsp"),
    (SinCos(15, 18), "logic"),
    (SinCos(phase_bits(22), 22), "logic"),
    (SinCos(phase_bits(32), 32), "dsp"),  # whose sine of 0 is -1 ulp
]
STATES = 1 << 21  # as many as an angle for 18 bits has phases

pytestmark = pytest.mark.rtl


def sincos_unit(spec: SinCos, style: Style) -> SinCosUnit:
    """A unit with the multipliers that the compiler would give it."""
    made = sincos_products(spec, Target("", "", 0), style)
    products = tuple(Multiplier(own.a, own.b, own.latency, own.style) for own in made)
    return SinCosUnit(spec, spec.phase + TURNS, products)


class Bench(wiring.Component):
    """All units side by side; their results leave together, each delayed to the longest."""

    def __init__(self) -> None:
        self.units = [sincos_unit(*unit) for unit in UNITS]
        self.latency = max(unit.latency for unit in self.units)
        angles = {f"angle{n}": signed(u.angle_width) for n, u in enumerate(self.units)}
        results = {
            f"{name}{n}": signed(unit.spec.width)
            for n, unit in enumerate(self.units)
            for name in ("sin", "cos")
        }
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(angles))),
                "o": Out(stream.Signature(data.StructLayout(results))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.i.ready.eq(1)
        valid = self.i.valid
        for n in range(self.latency):
            later = Signal(name=f"valid_{n + 1}")
            m.d.sync += later.eq(valid)
            valid = later
        m.d.comb += self.o.valid.eq(valid)
        for n, unit in enumerate(self.units):
            shape = signed(unit.spec.width)
            sin, cos = Signal(shape, name=f"sin{n}"), Signal(shape, name=f"cos{n}")
            angle = self.i.payload[f"angle{n}"]
            m.submodules[f"unit_{n}"] = unit.instance(angle=angle, sin=sin, cos=cos)
            for name, value in (("sin", sin), ("cos", cos)):
                for k in range(unit.latency, self.latency):
                    later = Signal(shape, name=f"{name}{n}_{k + 1}")
                    m.d.sync += later.eq(value)
                    value = later
                m.d.comb += self.o.payload[f"{name}{n}"].eq(value)
        return m


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


@pytest.fixture(scope="module")
def model(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = tmp_path_factory.mktemp("sincos")
    parts = [rtlil.convert(bench, name="bench", emit_src=False)]
    text = to_verilog("\n".join(parts + [unit.to_rtlil() for unit in bench.units]))
    multipliers = behaviours([own for unit in bench.units for own in unit.multipliers])
    (folder / "bench.v").write_text(text + multipliers)
    return verilated(bench, folder / "bench.v")


def verilated(bench: Bench, source: Path) -> Model:
    angles = tuple(NamedWord(f"angle{n}", u.spec.phase + TURNS) for n, u in enumerate(bench.units))
    results = tuple(
        NamedWord(f"{name}{n}", unit.spec.width)
        for n, unit in enumerate(bench.units)
        for name in ("sin", "cos")
    )
    ports = Ports(
        Stream(angles, "i__payload", "i__valid", "i__ready"),
        Stream(results, "o__payload", "o__valid", "o__ready"),
    )
    return build([source], "bench", ports=ports)


def angles_of(spec: SinCos) -> np.ndarray:
    """Angle words, whole turns and all: every phase there is, where they are few enough, else the
    edges of quadrants and of table steps with their neighbours, and the rest at random."""
    rng = np.random.default_rng(spec.phase)
    turn, half = 1 << spec.phase, 1 << (spec.phase + TURNS - 1)
    if turn <= STATES:
        phases = np.resize(np.arange(turn), STATES)
    else:
        step = turn >> (INDEX + 2)
        edges = np.arange(0, turn, step // 2)[:, None] + np.arange(-2, 3)
        phases = np.append(edges, rng.integers(0, turn, STATES - edges.size)) % turn
    return phases + turn * rng.integers(0, 1 << TURNS, STATES) - half


def test_every_bit_and_the_latency(bench: Bench, model: Model) -> None:
    words = np.stack([angles_of(unit.spec) for unit in bench.units], axis=1)
    run = model.run(words)
    for n, unit in enumerate(bench.units):
        sine, cosine = unit.spec.compute(words[:, n])
        np.testing.assert_array_equal(run.field(model, f"sin{n}"), sine, err_msg=str(unit.spec))
        np.testing.assert_array_equal(run.field(model, f"cos{n}"), cosine, err_msg=str(unit.spec))
    np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, bench.latency)


def test_sweeps_are_whole() -> None:
    """The words above are every angle up to 18 bits, and meet every table entry beyond."""
    for spec, _ in UNITS:
        words = angles_of(spec)
        assert len(words) == STATES
        assert abs(words).max() <= 1 << (spec.phase + TURNS - 1)
        phases = words % (1 << spec.phase)
        if spec.width <= 18:
            assert np.bincount(phases, minlength=1 << spec.phase).all()
        assert np.bincount(phases >> (spec.phase - 2 - INDEX), minlength=4 << INDEX).all()
