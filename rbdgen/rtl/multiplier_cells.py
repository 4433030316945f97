"""The multiplier unit made of a family's cells, as RTLIL for Yosys.

Hardware multipliers are instantiated with their registers on, since Yosys infers them without.
Multipliers in logic are carry chains: cells of the ECP5 there, whose look-up tables take the rows
in, and sums elsewhere, which Yosys makes chains of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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
from .multiplier import DSP_WIDTH, LIMB, Multiplier, depth, minimum_latency


def of_cells(unit: Multiplier, family: str) -> str:
    """The module of a multiplier, of cells of a family of `FORMS`."""
    form = _OfCells(unit, FORMS[family])
    ports = [form.clk, form.a, form.b, form.p]
    return rtlil.convert(form, name=unit.name, ports=ports, emit_src=False)


def emit_cells(units: Iterable[Multiplier], family: str) -> str:
    """The modules of all distinct multipliers among ``units``, sorted, as one text."""
    return "\n".join(of_cells(unit, family) for unit in sorted(set(units)))


@dataclass(frozen=True)
class MultiplierCell:
    """The multiplier primitives of a family.

    ``product``: of two operands of 18 bits, registered three times.
    ``merge``: the sum of two signed words, as wide as the second.
    ``first_rows``: a b0 ± 2 a b1, two bits wider than a.
    ``add_row``: total ± a b of a total no wider than a, one bit wider than a.
    """

    product: Callable[[Module, Sequence[Value], Sequence[Value]], Value]
    merge: Callable[[Module, Value, Value], Value]
    first_rows: Callable[[Module, Value, Value, Value, bool], Value]
    add_row: Callable[[Module, Value, Value, Value, bool], Value]


class _OfCells(Elaboratable):
    """One multiplier built of cells, as a module with ports clk, a, b, p."""

    def __init__(self, unit: Multiplier, form: MultiplierCell) -> None:
        self.unit, self.form = unit, form
        self.domain = ClockDomain("sync", reset_less=True)
        self.clk = self.domain.clk
        self.a = Signal(signed(unit.a_width))
        self.b = Signal(signed(unit.b_width))
        self.p = Signal(signed(unit.a_width + unit.b_width))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains += self.domain
        build = _logic_product if self.unit.style == "logic" else _dsp_product
        m.d.comb += self.p.eq(build(m, self.form, self.a, self.b, self.unit.latency))
        return m


# --- hardware multipliers --------------------------------------------------------------------


def _dsp_product(m: Module, form: MultiplierCell, a: Value, b: Value, latency: int) -> Value:
    """Schoolbook over limbs of 17 bits: p = Σ aᵢ bⱼ 2^(17 (i + j)).

    Registers beyond the least latency stand behind the multipliers, before any adder.
    """
    spare = latency - minimum_latency(len(a), len(b))
    width = len(a) + len(b)
    product = [[later(m, form.product(m, i, j), spare) for j in _limbs(b)] for i in _limbs(a)]
    match product:
        case [[only]]:
            return only[:width].as_signed()
        case [[low, high]] | [[low], [high]]:
            return _shifted_sum(m, low, high, width)
        case _:
            (low, cross), (other_cross, high) = product
            middle = later(m, cross + other_cross)
            # 0 <= low < 2^34, so low and high stand side by side without an adder.
            outer = later(m, Cat(low[: 2 * LIMB], high)[:width].as_signed())
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


def _merge_ecp5(m: Module, low: Value, high: Value) -> Value:
    half = _half(lambda x, y, *_: x ^ y, lambda x, _: x)
    return _carry_chain(m, [(half, (_bit(low, n), high[n], ZERO, ONE)) for n in range(len(high))])


def _first_rows_ecp5(m: Module, a: Value, b0: Value, b1: Value, subtract: bool) -> Value:
    """``a b0 ± 2 a b1``, two bits wider than ``a``: both rows are made inside the chain's LUTs.

    Bit 0 has nothing to add.
    """
    sign = int(subtract)
    half = _half(lambda y, b1, x, b0: x & b0 ^ y & b1 ^ sign, lambda y, b1: y & b1 ^ sign)
    bits = [(half, (_bit(a, n), b1, _bit(a, n + 1), b0)) for n in range(len(a) + 1)]
    return Cat(a[0] & b0, _carry_chain(m, bits, carry=subtract)).as_signed()


def _add_row_ecp5(m: Module, total: Value, a: Value, b: Value, subtract: bool) -> Value:
    """``total ± a b`` for ``total`` no wider than ``a``, one bit wider than ``a``."""
    sign = int(subtract)
    half = _half(lambda t, x, b, _: t ^ x & b ^ sign, lambda t, _: t)
    bits = [(half, (_bit(total, n), _bit(a, n), b, ONE)) for n in range(len(a) + 1)]
    return _carry_chain(m, bits, carry=subtract)


def _bit(value: Value, n: int) -> Value:
    """Bit ``n`` of a signed value, its sign beyond the end."""
    return value[min(n, len(value) - 1)]


ZERO, ONE = Const(0, 1), Const(1, 1)
Half = tuple[int, tuple[Value, Value, Value, Value]]  # INIT and the inputs A, B, C, D


def _half(propagate: Callable[..., int], generate: Callable[[int, int], int]) -> int:
    """INIT of half a CCU2C: with P = propagate(A, B, C, D), its sum is P ^ carry and its carry out
    is P ? carry : generate(A, B).

    The cell reads ``generate`` from the entries for C = D = 0, so it must agree with ``propagate``
    there; or else D is tied to 1, and ``propagate`` counts for D = 1 alone.
    """
    table = [propagate(i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3) for i in range(16)]
    table[:4] = [generate(i & 1, i >> 1) for i in range(4)]
    return sum(bit << i for i, bit in enumerate(table))


def _carry_chain(m: Module, halves: Sequence[Half], carry: bool = False) -> Value:
    """The sum bits of a chain of CCU2C, signed, with the carry into bit 0 given.

    The chain starts with half a cell that makes this carry, with CIN left open and no COUT at the
    end: nextpnr spends a whole CCU2C on a constant CIN, and another on a COUT that nothing reads.
    """
    start: Half = (_half(lambda *_: 0, lambda *_: int(carry)), (ZERO, ZERO, ZERO, ONE))
    idle: Half = (0, (ZERO, ZERO, ZERO, ZERO))
    chain = [start, *halves] + [idle] * (1 - len(halves) % 2)
    total = Signal(signed(len(chain)))
    link = None
    for n in range(0, len(chain), 2):
        cell: dict[str, object] = {"p_INJECT1_0": "NO", "p_INJECT1_1": "NO"}
        for k, (init, inputs) in enumerate(chain[n : n + 2]):
            cell[f"p_INIT{k}"] = Const(init, 16)
            cell |= {f"i_{pin}{k}": value for pin, value in zip("ABCD", inputs, strict=True)}
            cell[f"o_S{k}"] = total[n + k]
        if link is not None:
            cell["i_CIN"] = link
        if n + 2 < len(chain):
            link = cell["o_COUT"] = Signal()
        m.submodules += Instance("CCU2C", **cell)
    return total[1 : 1 + len(halves)].as_signed()


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


SUMS = (_merge_sum, _first_rows_sum, _add_row_sum)
FORMS = {
    "ecp5": MultiplierCell(_mult18x18d, _merge_ecp5, _first_rows_ecp5, _add_row_ecp5),
    "gowin": MultiplierCell(_mult18x18_gowin, *SUMS),
    "nexus": MultiplierCell(_mult18x18_nexus, *SUMS),
}
