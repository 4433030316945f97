"""A design taken apart for Yosys: each module in one part, its counts those of the whole."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from rbdgen.system.cache import cached_result
from rbdgen.tools import yosys
from rbdgen.tools.parts import TOP, MappedPart, parts
from rbdgen.tools.toolchain import SynthesisError
from rbdgen.tools.yosys import Cells, count_ecp5, synth_xilinx

# top_a stands in top_b and in top; low, which flattening takes up, in both.
RTLIL = r"""
autoidx 1
module \low
  attribute \src "low"
  wire width 4 input 1 \x
  wire output 2 \y
  wire \inner
end
attribute \keep_hierarchy 1
module \top_a
  wire input 1 \x
  cell \low \one
  end
  cell $and \other
  end
end
attribute \keep_hierarchy 1
module \top_b
  wire width 2 output 1 \y
  wire \inner
  cell \top_a \a
  end
  cell \low \one
  end
  cell \EXTERN \e
  end
end
attribute \keep_hierarchy 1
module \top
  cell \top_a \a
  end
  cell \top_b \b
  end
end
"""


def defined(part: MappedPart) -> list[str]:
    """Modules whose text a part has, in order; black boxes with an exclamation mark."""
    names, black = [], ""
    for line in part.text.splitlines():
        if line == r"attribute \blackbox 1":
            black = "!"
        elif line.startswith("module "):
            names.append(black + line.removeprefix("module \\"))
            black = ""
    return names


def test_each_module_has_a_part_and_others_are_black_boxes() -> None:
    found = {part.modules: defined(part) for part in parts([RTLIL], "top", size=1)}
    assert found == {
        ("top_b",): ["top_b", "low", "!top_a", TOP],
        ("top_a",): ["top_a", "low", TOP],
        ("top",): ["top", "!top_a", "!top_b", TOP],
    }


def test_small_modules_share_a_part() -> None:
    (part,) = parts([RTLIL], "top")
    assert sorted(part.modules) == ["top", "top_a", "top_b"]
    assert sorted(defined(part)) == sorted(["low", "top", "top_a", "top_b", TOP])
    assert part.text.count("attribute \\keep 1\n") == 3


def test_a_black_box_has_the_ports_of_its_module() -> None:
    box = next(p for p in parts([RTLIL], "top", size=1) if p.modules == ("top",)).text
    wanted = "attribute \\blackbox 1\nmodule \\top_b\n  wire width 2 output 1 \\y\nend\n"
    assert wanted in box


def test_what_is_flattened_has_no_border() -> None:
    kept, flat = (parts([RTLIL], "top", ["l*"], own, size=1) for own in ([], ["lo*"]))
    assert {part.modules for part in kept} - {part.modules for part in flat} == {("low",)}


def test_only_what_stands_in_the_top_and_the_last_of_one_name() -> None:
    other = "module \\low\n  wire output 1 \\z\nend\nmodule \\nobody\nend\n"
    (part,) = parts([RTLIL, other], "top_b", ["low"])
    assert part.modules == ("top_b", "top_a", "low")
    assert "\\inner" in part.text  # of top_b; that of low is gone
    assert part.text.count("keep_hierarchy") == 4
    with pytest.raises(SynthesisError, match="no module wrong in the sources"):
        parts([RTLIL], "wrong")


PIPELINE = """
module line_step(input clk, input signed [17:0] a, b, output reg signed [35:0] y);
  always @(posedge clk) y <= a * b;
endmodule
module line_two(input clk, input signed [17:0] a, b, output signed [35:0] y, z, output reg [3:0] n);
  line_step one (.clk(clk), .a(a), .b(b), .y(y));
  line_step other (.clk(clk), .a(y[17:0]), .b(b), .y(z));
  plain counter (.clk(clk), .n(n));
endmodule
module plain(input clk, output reg [3:0] n);
  always @(posedge clk) n <= n + 1;
endmodule
module line(input clk, input signed [17:0] a, b, output signed [35:0] y, z, w, output [3:0] n, k);
  line_two two (.clk(clk), .a(a), .b(b), .y(y), .z(z), .n(n));
  line_step last (.clk(clk), .a(z[17:0]), .b(b), .y(w));
  plain counter (.clk(clk), .n(k));
endmodule
"""


@pytest.mark.synthesis
@pytest.mark.slow
def test_counts_are_those_of_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "line.v"
    source.write_text(PIPELINE)
    ecp5, xilinx = count_ecp5([source], "line"), synth_xilinx([source], "line")
    assert ecp5["MULT18X18D"] == xilinx["DSP48E2"] == 3
    assert ecp5["TRELLIS_FF"] == xilinx["FDRE"] == 3 * 36 + 2 * 4
    own = {module: cells["DSP48E2"] for module, cells in xilinx.modules.items()}
    assert own == {"line_two": 2, "line_step": 1}  # two of the three stand in line_two
    said: list[str] = []
    monkeypatch.setattr(yosys, "parts", partial(parts, size=1))
    assert count_ecp5([source], "line", jobs=2).count == ecp5.count
    assert synth_xilinx([source], "line", jobs=2, progress=said.append).count == xilinx.count
    assert said[0] == "Yosys: 3 modules in 3 runs"
    assert {line.split(":")[0] for line in said[1:]} == {f"part {k} of 3" for k in (1, 2, 3)}


@pytest.mark.synthesis
@pytest.mark.slow
def test_a_mapping_that_was_stopped_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yosys, "parts", partial(parts, size=1))
    source = tmp_path / "line.v"
    source.write_text(PIPELINE)
    keep = partial(cached_result, tmp_path / "parts", "part")

    def mapped(until: str | None) -> tuple[Cells | None, set[str]]:
        """The cells, and which parts were mapped for them; stopped at one."""
        said: set[str] = set()

        def say(line: str) -> None:
            part = line.split(" of ")[0]
            if part == until:
                raise KeyboardInterrupt
            if part.startswith("part"):
                said.add(part)

        with suppress(KeyboardInterrupt):
            return synth_xilinx([source], "line", progress=say, keep=keep), said
        return None, said

    stopped, before = mapped("part 2")
    assert stopped is None
    assert "part 2" not in before  # another may have begun
    cells, after = mapped(None)
    assert cells is not None
    assert cells["DSP48E2"] == 3
    assert after == {"part 1", "part 2", "part 3"} - before
    again, none = mapped(None)
    assert again is not None
    assert again.count == cells.count
    assert not none
