"""The fastest design that fits its part: what is chosen, what is said of it, what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.cli.main import main
from rbdgen.compile import ways
from rbdgen.compile.accelerator_area import accelerator_features
from rbdgen.compile.expected import errors_in_graph
from rbdgen.compile.fitting import Fastest, SharingChoice
from rbdgen.compile.product import FILLED, Product, ResourceEstimate, room, too_large
from rbdgen.design.coordinates import said
from rbdgen.design.design import Design, choice_of, is_left_open
from rbdgen.design.loading import load
from rbdgen.design.nested import FITTED, Choice
from rbdgen.design.target import TARGETS, Target, find_target
from rbdgen.graph.accuracy import SCALES
from rbdgen.robot.model import RobotError
from rbdgen.schedule.area import estimated
from rbdgen.schedule.features import features
from rbdgen.schedule.limbs import LimbPlan
from rbdgen.schedule.round_plan import RoundPlan
from tests.support.made import accelerate, compiled

# Of a part that is too small for a task every cycle.
SMALL: dict[str, Any] = {"functions": ("did",), "width": 18, "target": "ecp5-25f"}
LARGER = find_target("ecp5-85f")


def fitted(core: Product) -> Choice:
    found = choice_of(core.design, FITTED)
    assert found is not None and core.notes[-1] == found.note
    return found


def instead(part: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a part in place of every other, for what names its part."""
    for name in TARGETS:
        monkeypatch.setitem(TARGETS, name, part)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Target:
    """A part, in place of every other, on which no pendulum takes a task every cycle."""
    part = replace(find_target("ecp5-25f"), multipliers=6, luts=3500)
    instead(part, monkeypatch)
    return part


class Shelf:
    """Designs that take what a table says: fold → interval → LUTs."""

    def __init__(self, least: int | None = None, inexact: str = "", **luts: dict[int, int]) -> None:
        self.least, self.luts, self.made = least, luts, list[tuple[str, int]]()
        self.inexact = inexact

    def make(self, design: Design, target: Target) -> tuple[ResourceEstimate, str]:
        assert design.ii is not None
        self.made.append((design.fold, design.ii))
        luts = self.luts[design.fold][design.ii]
        cells = {"luts": luts, "flip_flops": 0, "block_rams": 0}
        name = f"{design.fold} {design.ii}"
        return ResourceEstimate(target, design.ii, 10, 0, cells), name

    def ways(self, design: Design, target: Target) -> Sequence[SharingChoice]:
        def intervals(fold: str) -> Sequence[int]:
            return [k for k in self.luts[fold] if k > 1]

        def least() -> ResourceEstimate:
            cells = {"luts": self.least or 0, "flip_flops": 0, "block_rams": 0}
            return ResourceEstimate(target, 64, 0, 0, cells)

        folds = [fold for fold in ("limbs", "none", "joints") if fold in self.luts]
        return [
            SharingChoice(
                f,
                5 if f == "joints" else 2,
                lambda f=f: intervals(f),
                least if f == "none" else None,
                lambda f=f: self.inexact if f == "joints" else "",
            )
            for f in folds
        ]

    def fastest(self, target: str = "ecp5-25f") -> tuple[Choice, str]:
        def alone(design: Design) -> Design:
            return replace(design, ii=1, fold="none")

        search = Fastest(alone, self.ways, self.make, lambda _: None)
        design, found = search.of(Design("", target=target), find_target(target))
        choice = choice_of(design, FITTED)
        assert choice is not None
        return choice, found


def halved(first: int, intervals: range) -> dict[int, int]:
    return {k: first // k for k in intervals}


FITS = int(FILLED * TARGETS["ecp5-25f"].luts)


def test_one_that_fits_alone_is_not_shared() -> None:
    shelf = Shelf(none={1: FITS})
    assert shelf.fastest()[1] == "none 1"
    assert shelf.made == [("none", 1)]


@pytest.mark.parametrize("times", range(2, 65))
def test_the_shortest_interval_that_fits_is_found_in_a_few_plans(times: int) -> None:
    shelf = Shelf(none=halved(times * FITS, range(1, 65)))
    note, found = shelf.fastest()
    assert found == f"none {times}" and note.fits and note.options["ii"] == times
    assert len(shelf.made) <= 12  # the one alone, doubled, and halved between


def test_of_one_interval_the_better_way_is_taken() -> None:
    """Limbs before shared multipliers, those before joints; a shorter interval before all."""
    large, small = FITS + 1, FITS
    both = Shelf(none={1: large, 4: small}, limbs={4: small}, joints={4: small})
    assert both.fastest()[1] == "limbs 4"
    faster = Shelf(none={1: large, 3: small}, limbs={4: small}, joints={5: small})
    assert faster.fastest()[1] == "none 3"
    assert ("joints", 5) not in faster.made
    joints = Shelf(none={1: large, 9: large, 20: small}, joints={6: large, 8: small, 30: small})
    assert joints.fastest()[1] == "joints 8"
    assert ", time-multiplexed joints," in joints.fastest()[0].note


def test_joints_that_are_off_by_too_much_are_the_last_way() -> None:
    """What another way makes more slowly is better; where nothing else fits, the note says so."""
    large, off = FITS + 1, "tau[6] off by 0.9"
    both = Shelf(inexact=off, none={1: large, 9: large, 20: FITS}, joints={6: large, 8: FITS})
    assert both.fastest()[1] == "none 20"
    assert not any(fold == "joints" for fold, _ in both.made)
    alone = Shelf(inexact=off, none={1: large, 20: large}, joints={6: large, 8: FITS})
    note, found = alone.fastest()
    assert found == "joints 8"
    assert (
        "a task every 8 cycles, time-multiplexed joints (tau[6] off by 0.9), is the fastest"
        in note.note
    )


def test_what_is_too_large_at_any_interval_is_not_planned() -> None:
    """Unless nothing fits, and the smallest is to be named."""
    large = FITS + 1
    both = Shelf(large, none={1: 9 * large, 2: 4 * large, 8: large}, joints={6: large, 8: FITS})
    assert both.fastest()[1] == "joints 8"
    assert both.made == [("none", 1), ("joints", 6), ("joints", 8)]
    none = Shelf(large, none={1: 9 * large, 2: 4 * large, 8: large}, joints={6: 2 * large})
    note, found = none.fastest()
    assert found == "none 8" and not note.fits


def test_where_nothing_fits_the_smallest_is_made_and_a_part_that_would_do_is_named() -> None:
    larger = TARGETS["ecp5-45f"].luts
    shelf = Shelf(none={1: 9 * larger, 2: larger, 8: larger // 2})
    note, found = shelf.fastest()
    assert found == "none 8" and not note.fits
    assert note.note.startswith("DOES NOT FIT ecp5-25f: the smallest design, a task every 8 cycles")
    assert f"about {larger // 2} of {TARGETS['ecp5-25f'].luts} LUTs" in note.note
    assert "--target ecp5-45f fits, a task every 8 cycles" in note.note
    too_much = Shelf(none={1: 10**8})
    text = too_much.fastest()[0].note
    assert "--target" not in text and "shorter words (--width)" in text
    assert "too few multipliers at any interval" in text


@pytest.mark.parametrize("part", TARGETS.values(), ids=lambda part: part.name)
def test_what_a_part_holds(part: Target) -> None:
    whole = {k: int(room(part, k)) for k in ("luts", "flip_flops", "block_rams")}
    full = ResourceEstimate(part, 1, part.multipliers, 0, whole)
    assert full.fits and not too_large(full)
    assert whole["luts"] <= FILLED * part.luts and whole["block_rams"] == part.block_rams
    for key in whole:
        more = replace(full, cells={**whole, key: whole[key] + 1})
        assert not more.fits and len(more.lacking) == 1
        assert too_large(more).startswith(f"DOES NOT FIT {part.name}")
    assert not replace(full, multipliers=part.multipliers + 1).fits


def test_what_is_chosen_is_the_fastest() -> None:
    core = compiled("gantry", **SMALL)
    chosen, part = fitted(core), find_target("ecp5-25f")
    assert chosen.fits and chosen.options["ii"] == core.plan.interval == 3
    assert core.plan.multipliers <= part.multipliers
    with pytest.raises(RobotError, match="from 3 on it fits"):
        compiled("gantry", **SMALL, ii=2)


def test_the_note_has_the_numbers_of_info() -> None:
    facts = api.info("gantry", **SMALL)
    asked = api.info("gantry", **SMALL, ii=3, fold="none")
    alone = api.info("gantry", **SMALL, fit=False)
    note = facts["notes"][-1]
    for own in (facts, alone):
        assert f"about {own['estimated']['luts']} of 24288 LUTs" in note
        assert f"{own['multipliers']} of 28 multipliers" in note
    assert note.startswith("a task every 3 cycles is the fastest that fits ecp5-25f")
    assert "--no-fit" in note
    assert alone["initiation_interval"] == 1 and facts["initiation_interval"] == 3
    assert facts["fitted"] == {"note": note, "fits": True, "ii": 3, "fold": "none"}
    assert asked["fitted"] is None and alone["fitted"] is None
    for key in ("latency", "multipliers", "estimated", "formats"):
        assert facts[key] == asked[key]


def test_a_task_every_cycle_where_that_fits() -> None:
    """And the same design as without a look at the part."""
    fits, alone = (api.info("pendulum", width=18, fit=fit) for fit in (True, False))
    assert fits.pop("notes")[-1].startswith("a task every cycle fits ecp5-85f: 10 of 156 mult")
    assert fits.pop("fitted")["ii"] == 1
    assert fits == {key: value for key, value in alone.items() if key not in ("notes", "fitted")}


def test_limbs_in_turn() -> None:
    core = compiled("hyq", target="ecp5-25f")
    assert isinstance(core.plan, LimbPlan) and fitted(core).options["fold"] == "limbs"
    assert core.plan.interval == 8
    assert any(
        note.startswith("4 limbs that are alike are time-multiplexed") for note in core.notes
    )


def test_joints_in_turn_where_sharing_multipliers_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    part = replace(find_target("ecp5-25f"), luts=10_000, multipliers=40)
    instead(part, monkeypatch)
    core = compiled("iiwa14_fast", width=18, target="ecp5-25f")
    assert isinstance(core.plan, RoundPlan) and fitted(core).options["fold"] == "joints"
    assert core.plan.multipliers <= 40
    found = errors_in_graph(core.front, core.fixed).errors
    worst = max(found, key=lambda own: own.relative(SCALES[1]))
    assert f", time-multiplexed joints ({said(worst, SCALES[1])})," in core.notes[-1]


@pytest.mark.slow
def test_joints_in_turn_on_a_floating_base() -> None:
    """Gradients that no other way fits on the part, at any interval."""
    core = compiled("hyq", base="floating", functions=("did",), target="ecp5-85f")
    assert isinstance(core.plan, RoundPlan) and fitted(core).fits
    assert fitted(core).options["fold"] == "joints" and core.plan.interval <= 48
    shared = compiled("hyq", base="floating", functions=("did",), fold="none", ii=64)
    assert shared.notes[-1].startswith("DOES NOT FIT ecp5-85f")


def test_least_latency() -> None:
    """At a longer interval than the least where that does not fit."""
    first = compiled("gantry", **SMALL, style="latency")
    assert fitted(first).options["ii"] is None and fitted(first).fits
    slow = compiled("gantry", **{**SMALL, "style": "latency", "width": 24})
    assert fitted(slow).fits == (estimated("ecp5", features(slow.plan))["luts"] <= FILLED * 24288)


def test_what_was_asked_for_is_made_and_said_to_be_too_large() -> None:
    for choices in ({"fold": "none"}, {"multipliers": 200}):
        core = compiled("gantry", **SMALL, **choices)
        assert core.notes[-1].startswith("DOES NOT FIT ecp5-25f, by the area model: ")
        assert choice_of(core.design, FITTED) is None
        assert compiled("gantry", **SMALL, **choices, fit=False).notes == core.notes[:-1]
    assert compiled("gantry", **SMALL, ii=4).notes == ()


def test_where_there_is_no_area_model_the_multipliers_count() -> None:
    (note,) = compiled("pendulum", target="xc7").notes
    assert "10 of 840 multipliers; how many LUTs is not known" in note


def test_the_folder_says_what_was_chosen_and_makes_it_again(
    tiny: Target,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = tmp_path / "design"
    assert main(["generate", "pendulum", "--width", "18", "-o", str(place)]) == 0
    entry = api.read_manifest(place)
    assert entry["fitted"]["note"] == entry["notes"][-1]
    assert f"note: {entry['notes'][-1]}" in capsys.readouterr().err
    assert entry["initiation_interval"] == entry["fitted"]["ii"] == 2
    design, _ = load(place / "design.yaml")
    assert is_left_open(design) and choice_of(design, FITTED) == Choice.of(FITTED, entry["fitted"])
    with monkeypatch.context() as patch:  # nothing is searched a second time
        patch.setattr(ways, "Fastest", None)
        again = api.generate(str(place / "design.yaml"), tmp_path / "again")
    for file in place.iterdir():
        assert (again / file.name).read_bytes() == file.read_bytes()
    # what was asked for wins, and another design is searched anew
    assert compiled(str(place / "design.yaml"), ii=5).plan.interval == 5
    instead(LARGER, monkeypatch)
    assert compiled(str(place / "design.yaml"), rotation=3).plan.interval == 1


def test_no_fit(tiny: Target, tmp_path: Path) -> None:
    place = tmp_path / "design"
    assert main(["generate", "pendulum", "--no-fit", "-o", str(place)]) == 0
    entry = api.read_manifest(place)
    assert entry["fitted"] is None and entry["initiation_interval"] == 1
    assert not any("fit" in note.lower() for note in entry["notes"])
    assert load(place / "design.yaml")[0].fit is False


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("fit: perhaps", "fit: true or false"),
        ("fitted: {ii: 3}", "fitted: "),
        ("fitted: {note: x, ii: none}", "ii: expected a number"),
        ("fitted: {note: x, fold: legs}", "fold: "),
        ("fitted: {note: x, width: 3}", "unknown key"),
    ],
)
def test_design_files_are_checked(lines: str, says: str, tmp_path: Path) -> None:
    source = load("pendulum")[0].robot
    (tmp_path / "design.yaml").write_text(f"robot: {source}\n{lines}\n")
    with pytest.raises(RobotError, match=says):
        load(tmp_path / "design.yaml")


def test_evaluate_makes_the_same_design(monkeypatch: pytest.MonkeyPatch) -> None:
    states = {name: [[0.1] * 5] for name in ("q", "qd", "qdd")}
    said: list[str] = []
    api.evaluate("gantry", states, "fixed", said.append, **SMALL)
    assert f"note: {compiled('gantry', **SMALL).notes[-1]}" in said


def test_accelerators(tiny: Target) -> None:
    found = accelerate("pendulum", functions=("id", "m"))
    chosen = fitted(found)
    assert chosen.fits
    assert chosen.note.startswith("a task every 4 cycles is the fastest that fits ecp5-25f")
    luts = estimated("ecp5", accelerator_features(found.accelerator))["luts"]
    assert f"{found.accelerator.multipliers} of 6 multipliers and about {luts} of" in chosen.note
    assert found.accelerator.interval("m") == chosen.options["ii"] == 4
    again = accelerate("pendulum", functions=("id", "m"), ii=4)
    assert choice_of(again.design, FITTED) is None and again.accelerator.interval("m") == 4
    for choices in ({"ii": 1}, {"fit": False}):
        with pytest.raises(RobotError, match="takes 11 hardware multipliers"):
            accelerate("pendulum", functions=("id", "m"), **choices)


def test_an_accelerator_that_fits_nowhere_is_made_and_says_so(
    tiny: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead(replace(tiny, luts=3000), monkeypatch)
    found = accelerate("pendulum", functions=("id", "m"))
    assert not fitted(found).fits
    assert found.notes[-1].startswith("DOES NOT FIT ecp5-25f: the smallest design, a task every 8 ")
    asked = accelerate("pendulum", functions=("id", "m"), ii=3)
    assert asked.notes[-1].startswith("DOES NOT FIT ecp5-25f, by the area model: about ")


def test_info_and_the_manifest_of_an_accelerator(tmp_path: Path) -> None:
    facts = api.info("pendulum", accelerator=True, functions=("m",))
    cells = facts["estimated"]
    assert f"about {cells['luts']} of 83640 LUTs" in facts["notes"][-1]
    place = api.generate("pendulum", tmp_path / "made", accelerator=True, functions=("m",))
    entry = api.read_manifest(place)
    assert entry["fitted"] == facts["fitted"] and entry["notes"] == facts["notes"]


def test_what_is_known_to_be_far_too_large_is_made_only_if_nothing_else_fits() -> None:
    def compiled(shelf: Shelf) -> str:
        def alone(design: Design) -> Design:
            return replace(design, ii=1, fold="none")

        known = shelf.make(Design("", ii=1, fold="none"), find_target("ecp5-25f"))[0]
        shelf.made.clear()
        search = Fastest(alone, shelf.ways, shelf.make, lambda _: None, lambda target: known)
        design, _ = search.of(Design("", target="ecp5-25f"), find_target("ecp5-25f"))
        choice = choice_of(design, FITTED)
        assert choice is not None
        return choice.note

    far, small = 9 * FITS, FITS
    shared = Shelf(none={1: far, 9: far}, joints={9: small}, least=far)
    note = compiled(shared)
    assert shared.made == [("joints", 9)]
    assert f"additions that share nothing take about {far} of" in note
    nothing = Shelf(none={1: far, 9: far}, joints={9: far}, least=far)
    assert compiled(nothing).startswith("DOES NOT FIT")
    assert ("none", 1) in nothing.made
