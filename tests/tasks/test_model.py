"""The accelerator's integer model: the bits of one graph, and dynamics that agree."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rbdgen.api.reference import golden_model
from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.compile.product import Product
from rbdgen.compile.words import in_words, sample_inputs
from rbdgen.design.design import of_functions
from rbdgen.design.functions import ON_ACCELERATORS, ROLLOUTS
from rbdgen.dynamics.interface import from_columns
from rbdgen.graph.fixed import FixedGraph, Format, convert, evaluate_fixed
from rbdgen.graph.word import kind_of
from rbdgen.robot.model import RobotError
from rbdgen.tasks.model import evaluate_task
from tests.support.coordinates import worst_in
from tests.support.made import accelerate, accelerated


def arm(fold: str) -> Product:
    return accelerated("iiwa14_fast", functions=ON_ACCELERATORS, ii=8, target="xcup", fold=fold)


@pytest.fixture(scope="module")
def made() -> Product:
    return arm("auto")


def rolling() -> Product:
    return accelerated("pendulum", functions=ROLLOUTS, ii=8, target="xcup", accelerator=True)


@cache
def in_one_graph(fold: str) -> FixedGraph:
    """What was cut, in words, before it was."""
    front = arm(fold).front
    return in_words(front, front.graph, sample_inputs(front), lambda _: None)[1]


@pytest.mark.parametrize(
    "function", ["id", "m", "minv", "did", pytest.param("difd", marks=pytest.mark.slow)]
)
def test_one_pass_gives_the_bits_of_the_graph_that_was_cut(function: str) -> None:
    # a product in columns has words of its own: see test_matrix_rows
    fold = "none" if function == "difd" else "auto"
    made, whole = arm(fold), in_one_graph(fold)
    inputs = inputs_of(made, within_limits(made, 300, 1))
    words = {name: inputs["difd"].get(name, np.zeros(300, np.int64)) for name in whole.inputs}
    expected = evaluate_fixed(whole, words).outputs
    found, flags = evaluate_task(made.accelerator, function, inputs[function])
    assert found
    assert not flags.any()
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name])


# of each array's worst coordinate, relative RMS, against float64; 18 bits, iiwa at 10 rad/s
LARGEST = {
    "tau": 2e-4,
    "g": 1e-3,
    "nle": 2e-4,
    "M": 5e-5,
    "Minv": 5e-4,
    "dtau": 2e-4,
    "qdd": 1e-2,
    "dqdd": 1e-3,
}


@pytest.mark.parametrize("function", ON_ACCELERATORS)
def test_errors_against_the_golden_model(made: Product, function: str) -> None:
    state = within_limits(made, 1000, 2)
    errors = worst_in(Traffic(made, inputs_of(made, state)), function, state)
    assert errors
    for name, error in errors.items():
        assert error < LARGEST[name.partition("_")[0]]


def test_forward_dynamics_undoes_inverse_dynamics(made: Product) -> None:
    state = within_limits(made, 500, 3)
    inputs = inputs_of(made, state)
    formats = made.accelerator.result_formats
    found, _ = evaluate_task(made.accelerator, "fd", inputs["fd"])
    qdd = np.stack([formats["fd"][n].real(v) for n, v in found.items()], axis=1)
    assert np.sqrt(((qdd - state["qdd"]) ** 2).mean() / (state["qdd"] ** 2).mean()) < 1e-2


def test_the_gradients_are_taken_at_the_acceleration_that_was_found(made: Product) -> None:
    """dfd is difd at what fd gives, with what minv gives: the feedback, bit for bit."""
    accelerator = made.accelerator
    inputs = inputs_of(made, within_limits(made, 200, 4))
    qdd, _ = evaluate_task(accelerator, "fd", inputs["fd"])
    inverse, _ = evaluate_task(accelerator, "minv", inputs["minv"])
    own = dict(inputs["difd"])
    formats, results = accelerator.formats["difd"], accelerator.result_formats
    for name in own:
        for given, of in ((qdd, results["fd"]), (inverse, results["minv"])):
            if name in given:
                own[name] = convert(given[name], of[name], formats[name])[0]
    again, _ = evaluate_task(accelerator, "difd", own)
    whole, flags = evaluate_task(accelerator, "dfd", inputs["dfd"])
    assert not flags.any()
    assert {kind_of(name) for name in whole} == {"qdd", "dqdd_dq", "dqdd_dqd"}
    for name, values in whole.items():
        np.testing.assert_array_equal(values, again.get(name, qdd.get(name)))


@pytest.mark.parametrize("rule", ROLLOUTS)
def test_a_rollout_is_told_its_rule_and_its_turn(rule: str) -> None:
    """Three steps of 8 ms of a double pendulum, beside the golden model's by the same rule."""
    made = rolling()
    state = within_limits(made, 40, 1)
    h = round(0.008 * 2**22) / 2**22
    state["h"], state["steps"] = np.full((40, 2), [h, 4 * h / 3]), np.full((40, 1), 3.0)
    found, flags = evaluate_task(made.accelerator, rule, inputs_of(made, state)[rule])
    held = ~flags  # a state at the limits may accelerate past them
    assert held.mean() > 0.5
    formats = made.accelerator.result_formats[rule]
    ends = from_columns({n: formats[n].real(w) for n, w in found.items()}, made.front.robot.nv)
    alone, other = (
        golden_model(of_functions(made.design, (own,)), made.front.robot, state)
        for own in (rule, *(set(ROLLOUTS) - {rule}))
    )
    off, apart = (np.abs(own["q"] - alone["q"])[held] for own in (ends, other))
    off, apart = (np.minimum(own, 2 * np.pi - own) for own in (off, apart))  # angles wrap
    assert off.max() < 0.05 * apart.max()


def test_an_overflow_anywhere_flags_the_task(made: Product) -> None:
    rng = np.random.default_rng(5)
    for function, formats in made.accelerator.formats.items():
        words = {n: rng.integers(f.lowest, f.highest, 300) for n, f in formats.items()}
        _, flags = evaluate_task(made.accelerator, function, words)
        if function not in ("m", "minv", "g"):  # of a configuration alone, and none is out of range
            assert flags.any(), function


def test_words_between_stages_are_rounded_and_saturate_with_a_flag() -> None:
    of, to = Format(18, 10), Format(8, 6)
    words = np.array([0, 8, 7, -8, -9, 16 * 127, 16 * 128, -16 * 128, -16 * 129])
    found, flags = convert(words, of, to)
    np.testing.assert_array_equal(found, [0, 1, 0, 0, -1, 127, 127, -128, -128])
    np.testing.assert_array_equal(flags, [False] * 6 + [True, False, True])
    np.testing.assert_array_equal(convert(np.array([3, -3]), to, of)[0], [48, -48])


@pytest.mark.slow
def test_a_budget_of_multipliers_gives_the_smallest_interval() -> None:
    made = accelerate("iiwa14", functions=ON_ACCELERATORS, multipliers=219, target="xcup")
    assert made.accelerator.multipliers <= 219
    assert max(made.accelerator.interval(f) for f in ON_ACCELERATORS) == 8


@pytest.mark.parametrize(
    ("fold", "product"),
    [pytest.param(*own, marks=pytest.mark.slow) for own in (("none", 32), ("auto", 30))],
)
def test_a_mix_makes_each_stage_as_fast_as_it_takes(fold: str, product: int) -> None:
    """Or a little faster, where columns are time-multiplexed: as often as they go into the
    interval."""
    choices = {"functions": ON_ACCELERATORS, "ii": 32, "mix": "id=8,dfd=1", "target": "xcup"}
    made = accelerate("iiwa14", **choices, fold=fold)
    found = {name: stage.interval for name, stage in made.accelerator.stages.items()}
    # ten visits of rnea in 32 cycles, nine of trig, which keeps up with rnea; one of the others
    assert found == {"trig": 3, "rnea": 3, "product": product} | dict.fromkeys(
        ("mass", "inverse", "forward", "gradient"), 32
    )
    traffic = Traffic(made, inputs_of(made, within_limits(made, 2, 1)))
    came = traffic.mixed(900, 1)
    assert set(came) == {"id", "dfd"}
    assert came.count("dfd") == pytest.approx(100, abs=40)


def test_what_is_the_same_in_every_state_is_refused(tmp_path: Path) -> None:
    robot = tmp_path / "slider.urdf"
    robot.write_text(
        '<robot name="slider"><link name="base"/><link name="cart"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="rail" type="prismatic"><parent link="base"/><child link="cart"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="5" velocity="2"/></joint></robot>'
    )
    for functions, says in ((("id", "m"), "m is the same"), (("id", "did"), "what did adds")):
        with pytest.raises(RobotError, match=says):
            accelerate(str(robot), functions=functions)


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"ii": 1, "target": "ecp5-25f"}, "LFE5U-25F has 28"),
        ({"multipliers": 2}, "multipliers: 2 are too few"),
        ({"style": "latency"}, "style: latency"),
        ({"fold": "limbs", "ii": 4}, "fold: limbs"),
        ({"fold": "joints", "ii": 4}, "fold: joints"),
        ({"slots": 12}, "slots: a power of two"),
        ({"mix": "id"}, "mix: functions once each"),
        ({"mix": "id=2,rk4=1"}, "mix: rk4 is none of the functions"),
    ],
)
def test_what_cannot_be_is_one_line(choices: dict, says: str) -> None:
    with pytest.raises(RobotError, match=says) as raised:
        accelerate("gantry", functions=ON_ACCELERATORS, **choices)
    assert "\n" not in str(raised.value)
