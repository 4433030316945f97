"""Registers of 32 bits behind AXI4-Lite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..rtl.arithmetic import select

DATA_BITS = 32
STROBES = DATA_BITS // 8


class Resp(IntEnum):
    """AXI's answers that are used here."""

    OKAY = 0b00
    SLVERR = 0b10


@dataclass(frozen=True)
class Bit:
    """A bit of a register that has a name of its own."""

    name: str
    position: int
    meaning: str


@dataclass(frozen=True)
class HostRegister:
    """A 32-bit register at a byte offset; host headers are written from a table of these."""

    name: str
    offset: int
    meaning: str
    writable: bool = False
    bits: tuple[Bit, ...] = ()


class AxiLite(wiring.Component):
    """An AXI4-Lite subordinate over a table of registers, which themselves are elsewhere.

    ==================  ===  =====  ================================================================
    port                     width  meaning
    ==================  ===  =====  ================================================================
    ``awaddr`` ...                  the five channels of AXI4-Lite without AWPROT and ARPROT;
                                    addresses of ``address_width`` bits
    ``value_NAME``      in   32     what a read of register NAME returns
    ``write_NAME``      out  1      for one clock: the host writes NAME, if it is writable
    ``write_data``      out  32     what it writes
    ``write_mask``      out  32     the bits that WSTRB selects
    ==================  ===  =====  ================================================================

    The low two bits of an address are ignored. An address without a register, and a write to one
    that is not writable, change nothing and are answered by SLVERR; a read then returns zero.

    Address and data of a write may come in either order. One read and one write can be under way.
    Every output of a channel, and every ``write_NAME``, is a register. A read is answered two
    clocks after its address was taken, with the value of the clock between; a write is answered two
    clocks after its second half was taken, and ``write_NAME`` comes in the clock in which the
    answer is first offered. The readies are low during reset and in the cycle after it.
    """

    def __init__(self, registers: Sequence[HostRegister], address_width: int) -> None:
        offsets = [register.offset for register in registers]
        if len(set(offsets)) < len(offsets) or any(offset % STROBES for offset in offsets):
            raise ValueError("registers overlap or are not aligned")
        if any(offset >> address_width for offset in offsets):
            raise ValueError(f"a register lies beyond {address_width} bits of address")
        self.registers = tuple(registers)
        self.address_width = address_width
        ports = axi_lite_ports(address_width)
        ports |= {"write_data": Out(DATA_BITS), "write_mask": Out(DATA_BITS)}
        for register in registers:
            ports[f"value_{register.name}"] = In(DATA_BITS)
            if register.writable:
                ports[f"write_{register.name}"] = Out(1)
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._reads(m)
        self._writes(m)
        return m

    def _reads(self, m: Module) -> None:
        asked_of = Signal(self.address_width - 2, reset_less=True)
        asked = Signal()
        take = self.arvalid & self.arready
        named = {r.offset // STROBES: getattr(self, f"value_{r.name}") for r in self.registers}
        values = [named.get(k, Const(0, DATA_BITS)) for k in range(max(named) + 1)]
        m.d.sync += self.arready.eq(~asked & ~take)
        with m.If(take):
            m.d.sync += [asked_of.eq(self.araddr[2:]), asked.eq(1)]
        with m.If(self.rvalid & self.rready):
            m.d.sync += self.rvalid.eq(0)
        with m.If(asked & ~self.rvalid):
            m.d.sync += [
                asked.eq(0),
                self.rvalid.eq(1),
                self.rdata.eq(Mux(asked_of < len(values), select(values, asked_of), 0)),
                self.rresp.eq(Resp.SLVERR),
            ]
            with m.Switch(asked_of):
                for position in named:
                    with m.Case(position):
                        m.d.sync += self.rresp.eq(Resp.OKAY)

    def _writes(self, m: Module) -> None:
        address = Signal(self.address_width - 2, reset_less=True)
        strobes = Signal(STROBES, reset_less=True)
        got_address = Signal()
        got_data = Signal()
        take_address = self.awvalid & self.awready
        take_data = self.wvalid & self.wready
        m.d.sync += [
            self.awready.eq(~got_address & ~take_address),
            self.wready.eq(~got_data & ~take_data),
        ]
        with m.If(take_address):
            m.d.sync += [address.eq(self.awaddr[2:]), got_address.eq(1)]
        with m.If(take_data):
            m.d.sync += [self.write_data.eq(self.wdata), strobes.eq(self.wstrb), got_data.eq(1)]
        m.d.comb += self.write_mask.eq(Cat(strobe.replicate(8) for strobe in strobes))
        for register in self.registers:
            if register.writable:
                m.d.sync += getattr(self, f"write_{register.name}").eq(0)
        with m.If(self.bvalid & self.bready):
            m.d.sync += self.bvalid.eq(0)
        with m.If(got_address & got_data & ~self.bvalid):
            m.d.sync += [got_address.eq(0), got_data.eq(0), self.bvalid.eq(1)]
            with m.Switch(address):
                for register in self.registers:
                    if register.writable:
                        with m.Case(register.offset >> 2):
                            strobe = getattr(self, f"write_{register.name}")
                            m.d.sync += [strobe.eq(1), self.bresp.eq(Resp.OKAY)]
                with m.Default():
                    m.d.sync += self.bresp.eq(Resp.SLVERR)


def axi_lite_ports(address_width: int, prefix: str = "") -> dict[str, wiring.Member]:
    """The members of a subordinate's signature, each name behind ``prefix``."""
    ports = {
        "awaddr": In(address_width),
        "awvalid": In(1),
        "awready": Out(1),
        "wdata": In(DATA_BITS),
        "wstrb": In(STROBES),
        "wvalid": In(1),
        "wready": Out(1),
        "bresp": Out(2),
        "bvalid": Out(1),
        "bready": In(1),
        "araddr": In(address_width),
        "arvalid": In(1),
        "arready": Out(1),
        "rdata": Out(DATA_BITS),
        "rresp": Out(2),
        "rvalid": Out(1),
        "rready": In(1),
    }
    return {prefix + name: member for name, member in ports.items()}


def connect_axi_lite(
    m: Module, outer: wiring.Component, inner: wiring.Component, prefix: str = ""
) -> None:
    """Make the ports of ``outer``, each name behind ``prefix``, those of ``inner``."""
    for name, member in axi_lite_ports(1).items():
        outside, inside = getattr(outer, prefix + name), getattr(inner, name)
        m.d.comb += inside.eq(outside) if member.flow is In else outside.eq(inside)
