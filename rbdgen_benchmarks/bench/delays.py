"""How long operations take that are chained within a clock: the numbers of ``Target.delays``.

Chains of 1, 2, … equal operations between registers, several side by side, are placed and routed;
the period of the slowest path, over the length, is a line. Its slope is one operation with the
wires to it, its beginning a register's clock-to-output, its setup, and the wire that they share.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, Elaboratable, Module, Signal, Value, signed

from rbdgen.system.quoting import Progress
from rbdgen.tools.report import synthesize

from .measurement import Row, measurement

PART = "ecp5-25f"
SPEEDS = (6, 8)
HEAD = ("operation", "bits", "speed", "chained", "period, ns", "each", "registers")
MULTIPLIERS = {(18, 18): 1, (25, 18): 2, (25, 25): 4}  # MULT18X18D of a product, of 28
MOST = 7  # chains side by side
# what is chained, operand widths, lengths
CASES: tuple[tuple[str, tuple[int, int], tuple[int, ...]], ...] = (
    ("product", (18, 18), (1, 2, 4)),
    ("product", (25, 18), (1, 2)),
    ("product", (25, 25), (1, 2)),
    ("sum", (18, 18), (2, 4, 8)),
    ("sum", (34, 34), (2, 4, 8)),
    ("selection", (18, 18), (2, 4, 8)),
)


class Chains(Elaboratable):
    """Chains of ``length`` operations, as many as fit, all ends registered; ports clk, i, o."""

    def __init__(self, what: str, widths: tuple[int, int], length: int) -> None:
        self.what, self.widths, self.length = what, widths, length
        self.domain = ClockDomain("sync", reset_less=True)
        a, b = widths
        each = MULTIPLIERS[widths] if what == "product" else 1
        self.chains = min(MOST, 28 // (each * length))
        self.i = Signal(self.chains * (a + length * b))
        self.o = Signal(self.chains * a)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains += self.domain
        a, b = self.widths
        size = a + self.length * b
        for k in range(self.chains):
            bits = Signal(size, name=f"i_{k}", reset_less=True)
            m.d.sync += bits.eq(self.i[k * size : (k + 1) * size])
            value: Value = bits[:a].as_signed()
            for n in range(self.length):
                value = self._step(value, bits[a + n * b : a + (n + 1) * b].as_signed())
            out = Signal(signed(a), name=f"o_{k}", reset_less=True)
            m.d.sync += out.eq(value)
            m.d.comb += self.o[k * a : (k + 1) * a].eq(out)
        return m

    def _step(self, value: Value, other: Value) -> Value:
        a, b = self.widths
        if self.what == "product":
            return (value * other)[b - 1 : b - 1 + a].as_signed()
        if self.what == "sum":
            return (value + other)[1:].as_signed()
        return Value.cast(other[-1].replicate(a) & value ^ other).as_signed()


@measurement(
    "delays", "an hour", HEAD, cases=lambda: [(*case, speed) for case in CASES for speed in SPEEDS]
)
def delays(
    place: Path,
    progress: Progress,
    what: str,
    widths: tuple[int, int],
    lengths: tuple[int, ...],
    speed: int,
) -> Iterator[Row]:
    """Delays of chained operations on the ECP5: chains placed and routed on an LFE5U-25F."""
    periods = [_period(what, widths, n, speed, place, progress) for n in lengths]
    line = np.polyfit(lengths, periods, 1) if len(lengths) > 1 else (None, None)
    said = ["-" if x is None else round(float(x), 2) for x in line]
    shown = str([round(period, 2) for period in periods])
    yield [what, "x".join(map(str, widths)), speed, str(lengths), shown, *said]


def _period(
    what: str, widths: tuple[int, int], length: int, speed: int, place: Path, progress: Progress
) -> float:
    """ns, of the better of two placements."""
    made = Chains(what, widths, length)
    name = f"{what}_{widths[0]}x{widths[1]}_{length}"
    source = place / "delays" / f"{name}.il"
    source.parent.mkdir(parents=True, exist_ok=True)
    ports = [made.domain.clk, made.i, made.o]
    source.write_text(rtlil.convert(made, name=name, ports=ports, emit_src=False), "utf-8")
    aim = 1e3 / (2 + length * (5 if what == "product" else 2))
    report = synthesize(
        [source], name, PART, source.parent, speeds=(speed,), seeds=(1, 2), freq=aim
    )
    best = report.best(speed)
    assert best is not None
    progress(f"{name}, speed {speed}: {1e3 / best.fmax:.2f} ns, {best.critical_summary}")
    return 1e3 / best.fmax
