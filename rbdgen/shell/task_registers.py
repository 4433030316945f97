"""Registers of an accelerator for its host: identity, control, errors, counters.

======  =================  =====================================================================
offset  name               meaning
======  =================  =====================================================================
0x00    ``magic``          the bytes RBDG, R the lowest
0x04    ``format``         version of the packet format
0x08    ``identity_low``   the robot's hash, bits 0-31
0x0C    ``identity_high``  bits 32-63
0x10    ``functions``      bit k: function k is there
0x14    ``control``        bit 0 enable, 1 after reset: while it is 0 no packet is begun, one half
                           in is finished; bit 1 clear: a one makes all counters zero, reads as zero
0x18    ``status``         what has happened since a one was last written to the bit: 0 an unknown
                           function, 1 a packet too short, 2 too long, 3 options that are not
                           understood, 4 an overflow in a result
0x1C    ``in_flight``      tasks that the core has taken and whose results have not wholly left
0x20    ``tasks``          counter: tasks that the core took
0x24    ``results``        counter: results that left, to their last beat
0x28    ``errors``         counter: error responses that left
0x2C    ``busy``           counter: clocks with a task in flight
0x30    ``input_stall``    counter: clocks in which the input was offered a beat and did not take it
0x34    ``output_stall``   counter: clocks in which a beat of a response was not taken
0x38    ``lanes``          words in a beat of the links
0x40+   ``results_NAME``   counter: results of the function of code k, at 0x40 + 4 k, where it is
                           there
0x80    ``parameter``      of a design with registers for many tasks: a word written enters the last
                           of them, and all others move up one; reads as the first one's word
0x84    ``parameters``     how many of those there are
======  =================  =====================================================================

Counters have 32 bits and wrap; `register_table` is the table as data. A status bit is set before
the response that says the same has left; setting wins over clearing. Counters are clear, and start
anew, for any read that begins after the answer to the write of ``control``. Only ``control``,
``status`` and ``parameter`` are writable.
"""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..rtl.core import FIRST, WORD, WRITE
from .axi_lite import DATA_BITS, AxiLite, Bit, HostRegister, axi_lite_ports, connect_axi_lite
from .task_packets import FORMAT_VERSION, PacketFormat, Status, TaskFunction

MAGIC = int.from_bytes(b"RBDG", "little")
ADDRESS_WIDTH = 12  # 4 KiB, the least that an interconnect maps: no register shows twice
RESULTS_OFFSET = 0x40

STICKY = {
    Status.UNKNOWN_FUNCTION: Bit("unknown_function", 0, "a packet of an unknown function came"),
    Status.TOO_SHORT: Bit("too_short", 1, "a packet was too short"),
    Status.TOO_LONG: Bit("too_long", 2, "a packet was too long"),
    Status.BAD_OPTIONS: Bit("bad_options", 3, "options of a packet were not understood"),
    Status.OVERFLOW: Bit("overflow", 4, "a value in a result overflowed"),
}
"""The bit of ``status`` for each thing that a response reports."""

ENABLE = Bit("enable", 0, "packets are taken; 1 after reset")
CLEAR = Bit("clear", 1, "a one makes all counters zero; reads as zero")

_COUNTERS = {
    "tasks": "tasks that the core took",
    "results": "results that left",
    "errors": "error responses that left",
    "busy": "clocks with a task in flight",
    "input_stall": "clocks in which the input was offered a beat and did not take it",
    "output_stall": "clocks in which a beat of a response was not taken",
}

EVENTS = data.StructLayout(
    {
        "task": 1,  # the core takes one
        "sent": 1,  # the last beat of a response leaves,
        "error": 1,  # which is an error's,
        "function": 4,  # or a result of this function
        "input_stall": 1,
        "output_stall": 1,
        "raised": len(STICKY),  # bits of ``status``
    }
)
"""The events that the shell reports, clock by clock."""


def register_table(
    functions: Mapping[int, TaskFunction], held: int = 0
) -> tuple[HostRegister, ...]:
    """All registers of a design with these functions, in the order of their offsets.

    ``held``: registers for many tasks.
    """
    fixed = (
        HostRegister("magic", 0x00, "the bytes RBDG, R the lowest"),
        HostRegister("format", 0x04, "version of the packet format"),
        HostRegister("identity_low", 0x08, "the robot's hash, bits 0-31"),
        HostRegister("identity_high", 0x0C, "the robot's hash, bits 32-63"),
        HostRegister("functions", 0x10, "bit k: function k is there"),
        HostRegister("control", 0x14, "enable, clear", True, (ENABLE, CLEAR)),
        HostRegister(
            "status", 0x18, "what has happened; write one to clear", True, tuple(STICKY.values())
        ),
        HostRegister("in_flight", 0x1C, "tasks in flight"),
        *(HostRegister(n, 0x20 + 4 * k, what) for k, (n, what) in enumerate(_COUNTERS.items())),
        HostRegister("lanes", 0x38, "words in a beat of the links"),
    )
    results = (
        HostRegister(
            f"results_{function.name}", RESULTS_OFFSET + 4 * code, f"results of {function.name}"
        )
        for code, function in sorted(functions.items())
    )
    of_robot = (
        HostRegister(
            "parameter", 0x80, "a word for the registers of the robot, one after another", True
        ),
        HostRegister("parameters", 0x84, "how many words those are"),
    )
    return (*fixed, *results, *(of_robot if held else ()))


class TaskRegisters(wiring.Component):
    """The registers behind AXI4-Lite, see the module and `AxiLite`; ``enable`` is ``control``'s.

    ``events`` are counted one clock later. ``held``: registers for many tasks, which the other
    ports write.
    """

    def __init__(self, packets: PacketFormat, identity: int, held: int = 0) -> None:
        self._packets, self._identity, self._held = packets, identity, held
        if not 0 <= identity < 1 << 64:
            raise ValueError(f"identity {identity:#x} does not fit 64 bits")
        super().__init__(
            axi_lite_ports(ADDRESS_WIDTH)
            | {"events": In(EVENTS), "enable": Out(1, init=1)}
            | ({WORD: Out(DATA_BITS), WRITE: Out(1), FIRST: In(signed(DATA_BITS))} if held else {})
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        functions = self._packets.functions
        m.submodules.bus = bus = AxiLite(register_table(functions, self._held), ADDRESS_WIDTH)
        connect_axi_lite(m, self, bus)

        events = Signal(EVENTS)
        m.d.sync += events.eq(self.events)
        written = bus.write_data & bus.write_mask

        clear = Signal()  # a register: it goes to every counter
        m.d.sync += clear.eq(bus.write_control & written[CLEAR.position])
        with m.If(bus.write_control & bus.write_mask[ENABLE.position]):
            m.d.sync += self.enable.eq(bus.write_data[ENABLE.position])

        status = Signal(len(STICKY))
        cleared = Mux(bus.write_status, written, 0)
        m.d.sync += status.eq(status & ~cleared | events.raised)

        in_flight = Signal(16)
        result = events.sent & ~events.error
        m.d.sync += in_flight.eq(in_flight + events.task - result)

        def counter(name: str, event: Value) -> Value:
            count = Signal(DATA_BITS, name=f"count_{name}")
            m.d.sync += count.eq(Mux(clear, 0, count) + event)
            return count

        values: dict[str, Value | int] = {
            "magic": MAGIC,
            "format": FORMAT_VERSION,
            "identity_low": self._identity & 0xFFFFFFFF,
            "identity_high": self._identity >> 32,
            "functions": sum(1 << code for code in functions),
            "control": self.enable << ENABLE.position,
            "status": status,
            "in_flight": in_flight,
            "tasks": counter("tasks", events.task),
            "results": counter("results", result),
            "errors": counter("errors", events.sent & events.error),
            "busy": counter("busy", in_flight.any()),
            "input_stall": counter("input_stall", events.input_stall),
            "output_stall": counter("output_stall", events.output_stall),
            "lanes": self._packets.lanes,
        }
        for code, function in functions.items():
            name = f"results_{function.name}"
            values[name] = counter(name, result & (events.function == code))
        if self._held:
            values |= {"parameter": getattr(self, FIRST), "parameters": self._held}
            m.d.comb += [
                getattr(self, WORD).eq(bus.write_data),
                getattr(self, WRITE).eq(bus.write_parameter),
            ]
        for name, value in values.items():
            m.d.comb += getattr(bus, f"value_{name}").eq(value)
        return m
