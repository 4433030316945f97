"""An accelerator's functions as visits to one graph; and words that keep a promise along them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.compile.flow import front_end
from rbdgen.compile.product import Product
from rbdgen.compile.samples import sample_states
from rbdgen.compile.words import in_words, sample_inputs
from rbdgen.design.functions import ON_ACCELERATORS
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.graph.word import kind_of
from rbdgen.tasks.model import in_visits
from rbdgen.tasks.routes import place
from rbdgen.words.program_ranges import evaluate_program, program_word_samples
from tests.support.coordinates import worst_in
from tests.support.limbs import WALKER
from tests.support.made import accelerate

STATES = 300


def test_visits_are_the_dynamics() -> None:
    """Every function over real numbers, against the golden model."""
    front = front_end("gantry", functions=ON_ACCELERATORS, accelerator=True)
    robot = front.canonical
    state = sample_states(front.design, robot, STATES, 3)
    columns = to_columns(robot, front.graph.inputs, state)
    q, qd, tau, qdd = (state[name] for name in ("q", "qd", "tau", "qdd"))
    expected: dict[str, dict[str, Any]] = {
        "id": {"tau": golden.rnea(robot, q, qd, qdd)},
        "fd": {"qdd": golden.aba(robot, q, qd, tau)},
        "m": {"M": golden.crba(robot, q)},
        "minv": {"Minv": golden.minv(robot, q)},
    }
    tasks = dict(zip(ON_ACCELERATORS, in_visits(front.graph, ON_ACCELERATORS, 0), strict=True))
    for function, arrays in expected.items():
        found = from_columns(evaluate_program(tasks[function], front.graph, columns), robot.nv)
        assert found.keys() == arrays.keys()
        for name, values in found.items():
            np.testing.assert_allclose(values, arrays[name], rtol=1e-8, atol=1e-8)
    # dfd is difd at what fd gives, with what minv gives
    at = to_columns(robot, front.graph.inputs, {**state, **expected["fd"], **expected["minv"]})
    for name, values in evaluate_program(tasks["difd"], front.graph, at).items():
        again = evaluate_program(tasks["dfd"], front.graph, columns)[name]
        np.testing.assert_allclose(values, again, rtol=1e-6, atol=1e-6)


@pytest.fixture(scope="module")
def made() -> Product:
    choices = {"error": 1e-5, "ii": 3, "target": "xcup", "fold": "none"}
    return accelerate("pendulum", functions=ON_ACCELERATORS, **choices)


def test_words_along_visits_are_the_accelerator_s(made: Product) -> None:
    """What widths are measured with gives the bits that stages give."""
    front, state = made.front, within_limits(made, STATES, 2)
    whole = in_words(front, front.graph, sample_inputs(front), lambda _: None)[1]
    traffic = Traffic(made, inputs_of(made, state))
    tasks = in_visits(front.graph, made.accelerator.functions, 0)
    for function, task in zip(made.accelerator.functions, tasks, strict=True):
        inputs = {place(name): words for name, words in traffic.inputs[function].items()}
        formats = made.accelerator.formats[function]
        named = {place(name): formats[name] for name in formats}
        # the same word of a task is τ to one function and q̈ to another
        columns = {
            name: named[word].real(inputs[word])
            for name in whole.inputs
            if (word := place(name)) in named
        }
        found = program_word_samples(task, whole, columns)
        words, _ = traffic.expected[function]
        for k, (name, of) in enumerate(made.accelerator.result_formats[function].items()):
            np.testing.assert_array_equal(found[name], of.real(words[:, k]), str(name))


def kept(made: Product, error: float) -> dict[str, dict[str, float]]:
    """Function → array → the error of its worst coordinate in other states; every one as promised,
    and no flag."""
    state = within_limits(made, 2000, 11)
    traffic = Traffic(made, inputs_of(made, state))
    found = {}
    for function in made.accelerator.functions:
        assert not traffic.expected[function][1].any(), function
        found[function] = worst_in(traffic, function, state)
        assert found[function] and max(found[function].values()) <= error, function
    return found


def test_the_promise_is_kept_by_every_function(made: Product) -> None:
    found = kept(made, 1e-5)
    assert max(max(arrays.values()) for arrays in found.values()) > 1e-5 / 3


def test_the_bias_has_the_bits_that_light_wrists_take() -> None:
    """Of iiwa 14's forward dynamics, τ of the first visit to `rnea` is off far less than 1e-4."""
    choices = {"ii": 8, "target": "xcup", "fold": "none", "error": 1e-4}
    both = accelerate("iiwa14_fast", functions=("id", "fd"), **choices)
    found = kept(both, 1e-4)
    assert found["id"]["tau"] < 1e-5 < 5e-5 < found["fd"]["qdd"]
    bias = both.accelerator.stages["forward"].fixed.inputs
    alone = accelerate("iiwa14_fast", functions=("id",), **choices).accelerator.stages["rnea"]
    for name, of in bias.items():
        if kind_of(name) == "bias":
            output = alone.outputs["tau" + name.removeprefix("bias")]
            assert of.fraction > output.fraction


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "base", "functions"),
    [
        ("iiwa14", "fixed", ON_ACCELERATORS),
        ("spot_arm_like", "floating", ("fd",)),
        # what the inverse and the gradients share is made where both functions come by
        (str(WALKER), "floating", ("id", "fd", "dfd", "difd")),
    ],
)
def test_the_promise_is_kept_by_large_robots(
    robot: str, base: str, functions: tuple[str, ...]
) -> None:
    choices = {"ii": 16, "target": "xcup", "fit": False, "fold": "none", "base": base}
    kept(accelerate(robot, functions=functions, error=1e-4, **choices), 1e-4)


def test_words_have_room_for_a_bias_that_efforts_do_not_show() -> None:
    """Where accelerations hold τ within its limits, the bias alone, which `fd` asks `rnea` for, is
    larger than any τ: it overflowed in one of a hundred states within all limits."""
    limits = {"velocity": 15, "effort": 60, "acceleration": 500}
    made = accelerate("pendulum", functions=("fd", "minv"), ii=8, target="xcup", **limits)
    state = within_limits(made, 2000, 3)
    assert np.abs(state["bias"]).max() > 64 > np.abs(state["tau"]).max()
    traffic = Traffic(made, inputs_of(made, state))
    assert not any(traffic.expected[function][1].any() for function in ("fd", "minv"))
