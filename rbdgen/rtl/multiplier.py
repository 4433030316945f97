"""The multiplier unit: signed × signed, exact, pipelined, one product every cycle.

A :class:`Multiplier` is a description, not a piece of a design: a datapath *instantiates* it by its
module name (:meth:`Multiplier.instance`), and each distinct multiplier is then emitted once, as

* :meth:`Multiplier.behavioural`, portable Verilog, the specification: simulation, Xilinx, others;
* :meth:`Multiplier.ecp5`, the same module for the ECP5, tied to the first by a test. Style ``dsp``
  is made of MULT18X18D with all their registers on (they are not inferred), style ``logic`` of
  carry chains, for the products that find no multiplier left in the part.

All forms of one name have the same ports, the same latency and no reset; the first ``latency``
products after power-up are not defined.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from amaranth.back import rtlil, verilog
from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    Const,
    Elaboratable,
    Instance,
    Module,
    Signal,
    Value,
    signed,
)

from ..design.target import Style
from .arithmetic import later

DSP_WIDTH = 18  # one operand of MULT18X18D, signed
DSP_LATENCY = 3  # its input, pipeline and output registers
LIMB = DSP_WIDTH - 1  # bits of the unsigned lower part of an operand that is split
MAX_WIDTH = DSP_WIDTH + LIMB


@dataclass(frozen=True, order=True)
class Multiplier:
    """``p = a · b``, ``latency`` cycles after the operands; a new pair may enter in every cycle.

    Args:
        a_width, b_width: bits of the signed operands, 2 to 35; ``p`` has ``a_width + b_width``.
        latency: cycles, at least :func:`minimum_latency` of the widths and style.
        style: ``dsp`` (hardware multipliers) or ``logic`` (carry chains).
    """

    a_width: int
    b_width: int
    latency: int
    style: Style = "dsp"

    def __post_init__(self) -> None:
        for width in (self.a_width, self.b_width):
            if not 2 <= width <= MAX_WIDTH:
                raise ValueError(f"multiplier operand of {width} bits: 2 to {MAX_WIDTH} possible")
        least = minimum_latency(self.a_width, self.b_width, self.style)
        if self.latency < least:
            raise ValueError(
                f"{self.a_width}x{self.b_width} {self.style} multiplier of latency "
                f"{self.latency}: at least {least} needed"
            )

    @property
    def name(self) -> str:
        """The module's name, the same for every form of this multiplier."""
        suffix = "_logic" if self.style == "logic" else ""
        return f"rbdgen_mul_{self.a_width}x{self.b_width}_l{self.latency}{suffix}"

    @property
    def hardware_multipliers(self) -> int:
        """MULT18X18D it takes on an ECP5."""
        if self.style == "logic":
            return 0
        return (1 + (self.a_width > DSP_WIDTH)) * (1 + (self.b_width > DSP_WIDTH))

    def instance(self, *, a: Value, b: Value, p: Value) -> Instance:
        """One multiplier in the ``sync`` domain of an Amaranth module: ``m.submodules += ...``."""
        for port, value, width in (("a", a, self.a_width), ("b", b, self.b_width)):
            if len(value) != width:
                raise ValueError(f"{self.name}.{port} has {width} bits, not {len(value)}")
        if len(p) != self.a_width + self.b_width:
            raise ValueError(f"{self.name}.p has {self.a_width + self.b_width} bits, not {len(p)}")
        return Instance(self.name, i_clk=ClockSignal(), i_a=a, i_b=b, o_p=p)

    def behavioural(self) -> str:
        """The module in portable Verilog."""
        a, b, p = self.a_width, self.b_width, self.a_width + self.b_width
        stages = [f"p{i}" for i in range(2, self.latency + 1)]
        moves = [f"        {to} <= {of};" for of, to in itertools.pairwise(stages)]
        return "\n".join(
            [
                f"// {a} x {b} bits, signed, exact: {self.latency} cycles, one product per cycle.",
                f"module {self.name} (",
                "    input  wire clk,",
                f"    input  wire signed [{a - 1}:0] a,",
                f"    input  wire signed [{b - 1}:0] b,",
                f"    output wire signed [{p - 1}:0] p",
                ");",
                f"    reg signed [{a - 1}:0] a1;",
                f"    reg signed [{b - 1}:0] b1;",
                f"    reg signed [{p - 1}:0] {', '.join(stages)};",
                "    always @(posedge clk) begin",
                "        a1 <= a;",
                "        b1 <= b;",
                "        p2 <= a1 * b1;",
                *moves,
                "    end",
                f"    assign p = {stages[-1]};",
                "endmodule",
                "",
            ]
        )

    def ecp5(self, language: Literal["rtlil", "verilog"] = "rtlil") -> str:
        """The module of ECP5 cells. Yosys is to be given the RTLIL."""
        form = _Ecp5(self)
        ports = [form.clk, form.a, form.b, form.p]
        convert = rtlil.convert if language == "rtlil" else verilog.convert
        return convert(form, name=self.name, ports=ports, emit_src=False)


def emit_multipliers(
    units: Iterable[Multiplier], form: Literal["behavioural", "ecp5-rtlil", "ecp5-verilog"]
) -> str:
    """The modules of all distinct multipliers among ``units``, sorted, as one text."""
    texts = {
        "behavioural": lambda unit: unit.behavioural(),
        "ecp5-rtlil": lambda unit: unit.ecp5("rtlil"),
        "ecp5-verilog": lambda unit: unit.ecp5("verilog"),
    }
    return "\n".join(texts[form](unit) for unit in sorted(set(units)))


def minimum_latency(a_width: int, b_width: int, style: Style = "dsp") -> int:
    """The least latency a multiplier of these widths can be built with.

    ``dsp``: 3 up to 18 × 18, 4 with one wider operand, 5 with both.
    ``logic``: 2. Below :func:`relaxed_latency` its first stage is more than one carry chain deep.
    """
    if style == "logic":
        return 2
    wide = (a_width > DSP_WIDTH) + (b_width > DSP_WIDTH)
    return DSP_LATENCY + wide


def relaxed_latency(a_width: int, b_width: int, style: Style = "dsp") -> int:
    """The latency from which no path is longer than one adder between registers.

    ``dsp``: its least, and one more for a fabric register between multiplier and what follows.
    ``logic``: one stage for pairs of rows, then a binary tree: 4 to 16 bits, 5 to 32, in the
    narrower operand; never less than 2.
    """
    if style == "logic":
        return max(2, 1 + _depth(min(a_width, b_width)))
    return minimum_latency(a_width, b_width) + 1


def _depth(width: int) -> int:
    """Levels of the binary tree that adds ``width`` rows taken in pairs."""
    return ((width + 1) // 2 - 1).bit_length()


class _Ecp5(Elaboratable):
    """One multiplier built of ECP5 cells, as a module with ports clk, a, b, p."""

    def __init__(self, unit: Multiplier) -> None:
        self.unit = unit
        self.domain = ClockDomain("sync", reset_less=True)
        self.clk = self.domain.clk
        self.a = Signal(signed(unit.a_width))
        self.b = Signal(signed(unit.b_width))
        self.p = Signal(signed(unit.a_width + unit.b_width))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains += self.domain
        build = _logic_product if self.unit.style == "logic" else _dsp_product
        m.d.comb += self.p.eq(build(m, self.a, self.b, self.unit.latency))
        return m


# --- hardware multipliers --------------------------------------------------------------------


def _dsp_product(m: Module, a: Value, b: Value, latency: int) -> Value:
    """Schoolbook over limbs of 17 bits: p = Σ aᵢ bⱼ 2^(17 (i + j)).

    Registers beyond the least latency stand behind the multipliers, before any adder.
    """
    spare = latency - minimum_latency(len(a), len(b))
    width = len(a) + len(b)
    product = [[later(m, _mult18x18d(m, i, j), spare) for j in _limbs(b)] for i in _limbs(a)]
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


# --- carry chains ----------------------------------------------------------------------------


def _logic_product(m: Module, a: Value, b: Value, latency: int) -> Value:
    """A binary tree of registered adders over groups of rows, p = Σₖ a bₖ 2^k.

    The narrower operand is in at most 2^(latency - 1) groups, of at least two bits where
    it can be. A stage that the tree does not need registers the operands instead.
    """
    if len(b) > len(a):
        a, b = b, a
    levels = min(latency - 1, _depth(len(b)))
    spare = latency - 1 - levels
    a, b = later(m, a, spare), later(m, b, spare)

    bits = list(b)
    groups = min(2**levels, (len(bits) + 1) // 2)
    # (offset, a · bits[offset:...]), lowest first; larger groups at the top
    terms = []
    start = 0
    for g in range(groups):
        stop = start + (len(bits) - start) // (groups - g)
        terms.append((start, later(m, _rows(m, a, bits[start:stop], stop == len(bits)))))
        start = stop

    for _ in range(levels):
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [(pair[0][0], _merge(m, pair)) for pair in pairs]
    ((_, p),) = terms
    return p


def _merge(m: Module, pair: Sequence[tuple[int, Value]]) -> Value:
    """Registered sum of two neighbouring terms; a term without a neighbour waits a cycle."""
    if len(pair) == 1:
        return later(m, pair[0][1])
    (low_offset, low), (high_offset, high) = pair
    shift = high_offset - low_offset
    # low is a · (shift bits, unsigned), so what it has above them is no wider than a; and the sum
    # of both needs no more bits than high, being a · (more bits) too
    half = _half(lambda x, y, *_: x ^ y, lambda x, _: x)
    bits = [(half, (_bit(low[shift:], n), high[n], ZERO, ONE)) for n in range(len(high))]
    return later(m, Cat(low[:shift], _carry_chain(m, bits)).as_signed())


def _rows(m: Module, a: Value, bits: Sequence[Value], top: bool) -> Value:
    """``a`` times the number ``bits``, two's complement where ``top``, else unsigned.

    Not registered. One carry chain for two bits, one more for each further bit.
    """
    if len(bits) == 1:
        return Cat(bit & bits[0] for bit in a).as_signed()
    total = _first_rows(m, a, bits[0], bits[1], subtract=top and len(bits) == 2)
    for k in range(2, len(bits)):
        last = top and k == len(bits) - 1
        upper = _add_row(m, total[k:], a, bits[k], subtract=last)
        total = Cat(total[:k], upper).as_signed()
    return total


def _first_rows(m: Module, a: Value, b0: Value, b1: Value, subtract: bool) -> Value:
    """``a b0 ± 2 a b1``, two bits wider than ``a``: both rows are made inside the chain's LUTs.

    Bit 0 has nothing to add.
    """
    sign = int(subtract)
    half = _half(lambda y, b1, x, b0: x & b0 ^ y & b1 ^ sign, lambda y, b1: y & b1 ^ sign)
    bits = [(half, (_bit(a, n), b1, _bit(a, n + 1), b0)) for n in range(len(a) + 1)]
    return Cat(a[0] & b0, _carry_chain(m, bits, carry=subtract)).as_signed()


def _add_row(m: Module, total: Value, a: Value, b: Value, subtract: bool) -> Value:
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
