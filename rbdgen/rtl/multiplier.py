"""The multiplier unit: signed × signed, exact, pipelined, one product every cycle.

A :class:`Multiplier` is a description, not a piece of a design: a datapath *instantiates* it by its
module name (:meth:`Multiplier.instance`), and each distinct multiplier is then emitted once, as

* :meth:`Multiplier.behavioural`, portable Verilog, the specification: simulation, Xilinx, others;
* :func:`rbdgen.rtl.multiplier_cells.of_cells`, the same module for a family, tied to the first by
  a test. Style ``dsp`` is made of the family's hardware multipliers with their registers on, style
  ``logic`` of carry chains, for the products that find no multiplier left in the part.

All forms of one name have the same ports, the same latency and no reset; the first ``latency``
products after power-up are not defined.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from amaranth.hdl import ClockSignal, Instance, Value

from ..design.target import Style

DSP_WIDTH = 18  # one operand of MULT18X18D, signed
DSP_LATENCY = 3  # its input, pipeline and output registers
LIMB = DSP_WIDTH - 1  # bits of the unsigned lower part of an operand that is split
MAX_WIDTH = DSP_WIDTH + LIMB
_NAME = re.compile(r"\w+_mul_(\d+)x(\d+)_l(\d+)(_logic)?")


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
        """Hardware multipliers of 18 x 18 bits that it takes."""
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


def behaviours(units: Iterable[Multiplier]) -> str:
    """The modules of all distinct multipliers among ``units``, sorted, as one text of Verilog."""
    return "\n".join(unit.behavioural() for unit in sorted(set(units)))


def named(name: str) -> Multiplier | None:
    """The multiplier of a module's name, in whatever design; None: it is another module's."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    style: Style = "logic" if found[4] else "dsp"
    return Multiplier(int(found[1]), int(found[2]), int(found[3]), style)


def minimum_latency(a_width: int, b_width: int, style: Style = "dsp") -> int:
    """The least latency a multiplier of these widths can be built with.

    ``dsp``: 3 up to 18 × 18, 4 with one wider operand, 5 with both.
    ``logic``: 2. Below 1 + :func:`depth` its first stage is more than one carry chain deep.
    """
    if style == "logic":
        return 2
    wide = (a_width > DSP_WIDTH) + (b_width > DSP_WIDTH)
    return DSP_LATENCY + wide


def depth(width: int) -> int:
    """Levels of the binary tree that adds ``width`` rows, the narrower operand's, in pairs."""
    return ((width + 1) // 2 - 1).bit_length()
