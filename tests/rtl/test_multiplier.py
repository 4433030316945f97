"""The multiplier: behavioural Verilog against exact products, ECP5 cells against both."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal, signed

from rbdgen.design.target import Ports, Stream, counted
from rbdgen.rtl.multiplier import (
    Multiplier,
    depth,
    minimum_latency,
)
from rbdgen.rtl.multiplier_cells import emit_cells, of_cells
from rbdgen.rtl.multiply_add import behaviours, named
from rbdgen.system.records import NamedWord
from rbdgen.system.templates import data_folder
from rbdgen.tools.cells import FAMILIES
from rbdgen.tools.toolchain import YOSYS, run_tool
from rbdgen.tools.verilate import build
from rbdgen.tools.yosys import synth, synth_xilinx
from tests.support.cell_models import cell_models
from tests.support.marks import fast_at
from tests.support.simulated import cells

UNITS = [
    Multiplier(18, 18, 3),
    Multiplier(12, 17, 4),
    Multiplier(2, 18, 3),
    Multiplier(19, 18, 4),
    Multiplier(18, 27, 6),
    Multiplier(32, 32, 6),
    Multiplier(27, 18, 4),
    Multiplier(26, 19, 6),
    Multiplier(24, 24, 4, rows=(0, 6)),
    Multiplier(20, 25, 5, rows=(2, 0)),
    Multiplier(31, 18, 4, rows=(6, 0)),
    Multiplier(19, 27, 4, rows=(1, 2)),
    Multiplier(18, 18, 4, "logic"),
    Multiplier(18, 18, 5, "logic"),
    Multiplier(14, 18, 4, "logic"),
    Multiplier(12, 12, 2, "logic"),
    Multiplier(12, 13, 3, "logic"),
    Multiplier(17, 15, 7, "logic"),
    Multiplier(2, 5, 4, "logic"),
    Multiplier(27, 20, 5, "logic"),
]
# What the README and the reports promise.
ECP5_CELLS = {
    Multiplier(18, 18, 3): {"MULT18X18D": 1},
    Multiplier(18, 18, 4): {"MULT18X18D": 1, "TRELLIS_FF": 36},
    Multiplier(19, 18, 4): {"MULT18X18D": 2, "CCU2C": 10, "TRELLIS_FF": 37},
    Multiplier(32, 32, 5): {"MULT18X18D": 4, "CCU2C": 43, "TRELLIS_FF": 165},
    Multiplier(18, 18, 5, "logic"): {"CCU2C": 183, "LUT4": 9, "TRELLIS_FF": 450},
    Multiplier(14, 18, 4, "logic"): {"CCU2C": 139, "LUT4": 7, "TRELLIS_FF": 308},
    Multiplier(12, 12, 4, "logic"): {"CCU2C": 84, "LUT4": 6, "TRELLIS_FF": 192},
}
LONGEST = max(unit.latency for unit in UNITS)


def test_names_are_distinct() -> None:
    assert Multiplier(18, 14, 4).name == "rbdgen_mul_18x14_l4"
    assert Multiplier(18, 14, 4, "logic").name == "rbdgen_mul_18x14_l4_logic"
    assert len({unit.name for unit in UNITS}) == len(UNITS)
    assert Multiplier(24, 24, 4, rows=(0, 6)).name == "rbdgen_mul_24x24_l4_r0x6"
    assert [named(unit.name) for unit in UNITS] == UNITS
    for other in ("rbdgen_ram_18x14", "rbdgen_mul_18x14", "rbdgen_mul_18x14_l4_dsp"):
        assert named(other) is None


def test_each_is_emitted_once() -> None:
    text = behaviours([UNITS[2], UNITS[0], UNITS[2]])
    assert text.count("endmodule") == 2
    assert text == f"{UNITS[2].behavioural()}\n{UNITS[0].behavioural()}"


@pytest.mark.parametrize(
    ("widths", "style", "least"),
    [
        ((18, 18), "dsp", 3),
        ((18, 19), "dsp", 4),
        ((32, 32), "dsp", 4),
        ((18, 18), "logic", 2),
        ((2, 8), "logic", 2),
    ],
)
def test_latencies(widths: tuple[int, int], style: str, least: int) -> None:
    assert minimum_latency(*widths, style) == least
    with pytest.raises(ValueError, match=f"at least {least} needed"):
        Multiplier(*widths, least - 1, style)


def test_widths_are_bounded() -> None:
    with pytest.raises(ValueError, match=r"^multiplier operand of 36 bits: 2 to 35 possible$"):
        Multiplier(36, 18, 5)
    with pytest.raises(ValueError, match=r"^multiplier operand of 1 bits: 2 to 35 possible$"):
        Multiplier(18, 1, 5, "logic")
    with pytest.raises(ValueError, match=r"^19x2 dsp multiplier of latency 3: at least 4 needed$"):
        Multiplier(19, 2, 3)
    assert Multiplier(35, 2, 4).hardware_multipliers == 2
    assert Multiplier(2, 35, 2, "logic").hardware_multipliers == 0


@pytest.mark.parametrize(("a", "b", "spent"), [(18, 18, 1), (19, 18, 2), (18, 19, 2), (19, 19, 4)])
def test_hardware_multipliers(a: int, b: int, spent: int) -> None:
    unit = Multiplier(a, b, 5)
    assert unit.hardware_multipliers == spent
    assert minimum_latency(a, b) == {1: 3, 2: 4, 4: 4}[spent]


@pytest.mark.parametrize(("width", "levels"), [(2, 0), (3, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_rows_are_added_in_a_tree(width: int, levels: int) -> None:
    assert depth(width) == levels


def test_instances_are_connected_by_name() -> None:
    unit, top = Multiplier(4, 3, 3), Module()
    a, b, p = Signal(signed(4), name="x"), Signal(signed(3), name="y"), Signal(7, name="z")
    top.submodules["one"] = unit.instance(a=a, b=b, p=p)
    text = rtlil.convert(top, name="top", ports=[a, b, p], emit_src=False)
    connected = {"clk": "clk [0]", "a": "x [3:0]", "b": "y [2:0]", "p": "z"}
    assert cells(text) == {"one": ("rbdgen_mul_4x3_l3", connected)}
    for wrong in ({"a": b}, {"b": a}, {"p": a}):
        (port, value), *_ = wrong.items()
        has = f"^rbdgen_mul_4x3_l3.{port} has {len({'a': a, 'b': b, 'p': p}[port])} bits, "
        with pytest.raises(ValueError, match=f"{has}not {len(value)}$"):
            unit.instance(**{"a": a, "b": b, "p": p, **wrong})


def test_behavioural_text() -> None:
    """Of one; what it does is simulated below."""
    assert Multiplier(4, 3, 4, "logic").behavioural() == dedent("""\
        // 4 x 3 bits, signed, exact: 4 cycles, one product per cycle.
        module rbdgen_mul_4x3_l4_logic (
            input  wire clk,
            input  wire signed [3:0] a,
            input  wire signed [2:0] b,
            output wire signed [6:0] p
        );
            reg signed [3:0] a1;
            reg signed [2:0] b1;
            reg signed [6:0] p2, p3, p4;
            always @(posedge clk) begin
                a1 <= a;
                b1 <= b;
                p2 <= a1 * b1;
                p3 <= p2;
                p4 <= p3;
            end
            assign p = p4;
        endmodule
        """)


def bench(module_suffix: str = "") -> str:
    """All units side by side; their products leave together, each delayed to the longest."""
    width = max(u.a_width for u in UNITS) + max(u.b_width for u in UNITS)
    lines, products = [], []
    for n, u in enumerate(UNITS):
        p = u.a_width + u.b_width
        wait = LONGEST - u.latency
        source = f"p{n}"
        lines.append(
            f"wire [{p - 1}:0] p{n}; {u.name} u{n} (.clk(clk), .a(i_payload[{u.a_width - 1}:0]), "
            f".b(i_payload[{35 + u.b_width - 1}:35]), .p(p{n}));"
        )
        for k in range(wait):
            lines.append(f"reg [{p - 1}:0] d{n}_{k}; always @(posedge clk) d{n}_{k} <= {source};")
            source = f"d{n}_{k}"
        products.append(source)
    total = sum(u.a_width + u.b_width for u in UNITS)
    assert width <= 70
    return "\n".join(
        [
            "module bench (input clk, input [69:0] i_payload, input i_valid, output i_ready,",
            f"  output [{total - 1}:0] o_payload, output o_valid, input o_ready);",
            f"reg [{LONGEST - 1}:0] valid = 0;",
            "always @(posedge clk) valid <= {valid, i_valid};",
            f"assign i_ready = 1; assign o_valid = valid[{LONGEST - 1}];",
            *lines,
            f"assign o_payload = {{{', '.join(reversed(products))}}};",
            "endmodule",
            "",
        ]
    )


PORTS = Ports(
    Stream((NamedWord("a", 35), NamedWord("b", 35)), "i_payload", "i_valid", "i_ready"),
    Stream(
        tuple(NamedWord(u.name, min(64, u.a_width + u.b_width)) for u in UNITS),
        "o_payload",
        "o_valid",
        "o_ready",
    ),
    reset=None,
)


def operands(n: int) -> np.ndarray:
    """(n, 2) words of 35 bits: random, sparse, dense, and the extremes of every width."""
    rng = np.random.default_rng(11)
    low, high = PORTS.input.fields[0].limits
    words = rng.integers(low, high, (n, 2), endpoint=True)
    words[: n // 8] &= rng.integers(low, high, (n // 8, 2)) & rng.integers(low, high, (n // 8, 2))
    words[n // 8 : n // 4] |= rng.integers(low, high, (n // 8, 2))
    # the low bits of these are the extremes and their neighbours for every operand width
    corners = [0, 1, -1, -2, low, high]
    corners += [s * (1 << k) + d for k in range(34) for s in (1, -1) for d in (-1, 0, 1)]
    pairs = np.array([(x, y) for x in corners[:40] for y in corners], np.int64)
    where = rng.integers(0, len(corners), (n // 4, 2))
    return np.concatenate([words, pairs, np.array(corners, np.int64)[where]])


def wrapped(values: np.ndarray, width: int) -> np.ndarray:
    """The low ``width`` bits, two's complement."""
    return (values << (64 - width)) >> (64 - width)


def check(sources: list[Path], folder: Path, include: list[Path], count: int) -> None:
    """Every product of every unit, and the cycle in which it comes."""
    (folder / "bench.v").write_text(bench())
    everything = [folder / "bench.v", *sources]
    model = build(everything, "bench", ports=PORTS, include_dirs=include)
    words = operands(count)
    result = model.run(words, stall_in=0.1, seed=5)
    for n, u in enumerate(UNITS):
        a, b = wrapped(words[:, 0], u.a_width), wrapped(words[:, 1], u.b_width)
        np.testing.assert_array_equal(result.outputs[:, n], a * b, err_msg=u.name)
    np.testing.assert_array_equal(result.result_cycle - result.accept_cycle, LONGEST)


@pytest.mark.rtl
def test_behavioural_twin_is_exact(tmp_path: Path) -> None:
    (tmp_path / "twins.v").write_text(behaviours(UNITS))
    check([tmp_path / "twins.v"], tmp_path, [], 100_000)


AMD = "synth_xilinx -family {} -top TOP -noiopad -noclkbuf -nodsp"


def netlist(folder: Path, family: str) -> Path:
    """All units as a gate-level netlist of a family's cells, mapped in one run."""
    (folder / "units.il").write_text(emit_cells(UNITS, family))
    (folder / "bench.v").write_text(bench())
    mapped = FAMILIES[family].script if family in FAMILIES else [AMD.format(family)]
    script = [
        "read_rtlil units.il",
        "setattr -mod -set keep_hierarchy 1 *",  # each is mapped by itself
        "read_verilog -sv bench.v",
        *(line.replace("TOP", "bench") for line in mapped),
        "delete bench",
        "write_verilog -noattr netlist.v",
    ]
    (folder / "script.ys").write_text("\n".join(script) + "\n")
    run_tool(YOSYS, ["-s", "script.ys"], folder)
    return folder / "netlist.v"


@pytest.mark.rtl
@pytest.mark.synthesis
@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "model"),
    [
        ("ecp5", "mult18x18d_sim.v"),
        ("gowin", "mult18x18_sim.v"),
        ("nexus", "pdpsc16k_sim.v"),
        ("xcup", "dsp48e2_sim.v"),
        ("xc7", ""),  # Yosys has a model of DSP48E1
    ],
)
def test_cells_are_exact(family: str, model: str, tmp_path: Path) -> None:
    cells = cell_models("xilinx" if family in ("xcup", "xc7") else family)
    ours = [data_folder("sim") / family / model] if model else []
    check([netlist(tmp_path, family), cells / "cells_sim.v", *ours], tmp_path, [cells], 4_000)


@pytest.mark.synthesis
@pytest.mark.parametrize("unit", fast_at((2, 6), [*ECP5_CELLS]), ids=lambda unit: unit.name)
def test_ecp5_cells_spent(unit: Multiplier, tmp_path: Path) -> None:
    (tmp_path / "unit.il").write_text(of_cells(unit, "ecp5"))
    cells = synth("ecp5", [tmp_path / "unit.il"], unit.name, tmp_path / "unit.json")
    assert cells.count == ECP5_CELLS[unit]
    assert cells["MULT18X18D"] == unit.hardware_multipliers


@pytest.mark.synthesis
@pytest.mark.parametrize(
    ("unit", "luts", "flip_flops", "levels"),
    [
        (Multiplier(27, 18, 4), 0, 0, 0),  # all of its registers are inside
        (Multiplier(24, 24, 4, rows=(0, 6)), 105, 135, 9),
    ],
    ids=lambda own: own.name if isinstance(own, Multiplier) else "",
)
def test_amd_cells_spent(
    unit: Multiplier, luts: int, flip_flops: int, levels: int, tmp_path: Path
) -> None:
    (tmp_path / "unit.il").write_text(of_cells(unit, "xcup"))
    cells = synth_xilinx([tmp_path / "unit.il"], unit.name)
    sites = counted("xcup", cells.count)
    assert sites["multipliers"] == 1
    assert (sites["logic"], sites["flip_flops"], cells.levels) == (luts, flip_flops, levels)


def test_a_part_of_the_wrong_family_is_refused() -> None:
    """27 x 27 bits, which two DSP48E2 multiply in four cycles, take four DSP48E1."""
    with pytest.raises(ValueError, match=r"^rbdgen_mul_27x27_l4: of 4 DSP48E1 it takes 6 cycles$"):
        of_cells(Multiplier(27, 27, 4), "xc7")
