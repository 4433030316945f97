"""Our designs beside the peers': cycles, multipliers, evaluations for each clock and DSP."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..compile.flow import Front, compile_core, front_end
from ..design.loading import load, refuse_unknown
from ..draw.tables import table
from ..robot.model import RobotError
from .checked import checked_manifest
from .folder import OutputError, read_manifest
from .peers import CONVENTIONS, GRADIENTS, NOTES, PEERS, PINOCCHIO, ROBOSHAPE_CLOCK, Peer
from .results import Comparison

Progress = Callable[[str], None]
TARGET = "xcup"  # the part of RoboShape and Dadu-RBD, an XCVU9P
INTERVALS = (1, 8, 24)  # a task a clock; as often as Dadu-RBD; as often as RoboShape


@dataclass(frozen=True)
class Line:
    """A design: cycles of latency, cycles from task to task (least, most), MHz, DSP.

    None where nobody says; ``clock_of``: where the clock comes from.
    """

    name: str
    latency: int
    interval: tuple[float, float] | None
    clock: float | None
    clock_of: str
    dsp: int | None

    @property
    def per_clock(self) -> float | None:
        """Evaluations a clock, at best."""
        return 1 / self.interval[0] if self.interval else None

    @property
    def per_clock_and_dsp(self) -> float | None:
        """Evaluations a clock for each DSP, at best."""
        return self.per_clock / self.dsp if self.per_clock and self.dsp else None

    def to_json(self) -> dict[str, Any]:
        """The figures, and what follows from them: µs, million evaluations a second."""
        rate = self.per_clock * self.clock if self.per_clock and self.clock else None
        return {
            "name": self.name,
            "latency": self.latency,
            "interval": list(self.interval) if self.interval else None,
            "clock": self.clock,
            "clock_of": self.clock_of,
            "dsp": self.dsp,
            "evaluations_per_clock": self.per_clock,
            "evaluations_per_clock_and_dsp": self.per_clock_and_dsp,
            "latency_us": self.latency / self.clock if self.clock else None,
            "evaluations_per_us": rate,
        }


def compare(
    robot: str = "iiwa14",
    designs: Sequence[str | Path] = (),
    intervals: Sequence[int] = INTERVALS,
    progress: Progress = lambda _: None,
    trust: bool = False,
    **choices: Any,
) -> Comparison:
    """Our designs of ``robot``, compiled now, beside what the peers have of it.

    By default their function and conventions (``CONVENTIONS``) on their part; ``choices`` are
    fields of Design that win. Ours are a fold at each of ``intervals`` and the fewest cycles at
    RoboShape's clock. Our clock is known only of ``designs``: folders of ``generate`` that
    ``synthesize`` has placed and routed, their files as generated unless ``trust`` says to take
    them as they are. Returns the report; ``text`` is the table.

    Raises RobotError, InputError or OutputError, in one line.
    """
    refuse_unknown(choices, compare)
    asked = {key: value for key, value in choices.items() if value is not None}
    chosen = {"target": TARGET, **CONVENTIONS, **asked}
    chosen |= {"ii": 1, "fit": False}  # what is asked for, and nothing else
    design, loaded = load(robot, **chosen)
    name = loaded.name
    for folder in designs:
        checked_manifest(Path(folder), trust, progress)
    measured = [placed(Path(folder), name, design.functions) for folder in designs]
    front = front_end(robot, **chosen)
    lines: list[Line] = []
    for interval in intervals:
        progress(f"{robot}: interval {interval}")
        lines.append(_ours(f"II {interval}", front, {"ii": interval}))
    progress(f"{robot}: fewest cycles at RoboShape's clock")
    period = 1e3 / ROBOSHAPE_CLOCK
    asked_for = f"--style latency --clock {period:g}"
    no_slow = ""
    try:
        slow = _ours(asked_for, front, {"ii": None, "style": "latency", "clock": period})
        lines.append(replace(slow, clock=ROBOSHAPE_CLOCK, clock_of="scheduled for"))
    except RobotError as error:  # every product on its own may be more than the part has
        no_slow = f"{asked_for}: {error}"
    lines += measured
    known = [p for p in PEERS if p.robot == name and set(design.functions) <= set(GRADIENTS)]
    peers = [theirs(peer) for peer in known]
    report = {
        "robot": name,
        "functions": list(design.functions),
        "target": front.target.name,
        "angles": design.angles,
        "gravity": list(design.gravity),
        "ours": [{**line.to_json(), "relative": relative(line, peers)} for line in lines],
        "peers": [
            {**line.to_json(), "source": peer.source, "note": peer.note}
            for line, peer in zip(peers, known, strict=True)
        ],
        "cpu_ns": _cpu(name, design.functions),
        "no_slow": no_slow,
    }
    return Comparison(report | {"text": as_text(report)})


def _ours(name: str, front: Front, choices: dict[str, Any]) -> Line:
    """A design of ours, compiled now: as ``generate`` would make it."""
    core = compile_core(replace(front, design=replace(front.design, **choices)))
    plan, width = core.plan, core.fixed.width
    interval, named = (plan.interval, plan.interval), f"rbdgen, {width} bits, {name}"
    return Line(named, plan.latency, interval, None, "not placed and routed", plan.multipliers)


def theirs(peer: Peer) -> Line:
    """A peer as a line of the table."""
    return Line(peer.name, peer.latency, peer.interval, peer.clock, "its own", peer.dsp)


def placed(folder: Path, robot: str, functions: Sequence[str]) -> Line:
    """A design that was placed and routed, at the best clock of its reports.

    OutputError for one of another robot or function, or one that was not.
    """
    entry = read_manifest(folder)
    of = f"{entry['robot']}: {', '.join(entry['functions'])}"
    if entry["robot"] != robot or tuple(entry["functions"]) != tuple(functions):
        raise OutputError(f"{folder}: is {of}; compared is {robot}: {', '.join(functions)}")
    found: list[tuple[float, str]] = []
    for file in sorted(folder.glob("synthesis-*/report.json")):
        try:
            report = json.loads(file.read_bytes())
            runs = report.get("placements", [])
            found += [(run["fmax"], f"{report['part']}, speed {run['speed']}") for run in runs]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise OutputError(f"{file}: damaged; make it again with: rbdgen synthesize") from None
    if not found:
        raise OutputError(
            f"{folder}: not placed and routed; first: rbdgen synthesize {folder} --place-and-route"
        )
    clock, part = max(found)
    interval, dsp = entry["initiation_interval"], entry["multipliers"]["hardware"]
    name = f"{folder} ({part})"
    return Line(name, entry["latency"], (interval, interval), clock, "placed and routed", dsp)


def relative(line: Line, peers: Sequence[Line]) -> dict[str, dict[str, float | None]]:
    """How many times better than a peer: evaluations a clock, the same for each DSP, cycles."""
    return {
        peer.name: {
            "evaluations_per_clock": _times(line.per_clock, peer.per_clock),
            "evaluations_per_clock_and_dsp": _times(line.per_clock_and_dsp, peer.per_clock_and_dsp),
            "latency": _times(peer.latency, line.latency),
        }
        for peer in peers
    }


def _times(one: float | None, other: float | None) -> float | None:
    return one / other if one and other else None


def _cpu(robot: str, functions: Sequence[str]) -> dict[str, float]:
    """Pinocchio's time of each function that it has; of difd, M⁻¹ given, it has dfd instead."""
    names = dict.fromkeys("dfd" if name == "difd" else name for name in functions)
    times = PINOCCHIO.get(robot, {})
    return {name: times[name] for name in names if name in times}


HEAD = ("design", "latency", "II", "MHz", "DSP", "per clock", "per clock and 1000 DSP")
RELATIVE = {
    "evaluations_per_clock": "per clock",
    "evaluations_per_clock_and_dsp": "per clock and DSP",
    "latency": "fewer cycles",
}


def as_text(report: dict[str, Any]) -> str:
    """The table, another of how many times better ours are, and footnotes."""
    functions = ", ".join(report["functions"])
    gravity = "gravity" if any(report["gravity"]) else "no gravity"
    sines = "sines given" if report["angles"] == "sincos" else "sines made on the chip"
    given = ", M⁻¹ given" if "difd" in report["functions"] else ""
    ours = f"ours for {report['target']}"
    parts = [f"{report['robot']}: {functions}; {sines}{given}, {gravity}; {ours}", ""]
    rows = [
        [
            line["name"],
            line["latency"],
            _range(line["interval"]),
            _figure(line["clock"]),
            line["dsp"] or "-",
            _figure(line["evaluations_per_clock"]),
            _figure(line["evaluations_per_clock_and_dsp"], 1e3),
        ]
        for line in (*report["ours"], *report["peers"])
    ]
    parts += [table(HEAD, rows), ""]
    times = [
        (peer["name"], key)
        for peer in report["peers"]
        for key in RELATIVE
        if any(line["relative"][peer["name"]][key] for line in report["ours"])
    ]
    if times:
        head = ["times", *(f"{name}, {RELATIVE[key]}" for name, key in times)]
        rows = [
            [line["name"], *(_figure(line["relative"][name][key]) for name, key in times)]
            for line in report["ours"]
        ]
        parts += [table(head, rows), ""]
    return "\n".join([*parts, *_notes(report)])


def _range(interval: list[float] | None) -> str:
    return " to ".join(f"{k:g}" for k in dict.fromkeys(interval)) if interval else "-"


def _figure(value: float | None, times: float = 1.0) -> str:
    return "-" if value is None else f"{value * times:.3g}"


def _notes(report: dict[str, Any]) -> list[str]:
    ours, peers = report["ours"], report["peers"]
    notes = [
        "MHz: - where it is not known: no open tool places and routes for an XCVU9P. With "
        "--design DIR, the clock of a design of ours that was placed and routed."
    ]
    if any(line["clock_of"] == "scheduled for" for line in ours):
        notes.append(
            "--clock 18: scheduled for RoboShape's clock, by delays measured on an ECP5, which is "
            "slower; not placed and routed. Other cycles are of faster clocks."
        )
    if report["no_slow"]:
        notes.append(report["no_slow"])
    if not peers:
        functions = ", ".join(report["functions"])
        notes.append(f"Of {report['robot']}: {functions}, no hardware of others is known here.")
    for peer in peers:
        note = f" {peer['note'][0].upper()}{peer['note'][1:]}." if peer["note"] else ""
        notes.append(f"{peer['name']}: {peer['source']}.{note}")
    notes += NOTES
    for name, time in report["cpu_ns"].items():
        notes.append(
            f"Pinocchio 4.1, {name} on one core (with gravity, sines included): {time:g} ns, "
            f"{1e3 / time:.3g} M/s."
        )
    return notes
