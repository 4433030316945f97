"""CPU and hardware at the same boundary: the arithmetic by hand, and who is said to win."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.cli.main import main
from rbdgen.design.coordinates import CoordinateError, ScaleError, worst_share
from rbdgen.graph.accuracy import SCALES
from rbdgen.shell.packets import PacketWidths
from rbdgen_benchmarks.compare.comparison import compare
from rbdgen_benchmarks.compare.peers import Line
from rbdgen_benchmarks.compare.side_by_side import (
    CALL,
    CORE,
    LINK,
    SideBySide,
    as_text,
    behind_links,
    of_core,
    of_gpu,
    of_peer,
    of_program,
    picture,
    wins,
)
from rbdgen_benchmarks.compare.timing import ProgramTimes, Times

FAST = Line("fast", 100, (2, 2), 100.0, "placed and routed", 50)
UNKNOWN = Line("unknown", 100, (1, 1), None, "", 50)
WORDS = PacketWidths((18,) * 21, (18,) * 7)
OFF = tuple(
    CoordinateError(
        row,
        "joint",
        "N·m",
        None,
        {
            scale.name: ScaleError(error, 1.0, 2.0)
            for scale, error in zip(SCALES, errors, strict=True)
        },
    )
    for row, errors in (("tau[1]", (1e-4, 1e-3)), ("tau[0]", (1e-5, 2e-3)))
)
TIMES = {
    kind: ProgramTimes(one, {n: Times(rows / 2, rows, rows, 30.0, 5.0) for n in (16, 256, 1024)})
    for kind, one, rows in (("cpp", 200.0, 40.0), ("cpp32", 250.0, 20.0))
}


def test_a_core_by_hand() -> None:
    """100 cycles of 10 ns, then a task every 20 ns."""
    own = of_core(FAST)
    assert own.one_us == pytest.approx(1.0)
    assert own.rates is not None
    assert own.rates["1"] == pytest.approx(1.0)
    assert own.rates["16"] == pytest.approx(16 / 1.3)
    assert own.rates["1024"] == pytest.approx(1024 / (1 + 1023 * 0.02))
    assert own.parts == "50 DSP; 100 MHz, placed and routed"
    assert of_core(UNKNOWN).rates is None and not behind_links(UNKNOWN, WORDS)
    assert of_core(UNKNOWN).parts == "50 DSP; clock not known"
    slow = Line("slow", 9, (1, 1), 1e3 / 18, "scheduled for", 118)
    assert of_core(slow).parts == "118 DSP; 55.56 MHz, scheduled for, not placed"


def test_a_link_is_no_core() -> None:
    rows = behind_links(FAST, WORDS, OFF)
    assert rows[0].parts == "84 bytes in, 28 out; 100 MHz, placed and routed"
    assert rows[-1].name.endswith("UART, 3 Mbaud")
    # a millisecond's turn, then frames: 3 + 48 and 4 + 16 bytes of words, 6 of CRC and flags each
    assert rows[-1].parts == "57 bytes in, 26 out; 100 MHz, placed and routed"
    assert rows[-1].one_us == pytest.approx(1000 + 83 / 0.3 + 1)
    rates = rows[-1].rates
    assert rates is not None and rates["1024"] == pytest.approx(0.3 / 57, rel=0.02)
    assert all(row.errors == OFF for row in rows)
    assert (
        as_text(SideBySide(tuple(rows), (), ())).count("  tau[1] 1.0e-04 | tau[0] 2.0e-03  ") == 4
    )
    assert {row.boundary for row in rows} == {LINK}
    alone = of_core(FAST)
    for row in rows:
        assert row.rates and alone.rates and row.one_us and alone.one_us
        assert row.one_us > alone.one_us
        assert all(row.rates[n] < alone.rates[n] for n in row.rates)


def test_a_cpu_by_hand() -> None:
    one, narrow, both = of_program(TIMES, 2, {"cpp32": OFF}, "a processor")
    assert one.one_us == pytest.approx(0.2) and one.rates is not None
    assert one.rates == pytest.approx({"1": 5.0, "16": 25.0, "256": 25.0, "1024": 25.0})
    assert narrow.rates == pytest.approx({"1": 4.0, "16": 50.0, "256": 50.0, "1024": 50.0})
    assert both.rates == pytest.approx({"16": 1e3 / 30, "256": 1e3 / 30, "1024": 1e3 / 30})
    assert (one.errors, narrow.errors, both.parts) == ((), OFF, "up to 2 cores")
    assert len(of_program(TIMES, 1, {}, "")) == 2


def test_a_gpu_by_hand() -> None:
    row = of_gpu("CUDA", {1: 1e4, 16: 700.0, 256: 50.0, 1024: 20.0}, OFF, "a GPU")
    assert row.one_us == pytest.approx(10) and row.boundary == CALL and row.parts == "a GPU"
    assert row.rates == pytest.approx({"1": 0.1, "16": 1 / 0.7, "256": 20.0, "1024": 50.0})


def test_who_wins_is_said_by_boundary() -> None:
    rows = [*of_program(TIMES, 1, {}, "c"), of_peer("slow", 1000.0)]
    rows += [of_core(FAST), of_core(Line("slower", 100, (4, 4), 100.0, "", 5))]
    rows += behind_links(FAST, WORDS)
    found = wins(rows)
    assert found == (
        "From memory and back, C++, double, c (1 core) is the fastest for one task.",
        "From memory and back, C++, float, c (1 core) is the fastest for 16, 256 and 1024 "
        "together.",
        "At the core, fast is the fastest for one task, 16, 256 and 1024 together.",
        found[-1],
    )
    assert found[-1].startswith("Where our hardware loses: behind its best link it is 0.")
    assert found[-1].endswith("as this machine's programs for one task, 16, 256 and 1024 together.")
    quick = Line("quick", 1, (1, 1), 1000.0, "", 1)
    won = wins([of_peer("slow", 1e5), *behind_links(quick, PacketWidths((18, 18), (18,)))])
    assert won[-1] == "Behind its best link our hardware is faster than this machine's programs."
    report = SideBySide(tuple(rows), found, ("a note",))
    text = as_text(report)
    assert [text.index(word) for word in ("Called", "At the core:", "Through a link")] == sorted(
        text.index(word) for word in ("Called", "At the core:", "Through a link")
    )
    assert text.endswith("a note")
    assert {CALL, CORE, LINK} == {row.boundary for row in rows}
    drawn = picture("title", report)
    assert "PCIe Gen1 x8" in drawn and drawn == picture("title", report)


@pytest.mark.slow
def test_this_cpu_beside_the_designs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "side.svg"
    words = ["compare", "pendulum", "--function", "id", "--ii", "1", "-o", str(place)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "C++, double" in out and "C++, float" in out
    assert place.read_text().startswith("<svg")
    report = compare("pendulum", intervals=(1,), functions=("id",))
    double, narrow = report.facts.side.rows[:2]
    assert 0 < worst_share(double.errors) < 1e-12
    assert 1e-9 < worst_share(narrow.errors) < 1e-5
    assert double.one_us is not None and 0 < double.one_us < 10
    ours = [row for row in report.facts.side.rows if row.boundary == CORE]
    assert all(1e-6 < worst_share(row.errors) < 1e-2 for row in ours)
    assert report.facts.gravity == (0.0, 0.0, -9.81) and report.facts.angles == "on-chip"
