"""Exploring: the table and files, what is kept, what is refused."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rbdgen import api
from rbdgen.api import exploration_points
from rbdgen.api.design_file import COMPILER
from rbdgen.api.exploration import beats, front, with_front
from rbdgen.api.exploration_loop import command, saving
from rbdgen.cli.main import main
from rbdgen.design.choices import LARGEST_INTERVAL
from rbdgen.design.functions import WHOLE
from rbdgen.design.target import find_target
from rbdgen.robot.model import RobotError
from rbdgen.schedule.quick import DesignPoint
from rbdgen.tools import yosys
from rbdgen.tools.toolchain import SynthesisError
from tests.test_imports import imports, modules, room_of

POINT = {
    *("choices", "interval", "latency", "evaluations_per_clock", "multipliers", "estimated"),
    *("mapped", "generate", "fits", "pareto", "worst"),
    *("clock", "longest", "error", "smallest", "energy"),
}
SITES = {"luts", "logic", "memory", "flip_flops", "block_rams"}
WRITTEN = ("explore.json", "pareto.svg", "report.html")
SMALL: dict[str, Any] = {"functions": ("m",), "width": 18, "intervals": (1, 2), "jobs": 1}


def estimate(place: Path, **choices: Any) -> dict[str, Any]:
    return api.explore("pendulum", place, synthesis=False, jobs=1, **choices)


def test_what_is_kept_depends_on_all_that_compiles() -> None:
    """With a room of the compiler, every room that it imports anything of."""
    found = {room_of(name) for name in modules()} & set(COMPILER)
    assert {"compile", "rtl", "tools"} <= found
    for module, file in modules().items():
        if room_of(module) in found:
            source = file.read_text()
            for line, name in imports(source, module, file.name == "__init__.py"):
                assert room_of(name) in found | {"__init__"}, f"{file}:{line}"


def test_report(tmp_path: Path) -> None:
    """What is written is what is returned; the front is of what is compared."""
    report = estimate(tmp_path / "out", functions=("did",), widths=(18, 16))
    text = report.pop("text")
    assert json.loads((tmp_path / "out" / "explore.json").read_text()) == report
    assert report["part"] in text and (tmp_path / "out" / "pareto.svg").is_file()
    assert set(report["model"]["luts"]) == {"rms", "worst", "left_out"}
    found = report["points"]
    assert {p["choices"]["formulation"] for p in found} == {"composite", "recursive"}
    assert {p["choices"]["width"] for p in found} == {16, 18}
    for point in found:
        assert set(point) == POINT and point["mapped"] is None and point["fits"]
        assert set(point["estimated"]) == SITES
        assert point["evaluations_per_clock"] == 1 / point["interval"]
        chosen = (f"--{key} {value}" for key, value in point["choices"].items())
        assert all(choice in point["generate"] for choice in chosen)
    costs = []
    for p in found:
        mhz, error = p["clock"]["mhz"]["about"], p["error"]
        times = p["interval"] / mhz, p["longest"] / mhz
        nj = p["energy"]["nj"]["about"]
        costs.append((p["multipliers"], p["estimated"]["luts"], *times, nj, error))
        assert error == pytest.approx(max(worst_of(p)), rel=0.1)
    for own, point in zip(costs, found, strict=True):
        assert point["pareto"] != any(beats(other, own) for other in costs)
    assert "µs, M tasks/s, nJ and error of the worst, of what fits" in text
    # a default interval is one that saves multipliers
    own = [p for p in found if p["choices"] == {**found[0]["choices"], "ii": p["interval"]}]
    counts = [p["multipliers"] for p in own]
    assert counts == sorted(set(counts), reverse=True) and len(counts) > 3


def test_the_same_bytes_in_any_number_of_processes(tmp_path: Path) -> None:
    files = []
    for jobs in (1, 2):
        place = tmp_path / str(jobs)
        api.explore("pendulum", place, synthesis=False, **{**SMALL, "jobs": jobs})
        files.append([(place / name).read_bytes() for name in WRITTEN])
    assert files[0] == files[1]


def test_too_many_multipliers(tmp_path: Path) -> None:
    """Such a design is not compiled, not on the front, and says why."""
    report = api.explore(
        "gantry",
        tmp_path / "out",
        synthesis=False,
        jobs=1,
        target="ecp5-25f",
        functions=("did",),
        formulation="composite",
        intervals=(2, 8),
    )
    two, eight = report["points"]
    assert two["why_not"] == f"{two['multipliers']} multipliers; LFE5U-25F has 28"
    assert two["estimated"] is None and not two["fits"] and not two["pareto"]
    assert eight["pareto"] and two["why_not"] in report["text"]


def test_ways_to_share_are_compared(tmp_path: Path) -> None:
    """Where joints cannot take turns in an interval the table says so, and goes on."""
    report = estimate(tmp_path / "out", folds=("none", "joints"), intervals=(4, 8))
    found = {(p["choices"]["fold"], p["choices"]["ii"]): p for p in report["points"]}
    assert {*found} == {(fold, ii) for fold in ("none", "joints") for ii in (4, 8)}
    refused = found.pop(("joints", 4))
    assert refused["why_not"] == "ii: 4: time-multiplexed joints take 5 cycles and more"
    assert refused["estimated"] is None and refused["why_not"] in report["text"]
    for (fold, ii), point in found.items():
        assert f"--fold {fold} --ii {ii}" in point["generate"] and point["interval"] == ii
        assert point["fits"] and point["smallest"] == "ecp5-25f"  # of an 85F's designs
    assert "without an estimate: 1" in (tmp_path / "out/pareto.svg").read_text()
    with pytest.raises(RobotError, match="there is one limb"):
        estimate(tmp_path / "none", folds=("limbs",), intervals=(4,))


def test_designs_keep_the_error_unless_widths_are_said(tmp_path: Path) -> None:
    report = estimate(tmp_path / "out", functions=("id",), intervals=(1, 4))
    for point in report["points"]:
        assert point["choices"].keys() == {"formulation", "error", "ii"}
        assert point["choices"]["error"] == 1e-3 and "--error 0.001" in point["generate"]
        at_limits, at_a_tenth = (part.split()[-1] for part in point["worst"].split(" | "))
        assert float(at_limits) <= 1e-3 and float(at_a_tenth) <= 1e-2
    assert "µs, M tasks/s, nJ and error asked for, of what fits" in report["text"]
    assert "worst, at the limits | at a tenth" in report["text"]


def worst_of(point: dict[str, Any]) -> tuple[float, float]:
    """The errors that the table shows, of which that at a tenth of the limits counts a tenth."""
    at_limits, at_a_tenth = (float(part.split()[-1]) for part in point["worst"].split(" | "))
    return at_limits, at_a_tenth / 10


def test_times_in_the_units_of_a_user(tmp_path: Path) -> None:
    """As `info` has them of the same design, as ranges, with the longest wait of a task."""
    own: dict[str, Any] = {"functions": ("m",), "width": 18, "target": "ecp5-25f"}
    report = estimate(tmp_path / "out", intervals=(4,), **own)
    (point,) = report["points"]
    facts = api.info("pendulum", ii=4, **own).facts
    (task,) = facts.tasks.functions.values()
    assert point["clock"] == facts.clocks[0].to_json() and point["longest"] == task.longest
    us, rate = facts.clocks[0].us(point["longest"]), facts.clocks[0].rate(4)
    (row,) = (line for line in report["text"].splitlines() if str(us) in line)
    assert str(rate) in row and "MHz, estimated" in report["text"]


def test_where_no_clock_is_known_cycles_are_compared(tmp_path: Path) -> None:
    own: dict[str, Any] = {"functions": ("m",), "width": 18, "target": "gw2a-18"}
    text = estimate(tmp_path / "out", intervals=(1, 4), **own)["text"]
    assert "cycles to a result, interval and error of the worst, of what" in text
    assert "per clock" in text and "estimated" not in text


def test_accelerators(tmp_path: Path) -> None:
    """Those that the part is too small for say so; the others are as `info` has them."""
    own: dict[str, Any] = {"accelerator": True, "functions": ("did",), "target": "ecp5-25f"}
    own["formulation"] = "composite"
    report = estimate(tmp_path / "out", intervals=(1, 4), **own)
    facts = api.info("pendulum", ii=4, **own).facts
    one, four = report["points"]
    assert four["multipliers"] == facts.multipliers and four["pareto"]
    assert four["longest"] == max(task.longest or 0 for task in facts.tasks.functions.values())
    assert "--accelerator" in shlex.split(four["generate"])
    assert one["fits"] or "ii: 1 takes" in one["why_not"]


def test_accelerators_that_no_interval_fits(tmp_path: Path) -> None:
    own: dict[str, Any] = {"accelerator": True, "functions": WHOLE, "formulation": "composite"}
    own["target"] = "ecp5-25f"
    with pytest.raises(RobotError, match="ii: 1 takes 44 hardware multipliers"):
        estimate(tmp_path / "none", intervals=(1,), **own)


def test_least_latency_is_one_design(tmp_path: Path) -> None:
    report = estimate(tmp_path / "out", functions=("id",), style="latency", clock=30.0)
    (point,) = report["points"]
    assert point["choices"]["ii"] is None and point["interval"] == 1
    assert "--style latency --clock 30.0" in point["generate"] and "--ii" not in point["generate"]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one with each run of Yosys."""
    runs: list[str] = []
    real: Callable[..., Any] = yosys.synth

    def synth(family: str, *arguments: Any, **options: Any) -> Any:
        runs.append(family)
        return real(family, *arguments, **options)

    monkeypatch.setattr(yosys, "synth", synth)
    return runs


@pytest.mark.synthesis
@pytest.mark.slow
def test_an_interrupted_run_goes_on(
    tmp_path: Path, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the real tool: nothing is mapped twice, and the end is the same."""
    place = tmp_path / "out"
    real = exploration_points.mapped

    def stopped(*arguments: Any) -> Any:
        if counted:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(exploration_points, "mapped", stopped)
    with pytest.raises(KeyboardInterrupt):
        api.explore("pendulum", place, **SMALL)
    assert len(counted) == 1 and not (place / "explore.json").exists()
    monkeypatch.setattr(exploration_points, "mapped", real)
    report = api.explore("pendulum", place, **SMALL)
    assert len(counted) == 2
    files = {file: file.read_bytes() for file in place.iterdir() if file.is_file()}
    assert {file.name for file in files} == set(WRITTEN)
    again = api.explore("pendulum", place, **SMALL)
    assert len(counted) == 2 and again == report
    assert files == {file: file.read_bytes() for file in files}
    for point in report["points"]:
        assert point["pareto"] and point["mapped"]["multipliers"] == point["multipliers"]
        assert point["mapped"]["luts"] == pytest.approx(point["estimated"]["luts"], rel=0.25)
    # another design knows nothing of these
    api.explore("pendulum", place, **{**SMALL, "intervals": (3,)})
    assert len(counted) == 3


def test_front_by_hand() -> None:
    """Of two designs that differ only in width, the wider words are worth their LUTs."""

    def point(multipliers: int, luts: int, interval: int, width: int) -> DesignPoint:
        own = {"width": width}, interval, None, 1 / interval, multipliers
        return DesignPoint(*own, estimated={"luts": luts}, mapped=None, generate=None)

    found = [
        point(10, 1000, 2, 18),
        point(10, 900, 2, 16),
        point(10, 1100, 2, 16),  # narrower and larger
        point(10, 1000, 3, 18),  # slower
        point(200, 500, 1, 18),  # more multipliers than the part has
        point(10, 10**6, 1, 18),  # more LUTs
    ]
    found = with_front(found, find_target("ecp5-85f"))
    assert [p.pareto for p in found] == [True, True, False, False, False, False]
    assert [p.fits for p in found] == [True, True, True, True, False, False]


def test_intervals_that_save() -> None:
    at = [max(40 // k, 7) for k in range(1, LARGEST_INTERVAL + 1)]
    assert saving(at) == [1, 2, 3, 4, 5, 6]
    assert saving([3] * LARGEST_INTERVAL) == [1]


def test_command() -> None:
    said = command("hyq", {"functions": ("did", "m"), "gravity": (0.0, 0.0, -1.6), "ii": 4})
    assert said == "rbdgen generate hyq --function did,m --gravity 0.0 0.0 -1.6 --ii 4"
    assert command("hyq", {"limits": object()}) is None
    odd = ("a $(x).urdf", "`x` 'y' \"z\" \\", "v; w")  # a shell takes them as they are
    said = command(odd[0], {"frames": odd[1:]})
    assert said and shlex.split(said) == [
        "rbdgen",
        "generate",
        odd[0],
        "--frames",
        ",".join(odd[1:]),
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nonsense"], "no such robot"),
        (["pendulum", "--ii", "0,2"], "ii: from 1 to 64 cycles, not 0"),
        (["pendulum", "--widths", "18,99"], "width: a whole number of bits from 12 to 32"),
        (["pendulum", "--widths", "18", "--width", "18"], "width, widths: give one"),
        (["pendulum", "--widths", "18", "--error", "1e-4"], "widths: words follow from"),
        (["pendulum", "--quick", "--fold", "none,joints"], "folds: quick designs share"),
        (["pendulum", "--multipliers", "9"], "multipliers: explore varies the interval"),
        (["pendulum", "--target", "xc7"], "target: no area model of xc7"),
        (["pendulum", "-o", "taken"], "taken: exists and is not explore's"),
        (["pendulum", "-o", "taken/file"], "taken/file: exists and is not explore's"),
    ],
)
def test_refused_in_one_line(
    arguments: list[str],
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").mkdir()
    Path("taken/file").write_text("x")
    assert main(["explore", *arguments]) == (2 if arguments == ["nonsense"] else 1)
    out, err = capsys.readouterr()
    assert not out and line in err
    assert len([x for x in err.splitlines() if not x.startswith("[")]) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "taken"]


def test_no_yosys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the name of the module is the function's, too
    monkeypatch.setattr(import_module("rbdgen.api.exploration"), "yosys_version", lambda: "")
    with pytest.raises(SynthesisError, match="no Yosys"):
        api.explore("pendulum", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_quick_designs(tmp_path: Path) -> None:
    """Every interval at which there are the multipliers; how far off is said, from both ways."""
    place = tmp_path / "out"
    own: dict[str, Any] = {"functions": ("did",), "formulation": "composite", "rotation": 4}
    report = estimate(place, quick=True, widths=(16, 18), guard=1, target="ecp5-25f", **own)
    points = report["points"]
    assert all(p["fits"] or p["estimated"]["luts"] > 24288 or p["interval"] == 1 for p in points)
    for width in (16, 18):
        mine = {p["interval"]: p for p in points if p["choices"]["width"] == width}
        assert list(mine) == sorted(mine) and mine[64]["multipliers"] <= 28 < len(mine)
        counts = [p["multipliers"] for k, p in mine.items() if k > 1]
        assert counts == sorted(counts, reverse=True)
    error = report["quick"]["luts"]
    assert 5 <= error["designs"] <= 10 and error["rms"] <= abs(error["worst"]) < 0.06
    assert f"{len(points)} designs are shown" in report["text"]
    assert "from quick schedules" in report["text"]
    # the same as `explore` estimates for one of them in full, but for the schedule
    chosen = {**own, "width": 18, "guard": 1, "fold": "none", "target": "ecp5-25f"}
    full = estimate(tmp_path / "full", intervals=(8,), **chosen)["points"][0]
    quick = next(p for p in points if p["choices"]["width"] == 18 and p["interval"] == 8)
    assert quick["multipliers"] == full["multipliers"]
    assert abs(quick["estimated"]["luts"] / full["estimated"]["luts"] - 1) < 0.06
    assert quick["generate"].endswith("--ii 8") and "--fold none" in quick["generate"]


@pytest.mark.parametrize(
    "choices",
    [
        {"style": "latency"},
        {"error": 1e-4},
        {"accelerator": True},
        {"fold": "joints"},
        {"scheduler": "exact"},
    ],
)
def test_what_has_no_quick_schedule(tmp_path: Path, choices: dict[str, Any]) -> None:
    (field,) = choices
    with pytest.raises(api.InputError, match=f"^{field}: "):
        estimate(tmp_path / "out", functions=("did",), quick=True, **choices)
    assert not (tmp_path / "out").exists()


COSTS = st.lists(st.tuples(*[st.integers(0, 5)] * 3), max_size=12)


@given(COSTS)
def test_the_front(costs: list[tuple[int, ...]]) -> None:
    on = [own for own, is_on in zip(costs, front(costs), strict=True) if is_on]
    off = [own for own, is_on in zip(costs, front(costs), strict=True) if not is_on]
    assert not any(beats(a, b) for a in on for b in on)
    assert all(any(beats(a, b) for a in on) for b in off)
    assert bool(on) == bool(costs)


@given(COSTS, st.randoms(use_true_random=False))
def test_order_does_not_matter_to_the_front(costs: list[tuple[int, ...]], random: Random) -> None:
    order = list(range(len(costs)))
    random.shuffle(order)
    assert front([costs[k] for k in order]) == [front(costs)[k] for k in order]


def test_a_front_by_hand() -> None:
    assert front([(1, 5), (2, 2), (5, 1), (2, 3), (2, 2)]) == [True, True, True, False, True]
