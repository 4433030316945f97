"""The host shell of a multifunction accelerator: AXI4-Stream for tasks, AXI4-Lite for the rest.

The packets are those of `rbdgen.shell.task_packets`, the registers those of
`rbdgen.shell.task_registers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Shape, Signal
from amaranth.lib import wiring

from ..rtl.core import connect_registers
from ..rtl.queues import Skid
from ..system.records import WORD_BITS
from .axi import beat_layout, connect_links, link_ports
from .axi_lite import axi_lite_ports, connect_axi_lite
from .task_links import ResponseWriter, TaskReader
from .task_packets import PacketFormat, TaskFunction
from .task_registers import ADDRESS_WIDTH, STICKY, TaskRegisters


class TaskShell(wiring.Component):
    """``core`` behind AXI4-Stream links of ``lanes`` words a beat, and registers.

    =================  ===  ==============  ========================================================
    port                    width           meaning
    =================  ===  ==============  ========================================================
    ``clk``            in   1               all signals are synchronous to its rising edge
    ``rst``            in   1               synchronous, active high: AXI's ARESETn inverted; also
                                            the core's
    ``s_axis_tdata``   in   32 ``lanes``    a beat of a task
    ``s_axis_tvalid``  in   1
    ``s_axis_tready``  out  1               a register
    ``s_axis_tlast``   in   1               on the last beat of each packet
    ``m_axis_tdata``   out  32 ``lanes``    a beat of a response; a register
    ``m_axis_tvalid``  out  1               a register; stands until ``m_axis_tready``
    ``m_axis_tready``  in   1
    ``m_axis_tlast``   out  1               on the last beat of each packet; a register
    ``s_axil_*``                            AXI4-Lite: 12 bits of address, 32 of data
    =================  ===  ==============  ========================================================

    ``core`` has ``i: In(stream.Signature(task))`` and ``o: Out(stream.Signature(result))``, where a
    task is ``function`` (4 bits), ``tag`` (16) and ``words``, a structure of signed operands of at
    most 32 bits each, and a result is ``function``, ``tag``, ``overflow`` (1) and ``words``, an
    array of signed words of at most 32 bits. A task of function f comes with its first
    ``words_in`` operands, the others are undefined; of its result the first ``words_out`` words are
    sent. Results may come in any order, and stand until they are taken.

    ``held``: how many registers for many tasks the core has; the host writes them as register
    ``parameter``, one word after another, while no task is in flight.

    Every packet is answered by exactly one response. Results leave in the order of the core, error
    responses between them, taking turns. While m_axis stalls the core does, and the input after it.
    No combinational path leads from an input to an output.

    Latency, from the last beat of a task taken to the first beat of its result offered: that of
    the core and three clocks; of an error response three clocks. Throughput: a beat a clock on each
    link, `clocks_per_task` is the rate of one function.

    Raises ValueError if core and functions do not fit each other or a packet.
    """

    def __init__(
        self,
        core: Any,
        functions: Mapping[int, TaskFunction],
        *,
        identity: int,
        lanes: int = 1,
        held: int = 0,
    ) -> None:
        self.core = core
        task, result = core.i.payload.shape(), core.o.payload.shape()
        widths = tuple(Shape.cast(field.shape).width for _, field in task["words"].shape)
        self.packets = PacketFormat(functions, widths, lanes)
        results = result["words"].shape
        if Shape.cast(results.elem_shape).width > WORD_BITS:
            raise ValueError(f"a result of the core does not fit a word of {WORD_BITS} bits")
        for function in functions.values():
            if function.words_out > results.length:
                raise ValueError(
                    f"function {function.name}: {function.words_out} words out, "
                    f"and the core has {results.length}"
                )
        self._registers = TaskRegisters(self.packets, identity, held)
        self._held = held
        super().__init__(
            {
                **link_ports(WORD_BITS * lanes, WORD_BITS * lanes),
                **axi_lite_ports(ADDRESS_WIDTH, "s_axil_"),
            }
        )

    def clocks_per_task(self, code: int, core_interval: int = 1) -> int:
        """The initiation interval of one function through the links, given the core's."""
        packets = self.packets
        return max(packets.task_beats(code), packets.response_beats(code), core_interval)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        packets = self.packets
        m.submodules.core = core = self.core
        m.submodules.skid = skid = Skid(beat_layout(WORD_BITS * packets.lanes), stoppable=True)
        m.submodules.reader = reader = TaskReader(core.i.payload.shape(), packets)
        m.submodules.writer = writer = ResponseWriter(core.o.payload.shape(), packets)
        m.submodules.registers = registers = self._registers
        if self._held:
            connect_registers(m, registers, core)
        wiring.connect(m, skid.o, reader.i)
        wiring.connect(m, reader.o, core.i)
        wiring.connect(m, reader.error, writer.error)
        wiring.connect(m, core.o, writer.i)
        connect_axi_lite(m, self, registers, "s_axil_")
        connect_links(m, self, skid.i, writer.o)

        # Disabled, the input stops at the border of a packet; this side of the skid buffer, so that
        # no beat of the next one is taken.
        inside = Signal()
        inside_next = Signal()
        taken = self.s_axis_tvalid & self.s_axis_tready
        m.d.comb += [
            inside_next.eq(Mux(taken, ~self.s_axis_tlast, inside)),
            skid.stop.eq(~registers.enable & ~inside_next),
        ]
        m.d.sync += inside.eq(inside_next)

        refused = writer.error.valid & writer.error.ready
        overflowed = core.o.valid & core.o.ready & core.o.p.overflow
        events = registers.events
        m.d.comb += [
            events.task.eq(core.i.valid & core.i.ready),
            events.sent.eq(self.m_axis_tvalid & self.m_axis_tready & self.m_axis_tlast),
            events.error.eq(writer.o.p.error),
            events.function.eq(writer.o.p.function),
            events.input_stall.eq(self.s_axis_tvalid & ~self.s_axis_tready),
            events.output_stall.eq(self.m_axis_tvalid & ~self.m_axis_tready),
            events.raised.eq(
                Cat(
                    refused & (writer.error.p.detail == status) if status.is_error else overflowed
                    for status in STICKY
                )
            ),
        ]
        return m
