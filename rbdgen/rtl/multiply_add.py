"""A product and the sum behind it in one unit, p = a b ± c; and the texts of all units of products.

Like a multiplier it is a description: a region instantiates it by its module name, and each
distinct one is emitted once, as portable Verilog and as the same module of a family's cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Value

from ..design.target import Style
from ..schedule.fused_sums import FusedSum
from .arithmetic import aligned
from .multiplier import DSP48_LATENCY, Multiplier

_PRODUCT = re.compile(r"\w+_mul_(\d+)x(\d+)_l(\d+)(?:_r(\d+)x(\d+)|(_logic))?")
_SUM = re.compile(r"\w+_mac_(\d+)x(\d+)_(\d+)(_minus)?(?:_h(\d+))?(_late)?")


@dataclass(frozen=True, order=True)
class MultiplyAdd:
    """``p = a · b + c``, four cycles after a and b; new operands may enter in every cycle.

    It is for a DSP48E2, whose registers it has. ``p`` has ``width`` bits, in which nothing
    overflows.

    Args:
        a_width, b_width, c_width: bits of the signed operands.
        minus: c is subtracted.
        half: the bit at which a one is added, too; -1: none is.
        late: c comes three cycles after a and b; else two, and the cell has a register for it.
    """

    a_width: int
    b_width: int
    c_width: int
    minus: bool = False
    half: int = -1
    late: bool = False

    @property
    def name(self) -> str:
        """The module's name, the same for every form of it."""
        ends = "_minus" * self.minus + f"_h{self.half}" * (self.half >= 0) + "_late" * self.late
        return f"rbdgen_mac_{self.a_width}x{self.b_width}_{self.c_width}{ends}"

    @property
    def width(self) -> int:
        """Bits of the sum."""
        return max(self.a_width + self.b_width, self.c_width) + 1

    @property
    def one(self) -> int:
        """The constant that is added besides c."""
        return 1 << self.half if self.half >= 0 else 0

    @property
    def latency(self) -> int:
        """Cycles from a and b to the sum."""
        return DSP48_LATENCY

    @property
    def style(self) -> Style:
        """``dsp``, since the unit is a hardware multiplier."""
        return "dsp"

    @property
    def rows(self) -> tuple[int, int]:
        """None, as of a `Multiplier` whose adder is free."""
        return 0, 0

    @property
    def hardware_multipliers(self) -> int:
        """One DSP48E2."""
        return 1

    def instance(self, *, a: Value, b: Value, c: Value, p: Value) -> Instance:
        """One unit in the ``sync`` domain of an Amaranth module."""
        widths = self.a_width, self.b_width, self.c_width, self.width
        for value, width in zip((a, b, c, p), widths, strict=True):
            if len(value) != width:
                raise ValueError(f"{self.name}: {len(value)} bits in place of {width}")
        return Instance(self.name, i_clk=ClockSignal(), i_a=a, i_b=b, i_c=c, o_p=p)

    def behavioural(self) -> str:
        """The module in portable Verilog."""
        a, b, c, p = self.a_width - 1, self.b_width - 1, self.c_width - 1, self.width - 1
        total = f"product {'-' if self.minus else '+'} {'c' if self.late else 'c1'}"
        total += f" + {self.width}'sd{self.one}" if self.one else ""
        return "\n".join(
            [
                f"// {total}, exact: {self.latency} cycles, one in every cycle.",
                f"module {self.name} (",
                "    input  wire clk,",
                f"    input  wire signed [{a}:0] a,",
                f"    input  wire signed [{b}:0] b,",
                f"    input  wire signed [{c}:0] c,",
                f"    output wire signed [{p}:0] p",
                ");",
                f"    reg signed [{a}:0] a1, a2;",
                f"    reg signed [{b}:0] b1, b2;",
                f"    reg signed [{self.a_width + self.b_width - 1}:0] product;",
                f"    reg signed [{p}:0] total;",
                *([] if self.late else [f"    reg signed [{c}:0] c1;"]),
                "    always @(posedge clk) begin",
                "        a1 <= a;",
                "        b1 <= b;",
                "        a2 <= a1;",
                "        b2 <= b1;",
                "        product <= a2 * b2;",
                *([] if self.late else ["        c1 <= c;"]),
                f"        total <= {total};",
                "    end",
                "    assign p = total;",
                "endmodule",
                "",
            ]
        )


ProductUnit = Multiplier | MultiplyAdd


def multiply_add(
    own: FusedSum, a_width: int, b_width: int, c: Value, late: bool
) -> tuple[MultiplyAdd, Value]:
    """The unit of a sum whose addend is ``c``, and what it takes as c."""
    kept = c[min(own.cut, len(c) - 1) :].as_signed()
    half = -1 if own.half is None else own.half
    if 0 <= half < own.left:  # where c has zeros
        below = [Const(0, half), Const(1, 1), Const(0, own.left - half - 1)]
        placed, half = Cat(*below, kept).as_signed(), -1
    else:
        placed = aligned(kept, own.left)
    return MultiplyAdd(a_width, b_width, len(placed), own.minus, half, late), placed


def distinct(units: Iterable[ProductUnit]) -> list[ProductUnit]:
    """The different ones among ``units``, products before sums."""
    return sorted(set(units), key=lambda unit: (isinstance(unit, MultiplyAdd), unit))


def behaviours(units: Iterable[ProductUnit]) -> str:
    """The modules of all distinct units, sorted, as one text of Verilog."""
    return "\n".join(unit.behavioural() for unit in distinct(units))


def named(name: str) -> ProductUnit | None:
    """The unit of a module's name, in whatever design; None: it is another module's."""
    if found := _SUM.fullmatch(name):
        half = int(found[5]) if found[5] else -1
        widths = int(found[1]), int(found[2]), int(found[3])
        return MultiplyAdd(*widths, bool(found[4]), half, bool(found[6]))
    found = _PRODUCT.fullmatch(name)
    if found is None:
        return None
    style: Style = "logic" if found[6] else "dsp"
    rows = int(found[4] or 0), int(found[5] or 0)
    return Multiplier(int(found[1]), int(found[2]), int(found[3]), style, rows)
