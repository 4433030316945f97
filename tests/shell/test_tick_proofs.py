"""The watchdog of a controller, proved: it trips in the tick in which it must, and the safe law is
what the core computes then; a torn or wrong command is never taken; efforts are zero when disabled.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rbdgen.graph.fixed import Format
from rbdgen.shell.tick_model import Ticks, Trip
from rbdgen.shell.ticked_controller import TickedController
from tests.support.proofs import Proof, happens, holds, implies, mutant, prove, refuted

pytestmark = pytest.mark.synthesis

WORD = 4
STATE = {"q[0]": Format(3, 1), "qd[0]": Format(2, 0)}
COMMAND = {"qdd_ref[0]": Format(2, 0), "q_ref[0]": Format(3, 1), "qd_ref[0]": Format(3, 0)}
RESULT = {"tau_c[0]": Format(3, 0)}
SAFE: dict[str, int | str] = {"qdd_ref[0]": 0, "q_ref[0]": "q[0]", "qd_ref[0]": 0}
TICKS = Ticks(5, 1, STATE, COMMAND, RESULT, SAFE)
N = len(COMMAND)


def layout(words: dict[str, Format]) -> dict[str, Value]:
    return {name: signed(own.width) for name, own in words.items()}


class AnyLaw(wiring.Component):
    """A core that keeps to its contract: it gives a result of each task that it has taken, once."""

    def __init__(self) -> None:
        self.takes, self.gives = Signal(), Signal()
        task = data.StructLayout(layout({**STATE, **COMMAND}))
        result = data.StructLayout({**layout(RESULT), "overflow[0]": 1})
        self.result = Signal(result.size)
        super().__init__({"i": In(stream.Signature(task)), "o": Out(stream.Signature(result))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        inside = Signal()
        m.d.comb += [
            self.i.ready.eq(self.takes & ~inside),
            self.o.valid.eq(self.gives & inside),
            Value.cast(self.o.payload).eq(self.result),
        ]
        m.d.sync += inside.eq((self.i.valid & self.i.ready) | (inside & ~self.o.valid))
        return m


class TickProof(Proof):
    """The ports say when a command was good, how old it is, and whether a state has come."""

    def build(self, m: Module) -> None:
        part, core = self.part, self.part.core
        for name, member in part.signature.members.items():
            if member.flow is In:
                port = Value.cast(getattr(part, name))
                m.d.comb += port.eq(self.any(len(port), f"any_{name}"))
        m.d.comb += [
            core.takes.eq(self.any(1, "takes")),
            core.gives.eq(self.any(1, "gives")),
            core.result.eq(self.any(len(core.result), "result")),
        ]
        command, age, taken = self.commands(m)
        here, known, q, qd = self.states(m)
        self.time(m)

        # what a tick has to do, seen in the cycle after it
        on = part.enable & known
        late = (age > TICKS.watchdog) & ~taken
        trip = Mux(part.on, part.trip, 0) | Cat(late, ~here)
        safe = ~on | trip.any()
        after, safe_then, on_then, made = Signal(), Signal(), Signal(), Signal(4)
        trip_then = Signal(len(Trip))
        task_then = Signal(len(Value.cast(core.i.payload)))
        calm = Cat(q, Mux(here, qd, 0), 0, 0, q, 0, 0, 0)
        m.d.sync += [
            after.eq(part.tick),
            made.eq(Cat(part.tick, made)),
            safe_then.eq(safe),
            on_then.eq(on),
            trip_then.eq(Mux(on, trip, part.trip)),
        ]
        with m.If(part.tick):
            m.d.sync += task_then.eq(Mux(safe, calm, Cat(q, Mux(here, qd, 0), command)))
        task = Value.cast(core.i.payload)
        holds(m, implies(made[-1], core.i.valid) & implies(core.i.valid, task == task_then))
        holds(m, implies(after, (part.on == on_then) & (part.trip == trip_then)))
        holds(m, implies(after & on_then & trip_then.any(), safe_then))
        # a trip stays while it is on, and a tick under it is safe
        stays, before = Signal(), Signal(len(Trip))
        m.d.sync += [stays.eq(part.on & part.enable), before.eq(part.trip)]
        holds(m, implies(stays & part.on, (before & ~part.trip) == 0))
        # efforts: none where it is off, or where they overflowed
        efforts, gave = Value.cast(part.efforts), Signal()
        wanted = Signal(len(efforts))
        result, flag = core.result[: len(efforts)], core.result[-1]
        m.d.sync += [
            gave.eq(core.o.valid),
            wanted.eq(Mux(part.on & part.enable & ~flag, result, 0)),
        ]
        holds(m, implies(~part.on, efforts == 0) & implies(part.on, known))
        holds(m, implies(gave, efforts == wanted) & (part.efforts_valid == gave))
        happens(m, after & (trip_then == Trip.COMMAND) & on_then)
        happens(m, after & ~safe_then & (command != 0) & taken)

    def commands(self, m: Module) -> tuple[Value, Value, Value]:
        """The last good command, its age, and whether one is taken in this cycle."""
        part = self.part
        at, taken = Signal(range(N + 1)), Signal()  # N: it is no command
        widths = [word.width for word in COMMAND.values()]
        own = [Signal(width, name=f"own_{k}", reset_less=True) for k, width in enumerate(widths)]
        accept, last, word = Signal(), Signal(), Signal(signed(WORD))  # of the cycle before
        m.d.sync += [
            accept.eq(part.s_axis_tvalid & part.s_axis_tready),
            last.eq(part.s_axis_tlast),
            word.eq(part.s_axis_tdata),
        ]
        small = Signal()
        m.d.sync += taken.eq(accept & last & (at == N - 1) & small)
        for k, width in enumerate(widths):
            with m.If(at == k):
                m.d.comb += small.eq((word < (1 << width - 1)) & (word >= -(1 << width - 1)))
                with m.If(accept):
                    m.d.sync += own[k].eq(word)
        with m.If(accept):
            m.d.sync += at.eq(Mux(last, 0, Mux(small, at + 1, N)))
        self.checked(m, accept, last, word, at, small)
        command = Signal(sum(widths))
        age = Signal(range(TICKS.watchdog + 2), init=TICKS.watchdog + 1)
        with m.If(part.tick & (age <= TICKS.watchdog)):
            m.d.sync += age.eq(age + 1)
        with m.If(taken):
            m.d.sync += [command.eq(Cat(*own)), age.eq(part.tick)]
        # how the part's registers go with that
        holds(m, (at <= N) & (age == part.age))
        holds(m, part.s_axis_tready)
        holds(m, self.look("command", len(command)) == command)
        holds(m, self.look("gather.o__valid", 1) == taken)
        holds(m, implies(taken, at == 0))
        holds(m, self.look("gather.skipping", 1) == (at == N))
        holds(m, self.look("gather.count", range(N)) == Mux(at == N, 0, at))
        passing = [max(widths[: k + 1]) for k in range(N)]
        chain = [self.look(f"gather.beat_{k}", width) for k, width in enumerate(passing)]
        for came in (*range(1, N), N):
            there = taken if came == N else at == came
            words = zip(chain[N - came :], own, strict=False)
            same = (word[: len(held)] == held for word, held in words)
            holds(m, implies(there, Cat(*same).all()))
        return Mux(taken, Cat(*own), command), age, taken

    def checked(
        self, m: Module, accept: Value, last: Value, word: Value, at: Value, small: Value
    ) -> None:
        """How the registers that check a word go with what came in the cycle before."""
        place, (width, *widths) = Signal(range(N)), [own.width for own in COMMAND.values()]
        with m.If(self.part.s_axis_tvalid):
            ends = self.part.s_axis_tlast | (place == N - 1)
            m.d.sync += place.eq(Mux(ends, 0, place + 1))
        holds(m, implies(accept & last, place == 0))
        holds(m, implies(accept & ~last & (at < N), place == Mux(at == N - 1, 0, at + 1)))
        holds(m, implies(~accept & (at < N), place == at))
        holds(m, (place < N) & (self.look("check.count", range(N)) == place))
        for bits in {width, *widths}:
            of = Cat(own == bits for own in (width, *widths)).bit_select(place, 1)
            holds(m, self.look(f"check.is_i{bits}", 1) == of)
        holds(m, self.look("check.o__valid", 1) == accept)
        beat = self.look("check.o__payload", WORD + 2)
        holds(m, implies(accept, beat[: WORD + 1] == Cat(word, last)))
        holds(m, implies(accept & (at < N), beat[-1] == ~small))

    def states(self, m: Module) -> tuple[Value, Value, Value, Value]:
        """Whether a state is there for a tick, whether one has ever come; its q and q̇."""
        part, fresh, known = self.part, Signal(), Signal()
        state = Value.cast(part.state)
        kept = Signal(len(state))
        with m.If(part.state_valid):
            m.d.sync += [kept.eq(state), known.eq(1), fresh.eq(1)]
        with m.If(part.tick):
            m.d.sync += fresh.eq(0)
        holds(m, self.look("kept", len(kept)) == kept)
        holds(m, (self.look("fresh", 1) == fresh) & (self.look("known", 1) == known))
        now = Mux(part.state_valid, state, kept)
        here, width = fresh | part.state_valid, STATE["q[0]"].width
        return here, known | part.state_valid, now[:width], now[width:]

    def time(self, m: Module) -> None:
        """Ticks: with sync, and so many cycles after the last one was due."""
        part, since = self.part, Signal(range(TICKS.cycles))
        due = part.sync | (since == TICKS.cycles - 1)
        m.d.sync += since.eq(Mux(due, 0, since + 1))
        busy, waits = self.look("busy", 1), self.look("waits", 1)
        inside, steps = self.look("core.inside", 1), self.look("steps", 3)
        holds(m, since < TICKS.cycles)
        holds(m, self.look("left", range(TICKS.cycles)) == TICKS.cycles - 1 - since)
        holds(m, self.look("over", 1) == (since == TICKS.cycles - 1))
        holds(m, part.tick == (due & ~busy))
        holds(m, busy == (steps.any() | waits | inside))
        holds(m, sum(steps, waits + inside) < 2)
        holds(m, part.core.i.valid == waits)
        ran_over = Signal()
        m.d.sync += ran_over.eq(due & busy & part.on & part.enable)
        holds(m, implies(ran_over & part.on, (part.trip & Trip.OVERRUN) != 0))


def made(of: type = TickedController) -> Proof:
    return TickProof(of(AnyLaw(), TICKS, WORD))


def test_watchdog(tmp_path: Path) -> None:
    prove(made(), 6, tmp_path)


@pytest.mark.slow
def test_no_empty_proof(tmp_path: Path) -> None:
    prove(made(), 14, tmp_path, "cover")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.age > self.ticks.watchdog", "self.age > self.ticks.watchdog + 1"),
        ("~self.on | self.trip.any()", "~self.on"),
        (" & ~taken", ""),
        ("self.age.eq(begins)", "self.age.eq(1)"),
        ("check.o.p.shape()", "None"),
        ("old.eq(~here)", "old.eq(0)"),
        ("task[name].eq(calm)", "task[name].eq(task[name])"),
        ("steps[1] & (old", "steps[0] & (old"),
        ("over.eq(~due & (left == 1))", "over.eq(left == 1)"),
        ("fresh.eq(0)", "fresh.eq(fresh)"),
        ("self.on & ~flags.any()", "self.on"),
        ("[self.on.eq(0), self.efforts.eq(0)]", "[self.on.eq(0)]"),
        ("begins.eq(due & ~busy)", "begins.eq(due)"),
    ],
)
def test_a_controller_with_a_mistake_is_refuted(old: str, new: str, tmp_path: Path) -> None:
    assert refuted(made(mutant(TickedController, old, new)), 14, tmp_path)
