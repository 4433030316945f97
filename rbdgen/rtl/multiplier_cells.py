"""The multiplier unit made of a family's cells, as RTLIL for Yosys.

Hardware multipliers are instantiated with their registers on, since Yosys infers them without.
Multipliers in logic are carry chains: cells of the ECP5 there, whose look-up tables take the rows
in, and sums elsewhere, which Yosys makes chains of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from amaranth.back import rtlil
from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    Const,
    Elaboratable,
    Instance,
    Module,
    Mux,
    Signal,
    Value,
    signed,
)

from .arithmetic import later
from .dsp48 import DSP48E1, DSP48E2
from .multiplier import (
    DSP_LATENCY,
    DSP_WIDTH,
    LIMB,
    Multiplier,
    add_row_ecp5,
    depth,
    first_rows_ecp5,
    merge_ecp5,
    minimum_latency,
)
from .multiply_add import MultiplyAdd, ProductUnit, distinct


def of_cells(unit: ProductUnit, family: str) -> str:
    """The module of a unit, of cells of a family of `FORMS`."""
    form = _OfCells(unit, FORMS[family])
    ports = [form.clk, form.a, form.b, *form.c, form.p]
    return rtlil.convert(form, name=unit.name, ports=ports, emit_src=False)


def emit_cells(units: Iterable[ProductUnit], family: str) -> str:
    """The modules of all distinct ones among ``units``, sorted, as one text."""
    return "\n".join(of_cells(unit, family) for unit in distinct(units))


@dataclass(frozen=True)
class MultiplierCell:
    """The multiplier primitives of a family.

    ``product``: of a unit's operands.
    ``merge``: the sum of two signed words, as wide as the second.
    ``first_rows``: a b0 ± 2 a b1, two bits wider than a.
    ``add_row``: total ± a b of a total no wider than a, one bit wider than a.
    ``multiply_add``: a unit's sum of a product and c; None: two cells compute it.
    """

    product: Callable[[Module, Multiplier, Value, Value], Value]
    merge: Callable[[Module, Value, Value], Value]
    first_rows: Callable[[Module, Value, Value, Value, bool], Value]
    add_row: Callable[[Module, Value, Value, Value, bool], Value]
    multiply_add: Callable[[Module, MultiplyAdd, Value, Value, Value], Value] | None = None


class _OfCells(Elaboratable):
    """One unit built of cells, as a module with ports clk, a, b, p, and c of a sum."""

    def __init__(self, unit: ProductUnit, form: MultiplierCell) -> None:
        self.unit, self.form = unit, form
        self.domain = ClockDomain("sync", reset_less=True)
        self.clk = self.domain.clk
        self.a = Signal(signed(unit.a_width))
        self.b = Signal(signed(unit.b_width))
        self.c: list[Signal] = []
        width = unit.a_width + unit.b_width
        if isinstance(unit, MultiplyAdd):
            self.c, width = [Signal(signed(unit.c_width), name="c")], unit.width
        self.p = Signal(signed(width))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains += self.domain
        if isinstance(self.unit, MultiplyAdd):
            compute = self.form.multiply_add or partial(_product_and_sum, self.form)
            total = compute(m, self.unit, self.a, self.b, *self.c)
            product = total[: self.unit.width].as_signed()
        elif self.unit.style == "logic":
            product = _logic_product(m, self.form, self.a, self.b, self.unit.latency)
        else:
            product = self.form.product(m, self.unit, self.a, self.b)
        m.d.comb += self.p.eq(product)
        return m


def _product_and_sum(
    form: MultiplierCell, m: Module, unit: MultiplyAdd, a: Value, b: Value, c: Value
) -> Value:
    """A product, and a sum in logic: in front of the last register where the multiplier leaves a
    cycle for it, else behind it."""
    cycles = max(unit.latency - 1, minimum_latency(len(a), len(b)))
    behind = unit.latency - cycles
    product = form.product(m, Multiplier(len(a), len(b), cycles), a, b)
    c = later(m, c, (not unit.late) + 1 - behind)
    total = product - c if unit.minus else product + c
    return later(m, total + Const(unit.one, signed(unit.width)), behind)


# --- hardware multipliers --------------------------------------------------------------------


Cell = Callable[[Module, Sequence[Value], Sequence[Value]], Value]


def _of_18(cell: Cell, m: Module, unit: Multiplier, a: Value, b: Value) -> Value:
    """Schoolbook over limbs of 17 bits: p = Σ aᵢ bⱼ 2^(17 (i + j)).

    ``cell``: a product of two operands of 18 bits, registered three times. Registers beyond one
    for each adder stand behind the multipliers, before any adder.
    """
    limbs = _limbs(a), _limbs(b)
    left = unit.latency - DSP_LATENCY
    adders = sum(len(of) - 1 for of in limbs)
    spare = max(left - adders, 0)
    width = len(a) + len(b)
    product = [[later(m, cell(m, i, j), spare) for j in limbs[1]] for i in limbs[0]]
    match product:
        case [[only]]:
            return only[:width].as_signed()
        case [[low, high]] | [[low], [high]]:
            return _shifted_sum(m, low, high, width)
        case _:
            (low, cross), (other_cross, high) = product
            wait = min(left - 1, 1)
            middle = later(m, cross + other_cross, wait)
            # 0 <= low < 2^34, so low and high stand side by side without an adder.
            outer = later(m, Cat(low[: 2 * LIMB], high)[:width].as_signed(), wait)
            return _shifted_sum(m, outer, middle, width)


def _shifted_sum(m: Module, low: Value, high: Value, width: int) -> Value:
    """``low + high · 2^LIMB`` in ``width`` bits, registered; the low bits need no adder."""
    upper = low[LIMB:].as_signed() + high
    return later(m, Cat(low[:LIMB], upper)[:width].as_signed())


def _limbs(value: Value) -> list[list[Value]]:
    """The 18-bit signed operands that make up ``value``, lowest first, each a list of bits.

    The lower limb holds 17 bits and is positive; the upper one is sign-extended.
    """
    bits = list(value)
    if len(bits) <= DSP_WIDTH:
        return [bits + bits[-1:] * (DSP_WIDTH - len(bits))]
    upper = bits[LIMB:]
    return [[*bits[:LIMB], Const(0)], upper + upper[-1:] * (DSP_WIDTH - len(upper))]


# --- multipliers in logic ---------------------------------------------------------------------


def _logic_product(m: Module, form: MultiplierCell, a: Value, b: Value, latency: int) -> Value:
    """A binary tree of registered adders over groups of rows, p = Σₖ a bₖ 2^k.

    The narrower operand is in at most 2^(latency - 1) groups, of at least two bits where
    it can be. A stage that the tree does not need registers the operands instead.
    """
    if len(b) > len(a):
        a, b = b, a
    levels = min(latency - 1, depth(len(b)))
    spare = latency - 1 - levels
    a, b = later(m, a, spare), later(m, b, spare)

    bits = list(b)
    groups = min(2**levels, (len(bits) + 1) // 2)
    # (offset, a · bits[offset:...]), lowest first; larger groups at the top
    terms = []
    start = 0
    for g in range(groups):
        stop = start + (len(bits) - start) // (groups - g)
        terms.append((start, later(m, _rows(m, form, a, bits[start:stop], stop == len(bits)))))
        start = stop

    for _ in range(levels):
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [(pair[0][0], _merge(m, form, pair)) for pair in pairs]
    ((_, p),) = terms
    return p


def _merge(m: Module, form: MultiplierCell, pair: Sequence[tuple[int, Value]]) -> Value:
    """Registered sum of two neighbouring terms; a term without a neighbour waits a cycle."""
    if len(pair) == 1:
        return later(m, pair[0][1])
    (low_offset, low), (high_offset, high) = pair
    shift = high_offset - low_offset
    # low is a · (shift bits, unsigned), so what it has above them is no wider than a; and the sum
    # of both needs no more bits than high, being a · (more bits) too
    return later(m, Cat(low[:shift], form.merge(m, low[shift:], high)).as_signed())


def _rows(m: Module, form: MultiplierCell, a: Value, bits: Sequence[Value], top: bool) -> Value:
    """``a`` times the number ``bits``, two's complement where ``top``, else unsigned.

    Not registered. One carry chain for two bits, one more for each further bit.
    """
    if len(bits) == 1:
        return Cat(bit & bits[0] for bit in a).as_signed()
    total = form.first_rows(m, a, bits[0], bits[1], top and len(bits) == 2)
    for k in range(2, len(bits)):
        last = top and k == len(bits) - 1
        upper = form.add_row(m, total[k:], a, bits[k], last)
        total = Cat(total[:k], upper).as_signed()
    return total


# --- ECP5 --------------------------------------------------------------------------------------


def _mult18x18d(m: Module, a: Sequence[Value], b: Sequence[Value]) -> Value:
    """Signed product of 36 bits, 3 cycles: the cell's input, pipeline and output registers."""
    p = Signal(signed(2 * DSP_WIDTH))
    ports: dict[str, object] = {
        "p_REG_INPUTA_CLK": "CLK0",
        "p_REG_INPUTB_CLK": "CLK0",
        "p_REG_PIPELINE_CLK": "CLK0",
        "p_REG_OUTPUT_CLK": "CLK0",
        "i_CLK0": ClockSignal(),
        "i_CE0": Const(1),
        "i_RST0": Const(0),
        "i_SIGNEDA": Const(1),
        "i_SIGNEDB": Const(1),
        "i_SOURCEA": Const(0),
        "i_SOURCEB": Const(0),
    }
    for n in range(DSP_WIDTH):
        ports |= {f"i_A{n}": a[n], f"i_B{n}": b[n], f"i_C{n}": Const(0)}
    for n in range(2 * DSP_WIDTH):
        ports[f"o_P{n}"] = p[n]
    m.submodules += Instance("MULT18X18D", **ports)
    return p


# --- Nexus -------------------------------------------------------------------------------------


def _mult18x18_nexus(m: Module, a: Sequence[Value], b: Sequence[Value]) -> Value:
    """Signed product of 36 bits, 3 cycles: operands registered in the fabric, since the cell has no
    pipeline register, then by its input and output registers."""
    p = Signal(signed(2 * DSP_WIDTH))
    off, on = Const(0, 1), Const(1, 1)
    m.submodules += Instance(
        "MULT18X18",
        p_REGINPUTA="REGISTER",
        p_REGINPUTB="REGISTER",
        p_REGOUTPUT="REGISTER",
        p_GSR="DISABLED",
        p_RESETMODE="SYNC",
        i_CLK=ClockSignal(),
        **{f"i_{name}": on for name in ("CEA", "CEB", "CEOUT", "SIGNEDA", "SIGNEDB")},
        **{f"i_{name}": off for name in ("RSTA", "RSTB", "RSTOUT")},
        i_A=later(m, Cat(a)),
        i_B=later(m, Cat(b)),
        o_Z=p,
    )
    return p


# --- other families ----------------------------------------------------------------------------


def _mult18x18_gowin(m: Module, a: Sequence[Value], b: Sequence[Value]) -> Value:
    """Signed product of 36 bits, 3 cycles: the cell's input, pipeline and output registers."""
    p = Signal(signed(2 * DSP_WIDTH))
    off, on = Const(0, 1), Const(1, 1)
    m.submodules += Instance(
        "MULT18X18",
        **{f"p_{name}": on for name in ("AREG", "BREG", "PIPE_REG", "OUT_REG")},
        **{f"p_{name}": off for name in ("ASIGN_REG", "BSIGN_REG", "SOA_REG")},
        p_MULT_RESET_MODE="SYNC",
        i_CLK=ClockSignal(),
        i_CE=on,
        i_RESET=off,
        i_ASIGN=on,
        i_BSIGN=on,
        i_ASEL=off,
        i_BSEL=off,
        i_A=Cat(a),
        i_B=Cat(b),
        i_SIA=Const(0, DSP_WIDTH),
        i_SIB=Const(0, DSP_WIDTH),
        o_DOUT=p,
    )
    return p


def _merge_sum(m: Module, low: Value, high: Value) -> Value:
    return (low.as_signed() + high.as_signed())[: len(high)].as_signed()


def _first_rows_sum(m: Module, a: Value, b0: Value, b1: Value, subtract: bool) -> Value:
    # bit 0 has nothing to add
    low, high = Mux(b0, a[1:].as_signed(), 0), Mux(b1, a, 0)
    total = low - high if subtract else low + high
    return Cat(a[0] & b0, total[: len(a) + 1]).as_signed()


def _add_row_sum(m: Module, total: Value, a: Value, b: Value, subtract: bool) -> Value:
    row, before = Mux(b, a, 0), total.as_signed()
    return (before - row if subtract else before + row)[: len(a) + 1].as_signed()


# --- families ----------------------------------------------------------------------------------


SUMS = (_merge_sum, _first_rows_sum, _add_row_sum)
FORMS = {
    "ecp5": MultiplierCell(partial(_of_18, _mult18x18d), merge_ecp5, first_rows_ecp5, add_row_ecp5),
    "gowin": MultiplierCell(partial(_of_18, _mult18x18_gowin), *SUMS),
    "nexus": MultiplierCell(partial(_of_18, _mult18x18_nexus), *SUMS),
    "xcup": MultiplierCell(DSP48E2.product, *SUMS, DSP48E2.multiply_add),
    "xc7": MultiplierCell(DSP48E1.product, *SUMS),
}
