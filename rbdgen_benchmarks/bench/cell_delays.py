"""Delays of the adder behind a hardware multiplier, as nextpnr has them: clocks with a sum in it.

A cell computes no product and sum in less time than the product alone. Where nextpnr says so, it
ignores the paths that begin or end in the adder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Cat, ClockDomain, Const, Elaboratable, Instance, Module, Signal, signed

from rbdgen.design.target import find_target
from rbdgen.system.quoting import Progress
from rbdgen.tools.nextpnr import place_and_route
from rbdgen.tools.pins import add_pins
from rbdgen.tools.yosys import synth

from .measurement import Row, measurement

FREQUENCY = 400.0  # MHz, that is aimed at
OPERAND, TOTAL = 18, 54  # bits
ALONE, IN_LUTS, IN_CELL, BYPASSED = (
    *("product", "product, sum in LUTs", "product and sum in the cell"),
    "the same without the register between them",
)
# of an ECP5 the adder of a cell adds two products
ONE, TWO = ("lifcl-40", 1), ("ecp5-25f", 2)
CASES = [(*own, what) for own in (ONE, TWO) for what in (ALONE, IN_LUTS, IN_CELL, BYPASSED)]
HEAD = ("part", "products", "", "multipliers", "adders", "MHz", "slowest path")
ADDERS = {"nexus": "ACC54_CORE", "ecp5": "ALU54B"}
MULTIPLIERS = {"nexus": "MULT18_CORE", "ecp5": "MULT18X18D"}
LEGEND = (
    "Products of 18 bits by 18 and sums of 54, alone in the part, one seed, lowest speed grade.\n"
    "All ends are registers: in the cells, but behind the ECP5's product alone, which ends in a\n"
    "flip-flop outside. A cell is no faster with a sum than its product alone. Where it is here,\n"
    "nextpnr has no delays to or from the adder, and leaves its paths out."
)
# products added to C; OP10 is the highest bit
ADD = "00110100101"


class Cell(Elaboratable):
    """Products and a sum with one more word, as `CASES` say; ports clk, i, o."""

    def __init__(self, family: str, products: int, what: str) -> None:
        self.family, self.products, self.what = family, products, what
        self.domain = ClockDomain("sync", reset_less=True)
        self.i = Signal(2 * products * OPERAND + TOTAL)
        self.o = Signal(TOTAL)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains += self.domain
        operands = [self.i[k * OPERAND :][:OPERAND] for k in range(2 * self.products)]
        pairs, addend = list(zip(operands[::2], operands[1::2], strict=True)), self.i[-TOTAL:]
        if self.what in (ALONE, IN_LUTS):
            found = [self._product(m, a, b) for a, b in pairs]
            if self.what == ALONE:
                m.d.comb += self.o.eq(Cat(found)[:TOTAL])
            else:
                held = Signal(signed(TOTAL), reset_less=True)
                total = Signal(signed(TOTAL), reset_less=True)
                m.d.sync += [held.eq(addend), total.eq(sum(found, held))]
                m.d.comb += self.o.eq(total)
        elif self.family == "nexus":
            _sum_nexus(m, self.domain.clk, *pairs[0], addend, self.o, self.what == BYPASSED)
        else:
            _sum_ecp5(m, self.domain.clk, pairs, addend, self.o, self.what == BYPASSED)
        return m

    def _product(self, m: Module, a: Any, b: Any) -> Signal:
        """The ECP5's alone ends in a flip-flop outside: nextpnr times no path within the cell."""
        if self.family == "nexus":
            return _product_nexus(m, self.domain.clk, a, b)
        last = () if self.what == ALONE else ("OUTPUT",)
        return _multiplier_ecp5(m, self.domain.clk, a, b, ("INPUTA", "INPUTB", *last))


def _bits(name: str, value: Any) -> dict[str, Any]:
    """Ports of one bit each."""
    return {f"{name}{k}": bit for k, bit in enumerate(value)}


def _product_nexus(m: Module, clk: Signal, a: Any, b: Any) -> Signal:
    p = Signal(signed(2 * OPERAND))
    registers = {f"p_REG{n}": "REGISTER" for n in ("INPUTA", "INPUTB", "OUTPUT")}
    ports = {f"i_CE{n}": Const(1) for n in ("A", "B", "OUT")}
    ports |= {f"i_RST{n}": Const(0) for n in ("A", "B", "OUT")}
    ports |= {f"i_SIGNED{n}": Const(1) for n in "AB"}
    m.submodules += Instance("MULT18X18", **registers, i_CLK=clk, i_A=a, i_B=b, o_Z=p, **ports)
    return p


def _sum_nexus(
    m: Module, clk: Signal, a: Any, b: Any, c: Any, total: Signal, bypassed: bool
) -> None:
    registered = ("INPUTA", "INPUTB", "INPUTC", "ADDSUB", "LOADC", "LOADC2", "CIN", "OUTPUT")
    registers = {f"p_REG{n}": "REGISTER" for n in registered}
    registers["p_REGPIPELINE"] = "BYPASS" if bypassed else "REGISTER"
    ports = {f"i_CE{n}": Const(1) for n in ("A", "B", "C", "PIPE", "CTRL", "CIN", "OUT")}
    ports |= {f"i_RST{n}": Const(0) for n in ("A", "B", "C", "PIPE", "CTRL", "CIN", "OUT")}
    ports |= {"i_SIGNED": Const(1), "i_LOADC": Const(1), "i_ADDSUB": Const(0), "i_CIN": Const(0)}
    m.submodules += Instance(
        "MULTADDSUB18X18", **registers, i_CLK=clk, i_A=a, i_B=b, i_C=c, o_Z=total, **ports
    )


def _multiplier_ecp5(
    m: Module, clk: Signal, a: Any, b: Any, registered: tuple[str, ...], **more: Any
) -> Signal:
    p = Signal(signed(2 * OPERAND))
    parameters = {f"p_REG_{n}_CLK": "CLK0" for n in registered}
    ports = {"i_CLK0": clk, "i_CE0": Const(1), "i_RST0": Const(0)}
    ports |= {f"i_{n}{own}": Const(n == "SIGNED") for n in ("SIGNED", "SOURCE") for own in "AB"}
    bits = _bits("i_A", a) | _bits("i_B", b) | _bits("o_P", p)
    m.submodules += Instance("MULT18X18D", **parameters, **ports, **bits, **more)
    return p


def _sum_ecp5(
    m: Module, clk: Signal, pairs: list[Any], c: Any, total: Signal, bypassed: bool
) -> None:
    """Products in cells and their sum in the adder between them. Its inputs for the adder beside it
    stay open: no other wires lead there."""
    registered = ("INPUTA", "INPUTB", *(() if bypassed else ("PIPELINE",)))
    ports: dict[str, Any] = {"i_CLK0": clk, "i_CE0": Const(1), "i_RST0": Const(0)}
    for (a, b), own in zip(pairs, "AB", strict=True):
        sign, passed = Signal(), Signal(2 * OPERAND)
        more = _bits("o_ROA", passed[:OPERAND]) | _bits("o_ROB", passed[OPERAND:])
        p = _multiplier_ecp5(m, clk, a, b, registered, o_SIGNEDP=sign, **more)
        ports |= _bits(f"i_M{own}", p) | _bits(f"i_{own}", passed) | {f"i_SIGNEDI{own}": sign}
    ports |= {f"i_OP{k}": Const(int(bit)) for k, bit in enumerate(reversed(ADD))}
    ports |= _bits("i_C", c) | _bits("o_R", total)
    parameters = {f"p_REG_{n}{k}_CLK": "CLK0" for n in ("INPUTC", "OUTPUT") for k in (0, 1)}
    m.submodules += Instance("ALU54B", **parameters, p_MULT9_MODE="DISABLED", **ports)


@measurement("cell-delays", "a minute", HEAD, cases=lambda: CASES, legend=LEGEND)
def clocks(place: Path, progress: Progress, part: str, products: int, what: str) -> Iterator[Row]:
    """Clocks that nextpnr says of a product and a sum, in one cell and with the sum in LUTs."""
    progress(f"{part}, {what}")
    target, name = find_target(part), "cell"
    made = Cell(target.family, products, what)
    folder = place / "cell-delays"
    folder.mkdir(parents=True, exist_ok=True)
    source, netlist, pinned = (folder / f"{name}{end}" for end in (".il", ".json", "_pins.json"))
    ports = [made.domain.clk, made.i, made.o]
    source.write_text(rtlil.convert(made, name=name, ports=ports, emit_src=False), "utf-8")
    synth(target.family, [source], name, netlist)
    add_pins(netlist, name, pinned, family=target.family)
    speed = min(target.speeds)
    # floorplanned, the multipliers would have other sites than their adder
    placed = place_and_route(pinned, target, speed=speed, freq=FREQUENCY, floorplanned=False)
    used = [placed.used.get(own[target.family], 0) for own in (MULTIPLIERS, ADDERS)]
    yield [part, products, what, *used, round(placed.fmax, 1), placed.critical_summary]
