"""The link of a board: a line to its host, and an accelerator's shell of words behind it."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Instance,
    Module,
    ResetSignal,
    Signal,
)
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer, PulseSynchronizer, ResetSynchronizer
from amaranth.lib.fifo import AsyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from .ethernet import UdpLine
from .frames import BYTE, Framer, Unframer
from .lines import SerialLine, SpiLine
from .packed import Packer, Unpacker
from .packets import SELF_TEST, TESTED, PacketWidths
from .self_test import SelfTest, Vectors
from .task_packets import Status

Line = SerialLine | UdpLine | SpiLine
BETWEEN = 16  # bytes between the two clocks
SHOWN = 22  # bits of the clocks for which an event lights its LED: 0.17 s of 25 MHz


class BoardLink(wiring.Component):
    """``shell``, the module ``NAME_axi_words``, behind a ``line``, serial, of UDP or SPI.

    =============  ===  ====================================================================
    port                meaning
    =============  ===  ====================================================================
    ``clk``        in   of the accelerator
    ``rst``        in   of all, in any clock: everything starts anew when it falls
    ``clk_link``   in   of the line; need not be related to ``clk``
    ``rx``, ``tx`` …    the line's own: of a `SerialLine`, `UdpLine` or `SpiLine`
    ``led``        out  alive: blinks, or is lit if the self-test failed; a task came; a result
                        went; a damaged frame or a bad task came; a result with an overflow went,
                        since the start
    =============  ===  ====================================================================

    Bytes, frames and checks have the line's clock, so that the line's rate does not depend on the
    clock that a routed accelerator reaches. Nothing waits for the line but its own answers: while
    the host does not listen there is none that could stall, a serial line has no such signal.
    ``vectors`` run after each reset, and when they are asked for, see `rbdgen.shell.self_test`.
    """

    def __init__(
        self,
        shell: str,
        layouts: Mapping[int, PacketWidths],
        identity: str,
        line: Line,
        vectors: Vectors,
    ) -> None:
        self._shell, self._identity, self._vectors = shell, identity, vectors
        self._layouts = {**layouts, SELF_TEST: TESTED}
        self._line = line
        self._pins = {
            name: member for name, member in line.signature.members.items() if member.is_port
        }
        super().__init__({"clk_link": In(1), **self._pins, "led": Out(5)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.link = link = ClockDomain()
        m.domains.core = core = ClockDomain()
        m.d.comb += [link.clk.eq(self.clk_link), core.clk.eq(ClockSignal())]
        # The reset may come at any time, from a button.
        for domain in ("link", "core"):
            m.submodules[f"reset_{domain}"] = ResetSynchronizer(ResetSignal(), domain=domain)

        of_link, of_core = DomainRenamer("link"), DomainRenamer("core")
        line = self._line
        unframer, framer = Unframer(self._layouts, self._identity), Framer(self._identity)
        unpacker, packer = Unpacker(self._layouts), Packer(self._layouts)
        m.submodules.line = of_link(line)
        m.submodules.unframer = of_link(unframer)
        m.submodules.framer = of_link(framer)
        m.submodules.unpacker = of_core(unpacker)
        m.submodules.packer = of_core(packer)
        self_test = SelfTest(self._vectors)
        m.submodules.self_test = of_core(self_test)
        wiring.connect(m, unpacker.o, self_test.host_tasks)
        wiring.connect(m, self_test.host_results, packer.i)
        m.submodules.inward = inward = _between("link", "core")
        m.submodules.outward = outward = _between("core", "link")
        wiring.connect(m, line.o, unframer.i)
        wiring.connect(m, unframer.refusal, framer.refusal)
        wiring.connect(m, framer.o, line.i)
        for source, fifo, sink in ((unframer.o, inward, unpacker.i), (packer.o, outward, framer.i)):
            m.d.comb += [
                fifo.w_data.eq(source.payload.as_value()),
                fifo.w_en.eq(source.valid),
                source.ready.eq(fifo.w_rdy),
                sink.payload.as_value().eq(fifo.r_data),
                sink.valid.eq(fifo.r_rdy),
                fifo.r_en.eq(sink.ready),
            ]
        for name, member in self._pins.items():
            ours, own = getattr(self, name), getattr(line, name)
            m.d.comb += own.eq(ours) if member.flow is In else ours.eq(own)
        m.submodules.shell = Instance(
            self._shell,
            i_clk=ClockSignal("core"),
            i_rst=ResetSignal("core"),
            i_s_axis_tdata=self_test.tasks.p.data,
            i_s_axis_tvalid=self_test.tasks.valid,
            o_s_axis_tready=self_test.tasks.ready,
            i_s_axis_tlast=self_test.tasks.p.last,
            o_m_axis_tdata=self_test.results.p.data,
            o_m_axis_tvalid=self_test.results.valid,
            i_m_axis_tready=self_test.results.ready,
            o_m_axis_tlast=self_test.results.p.last,
            # nobody asks the registers
            **{f"i_s_axil_{name}": 0 for name in ("awvalid", "wvalid", "arvalid")},
            **{f"i_s_axil_{name}": 0 for name in ("awaddr", "araddr")},
            **{f"i_s_axil_{name}": 0 for name in ("wdata", "wstrb")},
            **{f"i_s_axil_{name}": 1 for name in ("bready", "rready")},
        )
        self._show(m, unframer, packer, self_test.failed)
        return m

    def _show(self, m: Module, unframer: Unframer, packer: Packer, failed: Signal) -> None:
        """The LEDs."""
        taken = packer.i.valid & packer.i.ready
        first = Signal(init=1)  # the beat of a header
        overflowed = Signal()
        with m.If(taken):
            m.d.core += first.eq(packer.i.p.last)
            with m.If(first & (packer.i.p.data[8:16] == Status.OVERFLOW)):
                m.d.core += overflowed.eq(1)
        m.submodules.result = result = PulseSynchronizer("core", "link")
        m.d.comb += result.i.eq(taken & packer.i.p.last)
        overflow = Signal()
        m.submodules.overflow = FFSynchronizer(overflowed, overflow, o_domain="link")
        alive, lit_for_good = Signal(SHOWN + 2), Signal()
        m.submodules.failed = FFSynchronizer(failed, lit_for_good, o_domain="link")
        m.d.link += alive.eq(alive + 1)
        lit = []
        for event in (unframer.good, result.o, unframer.bad):
            left = Signal(SHOWN)
            with m.If(event):
                m.d.link += left.eq(-1)
            with m.Elif(left.any()):
                m.d.link += left.eq(left - 1)
            lit.append(left.any())
        m.d.comb += self.led.eq(Cat(alive[-1] | lit_for_good, *lit, overflow))


def _between(writes: str, reads: str) -> AsyncFIFOBuffered:
    return AsyncFIFOBuffered(width=BYTE.size, depth=BETWEEN, w_domain=writes, r_domain=reads)
