"""Where a placed design lies: a letter a tile, of the region that has the most cells there."""

from __future__ import annotations

import re
import string
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..system.records import NoRecord, Record

FREE = "."
LETTERS = string.ascii_uppercase + string.ascii_lowercase
CHANNELS, TOP, OTHERS = "channels", "control", "others"
_BEL = re.compile(r"X(\d+)/Y(\d+)/")
_AROUND = ("TRELLIS_IO", "DCCA")  # pins, buffers of clocks


@dataclass(frozen=True)
class Floor(Record):
    """The tiles from column ``x`` and row ``y`` on, as nextpnr counts them.

    ``rows``: from ``y`` on, a letter a tile, `FREE` where no cell is. ``regions``: letter → region,
    those of most tiles first.
    """

    x: int
    y: int
    regions: Mapping[str, str]
    rows: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.rows or len({len(row) for row in self.rows}) > 1 or not self.rows[0]:
            raise NoRecord("a floor without tiles, or whose rows differ in length")


def floor_of(netlist: Mapping[str, Any]) -> Floor | None:
    """The floor of what nextpnr wrote, a netlist of one module; None where nothing is placed."""
    (module,) = netlist["modules"].values()
    tiles: defaultdict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    for name, cell in module["cells"].items():
        found = _BEL.match(cell["attributes"].get("NEXTPNR_BEL", ""))
        if found and cell["type"] not in _AROUND:
            tiles[int(found[1]), int(found[2])][region_of(name)] += 1
    if not tiles:
        return None
    most = {at: min(here, key=lambda own: (-here[own], own)) for at, here in tiles.items()}
    sizes = Counter(most.values())
    order = sorted(sizes, key=lambda own: (-sizes[own], own))
    if len(order) > len(LETTERS):
        order = [*order[: len(LETTERS) - 1], OTHERS]
    letter = dict(zip(order, LETTERS, strict=False))
    columns, rows = ([at[k] for at in most] for k in (0, 1))
    x, y = min(columns), min(rows)
    lines = [
        "".join(
            letter.get(most[c, r], letter.get(OTHERS, FREE)) if (c, r) in most else FREE
            for c in range(x, max(columns) + 1)
        )
        for r in range(y, max(rows) + 1)
    ]
    return Floor(x, y, {own: region for region, own in letter.items()}, tuple(lines))


def region_of(cell: str) -> str:
    """The region or stage that a cell belongs to, by its name in a flat netlist."""
    first, inside, _ = cell.partition(".")
    if not inside:
        return TOP
    return CHANNELS if first.startswith("fifo_") else first
