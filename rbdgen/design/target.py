"""The parts a design can be made for: their cells and sites, the delays of units, and the ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..system.records import NamedWord

# Family → resource → cell → sites. ``logic`` and ``memory`` are LUTs.
# ECP5: the write port of a LUT-RAM takes two LUTs more than its storage. UltraScale+: LUTs of a
# CLB, those of memories as in UG574, a shift register is one, too; with the names of 7-series
# cells. Gowin: a LUT-RAM takes the eight LUTs and six flip-flops of its function unit, as nextpnr
# counts them. Nexus: its write port is not made of LUTs, but there is one to eight of them.
SITES: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "ecp5": {
        "logic": {"LUT4": 1, "CCU2C": 2},
        "memory": {"TRELLIS_DPR16X4": 6},
        "flip_flops": {"TRELLIS_FF": 1},
        "block_rams": {"DP16KD": 1},
        "multipliers": {"MULT18X18D": 1},
    },
    "xcup": {
        "logic": {**{f"LUT{k}": 1 for k in range(1, 7)}, "SRL16E": 1, "SRLC32E": 1},
        "memory": {
            "RAM32M16": 8,
            "RAM64M8": 8,
            "RAM32M": 4,
            "RAM64M": 4,
            "RAM32X1D": 2,
            "RAM64X1D": 2,
            "RAM128X1D": 4,
            "RAM256X1D": 8,
        },
        "flip_flops": dict.fromkeys(("FDRE", "FDSE", "FDCE", "FDPE"), 1),
        "block_rams": {"RAMB18E2": 1, "RAMB36E2": 2, "RAMB18E1": 1, "RAMB36E1": 2},
        "multipliers": {"DSP48E2": 1, "DSP48E1": 1},
    },
    "gowin": {
        "logic": {**{f"LUT{k}": 1 for k in range(1, 5)}, "ALU": 1},
        "memory": {"RAM16SDP4": 8},
        "flip_flops": {
            **dict.fromkeys(("DFF", "DFFE", "DFFR", "DFFRE", "DFFS", "DFFSE"), 1),
            "RAM16SDP4": 6,
        },
        "block_rams": dict.fromkeys(("SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B"), 1),
        "multipliers": {"MULT18X18": 1},
    },
    "nexus": {
        "logic": {"LUT4": 1, "INV": 1, "CCU2": 2, "WIDEFN9": 2},
        "memory": {"DPR16X4": 4},
        "flip_flops": dict.fromkeys(("FD1P3BX", "FD1P3DX", "FD1P3IX", "FD1P3JX"), 1),
        "block_rams": dict.fromkeys(("DP16K", "PDP16K", "PDPSC16K"), 1),
        "multipliers": {"MULT18X18": 1},
    },
}
# Cells that are a memory of LUTs.
LUT_RAMS = {"ecp5": "TRELLIS_DPR16X4", "gowin": "RAM16SDP4", "nexus": "DPR16X4"}


def counted(family: str, cells: Mapping[str, int]) -> dict[str, int]:
    """Mapped cells as sites of each resource, and ``luts``, those of logic and memory together."""
    sites = {
        resource: sum(each * cells.get(cell, 0) for cell, each in kinds.items())
        for resource, kinds in SITES[family].items()
    }
    return {"luts": sites["logic"] + sites["memory"], **sites}


Style = Literal["dsp", "logic"]  # of a multiplier


@dataclass(frozen=True)
class Delays:
    """ns of combinational operations, each with the wires to its operands: what chaining several
    within one clock reckons with.

    ``rbdgen bench delays`` measures them: chains placed and routed by nextpnr on an LFE5U-25F,
    seven side by side, the better of two seeds.
    """

    products: tuple[tuple[int, float], ...]  # hardware multipliers of a product, ns
    adder: float  # and for each bit of the carry chain:
    carry: float
    lut: float  # one LUT4, as in a selection
    launch: float  # clock to output
    capture: float  # setup, and the last wire

    def product(self, multipliers: int) -> float:
        """The delay of a product on so many hardware multipliers."""
        return dict(self.products)[multipliers]

    def sum(self, width: int) -> float:
        """The delay of a carry chain of so many bits."""
        return self.adder + width * self.carry


# Speed 6, the slowest: one product more in a chain takes 5.3 to 5.4 ns (18 x 18 bits), 8.5 ns
# (25 x 18), one alone of 25 x 25 9.7 ns; one sum of 18 bits more takes 2.1 ns, and two of 34 bits
# 0.66 ns more than two of 18; what is left of a path 1.9 ns. The rest is estimated: two products of
# 25 x 25 in a chain, and LUTs. In a large design wires go further: iiwa 14's inverse dynamics, as
# an earlier table scheduled it for 18 ns (22 cycles, these give 24), reached 16.1 ns on an 85F
# of speed 8. What speed 6 reaches there has not been measured.
ECP5_SPEED_6 = Delays(((1, 5.4), (2, 8.5), (4, 11.2)), 2.1, 0.04, 1.2, 0.6, 1.4)
# Speed 8, the fastest: 4.4 and 6.8 ns, alone 7.7 ns; 1.6 ns; 1.4 ns.
ECP5_SPEED_8 = Delays(((1, 4.4), (2, 6.8), (4, 8.9)), 1.6, 0.035, 1.0, 0.5, 1.0)


# What nextpnr can be asked for; the first is its default. Speed grade 6 is the slowest, cheapest.
PLACERS, ROUTERS = ("heap", "static"), ("router1", "router2")
SPEEDS = (6, 7, 8)  # of the ECP5


@dataclass(frozen=True)
class Target:
    """An FPGA: its sites, and the latencies, in cycles, that a schedule counts with.

    A hardware multiplier of the ECP5 has an input, a pipeline and an output register, and one in
    the fabric behind it, since its column is often far from the adders; words wider than it takes
    are split over several, with one cycle more for each wide operand. A DSP48 has four registers
    inside, and its adder sums what its neighbour gives, or what LUTs make of a few bits more.
    ``flag`` is nextpnr's name of the die; without one, there is no open place and route.
    ``speeds``: the grades that it is made in, the slowest first.
    """

    name: str
    part: str
    multipliers: int  # MULT18X18D, DSP48E2
    luts: int = 0  # LUT4 (ECP5, Gowin, Nexus), two make one slice or carry cell; or LUT6
    block_rams: int = 0  # of 18 kbit: DP16KD, BSRAM, EBR, or halves of a RAMB36
    flag: str = ""
    package: str = "CABGA381"
    family: str = "ecp5"
    multiplier_width: int = 18
    wider_operand: int = 18  # that a multiplier takes beside one of ``multiplier_width``
    digits: int = 0  # pairs of bits more, which LUTs multiply and the multiplier's adder takes in
    fuses_sums: bool = False  # the adder takes in a sum, and a one in any bit to round it
    dsp_latency: int = 4
    split_latency: tuple[int, int] = (1, 2)  # cycles more of products on two and on four
    logic_latency: int = 5
    ring: int = 4  # delays from here on are LUT-RAM rings instead of registers
    delays: Delays = ECP5_SPEED_6
    flip_flops_per_lut: float = 1.0
    speeds: tuple[int, ...] = SPEEDS
    luts_per_ram: int = 4  # one in so many may be a LUT-RAM

    @property
    def flip_flops(self) -> int:
        """Flip-flops that there are."""
        return int(self.luts * self.flip_flops_per_lut)

    @property
    def lut_rams(self) -> int:
        """LUT-RAMs of 16 words by 4 bits that fit. ECP5: one slice in two can be memory, and each
        takes two slices' worth of LUTs (one for the write port). Gowin: one function unit in four
        can, of eight LUTs. Nexus: eight LUTs have one write port."""
        return self.luts // self.luts_per_ram

    def hardware_multipliers(self, a_width: int, b_width: int) -> int:
        """Hardware multipliers that a product of words of these widths takes."""
        return self.spent(a_width, b_width)[0]

    def spent(self, a_width: int, b_width: int) -> tuple[int, tuple[int, int]]:
        """Hardware multipliers of a product, and the lowest bits of a and b that LUTs multiply."""
        ports = self.wider_operand, self.multiplier_width
        found = []
        for first, second in (ports, ports[::-1]):
            over = max(a_width - first, 0), max(b_width - second, 0)
            pairs = sum(-(-bits // 2) for bits in over)
            rows = over if pairs <= self.digits else (0, 0)
            each = 1 if rows == over else (1 + (over[0] > 0)) * (1 + (over[1] > 0))
            found.append((each, rows))
        return min(found, key=lambda own: (own[0], sum(own[1])))

    def without_digits(self, chained: bool = True) -> Target:
        """The part for operations that are ``chained`` within a clock: products between them have
        no registers among which LUTs could multiply."""
        return replace(self, digits=0) if chained else self

    def multiplier_latency(self, a_width: int, b_width: int, style: Style) -> int:
        """Cycles of a product of words of these widths."""
        if style == "dsp":
            more = {1: 0, 2: self.split_latency[0], 4: self.split_latency[1]}
            return self.dsp_latency + more[self.hardware_multipliers(a_width, b_width)]
        wide = (a_width > self.multiplier_width) + (b_width > self.multiplier_width)
        return self.logic_latency + wide


TARGETS = {
    target.name: target
    for target in (
        Target("ecp5-25f", "LFE5U-25F", 28, 24288, 56, "--25k"),
        Target("ecp5-45f", "LFE5U-45F", 72, 43848, 108, "--45k"),
        Target("ecp5-85f", "LFE5U-85F", 156, 83640, 208, "--85k"),
        # What nextpnr has of a GW2A-LV18PG256 (Tang Primer 20K). Its delays are an assumption,
        # those of the slowest ECP5: chains within a clock have not been measured there.
        Target(
            *("gw2a-18", "GW2A-18", 48, 20736, 46, "GW2A-18"),
            package="PG256",
            family="gowin",
            flip_flops_per_lut=0.75,
            speeds=(8,),
            luts_per_ram=32,
        ),
        # What nextpnr has of a LIFCL-40 (CrossLink-NX). Its delays are the same assumption.
        Target(
            *("lifcl-40", "LIFCL-40", 56, 32256, 84, "LIFCL-40"),
            package="BG400C",
            family="nexus",
            speeds=(7, 8, 9),
            luts_per_ram=8,
        ),
        # Mapped only: what an XCVU9P (DS890) and an XC7K325T (DS180) hold. Their delays are an
        # assumption: no open tool places and routes for them. Both are faster than any ECP5, so
        # the delays of the fastest one are taken for an upper bound.
        Target(
            *("xcup", "XCVU9P", 6840, 1182240, 4320),
            family="xcup",
            wider_operand=27,
            digits=3,
            fuses_sums=True,
            split_latency=(0, 2),
            delays=ECP5_SPEED_8,
            flip_flops_per_lut=2,
        ),
        Target(
            *("xc7", "XC7K325T", 840, 203800, 890),
            family="xc7",
            wider_operand=25,
            digits=3,
            split_latency=(0, 2),
            delays=ECP5_SPEED_8,
            flip_flops_per_lut=2,
        ),
    )
}


def find_target(name: str) -> Target:
    """The target called ``name``.

    Raises:
        ValueError: no such target; the message names those there are.
    """
    if name not in TARGETS:
        raise ValueError(f"no target {name!r}: there are {', '.join(TARGETS)}")
    return TARGETS[name]


def ascending(family: str) -> list[Target]:
    """The parts of a family, the smallest first."""
    return sorted((own for own in TARGETS.values() if own.family == family), key=lambda t: t.luts)


@dataclass(frozen=True)
class Stream:
    """A valid/ready stream and the fields of its payload, packed from bit 0 in list order."""

    fields: tuple[NamedWord, ...]
    payload: str
    valid: str
    ready: str

    @property
    def width(self) -> int:
        """Bits of the payload."""
        return sum(f.width for f in self.fields)


@dataclass(frozen=True)
class RegisterPorts:
    """Ports through which registers for many tasks are written, one ``word`` a cycle."""

    word: NamedWord
    write: str


@dataclass(frozen=True)
class Ports:
    """How a design is connected: one clock, a synchronous reset or none, one stream each way."""

    input: Stream
    output: Stream
    clock: str = "clk"
    reset: str | None = "rst"
    registers: RegisterPorts | None = None

    @classmethod
    def of(
        cls,
        given: Sequence[NamedWord],
        found: Sequence[NamedWord],
        registers: RegisterPorts | None = None,
    ) -> Ports:
        """The ports of a component of Amaranth's with streams ``i`` and ``o``."""
        i, o = (
            Stream(tuple(fields), *(f"{way}__{part}" for part in ("payload", "valid", "ready")))
            for way, fields in (("i", given), ("o", found))
        )
        return cls(i, o, registers=registers)
