"""A quadruped set free, moved as told, or held still; with forces on its feet: graph and words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.api.evaluation import as_arrays, as_numbers, to_words
from rbdgen.api.integer_model import integer_results
from rbdgen.api.reference import golden_model
from rbdgen.api.simulation import batches
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import evaluate

N = 1000
FEET = ("lf_shin", "rh_shin")
GIVEN, IGNORED, PUSHED = {"root": "given"}, {"root": "ignored"}, {"external_forces": FEET}
CASES: list[tuple[dict[str, Any], dict[str, float]]] = [
    (GIVEN | {"functions": ("id",)}, {"tau": 1.5e-4}),
    (GIVEN | {"functions": ("fd",)}, {"qdd": 1.2e-2}),
    (GIVEN | {"functions": ("did",)}, {"tau": 1.5e-4, "dtau_dq": 1.5e-4, "dtau_dqd": 9e-5}),
    (IGNORED | {"functions": ("fd",)}, {"qdd": 1.5e-3}),
    (IGNORED | {"functions": ("did",)}, {"tau": 1e-4, "dtau_dq": 1.1e-4, "dtau_dqd": 5.5e-5}),
    (PUSHED | {"functions": ("did",)}, {"tau": 7.5e-5, "dtau_dq": 9e-5, "dtau_dqd": 2.4e-5}),
    (PUSHED | {"functions": ("fd",)}, {"qdd": 1.2e-2}),
    (PUSHED | GIVEN | {"functions": ("fd",)}, {"qdd": 1.4e-2}),
]

LONG = [own for own, _ in CASES if "external_forces" in own or own == CASES[2][0]]
LONG += [own for own, _ in CASES[1::2]]


def name(case: dict[str, Any]) -> str:
    forces = "forces" if "external_forces" in case else ""
    return "-".join(filter(None, [case.get("root", "free"), *case["functions"], forces]))


@pytest.mark.parametrize(
    ("choices", "bounds"),
    [
        pytest.param(*case, id=name(case[0]), marks=[pytest.mark.slow] * (case[0] in LONG))
        for case in CASES
    ],
)
def test_graph_is_golden_and_words_are_near(
    choices: dict[str, Any], bounds: dict[str, float]
) -> None:
    """The float graph to 1e-9, the integer model to an RMS of ``bounds``, at 18 bits."""
    front = front_end("hyq", base="floating", width=18, fit=False, **choices)
    core = compile_front(front)
    (state,) = batches(core, N, 3)
    pushed = state["f_ext"].any(axis=(0, 2)).sum()
    assert pushed == len(choices.get("external_forces", ()))
    exact = golden_model(front.design, front.robot, state)
    columns = to_columns(front.canonical, front.graph.inputs, state)
    floats = as_arrays(front, evaluate(front.graph, columns), N)
    words, flags = integer_results(core, to_words(core, state))
    integers = as_numbers(core, words, N)
    assert not flags.any()
    assert {key for key in floats if key in bounds} == set(bounds)
    for key, bound in bounds.items():
        size = np.sqrt((exact[key] ** 2).sum())
        assert np.sqrt(((floats[key] - exact[key]) ** 2).sum()) <= 1e-9 * size, key
        error = np.sqrt(((integers[key] - exact[key]) ** 2).sum()) / size
        assert error <= bound, key
