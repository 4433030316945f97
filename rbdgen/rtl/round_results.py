"""Results of joints in turn: kept apart by datapath, put together when all of a task is there."""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from ..graph.node import Node
from ..graph.visits import Visit
from ..schedule.datapaths import Datapath
from ..schedule.fold import flag_time
from ..schedule.round_plan import RoundPlan
from .channel import NOT_SHARED
from .counting import next_count
from .folded import FoldHardware
from .lut_ram import BlockRam
from .round_counts import Rounds
from .units import Made


class Results:
    """Memories of what the datapaths give, and the registers in which a result waits to be taken.

    A task has a number, one of ``plan.places``; what a visit gives lies under its task's number
    and its phase. When the last of a task is there, its phases are read one after the other.
    """

    def __init__(
        self, m: Module, plan: RoundPlan, rounds: Rounds, hardware: FoldHardware, made: Made
    ) -> None:
        self.m, self.plan, self.rounds, self.hardware, self.made = m, plan, rounds, hardware, made
        self.number = Signal(range(plan.places), name="task_number")
        self._free = Signal(range(plan.places + 1), name="places", init=plan.places)
        # whether a task was taken so many intervals ago, and its number
        self._entered: list[tuple[Signal, Signal]] = []
        self._done = Signal(name="gathered")

    @property
    def room(self) -> Value:
        """Whether another task may be taken in the next cycle."""
        return self._free.any()

    def follow(self, fire: Value) -> None:
        """Count the tasks that are taken, and keep their numbers while they are under way."""
        m, plan, rounds = self.m, self.plan, self.rounds
        begins, taken = Signal(name="begins"), Signal(name="task_taken")
        m.d.comb += taken.eq(fire)
        m.d.sync += [
            begins.eq(rounds.ends & (rounds.turn == plan.rounds - 1)),
            self._free.eq(self._free + self._done - taken),
        ]
        with m.If(taken):
            m.d.sync += self.number.eq(next_count(self.number, plan.places))
        present, number = taken, self.number
        with m.If(begins):
            for k in range(plan.complete // plan.interval + 1):
                entered = Signal(name=f"entered_{k}"), Signal.like(number, name=f"number_{k}")
                m.d.sync += [entered[0].eq(present), entered[1].eq(number)]
                self._entered.append(entered)
                present, number = entered

    def gather(self, valid: Signal, taken: Value) -> tuple[dict[Node, Value], Value | None]:
        """A result's words, by node, and whether anything in it overflowed, while it is valid."""
        m, plan = self.m, self.plan
        every = plan.rounds
        complete, waiting = Signal(name="complete"), Signal(range(plan.places + 1), name="waiting")
        start, busy = Signal(name="gather_start"), Signal(name="gathering")
        reads, reading = Signal(name="reads"), Signal(range(plan.places), name="reading")
        phase = Signal(range(max(every, 2)), name="gather_phase")
        last = phase == every - 1
        m.d.comb += [
            complete.eq(self._is(plan.complete + 1) & self._task(plan.complete + 1)[0]),
            start.eq(waiting.any() & ~busy & ~valid),
        ]
        m.d.sync += [
            waiting.eq(waiting + complete - start),
            busy.eq((busy | start) & ~self._done),
            reads.eq(start | (reads & ~last)),
            phase.eq(Mux(reads & ~last, phase + 1, 0)),
            valid.eq((valid & ~taken) | self._done),
        ]
        with m.If(self._done):
            m.d.sync += reading.eq(next_count(reading, plan.places))
        # out of memory in one cycle, into a register in the next, and then: whose is it?
        out, there = Signal.like(phase, name="phase_read"), Signal(name="phase_there")
        came = [Signal(name=f"came_{at}", attrs=NOT_SHARED) for at in range(every)]
        m.d.sync += [out.eq(phase), there.eq(reads)]
        m.d.sync += [own.eq(there & (out == at)) for at, own in enumerate(came)]
        m.d.comb += self._done.eq(came[-1])
        address = Cat(self._phase(phase), reading)

        values: dict[Node, Value] = {}
        for (datapath, written), words in plan.results.items():
            bits = [self.hardware.at(node, written) for node in words]
            read = self._memory(datapath, written, Cat(bits), address)
            start_bit = 0
            for node, value in zip(words, bits, strict=True):
                own = read[start_bit : start_bit + len(value)]
                start_bit += len(value)
                for at, whole in words[node].items():
                    register = Signal(signed(len(value)), name=f"result_{whole.index}")
                    with m.If(came[at]):
                        m.d.sync += register.eq(own)
                    values[whole] = register
        return values, self._flag(came, address)

    def _flag(self, came: list[Signal], address: Value) -> Value | None:
        """Whether a visit of the task overflowed."""
        m, plan = self.m, self.plan
        if not plan.checks:
            return None
        seen: list[Signal] = []  # by datapath
        for datapath, checks in plan.checks.items():
            read = self._memory(
                datapath, flag_time(checks), self.hardware.flag(checks), address, "flag"
            )
            phases = {
                at % plan.rounds
                for visit, at in plan.at.items()
                if plan.datapath[visit] == datapath
            }
            here = Cat(came[at] for at in sorted(phases)).any()
            flag = Signal(name=f"result_flag_{datapath.name}")
            m.d.sync += flag.eq((read[0] & here) | (flag & ~came[0]))
            seen.append(flag)
        return Cat(seen).any()

    def _memory(
        self, datapath: Datapath, written: int, value: Value, address: Value, name: str = "results"
    ) -> Signal:
        """A datapath's words of its visits' cycle ``written``, as read two cycles ago."""
        m, plan, rounds = self.m, self.plan, self.rounds
        name = f"{name}_{datapath.name}_{written}"
        ram = BlockRam(len(value), plan.places << len(self._phase(rounds.turn)))
        self.made.rams.append(ram)
        # whose it is and where it goes is found out in the two cycles before it comes
        behind, cycle = divmod(written - 2, rounds.cycles)
        write, number = Signal(name=f"{name}_write"), Signal.like(self.number, name=f"{name}_task")
        phase = Signal.like(rounds.turn, name=f"{name}_phase")
        turn, now = rounds.turn_for(plan.rounds), rounds.at(cycle)
        writes: list[Value] = []
        places: list[Value] = []
        for k, visit in enumerate(self._visits(datapath)):
            at = plan.at[visit]
            whose = Signal(name=f"{name}_whose_{k}")
            m.d.sync += whose.eq(now & (turn == (at + behind) % plan.rounds))
            present, own = self._task(plan.offset(visit, written - 1))
            writes.append(whose & present)
            place = Cat(Const(at % plan.rounds, len(phase)), own)
            places.append(place & whose.replicate(len(place)))
        m.d.sync += [
            write.eq(Cat(writes).any()),
            Cat(phase, number).eq(reduce(or_, places)),
        ]
        q = Signal(len(value), name=f"{name}_q")
        m.submodules[name] = ram.instance(
            write=write,
            write_address=Cat(self._phase(phase), number),
            data=value,
            read_address=address,
            q=q,
        )
        read = Signal(len(value), name=f"{name}_read", reset_less=True)
        m.d.sync += read.eq(q)
        return read

    def _visits(self, datapath: Datapath) -> list[Visit]:
        return [visit for visit, own in self.plan.datapath.items() if own == datapath]

    def _task(self, cycle: int) -> tuple[Signal, Signal]:
        """Whether there is a task of which this is such a cycle, and its number."""
        return self._entered[(cycle - 1) // self.plan.interval]

    def _is(self, cycle: int) -> Value:
        """Whether this is such a cycle of some task, or of none in its place."""
        behind, phase = divmod(cycle, self.rounds.cycles)
        return self.rounds.at(phase) & (self.rounds.turn == behind % self.plan.rounds)

    def _phase(self, phase: Signal) -> Value:
        """The bits of an address that say which phase."""
        return phase if self.plan.rounds > 1 else Const(0, 0)
