"""The sine and cosine unit in Verilog against ``SinCos.compute``, every bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rbdgen.graph.sincos import INDEX, SinCos
from rbdgen.passes.wordlength import phase_bits
from rbdgen.rtl.emit import to_verilog
from rbdgen.rtl.multiplier import Multiplier, emit_multipliers
from rbdgen.rtl.sincos import SinCosUnit
from rbdgen.simulate.verilate import Field, Model, Ports, Stream, build
from rbdgen.target import Style, Target

TURNS = 2  # bits of an angle above its phase: whole turns, to be ignored
# First and second order, both styles of multiplier, and phases coarser than the compiler's.
UNITS: list[tuple[SinCos, Style]] = [
    (SinCos(phase_bits(12), 12), "dsp"),
    (SinCos(12, 12), "logic"),
    (SinCos(phase_bits(18), 18), "dsp"),
    (SinCos(15, 18), "logic"),
    (SinCos(phase_bits(22), 22), "logic"),
    (SinCos(phase_bits(31), 31), "dsp"),
]
RANDOM = 150_000  # states; the coarsest phases are swept whole in fewer

pytestmark = pytest.mark.rtl


def sincos_unit(spec: SinCos, style: Style) -> SinCosUnit:
    """A unit with the multipliers that the compiler would give it."""
    widths = spec.slope_width, spec.delta_width
    latency = Target("", "", 0).multiplier_latency(*widths, style)
    return SinCosUnit(spec, spec.phase + TURNS, Multiplier(*widths, latency, style))


class Bench(wiring.Component):
    """All units side by side; their results leave together, each delayed to the longest."""

    def __init__(self) -> None:
        self.units = [sincos_unit(*unit) for unit in UNITS]
        self.latency = max(unit.latency for unit in self.units)
        angles = {f"angle{n}": u.angle.shape() for n, u in enumerate(self.units)}
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
            m.submodules[f"unit_{n}"] = unit
            m.d.comb += unit.angle.eq(self.i.payload[f"angle{n}"])
            for name, value in (("sin", unit.sin), ("cos", unit.cos)):
                for k in range(unit.latency, self.latency):
                    later = Signal(value.shape(), name=f"{name}{n}_{k + 1}")
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
    text = to_verilog(rtlil.convert(bench, name="bench", emit_src=False))
    multipliers = emit_multipliers([unit.multiplier for unit in bench.units], "behavioural")
    (folder / "bench.v").write_text(text + multipliers)
    return verilated(bench, folder / "bench.v")


def verilated(bench: Bench, source: Path) -> Model:
    angles = tuple(Field(f"angle{n}", u.spec.phase + TURNS) for n, u in enumerate(bench.units))
    results = tuple(
        Field(f"{name}{n}", unit.spec.width)
        for n, unit in enumerate(bench.units)
        for name in ("sin", "cos")
    )
    ports = Ports(
        Stream(angles, "i__payload", "i__valid", "i__ready"),
        Stream(results, "o__payload", "o__valid", "o__ready"),
    )
    return build([source], "bench", source.parent, ports=ports)


def angles_of(spec: SinCos, n: int) -> np.ndarray:
    """``n`` angle words: all of them if they are so few, else the edges of quadrants and of table
    steps with their neighbours, and the rest at random."""
    half = 1 << (spec.phase + TURNS - 1)
    if 2 * half <= n:
        return np.resize(np.arange(-half, half), n)
    rng = np.random.default_rng(spec.phase)
    step = 1 << (spec.phase - 2 - INDEX)
    around = np.array([0, step // 2])[:, None] + np.arange(-2, 3)
    edges = (np.arange(-half, half, step)[:, None, None] + around).ravel() % (2 * half) - half
    return np.concatenate([edges, rng.integers(-half, half, n - len(edges))])


def test_every_bit_and_the_latency(bench: Bench, model: Model) -> None:
    words = np.stack([angles_of(unit.spec, RANDOM) for unit in bench.units], axis=1)
    run = model.run(words)
    for n, unit in enumerate(bench.units):
        sine, cosine = unit.spec.compute(words[:, n])
        np.testing.assert_array_equal(run.field(model, f"sin{n}"), sine, err_msg=str(unit.spec))
        np.testing.assert_array_equal(run.field(model, f"cos{n}"), cosine, err_msg=str(unit.spec))
    np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, bench.latency)


def test_sweeps_are_whole() -> None:
    """The words above do reach every angle of the coarser phases, every table entry of all."""
    swept = [spec for spec, _ in UNITS if spec.phase + TURNS <= 17]
    assert len(swept) == 3
    for spec, _ in UNITS:
        words = angles_of(spec, RANDOM)
        assert len(words) == RANDOM
        if spec in swept:
            assert len(np.unique(words)) == 1 << (spec.phase + TURNS)
        entries = (words >> (spec.phase - 2 - INDEX)) & ((4 << INDEX) - 1)
        assert len(np.unique(entries)) == 4 << INDEX
