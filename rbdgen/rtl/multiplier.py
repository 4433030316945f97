"""The multiplier unit: signed × signed, exact, pipelined, one product every cycle.

A :class:`Multiplier` is a description, not a piece of a design: a datapath *instantiates* it by its
module name (:meth:`Multiplier.instance`), and each distinct multiplier is then emitted once, as

* :meth:`Multiplier.behavioural`, portable Verilog, the specification: simulation, Xilinx, others;
* :func:`rbdgen.rtl.multiplier_cells.of_cells`, the same module for a family, tied to the first by
  a test. Style ``dsp`` is made of the family's hardware multipliers with their registers on, style
  ``logic`` of carry chains, for the products that find no multiplier left in the part.

All forms of one name have the same ports, the same latency and no reset; the first ``latency``
products after power-up are not defined. Rows of products as carry chains of an ECP5 stand at the
end.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, Value, signed

from ..design.target import Style

DSP_WIDTH = 18  # one operand of MULT18X18D, signed
DSP_LATENCY = 3  # its input, pipeline and output registers
LIMB = DSP_WIDTH - 1  # bits of the unsigned lower part of an operand that is split
MAX_WIDTH = DSP_WIDTH + LIMB
DSP48_LATENCY = 4  # two input registers, the pipeline and the output register of AMD's


@dataclass(frozen=True, order=True)
class Multiplier:
    """``p = a · b``, ``latency`` cycles after the operands; a new pair may enter in every cycle.

    Args:
        a_width, b_width: bits of the signed operands, 2 to 35; ``p`` has ``a_width + b_width``.
        latency: cycles, at least :func:`minimum_latency` of the widths and style.
        style: ``dsp`` (hardware multipliers) or ``logic`` (carry chains).
        rows: so many of the lowest bits of a and of b are multiplied by LUTs, and the adder of a
            DSP48, which has no inputs for them, takes the products in; see `digits_of`.
    """

    a_width: int
    b_width: int
    latency: int
    style: Style = "dsp"
    rows: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        for width in (self.a_width, self.b_width):
            if not 2 <= width <= MAX_WIDTH:
                raise ValueError(f"multiplier operand of {width} bits: 2 to {MAX_WIDTH} possible")
        least = minimum_latency(self.a_width, self.b_width, self.style)
        least = max(least, DSP48_LATENCY) if any(self.rows) else least
        if self.latency < least:
            raise ValueError(
                f"{self.a_width}x{self.b_width} {self.style} multiplier of latency "
                f"{self.latency}: at least {least} needed"
            )

    @property
    def name(self) -> str:
        """The module's name, the same for every form of this multiplier."""
        suffix = "_r{}x{}".format(*self.rows) if any(self.rows) else ""
        suffix = "_logic" if self.style == "logic" else suffix
        return f"rbdgen_mul_{self.a_width}x{self.b_width}_l{self.latency}{suffix}"

    @property
    def hardware_multipliers(self) -> int:
        """Hardware multipliers that it takes: of 18 x 18 bits, or, with ``rows``, one DSP48."""
        if self.style == "logic":
            return 0
        if any(self.rows):
            return 1
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
        """The module in portable Verilog, its registers where a DSP48 has them."""
        a, b, p = self.a_width, self.b_width, self.a_width + self.b_width
        first = 1 + (self.style == "dsp" and self.latency >= DSP48_LATENCY)  # registers in front
        stages = [f"p{i}" for i in range(first + 1, self.latency + 1)]
        moves = [f"{to} <= {of};" for of, to in itertools.pairwise(stages)]
        cut, rows = dict(zip("ab", self.rows, strict=True)), sum(self.rows)
        declared, does, result = list[str](), list[str](), stages[-1]
        if rows:
            declared, does = _rows(self)
            moves[0] = f"{stages[1]} <= {stages[0]} + carried;"
            result = f"{{{result}[{p - rows - 1}:0], low{self.latency}}}"
        return "\n".join(
            [
                f"// {a} x {b} bits, signed, exact: {self.latency} cycles, one product per cycle.",
                f"module {self.name} (",
                "    input  wire clk,",
                f"    input  wire signed [{a - 1}:0] a,",
                f"    input  wire signed [{b - 1}:0] b,",
                f"    output wire signed [{p - 1}:0] p",
                ");",
                *(
                    f"    reg signed [{width - cut[of] - 1}:0] "
                    f"{', '.join(f'{of}{k + 1}' for k in range(first))};"
                    for of, width in (("a", a), ("b", b))
                ),
                f"    reg signed [{p - rows - 1}:0] {', '.join(stages)};",
                *(f"    {line}" for line in declared),
                "    always @(posedge clk) begin",
                *(
                    f"        {of}1 <= {of}{f'[{width - 1}:{cut[of]}]' if cut[of] else ''};"
                    for of, width in (("a", a), ("b", b))
                ),
                *(f"        {of}2 <= {of}1;" for of in cut if first == 2),
                f"        {stages[0]} <= a{first} * b{first};",
                *(f"        {line}" for line in [*moves, *does]),
                "    end",
                f"    assign p = {result};",
                "endmodule",
                "",
            ]
        )


def digits_of(rows: tuple[int, int]) -> list[tuple[int, int, int]]:
    """The lowest bits of a and of b in pairs, at most three: which operand (0: a), its first bit,
    and how many. Those of a multiply b, those of b what is above the ``rows`` of a."""
    found = [(k, n, min(2, bits - n)) for k, bits in enumerate(rows) for n in range(0, bits, 2)]
    if len(found) > 3:
        raise ValueError(f"{rows[0]} and {rows[1]} bits of two operands are more than three pairs")
    return found


def _rows(unit: Multiplier) -> tuple[list[str], list[str]]:
    """Verilog of the ``rows``: declarations, and assignments at a rising edge of the clock.

    First the triples of the words that digits multiply are registered, then the sum of the first
    two products, then ``low``, the sum of all.
    """
    rows, digits = sum(unit.rows), digits_of(unit.rows)
    sizes = unit.b_width, unit.a_width - unit.rows[0]
    above = f"a[{unit.a_width - 1}:{unit.rows[0]}]" if unit.rows[0] else "a"
    width = rows + max(sizes[k] for k, _, _ in digits)
    declared, does = list[str](), list[str]()
    for k in dict.fromkeys(k for k, _, _ in digits):
        size, whole, bits, name = sizes[k], ("b", above)[k], "ab"[k], "xy"[k]
        declared += [
            f"reg signed [{size - 1}:0] {name}1, {name}2;",
            f"reg signed [{size + 1}:0] {name}1_3, {name}2_3;",
            f"reg [{unit.rows[k] - 1}:0] {bits}1_low, {bits}2_low;",
        ]
        triple = f"$signed({whole}) + ($signed({whole}) <<< 1)"
        does += [f"{name}1 <= {whole};", f"{name}1_3 <= {triple};"]
        does += [f"{bits}1_low <= {bits}[{unit.rows[k] - 1}:0];"]
        does += [
            f"{of}2{end} <= {of}1{end};" for of, end in ((name, ""), (name, "_3"), (bits, "_low"))
        ]

    def product(number: int, cycle: int) -> str:
        k, first, count = digits[number]
        x, bit = f"{'xy'[k]}{cycle}", [f"{'ab'[k]}{cycle}_low[{first + n}]" for n in range(count)]
        if count == 1:
            return f"({bit[0]} ? {x} : {sizes[k]}'sd0)"
        twice = f"{bit[1]} ? ({bit[0]} ? {x}_3 : ({x} <<< 1))"
        return f"({twice} : {bit[0]} ? {x} : {sizes[k] + 2}'sd0)"

    offset = [sum(count for _, _, count in digits[:n]) for n in range(len(digits))]
    more = [f" + ({product(n, 1 + n // 2)} <<< {offset[n]})" for n in range(1, len(digits))]
    lows = [f"low{k}" for k in range(4, unit.latency + 1)]
    declared += [
        f"reg signed [{width - 1}:0] two, low;",
        f"wire signed [{width - rows - 1}:0] carried = low[{width - 1}:{rows}];",
        f"reg [{rows - 1}:0] {', '.join(lows)};",
    ]
    does += [
        f"two <= {product(0, 1)}{''.join(more[:1])};",
        f"low <= two{''.join(more[1:])};",
        f"low4 <= low[{rows - 1}:0];",
        *(f"{to} <= {of};" for of, to in itertools.pairwise(lows)),
    ]
    return declared, does


def minimum_latency(a_width: int, b_width: int, style: Style = "dsp") -> int:
    """The least latency a multiplier of these widths can be built with.

    ``dsp``: 3 up to 18 × 18, 4 with wider operands; with two of them its last stage is two sums
    deep below 5.
    ``logic``: 2. Below 1 + :func:`depth` its first stage is more than one carry chain deep.
    """
    if style == "logic":
        return 2
    return DSP_LATENCY + (max(a_width, b_width) > DSP_WIDTH)


def depth(width: int) -> int:
    """Levels of the binary tree that adds ``width`` rows, the narrower operand's, in pairs."""
    return ((width + 1) // 2 - 1).bit_length()


ZERO, ONE = Const(0, 1), Const(1, 1)
Half = tuple[int, tuple[Value, Value, Value, Value]]  # INIT and the inputs A, B, C, D


def merge_ecp5(m: Module, low: Value, high: Value) -> Value:
    half = _half(lambda x, y, *_: x ^ y, lambda x, _: x)
    return _carry_chain(m, [(half, (_bit(low, n), high[n], ZERO, ONE)) for n in range(len(high))])


def first_rows_ecp5(m: Module, a: Value, b0: Value, b1: Value, subtract: bool) -> Value:
    """``a b0 ± 2 a b1``, two bits wider than ``a``: both rows are made inside the chain's LUTs.

    Bit 0 has nothing to add.
    """
    sign = int(subtract)
    half = _half(lambda y, b1, x, b0: x & b0 ^ y & b1 ^ sign, lambda y, b1: y & b1 ^ sign)
    bits = [(half, (_bit(a, n), b1, _bit(a, n + 1), b0)) for n in range(len(a) + 1)]
    return Cat(a[0] & b0, _carry_chain(m, bits, carry=subtract)).as_signed()


def add_row_ecp5(m: Module, total: Value, a: Value, b: Value, subtract: bool) -> Value:
    """``total ± a b`` for ``total`` no wider than ``a``, one bit wider than ``a``."""
    sign = int(subtract)
    half = _half(lambda t, x, b, _: t ^ x & b ^ sign, lambda t, _: t)
    bits = [(half, (_bit(total, n), _bit(a, n), b, ONE)) for n in range(len(a) + 1)]
    return _carry_chain(m, bits, carry=subtract)


def _bit(value: Value, n: int) -> Value:
    """Bit ``n`` of a signed value, its sign beyond the end."""
    return value[min(n, len(value) - 1)]


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
