"""A controller with ticks in the loop: its commands may be lost, and its watchdog trips."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..design.manifest import HardwareManifest, TickFacts
from ..graph.fixed import Format
from ..robot.model import Array
from ..shell.tick_model import COMMANDED, TickedModel, Ticks, Trip
from ..system.quoting import Progress
from ..system.records import WORD_BITS, Record
from ..tasks.model import Specification
from ..tools.cycles import CycleSession, packed, unpacked
from ..tools.toolchain import SimulationError
from .arrays import completed
from .evaluation import as_numbers, to_words
from .folder import InputError
from .integer_model import IntegerModel
from .results import Mismatch

TAKEN = 2  # cycles from the last word of a command to the first tick that can take it
Law = Callable[[Mapping[str, Array]], Array]


@dataclass(frozen=True)
class Tripped(Record):
    """A trip of the watchdog at a time [s], its causes, and when it was enabled again, if ever."""

    at: float
    causes: tuple[str, ...]
    until: float | None = None

    def __str__(self) -> str:
        again = "" if self.until is None else f", enabled again at {self.until:.4f} s"
        return f"tripped at {self.at:.4f} s ({', '.join(self.causes)}){again}"


def tick_session(
    place: Path, entry: HardwareManifest, facts: TickFacts, seed: int, progress: Progress
) -> CycleSession:
    """The controller in a folder, Verilated; InputError where a tick has no time for a command."""
    if facts.cycles <= (most := _window(facts)):
        raise InputError(
            f"{place}: a tick of {facts.cycles} cycles has no time for the command before it; "
            f"generate it with --tick {most + 1} or more"
        )
    one = ("s_axis_tvalid", "s_axis_tlast", "state_valid", "sync", "enable")
    inputs = {"s_axis_tdata": WORD_BITS, "state": facts.state[-1].high + 1}
    outputs = {"efforts": facts.efforts[-1].high + 1, "age": (facts.watchdog + 1).bit_length()}
    return CycleSession(
        [place / f"{entry.name}.v", place / f"{facts.top}.v"],
        facts.top,
        inputs | dict.fromkeys(one, 1),
        outputs | {"trip": len(facts.trip), "on": 1, "efforts_valid": 1},
        seed,
        progress,
    )


@dataclass(frozen=True)
class _Tick:
    """A tick as it was driven, and what the hardware then had: efforts, on, trip, age."""

    command: list[int] | None
    state: list[int]
    enable: bool
    found: tuple[int, ...]


class TickedHardware:
    """A controller in Verilog: each call is a tick, which ``sync`` begins.

    ``lost``: ticks whose commands do not come. Once they come again after a trip, the controller is
    disabled for a tick, and enabled. ``cycles``: of each tick, to its efforts. ``on``, ``safe``: of
    each, known once they are compared.
    """

    def __init__(
        self,
        made: Specification,
        ticks: Ticks,
        facts: TickFacts,
        session: CycleSession,
        lost: range,
    ) -> None:
        self.made, self.ticks, self.session, self.lost = made, ticks, session, lost
        self.cycles: list[int] = []
        self.on: list[bool] = []
        self.safe: list[bool] = []
        self._window = _window(facts)
        self._ticks: list[_Tick] = []

    def __call__(self, state: Mapping[str, Array]) -> Array:
        """τ (nv,) of the arrays (nv,) of one tick; InputError where a word has no room for one."""
        one = {name: np.array(own)[None] for name, own in state.items()}
        words = to_words(self.made, completed(self.made.front.canonical, one))
        measured = [int(words[name][0]) for name in self.ticks.state]
        comes = len(self._ticks) not in self.lost
        command = [int(words[name][0]) for name in self.ticks.command] if comes else None
        on, trip = self._ticks[-1].found[-3:-1] if self._ticks else (0, 0)
        enable = not (on and trip and comes)
        found = self._drive(command, measured, enable)
        self._ticks.append(_Tick(command, measured, enable, found))
        named = {name: np.array([w]) for name, w in zip(self.ticks.results, found, strict=False)}
        return np.asarray(as_numbers(self.made, named, 1)["tau_c"][0])

    def _drive(self, command: list[int] | None, state: list[int], enable: bool) -> tuple[int, ...]:
        session, at = self.session, self.session.inputs
        rows, begins = session.rows(self._window), len(self.ticks.command) - 1 + TAKEN
        rows[:, at["enable"]] = enable
        if command:
            beats = slice(len(command))
            rows[beats, at["s_axis_tdata"]] = np.array(command, np.int64)[:, None] & 0xFFFFFFFF
            rows[beats, at["s_axis_tvalid"]] = 1
            rows[len(command) - 1, at["s_axis_tlast"]] = 1
        rows[begins, at["state"]] = packed(zip(state, _widths(self.ticks.state), strict=True))
        rows[begins, at["state_valid"]] = rows[begins, at["sync"]] = 1
        given = session.run(rows)
        out = session.outputs
        valid = np.flatnonzero(given[:, out["efforts_valid"].start])
        if len(valid) != 1:
            raise SimulationError(f"tick {len(self._ticks)}: {len(valid)} results, not one")
        self.cycles.append(int(valid[0]) - begins)
        efforts = unpacked(given[-1, out["efforts"]], _widths(self.ticks.results))
        return (*efforts, *(int(given[-1, out[name].start]) for name in ("on", "trip", "age")))

    def compare(self, integers: IntegerModel) -> int:
        """The number of ticks with an overflow; Mismatch for a bit that is not the model's."""
        names = list(self.made.fixed.inputs)
        flags: NDArray[np.bool_] = np.zeros(len(self._ticks), np.bool_)
        words = np.zeros((len(self._ticks), len(self.ticks.results)), np.int64)
        while True:  # an overflow trips, which the tasks behind it follow from
            tasks, _ = self._replay(words, flags)
            found, own = integers({name: tasks[:, k] for k, name in enumerate(names)})
            words, before = np.stack(list(found.values()), axis=1), flags
            flags = np.asarray(own.any(axis=1))
            if (before == flags).all():
                break
        _, wanted = self._replay(words, flags)
        bad = np.flatnonzero((wanted != [own.found for own in self._ticks]).any(axis=1))
        if bad.size:
            raise Mismatch(f"tick {bad[0]}: the hardware's bits are not the integer model's")
        return int(flags.sum())

    def _replay(
        self, words: NDArray[np.int64], flags: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The core's tasks (ticks, inputs) and what the hardware should have then (ticks, …)."""
        model, tasks, wanted = TickedModel(self.ticks), [], []
        self.on, self.safe = [], []
        for own, result, flag in zip(self._ticks, words.tolist(), flags, strict=True):
            if own.command:
                model.command(own.command)
            model.measured(own.state)
            task = model.tick(own.enable)
            self.on.append(model.on)
            self.safe.append(bool(model.trip))
            tasks.append([task[name] for name in self.made.fixed.inputs])
            efforts = model.give(dict(zip(self.ticks.results, result, strict=True)), bool(flag))
            wanted.append([*efforts.values(), model.on, model.trip, model.age])
        return np.array(tasks, np.int64), np.array(wanted, np.int64)

    def trips(self, period: float) -> tuple[Tripped, ...]:
        """The trips, with their times for ticks of a ``period`` [s]."""
        found: list[Tripped] = []
        down = [own.found[-2] if on else 0 for own, on in zip(self._ticks, self.on, strict=True)]
        for tick, (before, now) in enumerate(pairwise([0, *down])):
            if now and not before:
                causes = tuple(own.name.lower() for own in Trip if now & own and own.name)
                again = (k for k in range(tick, len(down)) if self.on[k] and not down[k])
                until = next(again, None)
                found.append(
                    Tripped(tick * period, causes, None if until is None else until * period)
                )
        return tuple(found)

    def like(self, law: Law) -> Law:
        """A law that does in each tick what the hardware did: it follows the last command that
        came, is safe, or is off."""
        ticks = iter(zip(self._ticks, self.on, self.safe, strict=True))
        last: dict[str, Array] = {}

        def same(state: Mapping[str, Array]) -> Array:
            own, on, safe = next(ticks)
            if own.command:
                last.update({name: value for name, value in state.items() if name in COMMANDED})
            calm = {"q_ref": state["q"], **dict.fromkeys(("qd_ref", "qdd_ref"), 0 * state["q"])}
            return law({**state, **last, **(calm if safe else {})}) * on

        return same


def _widths(words: Mapping[str, Format]) -> list[int]:
    return [own.width for own in words.values()]


def _window(facts: TickFacts) -> int:
    """Cycles of a tick in the loop: the command before it, and its efforts."""
    return len(facts.command) + TAKEN + facts.delay[-1] + 1
