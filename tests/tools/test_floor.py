"""Where regions of a placed design lie, and how that is drawn."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

from rbdgen.draw.floor_plan import picture
from rbdgen.draw.svg import SERIES
from rbdgen.tools.floorplan import LETTERS, OTHERS, Floor, floor_of

PLACED = {
    "forward_0.multiply.U$0": "X4/Y2/MULT18_0",
    "forward_0.w1_FF": "X5/Y2/SLICEA.FF0",
    "forward_0.w2_FF": "X5/Y2/SLICEB.FF0",
    "backward_0.w_LUT4": "X5/Y2/SLICEC.LUT0",
    "fifo_forward_0_to_backward_0.memory.0": "X6/Y3/SLICEA.RAMW",
    "fire_FF": "X4/Y3/SLICEA.FF0",
}
NAMESPACE = "{http://www.w3.org/2000/svg}"


def netlist(placed: dict[str, str]) -> dict[str, Any]:
    """As nextpnr writes it, with a pin far away."""
    cells = {
        name: {"type": "TRELLIS_COMB", "attributes": {"NEXTPNR_BEL": bel}}
        for name, bel in placed.items()
    }
    cells["clk$tr_io"] = {"type": "TRELLIS_IO", "attributes": {"NEXTPNR_BEL": "X99/Y99/PIOA"}}
    cells["scope"] = {"type": "$scopeinfo", "attributes": {}}
    return {"modules": {"top": {"cells": cells}}}


def test_each_tile_is_of_who_has_most_of_it() -> None:
    floor = floor_of(netlist(PLACED))
    assert floor is not None
    assert (floor.x, floor.y) == (4, 2)
    assert floor.rows == ("AA.", "C.B")
    assert dict(floor.regions) == {"A": "forward_0", "B": "channels", "C": "control"}
    assert Floor.from_json(floor.to_json()) == floor
    assert floor_of(netlist({})) is None


def test_more_regions_than_letters() -> None:
    many = {f"r{k}.cell": f"X{k}/Y0/SLICEA.FF0" for k in range(60)}
    floor = floor_of(netlist(many))
    assert floor is not None
    assert floor.regions[LETTERS[-1]] == OTHERS
    assert floor.rows[0].count(LETTERS[-1]) == 60 - (len(LETTERS) - 1)
    assert "." not in floor.rows[0]


def test_a_picture_has_every_tile_once() -> None:
    names = [f"region_{k}" for k in range(len(SERIES) + 2)]
    letters = LETTERS[: len(names)]
    floor = Floor(7, 3, dict(zip(letters, names, strict=True)), (letters, letters[:1] * 10))
    text = picture("Floor plan", floor)
    page = ET.fromstring(text)
    assert page.findtext(f"{NAMESPACE}title") == "Floor plan"
    said = page.findtext(f"{NAMESPACE}desc") or ""
    assert said.startswith("columns 7 to 16, rows 3 to 4 of the part; tiles of each: region_0 11,")
    assert said.endswith("others 2")
    paths = page.findall(f"{NAMESPACE}path")
    runs = re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", " ".join(own.get("d", "") for own in paths))
    tile = (float(runs[0][1]) - float(runs[0][0])) / 1
    assert sum(round((float(b) - float(a)) / tile) for a, b in runs) == 20
