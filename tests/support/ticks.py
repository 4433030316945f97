"""A controller with ticks in random traffic: stalls, late, torn and wrong commands, lost states.

What it should do in every cycle is the integer model's; what happens when is drawn from a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, NamedTuple

import numpy as np

from rbdgen.graph.fixed import Format
from rbdgen.shell.tick_model import TickedModel, Ticks
from rbdgen.tools.cycles import CycleSession, packed

Core = Callable[[list[dict[str, int]]], tuple[list[dict[str, int]], list[bool]]]
MEASURED, COMMANDED, DUE, GIVEN, DISABLED = range(5)  # their order in a cycle
BEATS, STATE, SYNC, OFF = range(5, 9)  # what input ports have
CHUNK = 8192  # cycles


class Event(NamedTuple):
    """What happens in a cycle, or from when on input ports have what they have."""

    cycle: int
    kind: int
    what: Any = None


def widths(words: Mapping[str, Format]) -> list[int]:
    return [own.width for own in words.values()]


def limits(words: Mapping[str, Format]) -> list[int]:
    """The highest word of each format."""
    return [own.highest for own in words.values()]


class Traffic:
    """What comes in; ``busy``: cycles in which a tick is under way, at most."""

    def __init__(self, ticks: Ticks, busy: int, seed: int) -> None:
        self.ticks, self.busy, self.rng = ticks, busy, Random(seed)
        self.sources = [self._due(), self._states(), self._commands(), self._enabled()]
        self.heads = [next(own) for own in self.sources]
        self.beats: list[tuple[int, int, bool]] = []  # of packets, still to come
        self.off = 0  # no enable before this cycle

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
                yield Event(early, SYNC)
                yield Event(early, DUE, False)
                due = early + every
            if rng.random() < 0.3:
                due = rng.randrange(free, due + 1)
                yield Event(due, SYNC)

    def _states(self) -> Iterator[Event]:
        rng, at = self.rng, 0
        bits, highest = widths(self.ticks.state), limits(self.ticks.state)
        while True:
            far = 4.0 if rng.random() < 0.02 else 0.8
            at += 1 + int(far * self.ticks.cycles * rng.random())
            words = self._words(highest)
            yield Event(at, STATE, packed(zip(words, bits, strict=True)))
            yield Event(at, MEASURED, words)

    def _commands(self) -> Iterator[Event]:
        rng, at, every = self.rng, 0, self.ticks.cycles
        most, before = limits(self.ticks.command), list[Event]()
        while True:
            at += rng.randrange(6 * every if rng.random() < 0.05 else every // 2)
            words, beats, ends = self._packet(), list[tuple[int, int, bool]](), []
            for k, word in enumerate(words):
                at += 1 + (rng.randrange(5) if rng.random() < 0.2 else 0)
                last = k == len(words) - 1
                beats.append((at, word & 0xFFFFFFFF, last))
                if k < len(most) and not -most[k] - 1 <= word <= most[k]:
                    ends.append(at + 1)  # it is refused here
                elif k == len(most) - 1 or last:
                    ends.append(at + 1 + (k == len(most) - 1 and last))
            # the packet before may be taken after this one has begun
            yield from sorted([*before, Event(beats[0][0], BEATS, beats)])
            before = [Event(ends[0], COMMANDED, words)]

    def _packet(self) -> list[int]:
        rng, words = self.rng, self._words(limits(self.ticks.command))
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
            until = at + rng.randrange(1, 2 * every)
            yield Event(at, OFF, until)
            at = until + rng.randrange(1, 60 * every)

    def _words(self, highest: list[int]) -> list[int]:
        most = 1.0 if self.rng.random() < 0.05 else 0.3
        uniform = self.rng.uniform
        return [int(most * uniform(-own, own)) for own in highest]


@dataclass
class Compared:
    """What was compared: ticks, those under the safe law, and how often each cause tripped."""

    ticks: int = 0
    safe: int = 0
    trips: list[int] = field(default_factory=lambda: [0] * 4)


@dataclass
class Played:
    """What a model did: its tasks, and what its outputs were from which cycle on.

    ``shown``: what the efforts are, the number of a result or 0.
    """

    model: TickedModel
    seen: Compared
    tasks: list[dict[str, int]] = field(default_factory=list)
    cycles: list[int] = field(default_factory=list)
    registers: list[tuple[int, ...]] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)

    def note(self, cycle: int) -> None:
        model = self.model
        self.cycles.append(cycle)
        self.registers.append((model.on, int(model.trip), model.age, model.refused))
        self.shown.append(next(iter(model.efforts.values())))


def compare(
    session: CycleSession, model: TickedModel, traffic: Traffic, core: Core, ticks: int
) -> Compared:
    """Run so many ticks, and compare every output in every cycle; AssertionError."""
    seen, at, begins, number = Compared(), session.outputs, 0, 0
    carried, under_way = list[Event](), list[tuple[dict[str, int], bool]]()
    bits = widths(model.ticks.results)
    efforts = {0: packed((0, own) for own in bits)}  # by the number of a result
    while seen.ticks < ticks:
        rows, drawn = _inputs(session, traffic, begins)
        found = session.run(rows)
        given = np.flatnonzero(found[:, at["efforts_valid"].start])
        events = [*carried, *drawn, *(Event(int(k) - 1, GIVEN) for k in given)]
        events.sort(key=lambda own: own[:2])
        now = [own for own in events if own.cycle < CHUNK - 1]
        carried = [Event(k - CHUNK, kind, what) for k, kind, what in events[len(now) :]]
        # An overflow trips, which the tasks behind it follow from. What the hardware shows of
        # overflows is a first guess; flags count once the core has them of these very tasks.
        dark = (found[given, at["efforts"]] == 0).all(axis=1) & found[given, at["on"].start] > 0
        before = [overflow for _, overflow in under_way]
        flags = dark[len(before) :].tolist()
        while True:
            played = _played(model, seen, now, [*before, *flags], number)
            words, overflows = core(played.tasks)
            flags += [False] * (len(overflows) - len(flags))
            if overflows == flags:
                break
            flags = overflows
        under_way += zip(words, overflows, strict=True)
        for own, _ in under_way[: len(given)]:
            number += 1
            efforts[number] = packed(zip(own.values(), bits, strict=True))
        del under_way[: len(given)]
        model, seen = played.model, played.seen
        wanted = np.zeros_like(found)
        last = np.searchsorted(played.cycles, np.arange(CHUNK), "right") - 1
        columns = [at[name].start for name in ("on", "trip", "age", "refused")]
        wanted[:, columns] = np.array(played.registers)[last]
        wanted[:, at["efforts"]] = np.array([efforts[own] for own in played.shown])[last]
        wanted[:, at["s_axis_tready"].start] = 1
        wanted[[k for k, kind, what in drawn if kind == DUE and what[0]], at["tick"].start] = 1
        wanted[given, at["efforts_valid"].start] = 1
        bad = np.argwhere(found != wanted)
        assert not bad.size, f"cycle {begins + bad[0][0]}: {found[bad[0][0]]} {wanted[bad[0][0]]}"
        begins += CHUNK
    return seen


def _inputs(session: CycleSession, traffic: Traffic, begins: int) -> tuple[Any, list[Event]]:
    """What comes in the cycles of the next chunk, and what happens in them; ticks that are due
    with whether they are enabled then."""
    rows, at, drawn, end = session.rows(CHUNK), session.inputs, list[Event](), begins + CHUNK
    rows[max(0, traffic.off - begins) :, at["enable"]] = 1
    for cycle, kind, what in traffic.until(end):
        if kind == BEATS:
            traffic.beats += what
        elif kind == OFF:
            traffic.off = what
            rows[cycle - begins : what - begins, at["enable"]] = 0
        elif kind == STATE:
            rows[cycle - begins, at["state"]] = what
            rows[cycle - begins, at["state_valid"]] = 1
        elif kind == SYNC:
            rows[cycle - begins, at["sync"]] = 1
        else:
            drawn.append(Event(cycle - begins, kind, what))
    whole = [own for own in traffic.beats if own[0] < end]
    traffic.beats = traffic.beats[len(whole) :]
    cycles, words, lasts = (list(own) for own in zip(*whole, strict=True))
    for name, values in (("valid", [1] * len(whole)), ("data", words), ("last", lasts)):
        rows[np.array(cycles) - begins, at[f"s_axis_t{name}"].start] = values
    on = rows[:, at["enable"].start].tolist()
    return rows, [
        own._replace(what=(own.what, bool(on[own.cycle]))) if own.kind == DUE else own
        for own in drawn
    ]


def _played(
    model: TickedModel, seen: Compared, events: list[Event], flags: list[bool], number: int
) -> Played:
    """What happens to a model, of whose results those overflow that ``flags`` say."""
    played = Played(copy(model), replace(seen, trips=[*seen.trips]))
    model, seen = played.model, played.seen
    overflows = iter(flags)
    played.note(0)
    for cycle, kind, what in events:
        if kind == DUE:
            _due(played, *what)
        elif kind == GIVEN:
            number, tripped = number + 1, model.trip
            model.give(dict.fromkeys(model.ticks.results, number), next(overflows))
            seen.trips[3] += model.trip != tripped
        elif kind == MEASURED:
            model.measured(what)
        elif kind == COMMANDED:
            model.command(what)
        else:
            model.disable()
        played.note(cycle + 1)
    return played


def _due(played: Played, free: bool, enable: bool) -> None:
    """A tick is due; it begins where none is under way."""
    model, seen = played.model, played.seen
    before = model.trip if model.on else 0
    if free:
        played.tasks.append(model.tick(enable))
        seen.ticks += 1
        seen.safe += model.on and bool(model.trip)
    else:
        model.overrun()
    if model.on and (new := model.trip & ~before):
        seen.trips = [n + bool(new & 1 << bit) for bit, n in enumerate(seen.trips)]
