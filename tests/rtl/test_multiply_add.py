"""A product and a sum in one unit: portable Verilog and cells against exact sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.design.target import Ports, Stream
from rbdgen.rtl.multiplier import DSP48_LATENCY
from rbdgen.rtl.multiplier_cells import emit_cells
from rbdgen.rtl.multiply_add import MultiplyAdd, behaviours, distinct, named
from rbdgen.shell.emit import to_verilog
from rbdgen.system.records import NamedWord
from rbdgen.system.templates import data_folder
from rbdgen.tools.verilate import build

UNITS = [
    MultiplyAdd(18, 18, 30),
    MultiplyAdd(12, 18, 40, half=9),
    MultiplyAdd(18, 14, 20, minus=True),
    MultiplyAdd(16, 27, 24, half=20, late=True),
    MultiplyAdd(18, 9, 12, minus=True, late=True),
]
MODELS = {
    "xcup": "dsp48e2_sim.v",
    "ecp5": "mult18x18d_sim.v",
    "gowin": "mult18x18_sim.v",
}
WIDTHS = {"a": 18, "b": 27, "c": 40}
PORTS = Ports(
    Stream(tuple(NamedWord(*own) for own in WIDTHS.items()), "i_payload", "i_valid", "i_ready"),
    Stream(
        tuple(NamedWord(own.name, own.width) for own in UNITS), "o_payload", "o_valid", "o_ready"
    ),
    reset=None,
)


def test_names() -> None:
    assert UNITS[0].name == "rbdgen_mac_18x18_30"
    assert UNITS[3].name == "rbdgen_mac_16x27_24_h20_late"
    assert [named(own.name) for own in UNITS] == UNITS
    assert named("rbdgen_mac_18x18") is None
    assert distinct([UNITS[1], UNITS[0], UNITS[1]]) == [UNITS[1], UNITS[0]]


def bench() -> str:
    """All units side by side. c waits two or three cycles, as it comes later than a and b."""
    lines = [
        "module bench (input clk, input [84:0] i_payload, input i_valid, output i_ready,",
        f"  output [{sum(own.width for own in UNITS) - 1}:0] o_payload, output o_valid,",
        "  input o_ready);",
        f"reg [{DSP48_LATENCY - 1}:0] valid = 0;",
        "reg [39:0] c1, c2, c3;",
        "always @(posedge clk) begin",
        "  valid <= {valid, i_valid}; c1 <= i_payload[84:45]; c2 <= c1; c3 <= c2;",
        "end",
        f"assign i_ready = 1; assign o_valid = valid[{DSP48_LATENCY - 1}];",
    ]
    for n, own in enumerate(UNITS):
        lines += [
            f"wire [{own.width - 1}:0] p{n};",
            f"{own.name} u{n} (.clk(clk), .a(i_payload[{own.a_width - 1}:0]),",
            f"  .b(i_payload[{18 + own.b_width - 1}:18]),",
            f"  .c({'c3' if own.late else 'c2'}[{own.c_width - 1}:0]), .p(p{n}));",
        ]
    products = ", ".join(f"p{n}" for n in reversed(range(len(UNITS))))
    return "\n".join([*lines, f"assign o_payload = {{{products}}};", "endmodule", ""])


def wrapped(values: np.ndarray, width: int) -> np.ndarray:
    """The low ``width`` bits, two's complement."""
    return (values << (64 - width)) >> (64 - width)


@pytest.mark.rtl
@pytest.mark.parametrize("family", ["portable", *MODELS])
def test_sums_are_exact(family: str, tmp_path: Path) -> None:
    """In their cycle, too; the extremes of every operand are among random ones."""
    text = behaviours(UNITS) if family == "portable" else to_verilog(emit_cells(UNITS, family))
    (tmp_path / "units.v").write_text(text)
    (tmp_path / "bench.v").write_text(bench())
    models = [data_folder("sim") / family / MODELS[family]] if family in MODELS else []
    model = build([tmp_path / "bench.v", tmp_path / "units.v", *models], "bench", ports=PORTS)
    rng = np.random.default_rng(4)
    words = np.stack(
        [rng.integers(-(1 << w - 1), 1 << w - 1, 3000) for w in WIDTHS.values()], axis=1
    )
    for row, own in zip(range(0, 8 * len(UNITS), 8), UNITS, strict=True):
        widths = own.a_width, own.b_width, own.c_width
        ends = [(-(1 << w - 1), (1 << w - 1) - 1) for w in widths]
        for k in range(8):
            words[row + k] = [of[k >> n & 1] for n, of in enumerate(ends)]
    run = model.run(words, stall_in=0.1, seed=5)
    for n, own in enumerate(UNITS):
        a, b, c = (
            wrapped(words[:, k], width)
            for k, width in enumerate((own.a_width, own.b_width, own.c_width))
        )
        exact = a * b + (-c if own.minus else c) + own.one
        np.testing.assert_array_equal(run.outputs[:, n], exact, err_msg=own.name)
    np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, DSP48_LATENCY)
