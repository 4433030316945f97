"""Ticks of a controller in integers: which command each takes, and when the watchdog trips.

`rbdgen.shell.ticked_controller` is the same as hardware; the two are equal in every bit. In each
tick the law of a core is given the state and a reference. That is the last good command, or the
safe law's:
the measured position itself, at rest. Then the errors of position are zero, and inverse dynamics at
-Kd q̇ (or at rest, and -Kd q̇ added) is gravity compensation with damping, by the same core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag

import numpy as np

from ..design.gains import Gains
from ..graph.fixed import FixedGraph, Format, convert
from ..graph.word import indices, kind_of, spell
from ..schedule.plan import Plan

MEASURED, COMMANDED = ("q", "qd"), ("q_ref", "qd_ref", "qdd_ref", "kp", "kd")


class Trip(IntFlag):
    """Causes of a trip, as bits of the port."""

    COMMAND = 1  # the last good command was too old
    STATE = 2  # no state had come since the tick before
    OVERRUN = 4  # a tick was due while the one before was under way
    OVERFLOW = 8  # an effort overflowed


@dataclass(frozen=True)
class Ticks:
    """A tick's words, and when it comes: every ``cycles``, or with the port ``sync``.

    A command is good for ``watchdog`` ticks after the first one that could take it. ``state``,
    ``command``, ``results``: words by name, in the order of the core's ports; ``safe``: a word of a
    command → that of the safe law, or the word of the state that it is.
    """

    cycles: int
    watchdog: int
    state: Mapping[str, Format]
    command: Mapping[str, Format]
    results: Mapping[str, Format]
    safe: Mapping[str, int | str]


def ticks_of(cycles: int, watchdog: int, gains: Gains, fixed: FixedGraph) -> Ticks:
    """The ticks of a law with a reference, whose graph is ``fixed``; KeyError for another graph."""
    state = {name: own for name, own in fixed.inputs.items() if kind_of(name) in MEASURED}
    command = {name: own for name, own in fixed.inputs.items() if name not in state}
    safe: dict[str, int | str] = {}
    for name, own in command.items():
        kind, (k,) = kind_of(name), indices(name)
        damping = int(own.quantize(float(gains.kd[k]))) if kind == "kd" else 0
        safe[name] = spell("q", k) if kind == "q_ref" else damping
    results = {name: fixed.formats[node] for name, node in fixed.graph.outputs.items()}
    return Ticks(cycles, watchdog, state, command, results, safe)


def slowest(plan: Plan) -> int:
    """The cycles from a tick to the first one in which the next may begin, at most."""
    return plan.latency + plan.waits + 5


@dataclass
class TickedModel:
    """A controller since its reset; calls are in the order of what happens. In a cycle a state
    and a command come before the tick, then a result, and `disable` last.

    ``on``: whether efforts may be other than zero; ``trip``: causes since it was enabled; ``age``:
    of the last good command, in ticks, one more than the watchdog where there is none.
    """

    ticks: Ticks
    on: bool = False
    trip: Trip = field(default_factory=lambda: Trip(0))
    refused: bool = False
    age: int = 0
    efforts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.age = self.ticks.watchdog + 1
        self.efforts = dict.fromkeys(self.ticks.results, 0)
        self._command = dict.fromkeys(self.ticks.command, 0)
        self._state = dict.fromkeys(self.ticks.state, 0)
        self._known = self._fresh = False
        self._limits = [(own.lowest, own.highest) for own in self.ticks.command.values()]

    def command(self, words: Sequence[int]) -> None:
        """A packet of signed words has come; one that is torn or does not fit is not taken."""
        good = len(words) == len(self._limits) and all(
            lowest <= word <= highest
            for word, (lowest, highest) in zip(words, self._limits, strict=True)
        )
        if good:
            self._command = dict(zip(self.ticks.command, words, strict=True))
            self.age = 0
        else:
            self.refused = True

    def measured(self, words: Sequence[int]) -> None:
        """A state has come, in the cycle of the next tick or before."""
        self._state = dict(zip(self.ticks.state, words, strict=True))
        self._known = self._fresh = True

    def disable(self) -> None:
        """The port ``enable`` is 0 in a cycle."""
        self.on = False
        self.efforts = dict.fromkeys(self.ticks.results, 0)

    def overrun(self) -> None:
        """A tick is due while the one before is under way."""
        if self.on:
            self.trip |= Trip.OVERRUN

    def tick(self, enable: bool) -> dict[str, int]:
        """A tick begins: the core's task."""
        if not enable:
            self.disable()
        ticks, here = self.ticks, self._fresh
        on = enable and self._known
        if on:
            cause = Trip.COMMAND * (self.age > ticks.watchdog) | Trip.STATE * (not here)
            self.trip = (self.trip if self.on else Trip(0)) | cause
        self.on, self._fresh = on, False
        self.age = min(self.age + 1, ticks.watchdog + 1)
        task = {n: w if here or kind_of(n) == "q" else 0 for n, w in self._state.items()}
        if on and not self.trip:
            return task | self._command
        return task | {name: self._safe(name) for name in ticks.command}

    def give(self, results: Mapping[str, int], overflow: bool) -> dict[str, int]:
        """The core's result of the tick has come: the efforts until the next."""
        wrong = self.on and overflow
        if wrong:
            self.trip |= Trip.OVERFLOW
        self.efforts = {name: word * (self.on and not wrong) for name, word in results.items()}
        return self.efforts

    def _safe(self, name: str) -> int:
        own, ticks = self.ticks.safe[name], self.ticks
        if not isinstance(own, str):
            return own
        word, of, to = self._state[own], ticks.state[own], ticks.command[name]
        return word if of == to else int(convert(np.array(word), of, to)[0])
