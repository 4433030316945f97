"""One page on a generated design, for people, and each of its words beside what it has to hold."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..compile.product import Product, clocks_of
from ..design.clock import ClockEstimate
from ..design.coordinates import brief, coordinate_table, worst_lines
from ..design.manifest import HardwareManifest
from ..draw.bars import WordRow, spare, word_bars
from ..draw.floor_plan import picture as floor_plan
from ..draw.organisation import organisation
from ..draw.protocol import protocol
from ..draw.tables import limits_text
from ..graph.fixed import FixedGraph, Integers
from ..graph.node import Node, Op
from ..system.quoting import Progress
from ..system.records import NamedWord
from ..system.templates import render
from ..tasks.model import evaluate_task
from ..tools.report import Mapped
from ..tools.report import SynthesisReport as Synthesised
from ..words.ranges import Ranges
from .compilation import recompiled
from .design_file import DESIGN, ROBOT
from .folder import checked_manifest, write_file
from .output_paths import check_place
from .report_errors import errors_of
from .reports import Reports, reports_in
from .stimulus import inputs_of, within_limits
from .structure import topology
from .verilog import architecture_of, picture_of

PAGE = "report.html"
STATES, SEED = 2000, 0
CAPTIONS = {
    True: "The pipeline: which region computes in which cycle.",
    False: "Stages, and the routes of tasks through them.",
}  # by whether it is a core
SEEN = 200  # tasks of each function; every word of every stage is looked at


def report(folder: str | Path, progress: Progress = lambda _: None, trust: bool = False) -> Path:
    """Write FOLDER/report.html, one file that needs no network, and return its path.

    It contains the folder's manifest and pictures, and the reports of simulate, synthesize and
    board if they were run. A damaged report becomes a note. The design is compiled again for its
    ranges and errors. `STATES` random states go through the integer model, half of them at the
    limits.
    """
    place = Path(folder)
    entry = checked_manifest(place, trust, progress, (DESIGN, ROBOT))
    check_place(place / PAGE)
    there = reports_in(place, entry)
    for line in there.others:
        progress(f"note: {line}")
    product = recompiled(place, progress)
    progress(f"ranges and errors of {STATES} states of each function")
    signals = signals_of(product, SEED)
    errors = errors_of(product, STATES, SEED, progress)
    progress("report")
    text = render(
        "report/page.html.jinja",
        entry=entry,
        tiles=_tiles(entry, there, clocks_of(product)),
        limits=limits_text(entry.limits),
        caption=CAPTIONS[entry.is_core],
        picture=_svg(picture_of(product)),
        architecture=_svg(architecture_of(product)) if product.is_core else "",
        protocol=_svg(protocol(entry)),
        timeline=base64.b64encode(there.timeline).decode() if there.timeline else "",
        tree=_svg(organisation(topology(str(place / DESIGN)).facts)),
        signals={region: (_svg(drawn(region, own)), own) for region, own in signals.items()},
        errors=errors,
        coordinate_table=coordinate_table,
        worst_lines=worst_lines,
        brief=brief,
        every=[own for array in errors for own in array.coordinates],
        states=STATES,
        there=there,
        floor_plan=_floor_plan,
        instance=_instance(entry),
        svg=_svg,
        seen=SEEN,
    )
    write_file(place / PAGE, text)
    return place / PAGE


def _tiles(
    entry: HardwareManifest, there: Reports, expected: Sequence[ClockEstimate]
) -> list[tuple[str, str]]:
    """The few numbers at the top; the clock that is ``expected`` where none was placed."""
    tiles = [("part", entry.target), ("word", f"{entry.width} bits")]
    tiles.append(("multipliers", str(entry.multipliers.hardware)))
    for name, own in entry.tasks.functions.items():
        tiles.append((name, f"{own.latency} cycles, every {own.interval}"))
    clocks = [
        (placement.fmax, placement.speed)
        for synthesis in there.syntheses
        if isinstance(synthesis, Synthesised)
        for placement in synthesis.placements
    ]
    if clocks:
        fmax, speed = max(clocks)
        tiles.append(("placed and routed", f"{fmax:.1f} MHz, speed grade {speed}"))
    elif expected:
        doubtful = f"; DOUBTFUL: of {expected[0].beyond}" if expected[0].beyond else ""
        tiles.append(("not placed, the clock is expected at", f"{expected[0]}{doubtful}"))
    else:
        tiles.append(("clock", "not known: not placed and routed"))
    return tiles


def _floor_plan(synthesis: Synthesised | Mapped) -> str:
    """Where regions lie in the fastest placement of a report; "" where none says it."""
    placements = () if isinstance(synthesis, Mapped) else synthesis.placements
    best = max(placements, key=lambda own: own.fmax, default=None)
    if best is None or best.floor is None:
        return ""
    return _svg(floor_plan(f"Floor plan, seed {best.seed}: tiles of each region", best.floor))


def _svg(document: str) -> str:
    """A picture as it stands in a page."""
    return document[document.index("<svg") :]


def drawn(region: str, signals: Sequence[Signal]) -> str:
    """The signals of a region as a picture."""
    rows = [signal.row for signal in signals]
    title = f"{region}: {len(rows)} words, {spare(rows):.2f} bits spare on average"
    return word_bars(title, rows)


def _instance(entry: HardwareManifest) -> str:
    """How the core stands in a design of the user's."""
    ports = [("clk", "clk"), ("rst", "rst")]
    for side, what in (("i", "task"), ("o", "result")):
        ports += [(f"{side}__{w}", f"{what}_{w}") for w in ("payload", "valid", "ready")]
    if entry.ports.overflow:
        ports += [("overflow", "overflowed"), ("clear", "1'b0")]
    connected = ",\n".join(f"    .{port}({wire})" for port, wire in ports)
    return f"{entry.name} core (\n{connected}\n);"


@dataclass(frozen=True, kw_only=True)
class Signal(NamedWord):
    """A word of the design beside what it is for.

    ``largest``: its largest value, None where that is not known; ``how`` that is known: "proven",
    allowed for, and no state within the limits overflows the word; "searched", allowed for; "seen",
    in random states.
    """

    largest: float | None
    how: str

    @property
    def top(self) -> int:
        """The power of two that the word ends below."""
        return self.width - 1 - self.fraction

    @property
    def needs(self) -> float:
        """The power of two of the largest value, -inf where that is 0 or not known."""
        return math.log2(self.largest) if self.largest else -math.inf

    @property
    def spare(self) -> str:
        """Bits above the largest value."""
        return "–" if self.needs == -math.inf else f"{self.top - self.needs:.2f}"

    @property
    def row(self) -> WordRow:
        """The same, to be drawn."""
        return WordRow(self.top, self.fraction, self.needs)


def signals_of(product: Product, seed: int) -> dict[str, list[Signal]]:
    """Region or stage → its signals."""
    if product.ranges is None:
        return stage_signals(product, seed)
    return core_signals(product, product.ranges)


def core_signals(core: Product, ranges: Ranges) -> dict[str, list[Signal]]:
    """Region → its signals; those of the graph that is scheduled, with what they are made for."""
    found: dict[str, list[Signal]] = {}
    for node in _words(core.fixed):
        kind, joint = node.region or ("inputs", 0)
        how = "proven" if core.proof and node in core.proof.holds else "searched"
        signal = _signal(core.fixed, node, ranges.bound.get(node), how)
        found.setdefault(f"{kind} {joint}" if node.region else kind, []).append(signal)
    return found


def stage_signals(made: Product, seed: int) -> dict[str, list[Signal]]:
    """Stage → its signals, with the largest values that `SEEN` random tasks of each function
    bring there, as the integer model has them."""
    state = within_limits(made, SEEN, seed)
    largest: dict[tuple[str, Node], float] = {}

    def watch(stage: str, node: Node, words: Integers) -> None:
        here = stages[stage].fixed.formats[node].real(np.abs(words).max())
        largest[stage, node] = max(largest.get((stage, node), 0.0), float(here))

    stages = made.accelerator.stages
    for function, words in inputs_of(made, state).items():
        evaluate_task(made.accelerator, function, words, watch)
    return {
        name: [
            _signal(stage.fixed, node, largest.get((name, node)), "seen")
            for node in _words(stage.fixed)
        ]
        for name, stage in stages.items()
    }


def _words(fixed: FixedGraph) -> list[Node]:
    """The nodes that have a word of their own."""
    return [n for n in fixed.graph.nodes if n.op is not Op.CONST and n in fixed.formats]


def _signal(fixed: FixedGraph, node: Node, largest: float | None, how: str) -> Signal:
    word = fixed.formats[node]
    name = node.name or f"%{node.index} {node.op.name.lower()}"
    for output, own in fixed.graph.outputs.items():
        if own is node:
            name += f", which is {output}"
            break
    return Signal(name, word.width, fraction=word.fraction, largest=largest, how=how)
