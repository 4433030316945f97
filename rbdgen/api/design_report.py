"""One page on a generated design, for people: all that is known of it, in one file."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile.flow import Core, compile_core, front_end
from ..design.manifest import AcceleratorManifest, CoreManifest
from ..draw.organisation import organisation
from ..draw.tables import limits_text
from ..graph.node import Node, Op
from ..system.templates import render
from .checked import checked_manifest
from .evaluation import to_words
from .folder import write_file
from .integer_model import IntegerModel
from .names import DESIGN, ROBOT
from .places import check_place
from .simulation import batches, outputs_and_golden, same_graph
from .structure import topology

Progress = Callable[[str], None]
PAGE = "report.html"
STATES, SEED = 2000, 0
BINS = 8  # of speed, and of an error's size
PICTURES = {
    "pipeline.svg": "The pipeline: which region computes in which cycle.",
    "accelerator.svg": "Stages, and the routes of tasks through them.",
    "timeline.svg": "Who was where at which time, in the last simulation.",
}


@dataclass(frozen=True)
class Signal:
    """A word of the design beside what it is for.

    ``top``: the power of two that the word ends below; ``needs``: that of the largest value
    allowed for; ``proven``: no state whatever within the limits exceeds that.
    """

    name: str
    word: str
    largest: str
    top: int
    needs: float
    proven: bool

    @property
    def spare(self) -> str:
        """Bits above the largest value."""
        return "–" if self.needs == -math.inf else f"{self.top - self.needs:.2f}"


def report(folder: str | Path, progress: Progress = lambda _: None, trust: bool = False) -> Path:
    """Write FOLDER/report.html, one file that needs no network, and say where it is.

    It has what the folder holds: the manifest, pictures, and the reports of simulate, synthesize
    and board, if they were run. Ranges and errors are computed for it: the design is compiled
    again, and `STATES` random states within the limits go through the integer model. An
    accelerator's are those that simulate reported.
    """
    place = Path(folder)
    entry = checked_manifest(place, trust, progress, (DESIGN, ROBOT))
    check_place(place / PAGE)
    signals: dict[str, list[Signal]] = {}
    errors: list[dict[str, Any]] = []
    if isinstance(entry, CoreManifest):
        core = compile_core(front_end(str(place / DESIGN), progress), progress)
        same_graph(place, core)
        signals = _signals(core)
        progress(f"errors of {STATES} states")
        errors = list(_errors(core, progress))
    progress("report")
    text = render(
        "report/page.html.jinja",
        e=html.escape,
        entry=entry,
        accelerator=isinstance(entry, AcceleratorManifest),
        tiles=_tiles(entry, place),
        limits=limits_text(entry.limits),
        pictures=list(_pictures(place)),
        tree=_svg(organisation(topology(str(place / DESIGN)).facts)),
        signals=signals,
        errors=errors,
        states=STATES,
        simulation=_json(place / "simulation.json"),
        syntheses=[_json(file) for file in sorted(place.glob("synthesis-*/report.json"))],
        boards=[_json(file) for file in sorted(place.glob("board-*/board.json"))],
        instance=_instance(entry),
        percent=_percent,
    )
    write_file(place / PAGE, text)
    return place / PAGE


def _tiles(entry: CoreManifest | AcceleratorManifest, place: Path) -> list[tuple[str, str]]:
    """The few numbers at the top."""
    tiles = [("part", entry.target), ("word", f"{entry.width} bits")]
    tiles.append(("multipliers", str(entry.multipliers.hardware)))
    if isinstance(entry, CoreManifest):
        tiles += [("latency", f"{entry.latency} cycles")]
        every = entry.initiation_interval
        tiles += [("a task every", "cycle" if every == 1 else f"{every} cycles")]
    else:
        for name, own in entry.accelerator.functions.items():
            tiles.append((name, f"{own.latency} cycles, every {own.interval}"))
    clocks = [
        (placement["fmax"], placement["speed"])
        for file in place.glob("synthesis-*/report.json")
        for placement in (_json(file) or {}).get("placements", [])
    ]
    if clocks:
        fmax, speed = max(clocks)
        tiles.append(("placed and routed", f"{fmax:.1f} MHz, speed grade {speed}"))
    else:
        tiles.append(("clock", "not known: not placed and routed"))
    return tiles


def _signals(core: Core) -> dict[str, list[Signal]]:
    """Region → its signals; those of the graph that is scheduled."""
    found: dict[str, list[Signal]] = {}
    outputs: dict[Node, str] = {node: name for name, node in core.fixed.graph.outputs.items()}
    for node in core.fixed.graph.nodes:
        if node.op is Op.CONST or node not in core.fixed.formats:
            continue
        word = core.fixed.formats[node]
        largest = core.ranges.bound.get(node)
        kind, joint = node.region or ("inputs", 0)
        region = f"{kind} {joint}" if node.region else kind
        name = node.name or f"%{node.index} {node.op.name.lower()}"
        if node in outputs:
            name += f", which is {outputs[node]}"
        found.setdefault(region, []).append(
            Signal(
                name,
                f"{word.width}.{word.fraction}",
                "not known" if largest is None else f"{largest:.4g}",
                word.width - 1 - word.fraction,
                math.log2(largest) if largest else -math.inf,
                node in core.ranges.proven,
            )
        )
    return found


def _errors(core: Core, progress: Progress) -> Iterator[dict[str, Any]]:
    """Of each array: errors by entry, by size, and by how fast the joints move."""
    integers = IntegerModel(core, progress)
    parts: dict[str, list[tuple[NDArray[Any], NDArray[Any]]]] = {}
    speeds = []
    for state in batches(core, STATES, SEED):
        results, _ = integers(to_words(core, state))
        moving = np.asarray(state["qd"]) if "qd" in state else np.zeros((len(state["q"]), 1))
        speeds.append(np.sqrt((moving**2).mean(axis=1)))
        for name, values, golden in outputs_and_golden(core, state, results):
            parts.setdefault(name, []).append((values, golden))
    speed = np.concatenate(speeds)
    for name, pairs in parts.items():
        values, golden = (np.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
        error = np.abs(values - golden).reshape(len(values), -1)
        scale = float(np.abs(golden).max()) or 1.0
        relative = error / scale
        rms = float(np.sqrt((relative**2).mean() / ((golden / scale) ** 2).mean()))
        yield {
            "name": name,
            "shape": " × ".join(map(str, golden.shape[1:])),
            "rms": rms,
            "largest": float(relative.max()),
            "entries": _entries(relative, golden.shape[1:]),
            "sizes": _sizes(relative),
            "speeds": _by_speed(relative, speed),
        }


def _entries(relative: NDArray[Any], shape: tuple[int, ...]) -> list[tuple[str, float]]:
    """Each entry's RMS error, by the largest entry of the array; of a matrix its rows'."""
    rows = relative.reshape(len(relative), shape[0], -1)
    return [(f"[{k}]", float(np.sqrt((rows[:, k] ** 2).mean()))) for k in range(shape[0])]


def _sizes(relative: NDArray[Any]) -> list[tuple[str, float]]:
    """How many of a hundred errors are how large, in powers of two of the largest."""
    top = float(relative.max()) or 1.0
    edges = [top * 2.0**-k for k in range(BINS)] + [0.0]
    counts = [
        float(((relative <= high) & (relative > low)).mean()) * 100 for high, low in pairwise(edges)
    ]
    return [(f"≤ {high:.1e}", share) for high, share in zip(edges, counts, strict=False)]


def _by_speed(relative: NDArray[Any], speed: NDArray[Any]) -> list[tuple[str, float]]:
    """RMS error of the states in each eighth of them by speed."""
    if not speed.any():
        return []
    order = np.array_split(np.argsort(speed, kind="stable"), BINS)
    return [
        (f"{speed[own].mean():.2g}", float(np.sqrt((relative[own] ** 2).mean()))) for own in order
    ]


def _pictures(place: Path) -> Iterator[tuple[str, str]]:
    """The folder's pictures as they go into a page, each with its caption."""
    for name, caption in PICTURES.items():
        if (place / name).is_file():
            yield caption, _svg((place / name).read_text())


def _svg(document: str) -> str:
    """A picture as it stands in a page."""
    return document[document.index("<svg") :]


def _instance(entry: CoreManifest | AcceleratorManifest) -> str:
    """How the core stands in a design of the user's."""
    ports = [("clk", "clk"), ("rst", "rst")]
    for side, what in (("i", "task"), ("o", "result")):
        ports += [(f"{side}__{w}", f"{what}_{w}") for w in ("payload", "valid", "ready")]
    if isinstance(entry, CoreManifest):
        ports += [("overflow", "overflowed"), ("clear", "1'b0")]
    connected = ",\n".join(f"    .{port}({wire})" for port, wire in ports)
    return f"{entry.name} core (\n{connected}\n);"


def _percent(value: float, values: Sequence[tuple[str, float]]) -> str:
    """How wide a bar is, beside the largest."""
    most = max((own for _, own in values), default=0.0)
    return f"{100 * value / most:.1f}" if most else "0"


def _json(file: Path) -> Mapping[str, Any] | None:
    """A report of this folder's, if there is one."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
