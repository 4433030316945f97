"""Designs beside those of the peers: figures, how many times better, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rbdgen.draw.clocks import of_model
from rbdgen.draw.tables import table
from rbdgen.system.records import Record

from .peers import NOTES, Line, Ours, Theirs
from .side_by_side import SideBySide
from .side_by_side import as_text as side_text


@dataclass(frozen=True)
class Compared(Record):
    """Designs of a robot's functions; ``cpu_ns``: Pinocchio's times, ``no_slow``: why there is none
    at RoboShape's clock, empty if there is; ``side``: they and a CPU at the same boundaries."""

    robot: str
    functions: tuple[str, ...]
    target: str
    angles: str
    gravity: tuple[float, ...]
    ours: tuple[Ours, ...]
    peers: tuple[Theirs, ...]
    cpu_ns: Mapping[str, float]
    no_slow: str
    side: SideBySide


HEAD = ("design", "latency", "II", "MHz", "µs", "DSP", "per clock", "per clock and 1000 DSP")


RELATIVE = {
    "evaluations_per_clock": "per clock",
    "evaluations_per_clock_and_dsp": "per clock and DSP",
    "latency": "fewer cycles",
}


def as_text(report: Compared) -> str:
    """The table, another of how many times better ours are, and footnotes."""
    functions = ", ".join(report.functions)
    gravity = "gravity" if any(report.gravity) else "no gravity"
    sines = "sines given" if report.angles == "sincos" else "sines made on the chip"
    given = ", M⁻¹ given" if "difd" in report.functions else ""
    ours = f"ours for {report.target}"
    parts = [f"{report.robot}: {functions}; {sines}{given}, {gravity}; {ours}", ""]
    rows = [
        [
            line.name,
            line.latency,
            _range(line.interval),
            *_times(line),
            line.dsp or "-",
            _figure(line.evaluations_per_clock),
            _figure(line.evaluations_per_clock_and_dsp, 1e3),
        ]
        for line in (*report.ours, *report.peers)
    ]
    parts += [table(HEAD, rows), ""]
    times = [
        (peer.name, key)
        for peer in report.peers
        for key in RELATIVE
        if any(getattr(line.relative[peer.name], key) for line in report.ours)
    ]
    if times:
        head = ["times", *(f"{name}, {RELATIVE[key]}" for name, key in times)]
        rows = [
            [line.name, *(_figure(getattr(line.relative[name], key)) for name, key in times)]
            for line in report.ours
        ]
        parts += [table(head, rows), ""]
    return "\n".join([*parts, side_text(report.side), "", *_notes(report)])


def _times(line: Line) -> tuple[str, str]:
    """MHz, and µs of a task in the core; of an estimated clock as ranges."""
    own = line.estimated
    if own is None:
        return _figure(line.clock), _figure(line.latency_us)
    return str(own.mhz), str(own.us(line.latency))


def _range(interval: tuple[float, float] | None) -> str:
    return " to ".join(f"{k:g}" for k in dict.fromkeys(interval)) if interval else "-"


def _figure(value: float | None, times: float = 1.0) -> str:
    return "-" if value is None else f"{value * times:.3g}"


def _notes(report: Compared) -> list[str]:
    ours, peers = report.ours, report.peers
    notes = []
    if any(line.estimated for line in ours):
        notes.append(
            f"~: estimated before place and route, {of_model(report.target)}; µs of a core that "
            "waits for a task, from its first word to its result."
        )
    else:
        notes.append(
            "MHz: - where it is not known: no open tool places and routes for an XCVU9P. With "
            "--design DIR, the clock of a design of ours that was placed and routed."
        )
    if any(line.clock_of == "scheduled for" for line in ours):
        notes.append(
            "--clock 18: scheduled for RoboShape's clock, by delays measured on an ECP5, which is "
            "slower; not placed and routed. Other cycles are of faster clocks."
        )
    if report.no_slow:
        notes.append(report.no_slow)
    if not peers:
        functions = ", ".join(report.functions)
        notes.append(f"Of {report.robot}: {functions}, no hardware of others is known here.")
    for peer in peers:
        note = f" {peer.note[0].upper()}{peer.note[1:]}." if peer.note else ""
        notes.append(f"{peer.name}: {peer.source}.{note}")
    notes += NOTES
    for name, time in report.cpu_ns.items():
        notes.append(
            f"Pinocchio 4.1, {name} on one core (with gravity, sines included): {time:g} ns, "
            f"{1e3 / time:.3g} M/s."
        )
    return notes
