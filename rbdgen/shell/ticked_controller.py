# amaranth: UnusedElaboratable=no
"""A controller: a law's core with a time base, the last good command, a watchdog and an enable.

`rbdgen.shell.tick_model` is its integer model, equal in every bit.
"""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..graph.word import kind_of
from ..rtl.arithmetic import NOT_SHARED
from ..rtl.stage_wrapper import converted
from ..system.records import WORD_BITS
from .axi import Beat, Gather, Packet, fields_of
from .checked_beats import CheckedBeats
from .tick_model import Ticks, Trip


class TickedController(wiring.Component):
    """The ``core`` of a law with a reference, which computes once in each tick.

    =================  ===  ==================  ====================================================
    port                    width               meaning
    =================  ===  ==================  ====================================================
    ``clk``, ``rst``   in   1                   all signals are synchronous to ``clk``
    ``s_axis_…``       in   ``word`` of TDATA   a command is a packet, a word a beat; always taken
    ``state``          in   all q, all q̇        what was measured, while ``state_valid``
    ``state_valid``    in   1                   in the cycle of a tick it is of this tick
    ``sync``           in   1                   a tick in this cycle, the next ``cycles`` later
    ``enable``         in   1                   0: efforts are 0 from the next cycle on; a tick
                                                with 1 after it begins anew, without a trip
    ``tick``           out  1                   a tick begins in this cycle
    ``efforts``        out  all results         registers, until the next result
    ``efforts_valid``  out  1                   for a cycle, with each new result
    ``on``             out  1                   enabled in the last tick, after a state had come
    ``trip``           out  4                   `Trip`, until a tick in which it is enabled anew
    ``age``            out                      of the last good command [ticks], see `TickedModel`
    ``refused``        out  1                   a packet was not taken; stays up until reset
    =================  ===  ==================  ====================================================

    A packet of another length, or with a word that does not fit its field, changes nothing else.
    A tick in the second cycle after the last word of a command follows it. Without ``sync`` a tick
    comes every ``cycles``. From a tick to its efforts: the core's latency, five cycles, and those
    in which a folded core takes no task.
    """

    def __init__(self, core: Any, ticks: Ticks, word: int = WORD_BITS) -> None:
        self.core, self.ticks = core, ticks
        self._results = [(name, own.width) for name, own in ticks.results.items()]
        self._command = data.StructLayout(
            {n: signed(own.width) for n, own in ticks.command.items()}
        )
        self._packet = Packet(word, tuple(Beat((own,)) for own in fields_of(self._command)))
        states = {name: signed(own.width) for name, own in ticks.state.items()}
        super().__init__(
            {
                "s_axis_tdata": In(word),
                "s_axis_tvalid": In(1),
                "s_axis_tready": Out(1),
                "s_axis_tlast": In(1),
                "state": In(data.StructLayout(states)),
                "state_valid": In(1),
                "sync": In(1),
                "enable": In(1),
                "tick": Out(1),
                "efforts": Out(
                    data.StructLayout({name: signed(width) for name, width in self._results})
                ),
                "efforts_valid": Out(1),
                "on": Out(1),
                "trip": Out(len(Trip)),
                "age": Out(unsigned((ticks.watchdog + 1).bit_length()), init=ticks.watchdog + 1),
                "refused": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.core = core = self.core
        begins = Signal()
        busy = Signal()
        taken = Signal()
        command = self._commands(m, taken)
        self._time(m, begins, busy, taken)

        kept, here, known = self._states(m, begins)
        on = Signal(name="on_now")
        trip = Signal.like(self.trip, name="trip_now")
        too_old = (self.age > self.ticks.watchdog) & ~taken
        before = Mux(self.on, self.trip, 0)
        m.d.comb += [
            on.eq(self.enable & known),
            trip.eq(Mux(on, before | Cat(too_old, ~here), self.trip)),
        ]
        steps = Signal(3)  # the cycles after a tick in which its task is made
        waits = Signal()
        with m.If(core.i.ready):
            m.d.sync += waits.eq(0)
        with m.If(steps[-1]):
            m.d.sync += waits.eq(1)
        m.d.sync += steps.eq(Cat(begins, steps))
        with m.If(begins):
            m.d.sync += [busy.eq(1), self.on.eq(on), self.trip.eq(trip)]
        task = self._task(m, begins, steps, kept, here, command)
        m.d.comb += [core.i.valid.eq(waits), core.i.payload.eq(task), core.o.ready.eq(1)]
        self._results_of(m, busy)
        return m

    def _time(self, m: Module, begins: Signal, busy: Signal, taken: Signal) -> None:
        """Ticks, those that are due too early, and the age of the last command."""
        left = Signal(range(self.ticks.cycles), init=self.ticks.cycles - 1)
        over = Signal()  # left is 0
        due = Signal()
        m.d.comb += [
            due.eq(self.sync | over),
            begins.eq(due & ~busy),
            self.tick.eq(begins),
        ]
        m.d.sync += [
            left.eq(Mux(due, self.ticks.cycles - 1, left - 1)),
            over.eq(~due & (left == 1)),
        ]
        with m.If(due & busy & self.on):
            m.d.sync += self.trip[_bit(Trip.OVERRUN)].eq(1)
        with m.If(taken):
            m.d.sync += self.age.eq(begins)
        with m.Elif(begins & (self.age <= self.ticks.watchdog)):
            m.d.sync += self.age.eq(self.age + 1)

    def _commands(self, m: Module, taken: Signal) -> data.View[data.StructLayout]:
        """The last good command, from the cycle after it is ``taken`` on."""
        width = self._packet.width
        m.submodules.check = check = CheckedBeats(width, self._packet.beats)
        m.submodules.gather = gather = Gather(self._command, self._packet, check.o.p.shape())
        command = Signal(self._command)
        m.d.comb += [
            check.i.valid.eq(self.s_axis_tvalid),
            check.i.p.data.eq(self.s_axis_tdata),
            check.i.p.last.eq(self.s_axis_tlast),
            self.s_axis_tready.eq(1),
            gather.i.valid.eq(check.o.valid),
            gather.i.p.eq(check.o.p),
            gather.o.ready.eq(1),
            self.refused.eq(gather.framing_error),
            taken.eq(gather.o.valid),
        ]
        with m.If(taken):
            m.d.sync += command.eq(gather.o.payload)
        return command

    def _states(
        self, m: Module, begins: Signal
    ) -> tuple[data.View[data.StructLayout], Value, Value]:
        """The last state before this cycle; whether one has come since the tick before, and ever,
        this cycle's included."""
        kept = Signal(self.state.shape())
        fresh = Signal()
        known = Signal()
        with m.If(self.state_valid):
            m.d.sync += [kept.eq(self.state), known.eq(1), fresh.eq(1)]
        with m.If(begins):
            m.d.sync += fresh.eq(0)
        return kept, fresh | self.state_valid, known | self.state_valid

    def _task(
        self, m: Module, begins: Signal, steps: Signal, state: Any, here: Value, command: Any
    ) -> data.View[data.StructLayout]:
        """The core's task, from the fourth cycle after a tick on: the state and the command, then
        what of them is to be calm: the velocities of an old state, and the safe law's reference.

        Each word has registers of its own that say when to load what: one for all of them would
        be a long wire of the chip, and so would one that depends on the tick's whole decision.
        """
        ticks, task = self.ticks, Signal(self.core.i.payload.shape(), reset_less=True)
        old, safe = Signal(), Signal()
        with m.If(begins):
            m.d.sync += old.eq(~here)
        with m.If(steps[0]):
            m.d.sync += safe.eq(~self.on | self.trip.any())
        for name in (*ticks.state, *ticks.command):
            kind = kind_of(name)
            loads = Signal(name=f"loads_{name}", attrs=NOT_SHARED)
            m.d.sync += loads.eq(begins)
            with m.If(loads):
                m.d.sync += task[name].eq((state if name in ticks.state else command)[name])
            if kind == "q":
                continue
            calm = ticks.safe.get(name, 0)
            if isinstance(calm, str):
                own = ticks.command[name]
                calm, _ = converted(m, task[calm], ticks.state[calm], own, kind)
            calms = Signal(name=f"calms_{name}", attrs=NOT_SHARED)
            m.d.sync += calms.eq(steps[1] & (old if name in ticks.state else safe))
            with m.If(calms):
                m.d.sync += task[name].eq(calm)
        return task

    def _results_of(self, m: Module, busy: Signal) -> None:
        """Efforts: the core's, or none where it is off or one of them overflowed."""
        result = self.core.o.payload
        names = [name for name, _ in self._results]
        flags = Cat(result[name] for name in result.shape().members if name not in names)
        m.d.sync += self.efforts_valid.eq(self.core.o.valid)
        with m.If(self.core.o.valid):
            m.d.sync += busy.eq(0)
            with m.If(self.on & ~flags.any()):
                m.d.sync += [self.efforts[name].eq(result[name]) for name in names]
            with m.Else():
                m.d.sync += self.efforts.eq(0)
            with m.If(self.on & flags.any()):
                m.d.sync += self.trip[_bit(Trip.OVERFLOW)].eq(1)
        with m.If(~self.enable):
            m.d.sync += [self.on.eq(0), self.efforts.eq(0)]


def _bit(cause: Trip) -> int:
    return int(cause).bit_length() - 1
