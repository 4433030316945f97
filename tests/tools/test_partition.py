"""A module parted at its registers: the pieces together compute what the whole does, every bit."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.target import counted
from rbdgen.rtl.multiplier_cells import emit_cells
from rbdgen.rtl.multiply_add import behaviours
from rbdgen.rtl.separate_module import with_own_names
from rbdgen.shell.emit import emit, to_verilog
from rbdgen.tools import yosys
from rbdgen.tools.partition import PIECE, partition
from rbdgen.tools.parts import parts
from rbdgen.tools.verilate import build
from rbdgen.tools.yosys import synth_xilinx
from tests.support.cores import any_words, check, check_on_time, shared_folder, states_within_limits

# a → sum → first → second (a delay) → y, and b → product → y; an alias; a constant
RTLIL = r"""attribute \top 1
module \adder
  wire width 4 input 0 \clk
  wire width 4 input 1  signed \a
  wire width 4 input 2 \b
  wire width 4 output 3  \y
  wire width 4 $1
  attribute \init 4'0011
  wire width 4 \first
  wire width 4 \second
  wire width 4 \alias
  wire width 4 \product
  wire width 4 \late
  cell $add $2
    parameter \A_WIDTH 4
    connect \A \a
    connect \B { 1'0 \alias [2:0] }
    connect \Y $1
  end
  cell $dff $3
    parameter \WIDTH 4
    connect \D $1
    connect \CLK \clk [0]
    connect \Q \first
  end
  cell $dff $4
    parameter \WIDTH 4
    connect \D \first
    connect \CLK \clk [0]
    connect \Q \second
  end
  cell \times \unit
    connect \x \b
    connect \z \product
  end
  process $5
    assign \late [3:0] 4'0000
    switch \product [0]
      case 1'1
        assign \late [3:0] \second
    end
  end
  cell $dff $6
    parameter \WIDTH 4
    connect \D \late
    connect \CLK \clk [0]
    connect \Q \y
  end

connect \alias \second
end
"""
OUTPUTS = {r"\times": frozenset({r"\z"})}


def test_parted_at_registers_and_modules() -> None:
    found = partition(r"\adder", RTLIL, OUTPUTS, 1)
    assert found is not None
    cells = {name: re.findall(r"(?:cell|process) (\S+(?: \S+)?)", t) for name, t in found.items()}
    assert cells == {
        r"\adder.piece_0": ["$add $2", "$dff $3", "$dff $4"],  # a delay stays together
        r"\adder.piece_1": [r"\times \unit"],
        r"\adder.piece_2": ["$5", "$dff $6"],
        r"\adder": [rf"\adder.piece_{k} \piece_{k}" for k in range(3)],
    }
    ports = {
        name: set(re.findall(r"(input|output) \d+ +(\S+)", text)) for name, text in found.items()
    }
    assert ports[r"\adder.piece_0"] == {
        ("input", r"\a"),
        ("input", r"\alias"),
        ("input", r"\clk"),
        ("output", r"\second"),
    }
    assert found[r"\adder"].count("connect \\alias \\second\n") == 1
    assert "init" in found[r"\adder.piece_0"]  # with its register
    assert "init" not in found[r"\adder"]
    assert found[r"\adder"].startswith("attribute \\top 1\nmodule \\adder\n")


def test_what_is_in_one_piece_or_unknown_is_left_as_it_is() -> None:
    assert partition(r"\adder", RTLIL, OUTPUTS, 100_000) is None
    assert partition(r"\adder", RTLIL, {}, 1) is None  # a module that nobody knows
    assert partition(r"\adder", RTLIL.replace("  process", "  memory"), OUTPUTS, 1) is None
    assert partition(r"\adder", RTLIL.replace("$dff", "$dffe"), OUTPUTS, 1) is None
    latched = RTLIL.replace("    switch", "    sync posedge \\clk\n    switch")
    assert partition(r"\adder", latched, OUTPUTS, 1) is None


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("interval", [1, 3])
def test_every_bit(interval: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A pipeline, whose regions are parted, and a folded core, which is one module."""
    folder = shared_folder(tmp_path_factory, "partition")
    core = compile_front(front_end("pendulum", functions=("fd",), ii=interval))
    name = f"cut_{interval}"
    made = emit(core.accelerator, name)
    rtlil = made.files[f"{name}.il"]
    modules = {m[1]: m[0] for m in re.finditer(r"^module (\S+)\n(?:.*\n)*?end\n", rtlil, re.M)}
    outputs = {
        own: frozenset(re.findall(r"^  wire .*output \d+ +(?:signed +)?(\S+)$", text, re.M))
        for own, text in modules.items()
    }
    # multipliers are modules that stand elsewhere
    for cell in set(re.findall(rf"^  cell (\\{name}_mul\S+)", rtlil, re.M)):
        outputs[cell] = frozenset({"\\p"})
    pieces: dict[str, str] = {}
    for own, text in modules.items():
        pieces |= partition(own, text, outputs, 3000) or {own: text}
    assert len(pieces) > len(modules) + 10
    text = "\n".join(pieces.values())
    source = folder / f"{name}.v"
    source.write_text(to_verilog(text) + with_own_names(behaviours(made.multipliers), name))
    ports = ports_of(port_facts(core))
    model = build([source], name, ports=ports)
    for expected in (states_within_limits(core, 300, 1), any_words(core, 300, 2)):
        run = model.run(expected.tasks, seed=1)
        check(run, expected)
        check_on_time(run, core)
        check(model.run(expected.tasks, stall_in=0.3, stall_out=0.4, seed=2), expected)


@pytest.mark.synthesis
@pytest.mark.slow
def test_cells_are_nearly_those_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = compile_front(front_end("pendulum", functions=("fd",), ii=3))
    made = emit(core.accelerator, "core")
    cells = with_own_names(emit_cells(made.multipliers, "xcup"), "core")
    sources = []
    for name, text in {"core.il": made.files["core.il"], "core_xcup.il": cells}.items():
        sources.append(tmp_path / name)
        sources[-1].write_text(text)
    whole = synth_xilinx(sources, "core")
    said: list[str] = []
    monkeypatch.setattr(yosys, "parts", partial(parts, size=30_000, longest=30_000))
    pieces = synth_xilinx(sources, "core", jobs=2, progress=said.append)
    found = re.fullmatch(r"Yosys: (\d+) modules in (\d+) runs", said[0])
    assert found
    assert int(found[2]) > 3
    assert not any(PIECE in name for name in pieces.modules)  # pieces are seen through
    # datapaths keep their borders, and their memories stand in them
    assert pieces.modules and all(name.startswith("core.") for name in pieces.modules)
    assert whole.modules and all(name.startswith("core_ram_") for name in whole.modules)
    one, cut_up = counted("xcup", whole.count), counted("xcup", pieces.count)
    for site in ("multipliers", "memory", "block_rams"):
        assert cut_up[site] == one[site]
    for site in ("logic", "flip_flops"):
        assert cut_up[site] == pytest.approx(one[site], rel=0.1)
