"""The reader of value change dumps: what a clock sees, and every fault that it must report."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.tools.dump import Number, add_numbers, read_vcd
from rbdgen.tools.toolchain import SimulationError

HEADER = """$version made by hand $end
$timescale 1ps $end
 $scope module top $end
  $var wire 1 ! clk $end
  $scope module part $end
   $var wire 4 " word[2] [3:0] $end
   $var wire 99 % wide [98:0] $end
  $upscope $end
  $var wire 1 # flag $end
 $upscope $end
$enddefinitions $end
"""
BODY = """
#0
0!
b0011 "
0#
b0 %
#5
1!
b1000 "
#10
0!
1#
#15
1!
b0001 "
0#
#20
0!
#25
1!
"""


def read(tmp_path: Path, text: str, *names: str) -> dict[str, list[int]]:
    file = tmp_path / "made.vcd"
    file.write_text(text)
    return {name: v.tolist() for name, v in read_vcd(file, "top/clk", names).items()}


def test_values_are_those_before_the_edge(tmp_path: Path) -> None:
    found = read(tmp_path, HEADER + BODY, "top/flag", "top/part/word[2]")
    assert found == {"top/flag": [0, 1, 0], "top/part/word[2]": [3, 8, 1]}


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (HEADER + BODY, "top/word", r"made\.vcd: no signal top/word"),
        (HEADER + BODY, "top/part/wide", r"made\.vcd:7: top/part/wide has 99 bits, at most 62"),
        (HEADER[: HEADER.index("$end") + 5], "top/flag", "ends within its header"),
        ("nonsense\n" + HEADER, "top/flag", r"made\.vcd:1: not of a dump's header: nonsense"),
        (HEADER + BODY + "x#\n", "top/flag", r"made\.vcd:32: no change of a value: x#"),
        (HEADER + BODY + "#25\n", "top/flag", r"made\.vcd:32: time does not advance"),
        (HEADER + "0!\n", "top/flag", r"made\.vcd:12: no change of a value"),
    ],
)
def test_faults_are_reported(tmp_path: Path, text: str, name: str, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        read(tmp_path, text, name)


def test_words_as_numbers(tmp_path: Path) -> None:
    """Reals at the end of each time at which their word changes, declared at the end of the header;
    the dump reads as before."""
    source, target = tmp_path / "made.vcd", tmp_path / "numbers.vcd"
    source.write_text(HEADER + BODY)
    word = "top/part/word[2]"
    shown = [Number("elbow", "q_1", word, 4, 2), Number("part", "n7", word, 4, 0)]
    add_numbers(source, target, shown)
    text = target.read_text()
    declared = ["elbow $end\n$var real 64 !0 q_1 $end", "part $end\n$var real 64 !1 n7 $end"]
    for own in declared:
        assert f"$scope module {own}\n$upscope $end\n" in text
    for bits, quarter, whole in (("0011", 0.75, 3.0), ("1000", -2.0, -8.0), ("0001", 0.25, 1.0)):
        _, since = text.split(f'b{bits} "\n')
        assert f"r{quarter} !0\nr{whole} !1\n" in since.partition("\n#")[0] + "\n"
    assert read(tmp_path, text, word) == read(tmp_path, HEADER + BODY, word)


def test_words_of_one_bit_as_numbers(tmp_path: Path) -> None:
    """Their changes have no blank before the signal's code; a signed bit is 0 or -1."""
    source, target = tmp_path / "made.vcd", tmp_path / "numbers.vcd"
    source.write_text(HEADER + BODY)
    add_numbers(source, target, [Number("elbow", "flag", "top/flag", 1, 1)])
    text = target.read_text()
    assert text.count("\nr0.0 !0\n") == 2 and text.count("1#\nr-0.5 !0\n") == 1
    assert text.count("!0\n") == BODY.count("#\n")


def test_a_number_of_some_of_the_time(tmp_path: Path) -> None:
    """While the flag is 1; a signal that the dump lacks has no number."""
    source, target = tmp_path / "made.vcd", tmp_path / "numbers.vcd"
    source.write_text(HEADER + BODY)
    there = Number("elbow", "q_1", "top/part/word[2]", 4, 2, ("top/flag", 1))
    lacking = Number("elbow", "q_2", "top/part/word[3]", 4, 2)
    assert add_numbers(source, target, [there, lacking]) == [there]
    steps = target.read_text().split("\n#")[1:]
    found = [line for step in steps for line in step.splitlines() if line.startswith("r")]
    assert found == ["r-2.0 !0"] and "r-2.0 !0" in steps[2]


def test_no_file(tmp_path: Path) -> None:
    none, made = tmp_path / "none.vcd", tmp_path / "made.vcd"
    with pytest.raises(SimulationError, match=r"none\.vcd"):
        read_vcd(none, "clk", [])
    with pytest.raises(SimulationError, match=r"none\.vcd"):
        add_numbers(none, made, [])
    none.write_bytes(HEADER.encode() + b"b\xff!\n")
    with pytest.raises(SimulationError, match=r"none\.vcd: 'ascii' codec"):
        add_numbers(none, made, [])
