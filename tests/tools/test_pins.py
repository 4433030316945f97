"""Netlist edits, on small netlists written here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rbdgen.tools.cells import open_carries, trim_carries
from rbdgen.tools.pins import add_pins
from rbdgen.tools.toolchain import SynthesisError


def buffer(inputs: int, outputs: int) -> dict[str, Any]:
    """A module whose outputs are its inputs, repeated."""
    bits = list(range(3, 3 + inputs))
    given = [bits[n % inputs] for n in range(outputs)] if inputs else []
    return {
        "ports": {
            "clk": {"direction": "input", "bits": [2]},
            "x": {"direction": "input", "bits": bits},
            "y": {"direction": "output", "bits": given},
        },
        "cells": {},
        "netnames": {
            "clk": {"hide_name": 0, "bits": [2], "attributes": {}},
            "x": {"hide_name": 0, "bits": bits, "attributes": {}},
        },
    }


def pinned(module: dict[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, int]]:
    (folder / "in.json").write_text(json.dumps({"modules": {"top": module}}))
    cells = add_pins(folder / "in.json", "top", folder / "out.json")
    return json.loads((folder / "out.json").read_text())["modules"]["top"], cells.count


def simulate(module: dict[str, Any], feed: list[int]) -> list[int]:
    """``seen`` in every cycle, for flip-flops and LUT4 from 0."""
    cells = module["cells"].values()
    value: dict[int | str, int] = {"0": 0, "1": 1, "x": 0}
    flip_flops = [c["connections"] for c in cells if c["type"] == "TRELLIS_FF"]
    tables = [c for c in cells if c["type"] == "LUT4"]
    value |= {c["Q"][0]: 0 for c in flip_flops}
    seen = []
    for bit in feed:
        value[module["ports"]["feed"]["bits"][0]] = bit
        for table in tables:
            pins = table["connections"]
            address = sum(value[pins[pin][0]] << n for n, pin in enumerate("ABCD"))
            value[pins["Z"][0]] = int(table["parameters"]["INIT"][15 - address])
        seen.append(value[module["ports"]["seen"]["bits"][0]])
        value |= {c["Q"][0]: value[c["DI"][0]] for c in flip_flops}
    return seen


def test_every_bit_is_driven_and_seen(tmp_path: Path) -> None:
    module, count = pinned(buffer(3, 5), tmp_path)
    assert list(module["ports"]) == ["clk", "feed", "seen"]
    assert count == {"TRELLIS_FF": 3 + 5 + 2 + 1, "LUT4": 2 + 1}
    # One 1 passes the three inputs; their five outputs are x0 x1 x2 x0 x1, so x2 alone is odd.
    seen = simulate(module, [1] + [0] * 12)
    assert seen == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_constant_outputs_have_no_leaf(tmp_path: Path) -> None:
    module = buffer(2, 3)
    module["ports"]["y"]["bits"][1:] = ["0", "x"]
    assert pinned(module, tmp_path)[1] == {"TRELLIS_FF": 2 + 1}


@pytest.mark.parametrize(
    ("inputs", "top", "clock", "message"),
    [
        (0, "top", "clk", "no input or no output"),
        (1, "other", "clk", "no module 'other'"),
        (1, "top", "clock", "no clock 'clock'"),
    ],
)
def test_what_cannot_be_pinned(
    inputs: int, top: str, clock: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text(json.dumps({"modules": {"top": buffer(inputs, 1)}}))
    with pytest.raises(SynthesisError, match=message):
        add_pins(tmp_path / "in.json", top, tmp_path / "out.json", clock=clock)


def carry_cell(init0: int, d0: str, cin: int | str, cout: int, s0: int) -> dict[str, Any]:
    return {
        "type": "CCU2C",
        "parameters": {"INIT0": f"{init0:016b}"},
        "port_directions": {"CIN": "input", "D0": "input", "COUT": "output", "S0": "output"},
        "connections": {"CIN": [cin], "D0": [d0], "COUT": [cout], "S0": [s0]},
    }


def test_only_idle_carry_ends_are_trimmed() -> None:
    module = {
        "ports": {"y": {"direction": "output", "bits": [14]}},
        "cells": {
            "starts": carry_cell(0x000F, "1", "0", 10, 11),
            "ends": carry_cell(0x96AA, "1", 10, 12, 14),
            "adder": carry_cell(0x96AA, "1", "0", 14, 15),
            "start_seen": carry_cell(0x000F, "1", "0", 16, 14),
        },
    }
    assert trim_carries(module) == 3
    ends = {
        name: (cell["connections"]["CIN"][0], cell["connections"]["COUT"][0])
        for name, cell in module["cells"].items()
    }
    assert ends == {
        "starts": ("x", 10),
        "ends": (10, "x"),
        "adder": ("0", 14),
        "start_seen": ("0", "x"),
    }


def chain(first_init: str) -> dict[str, Any]:
    """Two Nexus carry cells, the first with CIN tied low."""
    first = {"CIN": [9], "A1": [4], "COUT": [5]}
    second = {"CIN": [5], "A0": [4], "COUT": [6]}
    return {
        "cells": {
            name: {
                "type": "CCU2",
                "parameters": {"INIT1": init, "INJECT": "NO "},
                "port_directions": {pin: "output" if pin == "COUT" else "input" for pin in pins},
                "connections": pins,
            }
            for name, init, pins in (("first", first_init, first), ("second", "0x96AA", second))
        }
        | {"low": {"type": "VLO", "port_directions": {"Z": "output"}, "connections": {"Z": [9]}}}
    }


def test_constant_carries_in_are_opened() -> None:
    module = chain("0x00AA")
    assert open_carries(module) == 0
    cells = module["cells"]
    assert cells["first"]["connections"] == {"A1": [4], "COUT": [5]}
    assert cells["first"]["port_directions"] == {"A1": "input", "COUT": "output"}
    assert cells["second"]["connections"]["CIN"] == [5]


def test_a_constant_that_is_added_is_refused() -> None:
    with pytest.raises(SynthesisError, match="adds a constant carry"):
        open_carries(chain("0x96AA"))


def test_constants_come_of_cells(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps({"modules": {"top": buffer(1, 2)}}))
    added = add_pins(tmp_path / "in.json", "top", tmp_path / "out.json", family="nexus")
    module = json.loads((tmp_path / "out.json").read_text())["modules"]["top"]
    assert added.count == {"IB": 2, "FD1P3IX": 4, "LUT4": 1, "VLO": 1, "VHI": 1, "OB": 1}
    bits = [
        bit for c in module["cells"].values() for own in c["connections"].values() for bit in own
    ]
    assert not {"0", "1"}.intersection(bits)
