"""C on microcontrollers: what is read of the tools, and a pendulum's code in both forms."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.api.results import Mismatch
from rbdgen_benchmarks.bench import microcontroller
from rbdgen_benchmarks.bench.microcontroller import deepest, measured, sections

SIZES = """made.o  :
section             size   addr
.text               1200      0
.text.unlikely        34      0
.rodata              256      0
.rodata.cst4           4      0
.comment              46      0
Total               1540
"""
GRAPH = """graph: { title: "made.c"
node: { title: "made" label: "made\\nmade.c:9:5\\n96 bytes (static)\\n0 dynamic objects" }
node: { title: "made.c:part" label: "part\\nmade.c:3:1\\n40 bytes (static)\\n0 dynamic objects" }
node: { title: "made.c:sine" label: "sine\\nmade.c:1:1\\n16 bytes (static)\\n0 dynamic objects" }
node: { title: "sinf" label: "sinf\\n<built-in>" shape : ellipse }
edge: { sourcename: "made" targetname: "made.c:part" label: "made.c:10:5" }
edge: { sourcename: "made" targetname: "made.c:sine" label: "made.c:11:5" }
edge: { sourcename: "made.c:part" targetname: "made.c:sine" label: "made.c:4:5" }
edge: { sourcename: "made.c:sine" targetname: "sinf" label: "made.c:2:5" }
}
"""
MISSING = [tool for tool in (microcontroller.GCC, microcontroller.QEMU) if not shutil.which(tool)]


def test_sizes_and_the_deepest_stack_are_read() -> None:
    assert sections(SIZES) == (1234, 260)
    assert deepest(GRAPH, "made") == 96 + 40 + 16
    assert deepest(GRAPH, "made.c:sine") == 16


def test_a_missing_tool_is_said_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(api.InputError, match=r"^no arm-none-eabi-gcc \(Debian: apt-get install"):
        microcontroller.microcontroller(tmp_path, lambda _: None)


@pytest.mark.skipif(bool(MISSING), reason=f"no {' or '.join(MISSING)}")
def test_both_forms_of_a_pendulum_run_on_a_core(tmp_path: Path) -> None:
    """Results are checked there; instructions are counted, and thus the same each time."""
    rows = {}
    for real in ("integer", "float"):
        choices: dict[str, Any] = {"functions": ("id",), "real": real}
        folder = api.generate("pendulum", tmp_path / real, to="c", **choices).folder
        rows[real] = measured(folder, "Cortex-M4F")
        assert measured(folder, "Cortex-M4F") == rows[real]
    operations = 50
    for code, _, stack, instructions in rows.values():
        assert operations < instructions < 1000 and stack > 8
        assert 2 * instructions < code < 20 * instructions
    assert rows["float"][1] == 0 < rows["integer"][1]  # a table of sines
    expected = folder / "expected.txt"
    expected.write_text(expected.read_text().replace("1", "2"))
    with pytest.raises(Mismatch, match="results are not those expected"):
        measured(folder, "Cortex-M4F")


@pytest.mark.skipif(bool(MISSING), reason=f"no {' or '.join(MISSING)}")
@pytest.mark.parametrize(
    ("real", "more"), [("float", ()), ("double", ("-mfpu=fpv5-d16",))], ids=["float", "double"]
)
def test_a_controller_converges_on_a_core(real: str, more: tuple[str, ...], tmp_path: Path) -> None:
    case = ("pendulum", 6, real, "Cortex-M7", more)
    (row,) = microcontroller.predictive.measure(tmp_path, lambda _: None, *case)
    said = dict(zip(microcontroller.MPC_HEAD, row, strict=True))
    assert 1 < said["iterations"] < 20
    assert 1000 < said["bytes of code"] < 20000 and 0 < said["stack"] < 4000
    # a gradient and an elimination of two joints, six times
    assert 1000 < said["instructions an iteration"] < 200000
