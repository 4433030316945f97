"""The part of a mapped, placed design: a picture of its regions, and tables of its cells."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from fnmatch import fnmatch

from ..design.target import counted
from ..tools.floorplan import FREE, Floor
from ..tools.report import Mapped
from ..tools.yosys import MEMORIES, modules_of
from . import svg
from .chart import page
from .svg import GREY, GRID, SERIES
from .tables import table

LEFT, TOP, FOOT = 14.0, 34.0, 12.0
WIDE, LARGEST = 480.0, 14.0  # of all tiles, and of one at the most
LEGEND, LINE = 230.0, 17.0
OTHERS = "others"


def picture(title: str, floor: Floor) -> str:
    """An SVG document: a square a tile, in the colour of the region that has the most cells there.

    Regions beyond the colours that there are stand in grey, together.
    """
    columns = len(floor.rows[0])
    tile = min(LARGEST, WIDE / columns)
    counts = {letter: sum(row.count(letter) for row in floor.rows) for letter in floor.regions}
    own = list(floor.regions)[: len(SERIES)]
    rest = [letter for letter in floor.regions if letter not in own]
    legend = [
        (colour, floor.regions[letter], [letter])
        for colour, letter in zip(SERIES, own, strict=False)
    ]
    if rest:
        legend.append((GREY, OTHERS, rest))
    high = max(tile * len(floor.rows) + 2 * LINE, LINE * (len(legend) + 1))
    right = LEFT + tile * columns
    last_x, last_y = floor.x + columns - 1, floor.y + len(floor.rows) - 1
    where = f"columns {floor.x} to {last_x}, rows {floor.y} to {last_y} of the part"
    said = ", ".join(f"{name} {sum(counts[k] for k in of)}" for _, name, of in legend)
    about = f"{where}; tiles of each: {said}"
    drawn = page(title, right + LEGEND, TOP + high + FOOT, 13.0, about)
    svg.rectangle(drawn, LEFT, TOP, tile * columns, tile * len(floor.rows), GRID, 0.5)
    for k, (colour, name, letters) in enumerate(legend):
        d = ""
        for r, row in enumerate(floor.rows):
            middle = svg.number(TOP + tile * (r + 0.5))
            for start, end in _runs(row, letters):
                d += f"M{svg.number(LEFT + tile * start)} {middle}H{svg.number(LEFT + tile * end)}"
        svg.path(drawn, d, colour, tile * 0.9)
        y = TOP + LINE * (k + 0.5)
        svg.rectangle(drawn, right + 14, y - 5, 10, 10, colour)
        svg.text(drawn, right + 30, y + 4, f"{name}: {sum(counts[x] for x in letters)}", size=11)
    svg.text(drawn, LEFT, TOP + tile * len(floor.rows) + LINE, where, size=10, colour=GREY)
    return svg.to_text(drawn)


def _runs(row: str, letters: list[str]) -> list[tuple[int, int]]:
    """Where tiles of these letters begin and end, one behind the other taken together."""
    found: list[tuple[int, int]] = []
    for k, letter in enumerate(row):
        if letter == FREE or letter not in letters:
            continue
        if found and found[-1][1] == k:
            found[-1] = (found[-1][0], k + 1)
        else:
            found.append((k, k + 1))
    return found


SHOWN = {"logic": "LUT, SRL", "memory": "LUT of RAM", "flip_flops": "FF", "multipliers": "DSP"}


def mapped_text(report: Mapped) -> str:
    """The cells of a design that is only mapped, and of its modules."""
    rows = [f"  {cell:<18}{n:>8}" for cell, n in sorted(report.cells.items())]
    modules = _of_modules(report.modules, report.top)
    head = f"{report.top} on {report.target}, mapped only"
    if report.levels:
        head += f": {report.levels} LUTs and carry cells on the longest path within a module"
    return "\n".join([head, "", *rows, "", modules])


def _of_modules(modules: Mapping[str, Mapping[str, int]], top: str) -> str:
    """A table of the cells of each module of an UltraScale+ or 7-series design, largest first."""
    named: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for module, cells in modules.items():
        memory = fnmatch(module, modules_of(MEMORIES, top))
        named["memories" if memory else module.removeprefix(f"{top}_")].update(cells)
    rows = [
        [module, *(counted("xcup", cells)[site] for site in SHOWN)]
        for module, cells in named.items()
    ]
    return table(("module", *SHOWN.values()), sorted(rows, key=lambda row: (-row[1], row[0])))
