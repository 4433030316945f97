"""A memory of LUT-RAMs: written at the clock, read at once.

Like a multiplier it is a description: FIFOs and delay rings instantiate it by its module name, and
each distinct size is emitted once. That, and that its words begin with no value (nothing reads one
before it was written), keeps the text of a design, and the time to write it, in proportion to its
logic and not to the bits it stores.

A value on its way through a region: the registers and LUT-RAM rings that delay it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, Value

from ..schedule.difference_constraints import LONGEST_RING
from .arithmetic import next_count

Attributes = Mapping[str, str | int]  # of signals
ALWAYS = Const(1)


@dataclass(frozen=True, order=True)
class LutRam:
    """``depth`` words of ``width`` bits; one port writes, one reads.

    ``data`` is stored under ``write_address`` at the end of a cycle in which ``write`` is set;
    ``q`` shows the word under ``read_address`` in the same cycle, as it was before any write.
    """

    width: int
    depth: int

    @property
    def name(self) -> str:
        """The module's name."""
        return f"rbdgen_ram_{self.width}x{self.depth}"

    @property
    def address_width(self) -> int:
        return (self.depth - 1).bit_length()

    def instance(
        self,
        *,
        write: Value,
        write_address: Value,
        data: Value,
        read_address: Value,
        q: Value,
        **more: Value,
    ) -> Instance:
        """One memory in the ``sync`` domain of an Amaranth module; ``more``: other inputs."""
        return Instance(
            self.name,
            i_clk=ClockSignal(),
            i_write=write,
            i_write_address=write_address,
            i_data=data,
            i_read_address=read_address,
            o_q=q,
            **{f"i_{name}": value for name, value in more.items()},
        )

    def to_rtlil(self, collisions: int = 0) -> str:
        """The module. Reads come before writes; with ``collisions`` what is read of a word in the
        very cycle in which it is written may be anything."""
        return self._module("distributed", 0, 0)

    def _module(self, style: str, clocked: int, collisions: int) -> str:
        undefined = f"{self.width}'{'x' * self.width}"
        return _TEMPLATE.format(
            name=self.name,
            width=self.width,
            depth=self.depth,
            address=self.address_width,
            enable=" ".join([r"\write"] * self.width),
            undefined=undefined,
            style=style,
            clocked=clocked,
            collisions=collisions,
            clock=r"\clk" if clocked else "1'0",
            port="\n  wire input 7 \\read" if clocked else "",
            read=r"\read" if clocked else "1'1",
        )


@dataclass(frozen=True, order=True)
class BlockRam(LutRam):
    """The same, but that ``q`` comes a cycle after its address: a block RAM, for many words.

    ``q`` stays after a cycle in which ``read`` is not set: its clock then stands still.
    """

    @property
    def name(self) -> str:
        return f"rbdgen_block_{self.width}x{self.depth}"

    def instance(self, *, read: Value = ALWAYS, **ports: Value) -> Instance:
        """One memory, as a `LutRam` is."""
        return super().instance(read=read, **ports)

    def to_rtlil(self, collisions: int = 0) -> str:
        return self._module("block", 1, collisions)


def whole_address(address: Value, ram: LutRam) -> Value:
    """An address of all bits that a memory has, the last one as often as it takes.

    For memories with more words than are used: a bit tied to a constant would be on a net that
    goes across the whole part.
    """
    return Cat(address, address[-1].replicate(max(ram.address_width - len(address), 0)))


def emit_rams(rams: Iterable[LutRam], collisions: int = 0) -> str:
    """The modules of all distinct memories among ``rams``, sorted, as RTLIL: see ``to_rtlil``."""
    return "".join(
        ram.to_rtlil(collisions)
        for ram in sorted(set(rams), key=lambda ram: (ram.width, ram.depth, ram.name))
    )


# Without ram_style a register behind a read lets Yosys take a deep memory for a block RAM, whose
# data comes out late.
_TEMPLATE = r"""
module \{name}
  wire input 1 \clk
  wire input 2 \write
  wire width {address} input 3 \write_address
  wire width {width} input 4 \data
  wire width {address} input 5 \read_address
  wire width {width} output 6 \q{port}

  attribute \ram_style "{style}"
  memory width {width} size {depth} \words

  cell $memwr_v2 \write_port
    parameter \MEMID "\\words"
    parameter \ABITS {address}
    parameter \WIDTH {width}
    parameter \CLK_ENABLE 1
    parameter \CLK_POLARITY 1
    parameter \PORTID 0
    parameter \PRIORITY_MASK 0
    connect \ADDR \write_address
    connect \DATA \data
    connect \EN {{ {enable} }}
    connect \CLK \clk
  end

  cell $memrd_v2 \read_port
    parameter \MEMID "\\words"
    parameter \ABITS {address}
    parameter \WIDTH {width}
    parameter \TRANSPARENCY_MASK 1'0
    parameter \COLLISION_X_MASK 1'{collisions}
    parameter \ARST_VALUE {undefined}
    parameter \SRST_VALUE {undefined}
    parameter \INIT_VALUE {undefined}
    parameter \CE_OVER_SRST 0
    parameter \CLK_ENABLE {clocked}
    parameter \CLK_POLARITY 1
    connect \ADDR \read_address
    connect \DATA \q
    connect \ARST 1'0
    connect \SRST 1'0
    connect \EN {read}
    connect \CLK {clock}
  end
end
"""


class Rings:
    """The counters that rings of one length share in a module; ``note`` takes their memories."""

    def __init__(self, m: Module, note: Callable[[LutRam], None]) -> None:
        self._m, self._note = m, note
        self._pointers: dict[int, Signal] = {}

    def pointer(self, size: int) -> Signal:
        """Counts 0 to ``size`` - 1, over and over."""
        if size not in self._pointers:
            pointer = Signal(range(max(size, 2)), name=f"ring_{size}")
            self._m.d.sync += pointer.eq(next_count(pointer, size))
            self._pointers[size] = pointer
        return self._pointers[size]

    def delay(self, value: Value, cycles: int, name: str, attrs: Attributes) -> Value:
        """``value`` after 3 to 17 cycles: a memory read just before it is overwritten."""
        size = cycles - 1
        ram = LutRam(len(value), size)
        pointer = self.pointer(size)
        q = Signal(value.shape(), name=f"q_{name}")
        register = Signal(value.shape(), name=name, reset_less=True, attrs=attrs)
        self._m.submodules[f"ring_{name}"] = ram.instance(
            write=Const(1), write_address=pointer, data=value, read_address=pointer, q=q
        )
        self._m.d.sync += register.eq(q)
        self._note(ram)
        return register


class DelayLine:
    """One value of a region, at every cycle in which something reads it.

    ``first``: the cycle, from the region's firing, in which ``signal`` shows it. ``attrs``: those
    of the registers. Cycles are collected in ``wanted``; ``build`` then fills ``at``.
    """

    def __init__(self, name: str, first: int, signal: Signal, attrs: Attributes) -> None:
        self.name, self.first, self.signal, self.attrs = name, first, signal, attrs
        self.wanted: set[int] = set()
        self.at: dict[int, Value] = {}

    def build(self, m: Module, rings: Rings, shortest_ring: int) -> None:
        """Chain of delays from one wanted cycle to the next."""
        now, value = self.first, self.signal
        self.at[now] = value
        for cycle in sorted(self.wanted):
            while now < cycle:
                step = min(cycle - now, LONGEST_RING)
                if step < shortest_ring:
                    step = 1
                name = f"{self.name}_{now + step}"
                if step == 1:
                    register = Signal(value.shape(), name=name, reset_less=True, attrs=self.attrs)
                    m.d.sync += register.eq(value)
                    value = register
                else:
                    value = rings.delay(value, step, name, self.attrs)
                now += step
            self.at[cycle] = value
