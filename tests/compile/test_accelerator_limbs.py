"""Limbs that are time-multiplexed in an accelerator: one graph's bits, whoever computes them, on
less."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.product import Product
from rbdgen.compile.words import in_words
from rbdgen.design.functions import ROLLOUTS, WHOLE
from rbdgen.graph.fixed import FixedGraph, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.visits import LIMB
from rbdgen.robot.model import RobotError
from rbdgen.schedule.features import features
from rbdgen.schedule.limbs import LimbPlan
from rbdgen.tasks.model import evaluate_task
from rbdgen.tasks.routes import LIMBS, StageVisit, parse
from rbdgen.words.instances import instantiate
from rbdgen.words.program_ranges import ProgramDomain
from rbdgen.words.wordlength import input_formats
from tests.support.coordinates import worst_in
from tests.support.limbs import WALKER, urdf_of_cart, urdf_of_faun, urdf_of_limbs
from tests.support.made import accelerate, accelerated
from tests.support.marks import slow

TASKS = tuple(f for f in WHOLE if f not in ROLLOUTS)


def hyq(**choices: Any) -> Product:
    return accelerated(
        "hyq", **{"functions": TASKS, "ii": 8, "target": "xcup", "fit": False, **choices}
    )


def in_turn(made: Product) -> dict[str, int]:
    return {name: stage.limbs for name, stage in made.accelerator.stages.items()}


@cache
def of_one_limb() -> FixedGraph:
    """The whole robot in the words of one limb."""
    front = hyq().front
    words = FixedFunctions(front)
    given, limbs = words.given, words.limbs
    own = ProgramDomain(limbs, given).of(LIMB)
    _, template = in_words(front, limbs.templates[LIMB], own, lambda _: None)
    inputs = input_formats(Graph(front.graph.inputs, {}), given.limits, front.design.width)
    return instantiate(limbs, {LIMB: template}, inputs).whole


@pytest.mark.parametrize("function", ["id", "m", "minv", "did", "difd"])
def test_one_pass_gives_the_bits_of_the_robot_made_of_one_limb(function: str) -> None:
    """The most negative words of mirrored legs included."""
    made, whole = hyq(), of_one_limb()
    rng = np.random.default_rng(3)
    words = {n: rng.integers(f.lowest, f.highest + 1, 300) for n, f in whole.inputs.items()}
    for name, word in whole.inputs.items():
        words[name][:3] = word.lowest
    own = {name: words[name] for name in made.accelerator.formats[function]}
    expected = evaluate_fixed(whole, words).outputs
    found, _ = evaluate_task(made.accelerator, function, own)
    assert found
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name])


# of each array's worst coordinate, relative RMS, against float64; 18 bits, 12 rad/s
LARGEST = {"tau": 3e-4, "M": 5e-5, "Minv": 2e-4, "dtau": 2e-4, "qdd": 1e-2, "dqdd": 1e-3}


@pytest.mark.parametrize("function", TASKS)
def test_errors_against_the_golden_model(function: str) -> None:
    made = hyq()
    state = within_limits(made, 1000, 2)
    traffic = Traffic(made, inputs_of(made, state))
    assert not traffic.expected[function][1].any()
    for name, error in worst_in(traffic, function, state).items():
        assert error < LARGEST[name.partition("_")[0]]


@pytest.mark.slow
def test_a_quarter_of_the_datapath() -> None:
    """Multipliers are shared either way, but what is not shared is there for one leg only."""
    counts = []
    for made in (hyq(fold="none"), hyq()):
        count: Counter[str] = Counter()
        for stage in made.accelerator.stages.values():
            assert stage.plan is not None
            count += Counter(features(stage.plan))
        counts.append((made.accelerator.multipliers, count))
    (multipliers, apart), (fewer, turns) = counts
    assert fewer <= multipliers
    assert turns["products"] == fewer
    for feature in ("sum_bits", "result_bits", "checks", "multiplexed_bits"):
        assert turns[feature] < 0.28 * apart[feature], feature
    # beside a datapath for every leg
    once = hyq(ii=1, fold="none", functions=("did",)).accelerator.stages
    each = hyq(ii=4, functions=("did",)).accelerator.stages
    for name, stage in each.items():
        assert isinstance(stage.plan, LimbPlan)
        assert 4 * stage.multipliers == once[name].multipliers, name


BUDGET = 22  # hardware multipliers at a task in 8 cycles


@pytest.mark.parametrize(
    ("choices", "stages"),
    [
        ({}, dict.fromkeys(("rnea", "mass", "forward"), 4)),
        ({"ii": 4}, {"rnea": 1, "trig": 1, "mass": 4, "product": 4}),
        ({"ii": 6}, dict.fromkeys(("rnea", "mass", "forward"), 1)),
        slow(({"fold": "none"}, dict.fromkeys(("rnea", "mass", "forward"), 1))),
        slow(({"ii": None}, dict.fromkeys(("rnea", "mass", "forward"), 1))),
        ({"ii": None, "fold": "limbs"}, {"rnea": 4, "mass": 4}),
        slow(({"ii": None, "multipliers": BUDGET}, {"rnea": 4, "mass": 4})),
        ({"ii": None, "multipliers": BUDGET + 9, "fold": "limbs"}, {"rnea": 4, "mass": 4}),
    ],
)
def test_which_stages(choices: dict[str, Any], stages: dict[str, int], tmp_path: Path) -> None:
    """Those whose intervals are multiples of the number of limbs; notes say which, or why not."""
    place = tmp_path / "limbs.urdf"
    place.write_text(urdf_of_limbs([(1, 1), (-1, 1), (1, -1), (-1, -1)]))
    made = accelerate(
        str(place), **{"functions": TASKS, "ii": 8, "target": "xcup", "fit": False, **choices}
    )
    found = in_turn(made)
    assert {name: found[name] for name in stages} == stages
    for stage in made.accelerator.stages.values():
        assert stage.interval % stage.limbs == 0
    said = " ".join(made.notes)
    if 4 in stages.values():
        assert "4 limbs that are alike are time-multiplexed" in said
        assert ("not in trig (interval 2), rnea (interval 2)" in said) == (1 in stages.values())
    elif choices == {"ii": 6}:
        assert (
            said
            == "limbs are not time-multiplexed: no stage's interval is a multiple of the 4 limbs"
        )
    else:
        assert not said


@pytest.mark.parametrize("base", ["fixed", slow("floating")])
def test_hips(base: str, tmp_path: Path) -> None:
    """On a trunk that moves each stage is split; the legs' parts are in turn, others are not."""
    place = tmp_path / "robot.urdf"
    place.write_text(urdf_of_cart() if base == "fixed" else WALKER.read_text())
    choices = {"functions": ("id", "did"), "target": "xcup", "base": base, "ii": 4}
    found = in_turn(made := accelerate(str(place), **choices))
    parts = {name: limbs for name, limbs in found.items() if parse(name).part in LIMBS}
    # what the trunk has no part in is all the legs'
    legs = {"trig", "rnea_limbs", "gradient" if base == "fixed" else "gradient_limbs"}
    assert {name for name, limbs in found.items() if limbs == 2} == {*legs, *parts}
    assert {limbs for name, limbs in found.items() if name not in {*legs, *parts}} == {1}
    assert made.notes[0].startswith(
        "2 limbs that are alike are time-multiplexed in the datapaths of one: "
    )
    whole = accelerate(str(place), **choices, fold="none")
    assert found.keys() > whole.accelerator.stages.keys() >= {"trig", "rnea", "gradient"}
    assert whole.accelerator.formats["id"].keys() == made.accelerator.formats["id"].keys()


@pytest.mark.parametrize(
    ("base", "root"),
    [
        ("fixed", "free"),
        slow(("floating", "free")),
        slow(("floating", "given")),
    ],
)
def test_hips_cost_little_accuracy(base: str, root: str, tmp_path: Path) -> None:
    """What limbs and trunk give each other is rounded to words: errors at most three times those
    of one graph, in every array of every function, of its worst coordinate."""
    place = tmp_path / "robot.urdf"
    place.write_text(urdf_of_cart() if base == "fixed" else WALKER.read_text())
    found = []
    for fold in ("limbs", "none"):
        choices = {"functions": WHOLE, "target": "xcup", "base": base, "root": root}
        made = accelerate(str(place), **choices, ii=4, fold=fold)
        state = within_limits(made, 500, 1)
        traffic = Traffic(made, inputs_of(made, state))
        errors = {
            (function, array): error
            for function in WHOLE
            for array, error in worst_in(traffic, function, state).items()
        }
        assert not any(flags.any() for _, flags in traffic.expected.values())
        found.append(errors)
    in_turn_too, whole = found
    assert in_turn_too.keys() == whole.keys()
    assert all(error <= 3 * whole[of] for of, error in in_turn_too.items())
    assert max(whole.values()) < 4e-3


@pytest.mark.parametrize(
    ("robot", "choices", "says"),
    [
        ("gantry", {"ii": 8}, "gantry: fold: limbs: there is one limb"),
        pytest.param(
            "hyq",
            {"ii": 8, "base": "floating", "error": 1e-4},
            "have no error bound",
            marks=pytest.mark.slow,
        ),
        ("hyq", {"ii": 6}, "hyq: fold: limbs: no stage's interval is a multiple of the 4 limbs"),
    ],
)
def test_refused_on_one_line(robot: str, choices: dict[str, Any], says: str) -> None:
    with pytest.raises(RobotError, match=says) as raised:
        accelerate(robot, functions=("id", "m"), target="xcup", fold="limbs", **choices)
    assert "\n" not in str(raised.value)
    made = accelerate(robot, functions=("id", "m"), target="xcup", **choices)
    assert set(in_turn(made).values()) == {1}
    assert made.notes[0].startswith("limbs are not time-multiplexed: ")


SLIDE = """<link name="cart{k}"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="rail{k}" type="prismatic"><parent link="base"/><child link="cart{k}"/>
<axis xyz="0 {sense} 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/></joint>"""


def test_stages_that_are_constant(tmp_path: Path) -> None:
    """M and M⁻¹ of slides are the same in every state."""
    slides = "".join(SLIDE.format(k=k, sense=sense) for k, sense in enumerate((1, -1)))
    place = tmp_path / "slides.urdf"
    place.write_text(f'<robot name="slides"><link name="base"/>{slides}</robot>')
    made = accelerate(str(place), functions=("id", "fd"), ii=4)
    state = within_limits(made, 100, 1)
    traffic = Traffic(made, inputs_of(made, state))
    for function in ("id", "fd"):
        for error in worst_in(traffic, function, state).values():
            assert error < 1e-3


@pytest.mark.parametrize(
    "choices",
    [
        {"functions": ("id", "m", "fd"), "angles": "sincos"},
        {"functions": ("id", "did"), "external_forces": ("all",)},
        {"functions": ("rk4", "euler", "id")},
    ],
)
def test_limbs_with(choices: dict[str, Any], tmp_path: Path) -> None:
    """Sines given, forces on the bodies, and rollouts."""
    place = tmp_path / "limbs.urdf"
    place.write_text(urdf_of_limbs([(1, 1), (-1, -1)]))
    made = accelerate(str(place), ii=4, **choices)
    assert set(in_turn(made).values()) == {2}
    state = within_limits(made, 300, 1)
    traffic = Traffic(made, inputs_of(made, state))
    for function in made.accelerator.functions:
        for name, error in worst_in(traffic, function, state).items():
            assert error < (2e-2 if name == "qdd" else 3e-3), name


def test_a_rollout_of_limbs_that_turn_and_limbs_that_do_not_all_the_way_round(
    tmp_path: Path,
) -> None:
    """They are alike but for the stage that keeps angles within ±π."""
    (tmp_path / "limbs.urdf").write_text(urdf_of_limbs([(1, 1), (-1, -1)]))
    place = tmp_path / "limbs.yaml"
    place.write_text("robot: limbs.urdf\nlimits: {joints: {hip1: {position: [-1, 1]}}}\n")
    made = accelerate(str(place), ii=4, functions=("euler",))
    assert {name for name, limbs in in_turn(made).items() if limbs == 1} == {"integrate"}
    assert "not in integrate (interval 4)" in made.notes[0]
    state = within_limits(made, 300, 1)
    traffic = Traffic(made, inputs_of(made, state))
    for name, error in worst_in(traffic, "euler", state).items():
        assert error < 2e-2, name


def test_arms_and_legs_beside_each_other(tmp_path: Path) -> None:
    """Two groups of limbs have parts of their own; what leads on waits for the other one."""
    place = tmp_path / "faun.urdf"
    place.write_text(urdf_of_faun())
    choices = {"functions": ("id", "m"), "target": "xcup", "base": "floating", "ii": 8}
    made = accelerate(str(place), **choices)
    found = in_turn(made)
    steps = "rnea", "mass"
    both = {f"{step}_{part}" for step in steps for part in ("limbs", "limbs2")}
    assert {name for name, limbs in found.items() if limbs == 2} == both | {"trig", "trig_limbs2"}
    # sines of the trunk's joint come before all that read them
    assert made.accelerator.entries("m") == (StageVisit("trig", "trunk"),)
    assert made.accelerator.waits == {step: (f"{step}_limbs2",) for step in steps}
    assert made.notes[0].startswith(
        "2 and 2 limbs that are alike are time-multiplexed in the datapaths of "
    )
    state = within_limits(made, 500, 1)
    traffic = Traffic(made, inputs_of(made, state))
    for function in choices["functions"]:
        assert not traffic.expected[function][1].any()
        for name, error in worst_in(traffic, function, state).items():
            assert error < LARGEST[name]


def test_a_result_is_flagged_by_all_that_made_it(tmp_path: Path) -> None:
    """On a base that stands still no stage reads what the legs give, but it is in the result."""
    place = tmp_path / "faun.urdf"
    place.write_text(urdf_of_faun())
    accelerator = accelerate(str(place), functions=("id",), target="xcup", ii=4).accelerator
    assert accelerator.flags_of("id") == ["rnea", "rnea_limbs2"]
    words = {name: np.zeros(1, np.int64) for name in accelerator.formats["id"]}
    assert not evaluate_task(accelerator, "id", words)[1].any()
    for k in (0, 1):  # the legs
        words |= {f"qdd[{k}]": np.array([accelerator.formats["id"][f"qdd[{k}]"].lowest])}
    legs = accelerator.stages["rnea_limbs2"]
    own = {name: words.get(name, np.zeros(1, np.int64)) for name in legs.fixed.inputs}
    overflowed = any(bad.any() for bad in evaluate_fixed(legs.fixed, own).overflowed.values())
    assert evaluate_task(accelerator, "id", words)[1].any() == overflowed
