"""The table robot × function: widths that are searched, results that are kept, tables."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rbdgen.api.synthesis import MappedCells
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.coordinates import worst_share
from rbdgen.design.nested import MotionLimits
from rbdgen.graph.accuracy import SCALES
from rbdgen.rtl.delay_line import LutRam
from rbdgen_benchmarks.bench import area, functions, peers
from rbdgen_benchmarks.bench.cells import FAMILIES, TOO_LARGE, cells
from rbdgen_benchmarks.bench.errors import errors, redesigned
from rbdgen_benchmarks.bench.measurement import UnknownMeasurement
from rbdgen_benchmarks.bench.names import MEASUREMENTS, chosen


@pytest.fixture(scope="module")
def core() -> Product:
    return compile_front(front_end("pendulum", functions=("did", "m"), target="xcup"))


def test_errors_of_each_coordinate(core: Product, tmp_path: Path) -> None:
    found = errors(core, 500, tmp_path)
    assert {own.array for own in found.coordinates} == {"tau", "dtau_dq", "dtau_dqd", "M"}
    assert found.overflows == 0 and found.states == 500
    for own in found.coordinates:
        assert all(1e-6 < own.relative(scale) < 1e-2 for scale in SCALES)
    assert errors(core, 500, tmp_path) == found  # as kept
    finer = compile_front(redesigned(core.front, error=1e-5))
    found_finer = errors(finer, 500, tmp_path)
    assert worst_share(found_finer.coordinates) < worst_share(found.coordinates) / 8
    slower = compile_front(redesigned(core.front, limits=MotionLimits(velocity=0.1)))
    assert errors(slower, 500, tmp_path) != found
    assert len(list(tmp_path.iterdir())) == 3


def test_what_is_too_large_is_said(core: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rbdgen_benchmarks.bench.cells.LARGEST", 3)
    found = cells(core, Path("unused"), lambda _: None)
    products = core.plan.schedule.binding.multipliers
    assert found == {f: {"why_not": TOO_LARGE.format(products)} for f in FAMILIES}


def test_tables(core: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A robot's rows as text and Markdown; a function that cannot be had has its reason."""
    monkeypatch.setattr(functions, "FUNCTIONS", ("m", "nonsense"))
    monkeypatch.setattr(functions, "STATES", 300)
    monkeypatch.setattr(functions, "FEWER", 100)
    monkeypatch.setattr("rbdgen_benchmarks.bench.cells.LARGEST", 0)
    result = functions.all_functions("pendulum", "fixed", tmp_path, lambda _: None)
    row, refused = result["rows"]
    assert row["operations"] == front_end("pendulum", functions=("m",)).graph.operations()
    assert row["errors"]["slow"]["enough"]["width"] >= 18
    assert '"nonsense" is unknown' in refused["why_not"]
    text = functions.as_text(result)
    assert f"nonsense: {refused['why_not']}" in text and "recursive" in text
    page = (tmp_path / "functions-pendulum.md").read_text()
    assert page == functions.as_markdown(result)
    assert page.count("| m |") == 2 and "more than Yosys" in page
    worst = r"M\[\d,:\] \d\.\de-0\d \| M\[\d,:\] \d\.\de-0\d"
    assert re.search(rf"\| m \| M \| {worst} \| {worst} \| \d+ \(\d+\) \|", page)
    count = {(idea["function"], idea["idea"]): idea["operations"] for idea in result["ideas"]}
    assert count["did", "factor"] == count["did", "composite, rotation 4"]
    assert count["did", "recursive"] != count["did", "composite, rotation 4"]
    assert count["fd", "mminvgen"] != count["fd", "ltdl"]


@pytest.mark.synthesis
@pytest.mark.slow
def test_cells(tmp_path: Path) -> None:
    core = compile_front(front_end("pendulum", functions=("m",), target="xcup"))
    said: list[str] = []
    found = cells(core, tmp_path, said.append)
    products = core.plan.schedule.binding.multipliers
    assert found["ecp5"]["cells"]["MULT18X18D"] == found["xcup"]["cells"]["DSP48E2"] == products
    assert any("Yosys" in line for line in said)
    said.clear()
    assert cells(core, tmp_path, said.append) == found
    assert not any("Yosys" in line for line in said)


def names(*given: str) -> list[str]:
    return [one.name for one in chosen(given)]


def test_names() -> None:
    robots = [name for name in MEASUREMENTS if name.startswith("functions-")]
    assert len(robots) == len(functions.ROBOTS)
    assert MEASUREMENTS["peers"] is peers.beside_peers
    assert names("all") == [name for name in MEASUREMENTS if name != "vectors"]  # which takes days
    assert names("vectors", "rk4", "vectors") == ["vectors", "rk4"]
    assert names("exact-c", "second") == ["bit-exactness-c", "second-derivatives"]  # formerly
    assert names("reliability") == ["reliability", "fuzz-urdf", "fuzz-packets"]
    assert all(own.about.endswith(".") and own.takes for own in MEASUREMENTS.values())


def test_an_unknown_name_is_refused_before_the_compiler_is_imported() -> None:
    """In a process of its own, in which nothing has been imported yet."""
    code = (
        "import sys; from rbdgen.cli.main import main; assert main(['bench', 'cpu', 'rk5']) == 2; "
        "print(*(m for m in sys.modules if m.startswith(('rbdgen.compile', 'rbdgen_benchmarks'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'no measurement "rk5"' in done.stderr
    imported = {
        f"rbdgen_benchmarks{own}" for own in ("", ".bench", ".bench.names", ".bench.measurement")
    }
    assert set(done.stdout.split()) == imported


@pytest.mark.parametrize(
    ("name", "only", "why"),
    [
        ("cpus", [], "no measurement .cpus.; did you mean .cpu."),
        ("rk4", ["hyq"], "--only: rk4 has no robots to choose; cpu, .* have"),
        ("cpu", ["hyk"], "--only: no robot .hyk. is measured; did you mean .hyq."),
    ],
)
def test_unknown_names(name: str, only: list[str], why: str) -> None:
    with pytest.raises(UnknownMeasurement, match=why):
        chosen([name], only)


@pytest.mark.slow
def test_area_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every design of the list is compiled, mapped and fitted to."""
    asked: list[str] = []

    def fake(made: Any, family: str, place: Path, progress: Any) -> MappedCells:
        asked.append(family)
        rams = [unit for unit in made.core.placed if isinstance(unit, LutRam)]
        memories = sum(-(-ram.width // 4) * -(-ram.depth // 16) for ram in rams)
        cells = {"LUT4": 500 - 100 * len(asked), "TRELLIS_DPR16X4": memories, "TRELLIS_FF": 300}
        return MappedCells(cells, 0.0)

    designs = (("pendulum", "m", (1, 2), {}), ("chain2", "m", (1,), {"width": 16}))
    monkeypatch.setattr(area, "mapped", fake)
    monkeypatch.setattr(area, "FAMILIES", {"ecp5": ("ecp5-85f", designs, ())})
    found = area.area_model(tmp_path, lambda _: None)["families"]["ecp5"]
    assert len(asked) == 3 == len(found["designs"])
    # a LUT-RAM takes six sites, whatever the rest is
    assert found["coefficients"]["memory"] == {"memory_cells": pytest.approx(6)}
    assert [d["logic"]["mapped"] for d in found["designs"]] == [400, 300, 200]
    assert "chain2 m" in capsys.readouterr().out
