"""Block RAMs of an ECP5 that are written: Yosys maps memories of all widths to them, and the cells
give the words that the memories' own Verilog gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.tools.observed_netlist import BLOCK_RAMS, CLOCKS, observed
from rbdgen.tools.verilate import build
from tests.tools.test_observed_netlist import PORTS, mapped, watched

pytestmark = [pytest.mark.rtl, pytest.mark.synthesis, pytest.mark.slow]

WORDS = 3000
ADDRESSES = """
  integer k;
  reg [15:0] p, r;
  always @(posedge clk) begin p <= x; r <= p * 16'd40503 + x; end
"""
ONE_WRITES = """
  (* ram_style = "block" *) reg [{width} - 1:0] m{width} [0:{depth} - 1];
  reg [{width} - 1:0] q{width};
  always @(posedge clk) begin
    if (x[3]) m{width}[p[{last}:0]] <= {{p, r, x[3:0]}};
    q{width} <= m{width}[r[{last}:0]];
  end
"""
# Each port reads or writes; what it gives where it writes: the old word, or what it gave.
BOTH_WRITE = """
  (* ram_style = "block" *) reg [{width} - 1:0] m{width} [0:{depth} - 1];
  reg [{width} - 1:0] q{width}, b{width};
  always @(posedge clk) begin
    if (x[3]) m{width}[p[{last}:0]] <= {{p, r}};
    {first}
  end
  always @(posedge clk) begin
    if (x[4]) m{width}[r[{last}:0]] <= {{r, p}};
    {second}
  end
"""
OLD = "{port} <= m{width}[{at}[{last}:0]];"
KEPT = "if (!x[{bit}]) " + OLD


def memory(text: str, width: int, **more: object) -> str:
    depth = 2**14 // width if width < 9 else 18 * 1024 // width
    return text.format(width=width, depth=depth, last=depth.bit_length() - 2, **more)


WIDTHS = (36, 18, 9, 4, 2, 1)
CONTENTS = "  initial for (k = 0; k < 512; k = k + 1) m36[k] = 36'd987654321 * k;\n"


def results(folder: Path, body: str) -> tuple[dict[str, set[int | str]], np.ndarray, np.ndarray]:
    """Parameters of the block RAMs, each one's values; words of the cells, and of the Verilog."""
    module = mapped(folder, body)
    cells_of = [own for own in module["cells"].values() if own["type"] == "DP16KD"]
    rams = [own["parameters"] for own in cells_of]
    netlist = observed(module, "core")
    assert {BLOCK_RAMS, CLOCKS} <= set(netlist.kinds)
    words = np.random.default_rng(1).integers(0, 2**16, (WORDS, 1))
    cells = watched(folder, netlist).run(words, seed=5, settle=20)
    verilog = build([folder / "source.v"], "core", ports=PORTS).run(words, seed=5)
    found: dict[str, set[int | str]] = {
        pin: {own["connections"][pin][0] for own in cells_of} for pin in ("CEA", "CEB")
    }
    for own in rams:
        for key, value in own.items():
            number = value.isdigit() and key.startswith("DATA_WIDTH")
            found.setdefault(key, set()).add(int(value, 2) if number else value)
    return found, cells.outputs, verilog.outputs


def test_one_port_writes(tmp_path: Path) -> None:
    """All widths, and contents from the start."""
    body = ADDRESSES + "".join(memory(ONE_WRITES, width) for width in WIDTHS) + CONTENTS
    body += (
        "  always @(posedge clk) y <= q36[16:0] ^ q36[35:19] ^ {q18[8:0], q18[17:9]} ^ {q9, 8'h0}"
        " ^ {q4, 3'h0} ^ {q2, 9'h0} ^ {q1, 15'h0};\n"
    )
    found, cells, verilog = results(tmp_path, body)
    assert found["DATA_WIDTH_A"] == found["DATA_WIDTH_B"] == set(WIDTHS)
    assert found["CEA"].isdisjoint({"0", "1"}) and found["CEB"] == {"1"}  # clocked when it writes
    np.testing.assert_array_equal(cells, verilog)
    assert len(np.unique(verilog)) > WORDS // 2


@pytest.mark.parametrize(
    ("width", "mode", "known"), [(18, OLD, "READBEFOREWRITE"), (9, KEPT, "NORMAL")]
)
def test_both_ports_write(width: int, mode: str, known: str, tmp_path: Path) -> None:
    first = {"width": width, "last": (18 * 1024 // width).bit_length() - 2}
    body = ADDRESSES + memory(
        BOTH_WRITE,
        width,
        first=mode.format(port=f"q{width}", at="p", bit=3, **first),
        second=mode.format(port=f"b{width}", at="r", bit=4, **first),
    )
    body += f"  always @(posedge clk) y <= q{width} ^ {{b{width}, 4'h0}};\n"
    found, cells, verilog = results(tmp_path, body)
    assert found["WRITEMODE_A"] == found["WRITEMODE_B"] == {known}
    assert found["DATA_WIDTH_A"] == found["DATA_WIDTH_B"] == {width}
    assert found["CEA"] == found["CEB"] == {"1"}
    np.testing.assert_array_equal(cells, verilog)
