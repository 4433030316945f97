"""The protocol of a design's streams as waves: reset, two tasks, and a result that has to wait.

What is not said is drawn as a grey band: either level, or any payload. Cycles count from the one in
which the first task is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from ..design.manifest import HardwareManifest
from . import svg
from .chart import CLOCK, SMALL, Cells
from .rows import Entry, headed
from .svg import GREY, IDLE, INK, SERIES
from .tables import latency_text

FIRST, SECOND = ("a", "A"), ("b", "B")  # a task and its result
COLUMN, ROW, WAVE = 58.0, 30.0, 18.0  # a cycle's width, a row's height and that of its wave
SLOPE, WIDEST = 4.0, 860.0  # an edge's width; the page's, at least
TINT = 0.3  # of a payload: ink stands on it
NOTES = (
    "//: cycles that are left out, if there are any; grey: either level, or any payload",
    "rst is synchronous: one rising edge of clk with rst = 1 is enough",
    "valid does not wait for ready; what is valid stays, with its payload, until ready is 1",
    "a payload is taken at the rising edge that ends a cycle with valid = 1 and ready = 1: dotted",
    "results that wait fill the buffers in front of them; where these are full, i__ready stays 0",
)


@dataclass(frozen=True)
class Moment:
    """A cycle of the picture, and the levels in it; None: not said.

    ``gap``: cycles are left out in front. ``task``, ``result``: the payload that is valid, if any.
    """

    label: str
    i_ready: bool | None
    task: str = ""
    result: str = ""
    o_ready: bool = True
    reset: bool = False
    gap: bool = False

    @property
    def o_valid(self) -> bool | None:
        """Not known until the edge at which reset is seen."""
        return None if self.reset else bool(self.result)


RESET = (Moment("reset", None, reset=True), Moment("", False, FIRST[0]))


def core_moments(interval: int, latency: int) -> list[Moment]:
    """The cycles of a core: its second task is offered at once, its first result has to wait one.

    ``interval`` and ``latency`` in cycles, as in its manifest.
    """
    last = max(interval, latency) + 1
    shown = {0, 1, interval - 1, interval, interval + 1, latency - 1, latency, latency + 1}
    shown |= {cycle + 1 for cycle in shown if cycle + 2 in shown}  # a gap of one takes its place
    found = list(RESET)
    for cycle in sorted(own for own in shown if own >= 0):
        found.append(
            Moment(
                str(cycle),
                cycle in (0, interval) if cycle <= interval else None,
                FIRST[0] if cycle == 0 else SECOND[0] if cycle <= interval else "",
                FIRST[1] if cycle in (latency, latency + 1) else "",
                o_ready=cycle != latency,
                gap=cycle - 1 not in shown,
            )
        )
    if interval == 1:  # it is right behind
        found.append(Moment(str(last + 1), None, result=SECOND[1]))
    else:
        found.append(Moment("later", None, result=SECOND[1], gap=True))
    return found


def task_moments() -> list[Moment]:
    """The cycles of an accelerator, for two tasks of one function, of latency L."""
    return [
        *RESET,
        Moment("0", True, FIRST[0], gap=True),
        Moment("1", True, SECOND[0]),
        Moment("2", None),
        Moment("L - 1", None, gap=True),
        Moment("L", None, result=FIRST[1], o_ready=False),
        Moment("L + 1", None, result=FIRST[1]),
        Moment("later", None, result=SECOND[1], gap=True),
    ]


def protocol(entry: HardwareManifest) -> str:
    """An SVG document: of a core with its latency, of an accelerator with each function's."""
    functions = entry.tasks.functions
    if entry.initiation_interval is not None and entry.latency is not None:
        moments = core_moments(entry.initiation_interval, entry.latency)
        facts = [f"latency {entry.latency} cycles"]
        facts += [f"initiation interval {entry.initiation_interval}"]
    else:
        moments = task_moments()
        facts = [_range([own.latency for own in functions.values()])]
        facts += [f"{name}: {latency_text(own)}" for name, own in functions.items()]
    columns = list(_columns(moments))
    names = [name for name, _ in WAVES]
    left = Cells.room(names)
    title = f"{entry.robot}: {', '.join(entry.functions)}, the protocol of its streams"
    width = max(left + COLUMN * len(columns) + 14, WIDEST)
    legend = [[Entry(note)] for note in NOTES]
    page, top = headed(title, facts, legend, width, ROW * len(names))
    cells = Cells(names, len(columns), left, top, COLUMN, ROW)
    cells.rows(page)
    cells.heads(page, {k: own.label for k, own in enumerate(columns) if own}, CLOCK)
    _taken(page, cells, columns)
    for row, (name, of) in enumerate(WAVES):
        group = svg.group(page, id=name)
        y = top + ROW * row + (ROW - WAVE) / 2
        of(group, cells, y, columns)
    return svg.to_text(page)


def _range(latencies: Sequence[int]) -> str:
    low, high = min(latencies), max(latencies)
    cycles = str(low) if low == high else f"{low} to {high}"
    return f"L, the latency of the first task after reset: {cycles} cycles"


Columns = Sequence[Moment | None]
Draw = Callable[[ET.Element, Cells, float, Columns], None]


def _columns(moments: Sequence[Moment]) -> Iterator[Moment | None]:
    """Moments, and None for cycles that are left out."""
    for moment in moments:
        if moment.gap:
            yield None
        yield moment


def _runs(columns: Columns) -> Iterator[tuple[int, list[Moment]]]:
    """Moments without a gap between them, and the column of the first."""
    at = 0
    while at < len(columns):
        run: list[Moment] = []
        for moment in columns[at:]:
            if moment is None:
                break
            run.append(moment)
        yield at, run
        at += len(run) + 1


def _clock(group: ET.Element, cells: Cells, y: float, columns: Columns) -> None:
    """A period in each column, which begins with the rising edge."""
    for first, run in _runs(columns):
        points = []
        for k in range(len(run)):
            x = cells.left + COLUMN * (first + k)
            half = x + COLUMN / 2
            points += [(x, y + WAVE), (x, y), (half, y), (half, y + WAVE)]
        end = cells.left + COLUMN * (first + len(run))
        svg.line(group, [*points, (end, y + WAVE)], INK, 1.4)
    _breaks(group, cells, y, columns)


def _level(of: Callable[[Moment], bool | None]) -> Draw:
    """A wave of a bit."""

    def draw(group: ET.Element, cells: Cells, y: float, columns: Columns) -> None:
        for first, run in _runs(columns):
            points: list[svg.Point] = []
            for k, moment in enumerate(run):
                x, level = cells.left + COLUMN * (first + k), of(moment)
                if level is None:
                    _wave(group, points)
                    points = []
                    svg.rectangle(group, x, y, COLUMN, WAVE, IDLE)
                    continue
                own = y if level else y + WAVE
                points += [(x + SLOPE if points else x, own), (x + COLUMN, own)]
            _wave(group, points)
        _breaks(group, cells, y, columns)

    return draw


def _wave(group: ET.Element, points: Sequence[svg.Point]) -> None:
    if points:
        svg.line(group, points, INK, 1.4)


def _payload(of: Callable[[Moment], str]) -> Draw:
    """A wave of a word: a box for as long as a payload stays."""

    def draw(group: ET.Element, cells: Cells, y: float, columns: Columns) -> None:
        colours = dict(zip((*FIRST, *SECOND), (*SERIES[:1] * 2, *SERIES[1:2] * 2), strict=True))
        for first, run in _runs(columns):
            k = 0
            while k < len(run):
                word = of(run[k])
                end = next((j for j in range(k, len(run)) if of(run[j]) != word), len(run))
                x, wide = cells.left + COLUMN * (first + k), COLUMN * (end - k)
                if word:
                    colour = colours[word]
                    svg.rectangle(group, x + 1, y, wide - 2, WAVE, colour, TINT)
                    middle = y + WAVE / 2 + 4
                    svg.text(group, x + wide / 2, middle, word, "middle", SMALL, "bold")
                else:
                    svg.rectangle(group, x, y, wide, WAVE, IDLE)
                k = end
        _breaks(group, cells, y, columns)

    return draw


def _breaks(group: ET.Element, cells: Cells, y: float, columns: Columns) -> None:
    """Two strokes where cycles are left out."""
    for k, moment in enumerate(columns):
        if moment is None:
            x = cells.left + COLUMN * (k + 0.5)
            for at in (x - 3, x + 3):
                svg.line(group, [(at - 3, y + WAVE), (at + 3, y)], GREY, 1.2)


def _taken(page: ET.Element, cells: Cells, columns: Columns) -> None:
    """A dotted line at each edge at which a payload is taken."""
    for k, own in enumerate(columns):
        if own and ((own.task and own.i_ready) or (own.result and own.o_ready)):
            x = svg.number(cells.left + COLUMN * (k + 1))
            d = f"M{x} {svg.number(cells.top)} V{svg.number(cells.bottom)}"
            svg.path(page, d, GREY, 1.2, "2 3")


# A port → what draws its wave.
WAVES: tuple[tuple[str, Draw], ...] = (
    ("clk", _clock),
    ("rst", _level(lambda own: own.reset)),
    ("i__valid", _level(lambda own: bool(own.task))),
    ("i__ready", _level(lambda own: own.i_ready)),
    ("i__payload", _payload(lambda own: own.task)),
    ("o__valid", _level(lambda own: own.o_valid)),
    ("o__ready", _level(lambda own: own.o_ready)),
    ("o__payload", _payload(lambda own: own.result)),
)
