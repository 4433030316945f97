"""A controller with ticks in random traffic: stalls, late, torn and wrong commands, lost states.

What it should do in every cycle is the integer model's; what happens when is drawn from a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

import numpy as np

from rbdgen.graph.fixed import Format
from rbdgen.shell.tick_model import TickedModel, Ticks
from rbdgen.tools.cycles import CycleSession, packed

Core = Callable[[list[dict[str, int]]], tuple[list[dict[str, int]], list[bool]]]
MEASURED, DUE, GIVEN, DISABLED, COMMANDED, INPUT = range(6)  # their order in a cycle
CHUNK = 8192  # cycles


class Event(NamedTuple):
    """What happens in a cycle, or what an input port has then."""

    cycle: int
    kind: int
    what: Any = None


def widths(words: Mapping[str, Format]) -> list[int]:
    return [own.width for own in words.values()]


def beat(word: int, last: bool) -> dict[str, int]:
    """Inputs of a cycle in which a word of a command comes."""
    return {"s_axis_tvalid": 1, "s_axis_tdata": word & 0xFFFFFFFF, "s_axis_tlast": last}


class Traffic:
    """What comes in; ``busy``: cycles in which a tick is under way, at most."""

    def __init__(self, ticks: Ticks, busy: int, seed: int) -> None:
        self.ticks, self.busy, self.rng = ticks, busy, Random(seed)
        self.sources = [self._due(), self._states(), self._commands(), self._enabled()]
        self.heads = [next(own) for own in self.sources]

    def until(self, end: int) -> Iterator[Event]:
        """All events before a cycle, each once."""
        for k, own in enumerate(self.sources):
            while self.heads[k].cycle < end:
                yield self.heads[k]
                self.heads[k] = next(own)

    def _due(self) -> Iterator[Event]:
        rng, every = self.rng, self.ticks.cycles
        due = every - 1
        while True:
            yield Event(due, DUE, True)
            free, due = due + self.busy, due + every
            if rng.random() < 0.01:
                early = due - every + rng.randrange(1, 4)
                yield Event(early, INPUT, {"sync": 1})
                yield Event(early, DUE, False)
                due = early + every
            if rng.random() < 0.3:
                due = rng.randrange(free, due + 1)
                yield Event(due, INPUT, {"sync": 1})

    def _states(self) -> Iterator[Event]:
        rng, at = self.rng, 0
        bits = widths(self.ticks.state)
        while True:
            far = 4.0 if rng.random() < 0.02 else 0.8
            at += 1 + int(far * self.ticks.cycles * rng.random())
            words = self._words(self.ticks.state)
            port = packed(zip(words, bits, strict=True))
            yield Event(at, INPUT, {"state": port, "state_valid": 1})
            yield Event(at, MEASURED, words)

    def _commands(self) -> Iterator[Event]:
        rng, at, every = self.rng, 0, self.ticks.cycles
        while True:
            at += rng.randrange(6 * every if rng.random() < 0.05 else every // 2)
            words = self._packet()
            whole = len(words) == len(self.ticks.command)
            for k, word in enumerate(words):
                at += 1 + (rng.randrange(5) if rng.random() < 0.2 else 0)
                last = k == len(words) - 1
                yield Event(at, INPUT, beat(word, last))
                if k == len(self.ticks.command) - 1 or last:  # longer ones are refused here
                    yield Event(at + whole, COMMANDED, words)

    def _packet(self) -> list[int]:
        rng, words = self.rng, self._words(self.ticks.command)
        kind = rng.random()
        if kind < 0.05:
            return words[: rng.randrange(1, len(words))]
        if kind < 0.10:
            return words + words[: rng.randrange(1, len(words) + 1)]
        if kind < 0.15:
            formats = list(self.ticks.command.values())
            k = rng.choice([n for n, own in enumerate(formats) if own.width < 32])
            beyond = formats[k].highest + 1, formats[k].lowest - 1, 2**31 - 1, -(2**31)
            words[k] = rng.choice(beyond)
        return words

    def _enabled(self) -> Iterator[Event]:
        rng, at, every = self.rng, 0, self.ticks.cycles
        while True:
            yield Event(at, DISABLED)
            for _ in range(rng.randrange(1, 2 * every)):
                yield Event(at, INPUT, {"enable": 0})
                at += 1
            at += rng.randrange(1, 60 * every)

    def _words(self, of: Mapping[str, Format]) -> list[int]:
        most = 1.0 if self.rng.random() < 0.05 else 0.3
        return [int(most * self.rng.uniform(-own.highest, own.highest)) for own in of.values()]


@dataclass
class Compared:
    """What was compared: ticks, those under the safe law, and how often each cause tripped."""

    ticks: int = 0
    safe: int = 0
    trips: list[int] = field(default_factory=lambda: [0] * 4)


def compare(
    session: CycleSession, model: TickedModel, traffic: Traffic, core: Core, ticks: int
) -> Compared:
    """Run so many ticks, and compare every output in every cycle; AssertionError."""
    seen, results, at = Compared(), list[Any](), session.outputs
    carried: list[Event] = []
    row = np.zeros(max(own.stop for own in at.values()), np.uint32)
    registers = {name: at[name].start for name in ("on", "trip", "age", "refused")}
    row[at["s_axis_tready"].start], row[registers["age"]] = 1, model.age
    begins = 0
    while seen.ticks < ticks:
        rows = session.rows(CHUNK)
        rows[:, session.inputs["enable"]] = 1
        drawn = []
        for cycle, kind, what in traffic.until(begins + CHUNK):
            if kind == INPUT:
                for name, words in what.items():
                    rows[cycle - begins, session.inputs[name]] = words
            else:
                drawn.append(Event(cycle - begins, kind, what))
        found = session.run(rows)
        enabled = rows[:, session.inputs["enable"].start]
        events = [own for own in drawn if own.kind != DUE]
        due = [own for own in drawn if own.kind == DUE]
        events += [own._replace(what=(own.what, bool(enabled[own.cycle]))) for own in due]
        given = np.flatnonzero(found[:, at["efforts_valid"].start])
        events += [*carried, *(Event(int(k) - 1, GIVEN) for k in given)]
        events.sort(key=lambda own: own[:2])
        carried = [
            own._replace(cycle=own.cycle - CHUNK) for own in events if own.cycle >= CHUNK - 1
        ]
        now = [own for own in events if own.cycle < CHUNK - 1]
        before, flags = [own[1] for own in results], [False] * len(now)
        while True:  # an overflow trips, which the tasks behind it follow from
            tasks = list(_tasks(deepcopy(model), now, [*before, *flags]))
            words, overflows = core(tasks)
            if overflows == flags[: len(tasks)]:
                break
            flags[: len(tasks)] = overflows
        results += zip(words, overflows, strict=True)
        wanted, done = np.empty_like(found), 0
        for cycle, kind, what in now:
            if cycle + 1 > done:
                wanted[done : cycle + 1], done = row, cycle + 1
            if kind == DUE:
                _count(model, what, tasks, seen)
            elif kind == GIVEN:
                tripped = model.trip
                model.give(*results.pop(0))
                seen.trips[3] += model.trip != tripped
                _efforts(row, model, at)
            else:
                _happens(model, kind, what)
                if kind == DISABLED:
                    _efforts(row, model, at)
            for name, column in registers.items():
                row[column] = getattr(model, name)
        wanted[done:] = row
        for name, cycles in (
            ("tick", [own.cycle for own in due if own.what]),
            ("efforts_valid", given),
        ):
            wanted[cycles, at[name].start] = 1
        bad = np.argwhere(found != wanted)
        assert not bad.size, f"cycle {begins + bad[0][0]}: {found[bad[0][0]]} {wanted[bad[0][0]]}"
        begins += CHUNK
    return seen


def _tasks(model: TickedModel, events: list[Event], flags: list[bool]) -> Iterator[dict[str, int]]:
    """The core's tasks of the ticks among the events, if results overflow where ``flags`` say."""
    nothing = dict.fromkeys(model.ticks.results, 0)
    for _, kind, what in events:
        if kind == DUE and what[0]:
            yield model.tick(what[1])
        elif kind == DUE:
            model.overrun()
        elif kind == GIVEN:
            model.give(nothing, flags.pop(0))
        else:
            _happens(model, kind, what)


def _happens(model: TickedModel, kind: int, what: Any) -> None:
    if kind == MEASURED:
        model.measured(what)
    elif kind == COMMANDED:
        model.command(what)
    else:
        model.disable()


def _count(model: TickedModel, what: Any, tasks: list[Any], seen: Compared) -> None:
    """A tick that is due, whose task is the next of ``tasks``."""
    free, enable = what
    before = model.trip if model.on else 0
    if free:
        assert model.tick(enable) == tasks.pop(0)
        seen.ticks += 1
        seen.safe += model.on and bool(model.trip)
    else:
        model.overrun()
    new = model.trip & ~before if model.on else 0
    seen.trips = [n + bool(new & 1 << bit) for bit, n in enumerate(seen.trips)]


def _efforts(row: Any, model: TickedModel, at: Mapping[str, slice]) -> None:
    efforts = zip(model.efforts.values(), widths(model.ticks.results), strict=True)
    row[at["efforts"]] = packed(efforts)
