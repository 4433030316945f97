"""Results of time-multiplexed joints, and the counters of cycles and rounds that they go by.

They are kept apart by datapath, and put together when all of a task is there.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from ..graph.node import Node
from ..graph.visits import Visit
from ..schedule.fold import flag_time
from ..schedule.round_plan import SETTLING, RoundPlan
from ..schedule.specialise import Datapath
from .arithmetic import NOT_SHARED, Copies, Phases, copy_for, later, next_count
from .delay_line import BlockRam
from .folded import FLAGS, RESULT, RESULTS, FoldHardware
from .function_units import PlacedUnit
from .separate_module import Parts

TURNED = 60  # loads of one copy of the round's number, or of a task's first cycle
FOLLOWING = 12  # copies that follow one relay
AHEAD = 2  # cycles from the counters to the copies


class Rounds:
    """Counts cycles, rounds, and the tasks' turns of ``plan.rounds`` rounds each.

    What users get are copies, registers behind relays, which are registers that follow counters
    two cycles ahead: a clock has the time for one wire across a part, and none for logic besides.
    Copies need no reset: they are right when the first task is taken. If they rest (``rests``), it
    is the cycles that stand still, and so the counters do; copies of these are right again when
    `SETTLING` cycles have passed.
    """

    def __init__(self, m: Module, plan: RoundPlan, rests: bool) -> None:
        self._m, self.plan, self._rests = m, plan, rests
        self.cycles = plan.template.interval
        self.phases = Phases(m, self.cycles, rests)
        self.ends: Value = self._ends(0)
        origins = [own for phases in plan.origins.values() for own in phases.values()]
        deepest = max((ago for x, ago in origins if not isinstance(x, float)), default=1)
        self._bits = max(deepest.bit_length(), 1)
        every, begin, ends = plan.rounds, self._beginning(AHEAD), self._ends(AHEAD)
        turns = range(max(every, 2))
        turn = Signal(turns, name="turns", init=begin["turn"], attrs=NOT_SHARED)
        count = Signal(self._bits, name="rounds", init=begin["round"], attrs=NOT_SHARED)
        first = Signal(name="firsts", init=begin["first"], attrs=NOT_SHARED)
        m.d.sync += first.eq(ends & (turn == every - 1))
        with m.If(ends):
            m.d.sync += [turn.eq(next_count(turn, every)), count.eq(count + 1)]
        self._counters = {"turn": turn, "round": count, "first": first}
        self._relays: Copies[str, Signal] = {}
        self._shared: Copies[str, Signal] = {}
        self._made = 0
        self.turn = Signal(turns, name="turn")  # what takes tasks goes by it, from the reset on
        with m.If(self.ends):
            m.d.sync += self.turn.eq(next_count(self.turn, every))

    def _ends(self, ahead: int) -> Value:
        """Whether a round ends in so many cycles."""
        return self.phases.copy([-1 - ahead])

    def before_task(self, fire: Value, wanted: Value) -> Value:
        """Whether a task can be taken in the next cycle; ``fire``: one is taken in this one.

        Where they rest, it is until a task is ``wanted``.
        """
        plan = self.plan
        last = self.ends & (self.turn == plan.rounds - 1)
        if not self._rests:
            return last
        turn, phase = divmod(-plan.waking, self.cycles)
        pause = self.phases.copy([phase]) & (self.turn == turn % plan.rounds)
        rounds = -(-(plan.latency + RESULT) // plan.interval)
        return self.phases.rest(last, pause, fire, wanted, rounds, SETTLING + 2)

    def copy(self, of: str) -> Signal:
        """A register of the caller's own: ``turn``, the round modulo ``plan.rounds``; ``round``,
        its number; or ``first``, whether it is a task's first cycle."""
        counter = self._counters[of]
        relay = copy_for(
            self._relays, of, 1, FOLLOWING, lambda: self._following(of, counter, AHEAD - 1)
        )
        return self._following(of, relay, 0)

    def _beginning(self, cycle: int) -> dict[str, int]:
        """The counters in such a cycle after the reset."""
        rounds, first = cycle // self.cycles, cycle % self.plan.interval == 0
        count = rounds % (1 << self._bits)
        return {"turn": rounds % self.plan.rounds, "round": count, "first": int(first)}

    def _following(self, of: str, before: Signal, ahead: int) -> Signal:
        """A register that follows another, and in the beginning has what it would have then."""
        name, init = f"{of}_{self._made}", self._beginning(ahead)[of]
        self._made += 1
        register = Signal.like(before, name=name, init=init, reset_less=True, attrs=NOT_SHARED)
        self._m.d.sync += register.eq(before)
        return register

    def turn_for(self, loads: int) -> Signal:
        """A copy of ``turn``, shared by users with so many loads each."""
        return copy_for(self._shared, "turn", loads, TURNED, lambda: self.copy("turn"))

    def first_for(self, loads: int) -> Signal:
        """A copy of ``first``, shared by users with so many loads each."""
        return copy_for(self._shared, "first", loads, TURNED, lambda: self.copy("first"))

    def at(self, phase: int) -> Value:
        """Whether this is a round's cycle ``phase``."""
        return self.phases.bit(phase, 1)


WAITING = 2  # phases whose words wait until it is known that the result before was taken
READS = 8  # memories that one copy of an address reaches


class RoundResults:
    """Memories of what the datapaths give, and the registers in which a result waits to be taken.

    A task has a number, one of ``plan.places``; what a visit gives lies under its task's number
    and its phase. When the last of a task is there, its phases are read one after the other.
    """

    def __init__(
        self,
        parts: Parts,
        plan: RoundPlan,
        rounds: Rounds,
        hardware: FoldHardware,
        made: list[PlacedUnit],
    ) -> None:
        self.plan, self.rounds, self.hardware, self.made = plan, rounds, hardware, made
        self.parts, self.m = parts, parts[RESULTS]
        self.number = Signal(range(plan.places), name="task_number")
        self._free = Signal(range(plan.places + 1), name="places", init=plan.places)
        # whether a task was taken so many intervals ago, and its number
        self._entered: list[tuple[Signal, Signal]] = []
        self._done = Signal(name="gathered")
        self._every = plan.phases
        self._stop, self._go = Signal(name="gather_stop"), Signal(name="gather_go")
        # the phase that comes out of memory, and which one is in registers
        self._there = Signal(name="there")
        self._out = Signal(range(self._every), name="out", reset_less=True)
        self._came = [Signal(name=f"came_{at}", attrs=NOT_SHARED) for at in range(self._every)]
        self._copies: Copies[int, Signal] = {}
        self._reads: Copies[None, Value] = {}

    @property
    def room(self) -> Value:
        """Whether another task may be taken in the next cycle."""
        room = Signal(name="room")
        self.m.d.comb += room.eq(self._free.any())
        return room

    def follow(self, fire: Value) -> None:
        """Count the tasks that are taken, and keep their numbers while they are under way."""
        m, plan, rounds = self.m, self.plan, self.rounds
        taken = Signal(name="task_taken")
        m.d.comb += taken.eq(fire)
        m.d.sync += self._free.eq(self._free + self._done - taken)
        with m.If(taken):
            m.d.sync += self.number.eq(next_count(self.number, plan.places))
        present, number = taken, self.number
        for k in range(plan.complete // plan.interval + 1):
            of = Signal.like(number, name=f"number_{k}", reset_less=True)
            entered = Signal(name=f"entered_{k}"), of
            with m.If(rounds.first_for(1 + len(number))):
                m.d.sync += [entered[0].eq(present), entered[1].eq(number)]
            self._entered.append(entered)
            present, number = entered

    def gather(self, valid: Signal, taken: Value) -> tuple[dict[Node, Value], Value | None]:
        """A result's words, by node, and whether anything in it overflowed, while it is valid."""
        read = self._read(valid, taken)
        return self._words(read), self._flag(read)

    def _read(self, valid: Signal, taken: Value) -> Value:
        """The reads, phase by phase, task after task without a pause: whether, and the address.

        The first words of a result come when the one before is there for the last time. Those of
        two phases wait until it is known that it was taken. If not, they are read again.
        """
        m, plan, every, came, stop = self.m, self.plan, self._every, self._came, self._stop
        complete, waiting = Signal(name="complete"), Signal(range(plan.places + 1), name="waiting")
        reads, phase = Signal(name="reads"), Signal(range(every), name="gather_phase")
        reading = Signal(range(plan.places), name="reading")  # the task that is read
        following = Signal(range(plan.places), name="following")  # the task whose result is next
        begun = Signal(range(plan.places + 1), name="begun")  # tasks from there on that are read
        start, last, again = (Signal(name=f"gather_{of}") for of in ("start", "last", "again"))
        m.d.comb += [
            complete.eq(self._is(plan.complete + 1) & self._task(plan.complete + 1)[0]),
            last.eq(reads & (phase == every - 1)),
            start.eq(waiting.any() & (~reads | last) & ~stop),
            again.eq(came[0] & valid & ~taken),
            self._done.eq(came[-1]),
        ]
        m.d.sync += [
            stop.eq(again),
            self._go.eq(came[0] & ~again),
            waiting.eq(waiting + complete - start + Mux(stop, begun, 0)),
            begun.eq(Mux(stop, 0, begun + start - self._done)),
            reads.eq((start | (reads & ~last)) & ~stop),
            phase.eq(Mux(reads & ~last & ~stop, phase + 1, 0)),
            valid.eq((valid & ~taken) | self._done),
        ]
        with m.If(stop):
            m.d.sync += reading.eq(following)
        with m.Elif(last):
            m.d.sync += reading.eq(next_count(reading, plan.places))
        with m.If(self._done):
            m.d.sync += following.eq(next_count(following, plan.places))
        # the address in one cycle, out of memory in the next, then a register, and: whose is it?
        read, then = Signal(name="read"), Signal.like(phase, name="then", reset_less=True)
        m.d.sync += [read.eq(reads & ~stop), then.eq(phase)]
        m.d.sync += [self._there.eq(read & ~stop), self._out.eq(then)]
        m.d.sync += [own.eq(self._coming(at)) for at, own in enumerate(came)]
        return Cat(reads, self._phase(phase), reading)

    def _coming(self, at: int) -> Value:
        """Whether words of a phase are in registers in the next cycle."""
        coming = self._there & (self._out == at)
        return coming & ~self._stop if at == WAITING else coming

    def _kept(self, at: int, loads: int) -> Signal:
        """A register that is set when words of a phase join the result, for so many more."""

        def new() -> Signal:
            copy = Signal(name=f"kept_{at}", reset_less=True, attrs=NOT_SHARED)
            self.m.d.sync += copy.eq(self._go if at < WAITING else self._coming(at))
            return copy

        return copy_for(self._copies, at, loads, TURNED, new)

    def _later(self, read: Value) -> Value:
        """A read a cycle later, for one more memory."""
        return copy_for(self._reads, None, 1, READS, lambda: later(self.m, read, attrs=NOT_SHARED))

    def _words(self, read: Value) -> dict[Node, Value]:
        """The words of a result, by node."""
        m, values = self.m, dict[Node, Value]()
        for (datapath, written), words in self.plan.results.items():
            bits = [self.hardware.at(node, written) for node in words]
            word = self._memory(datapath, written, Cat(bits), self._later(read))
            start_bit = 0
            for node, value in zip(words, bits, strict=True):
                own = word[start_bit : start_bit + len(value)]
                start_bit += len(value)
                for at, whole in words[node].items():
                    name = f"result_{whole.index}"
                    register = Signal(signed(len(value)), name=name, reset_less=True)
                    waited = later(m, own, max(WAITING - at, 0))
                    with m.If(self._kept(at, len(value))):
                        m.d.sync += register.eq(waited)
                    values[whole] = register
        return values

    def _flag(self, read: Value) -> Value | None:
        """Whether a visit of the task overflowed; read a cycle before its words."""
        m, plan, came = self.m, self.plan, self._came
        if not plan.checks:
            return None
        seen: list[Signal] = []  # by datapath, of the phases that have come
        for datapath, checks in plan.checks.items():
            name = datapath.name
            of = self.hardware.flag(checks, f"{name}_{FLAGS}")
            found = self._memory(datapath, flag_time(checks), of, read, "flag")
            phases = {
                at % plan.rounds
                for visit, at in plan.at.items()
                if plan.datapath[visit] == datapath
            }
            hit, flag, now = (
                Signal(name=f"{own}_{name}", reset_less=True) for own in ("hit", "flag", "now")
            )
            here = self._there & Cat(self._out == at for at in sorted(phases)).any()
            m.d.sync += [hit.eq(found[0] & here), flag.eq(now)]
            m.d.comb += now.eq(hit | (flag & ~came[0]))
            seen.append(now)
        result = Signal(name="result_flag", reset_less=True)
        with m.If(self._done):
            m.d.sync += result.eq(Cat(seen).any())
        return result

    def _memory(
        self, datapath: Datapath, written: int, value: Value, reading: Value, name: str = "results"
    ) -> Signal:
        """A datapath's words of its visits' cycle ``written``, as read two cycles ago."""
        plan, rounds = self.plan, self.rounds
        name = f"{datapath.name}_{name}_{written}"
        m = self.parts[name]
        ram = BlockRam(len(value), plan.places << len(self._phase(rounds.turn)))
        self.made.append(ram)
        # whose it is and where it goes is found out in the two cycles before it comes
        behind, cycle = divmod(written - 2, rounds.cycles)
        write = Signal(name=f"{name}_write", reset_less=True)
        number = Signal.like(self.number, name=f"{name}_task", reset_less=True)
        phase = Signal(self.rounds.turn.shape(), name=f"{name}_phase", reset_less=True)
        turn, now = rounds.turn_for(plan.rounds), rounds.at(cycle)
        writes: list[Value] = []
        places: list[Value] = []
        for k, visit in enumerate(self._visits(datapath)):
            at = plan.at[visit]
            whose = Signal(name=f"{name}_whose_{k}", reset_less=True)
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
            read=reading[0],
            read_address=reading[1:],
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
        return phase[: (self.plan.rounds - 1).bit_length()]
