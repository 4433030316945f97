"""The heading above a picture's bars: title, facts, and a legend of colours and names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from ..schedule.plan import Plan
from . import svg

MARGIN = 14.0
FACTS, LEGEND = 12.0, 11.0  # sizes of text
TITLED, LINE = 32.0, 18.0  # what the title takes, and each line below it
PATCH, BETWEEN = 14.0, 20.0  # a colour's width, and from entry to entry
AXIS = 26.0  # room for the names of columns, above rows of cells
DOT = "  ·  "
AGAIN = re.compile(r"(_again|_contacts|_held)?(_\d+)?$")
MEANING = {
    "forward": "motion and forces, from the base outwards",
    "backward": "torques and what is summed on the way to the base",
    "sums": "a whole tree, as sums in one frame",
    "columns": "derivatives, from the base outwards",
    "columns_back": "derivatives, back to the base",
    "effort": "effort less the bias",
    "factor": "factors of the mass matrix",
    "articulated": "articulated inertias",
    "inverse": "the inverse, from the base outwards",
    "back": "solved towards the base",
    "out": "solved from the base outwards",
    "product": "the inverse times a matrix",
    "held": "what contacts add to the effort",
    "contact": "of the contacts: how they move without forces, and under them",
    "step": "where a step leads, and what it depends on",
}


@dataclass(frozen=True)
class Entry:
    """Words of the legend, behind a patch of their colour if they have one."""

    words: str
    colour: str = ""
    opacity: float = 1.0

    @property
    def width(self) -> float:
        return svg.extent(self.words, LEGEND) + (PATCH + 5 if self.colour else 0)


def facts(plan: Plan) -> list[str]:
    """Facts of the whole design, as in the manifest, though a picture may show a part of it."""
    said = [
        f"latency {plan.latency} cycles",
        f"initiation interval {plan.interval}",
        f"{plan.multipliers} hardware multipliers",
    ]
    turns = plan.turns
    if turns and turns.what == "limbs":
        said.append(f"{turns.count} time-multiplexed limbs, {turns.latency} of these cycles each")
    return said


def regions(colours: Mapping[str, str]) -> list[Entry]:
    """The legend of regions: what each kind computes, and its colour."""
    found = []
    for kind, colour in colours.items():
        meaning = MEANING.get(AGAIN.sub("", kind))
        words = kind.replace("_", " ")
        found.append(Entry(f"{words}: {meaning}" if meaning else words, colour))
    return found


def numbered(names: Sequence[str]) -> list[Entry]:
    """The legend of joints: what their numbers stand for."""
    return [Entry("joints:"), *(Entry(f"{k}  {name}") for k, name in enumerate(names))]


@dataclass(frozen=True)
class Heading:
    """Lines of a page so wide; each row of ``legend`` begins on a line of its own."""

    title: str
    facts: Sequence[str]
    legend: Sequence[Sequence[Entry]]
    width: float

    @property
    def height(self) -> float:
        return TITLED + LINE * len(self._facts() + self._legend()) + 8

    def draw(self, page: ET.Element) -> None:
        svg.text(page, MARGIN, 28, self.title, size=19, weight="bold")
        y = TITLED
        for words in self._facts():
            y += LINE
            svg.text(page, MARGIN, y - 2, words, size=FACTS)
        group = svg.group(page, id="legend")
        for line in self._legend():
            x, y = MARGIN, y + LINE
            for entry in line:
                at = x
                if entry.colour:
                    svg.rectangle(group, x, y - 10, PATCH, 10, entry.colour, entry.opacity)
                    at += PATCH + 5
                svg.text(group, at, y - 1, entry.words, size=LEGEND)
                x += entry.width + BETWEEN

    def _facts(self) -> list[str]:
        lines: list[str] = []
        for fact in self.facts:
            longer = f"{lines[-1]}{DOT}{fact}" if lines else fact
            if lines and svg.extent(longer, FACTS) < self.width - 2 * MARGIN:
                lines[-1] = longer
            else:
                lines.append(fact)
        return lines

    def _legend(self) -> list[list[Entry]]:
        lines: list[list[Entry]] = []
        for row in self.legend:
            x = self.width  # a new line
            for entry in row:
                if x + entry.width > self.width - MARGIN:
                    lines.append([])
                    x = MARGIN
                lines[-1].append(entry)
                x += entry.width + BETWEEN
        return lines


def headed(
    title: str,
    said: Sequence[str],
    legend: Sequence[Sequence[Entry]],
    width: float,
    height: float,
) -> tuple[ET.Element, float]:
    """A page with its heading, and where rows of cells, of that height together, begin."""
    head = Heading(title, said, legend, width)
    top = head.height + AXIS
    page = svg.document(width, top + height + 14, title)
    head.draw(page)
    return page, top
