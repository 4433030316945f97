"""No state within a design's limits overflows: the search against the words that it made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.compile.product import Product
from rbdgen.compile.words import sample_inputs
from rbdgen.design.nested import MotionLimits
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import Format, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.passes.identities import phase
from rbdgen.words.ascent import Domain
from rbdgen.words.input_domain import InputDomain
from rbdgen.words.order import to_words
from rbdgen_benchmarks.bench.falsify import falsify
from tests.support.made import compiled
from tests.support.marks import slow

STEPS, SEED = 300, 1000
# States within the limits that overflowed words made of 40000 samples and 20 %.
STATES = json.loads(Path(__file__).with_name("states.json").read_text())


def core(robot: str, functions: tuple[str, ...], **choices: Any) -> Product:
    asked = {"width": 18, "fit": False, **choices}
    return compiled(robot, functions=functions, **asked)


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(
            state,
            id=f"{state['robot']}-{state['function']}",
            marks=[pytest.mark.slow] * (k != 0),
        )
        for k, state in enumerate(STATES)
    ],
)
def test_states_that_once_overflowed(state: dict[str, Any]) -> None:
    limits = state["limits"] and MotionLimits(
        velocity=state["limits"][0], acceleration=state["limits"][1]
    )
    fixed = core(state["robot"], (state["function"],), limits=limits).fixed
    inputs = {
        name: np.array([state[name.partition("[")[0]][int(name.partition("[")[2][:-1])]])
        for name in fixed.inputs
    }
    words = {name: word.quantize(inputs[name]) for name, word in fixed.inputs.items()}
    found = evaluate_fixed(fixed, words)
    assert not found.overflowed
    exact = evaluate(fixed.graph, inputs)
    for name, node in fixed.graph.outputs.items():
        word = fixed.formats[node]
        error = abs(float((word.real(found.outputs[name]) - exact[name])[0]))
        assert error <= 16 * 2.0**-word.fraction, name


@pytest.mark.parametrize(
    ("robot", "functions", "choices"),
    [
        ("pendulum", ("id", "did", "m"), {}),
        ("pendulum", ("id",), {"width": 12}),
        ("pendulum", ("fd", "minv"), {}),
        ("pendulum", ("id",), {"error": 1e-3}),
        ("gantry", ("id", "did"), {}),
        ("gantry", ("fd",), {"payload": "tool"}),
        ("iiwa14", ("id",), {}),
        slow(("iiwa14", ("id",), {"angles": "sincos"})),
        slow(("hyq", ("id",), {"multipliers": 60})),
        slow(("hyq", ("id",), {"base": "floating"})),
    ],
)
def test_no_state_overflows(
    robot: str, functions: tuple[str, ...], choices: dict[str, Any]
) -> None:
    made = core(robot, functions, **choices)
    domain = sample_inputs(made.front).domain
    assert domain is not None
    found = falsify(made.fixed, domain, STEPS, SEED)
    assert found.signals
    assert not found.flagged
    assert found.nearest > 0.9  # nor are words a bit too long


def test_a_word_that_is_too_short_is_found() -> None:
    """A maximum that samples hardly come near: all of eight angles at one value."""
    b = Builder()
    names = tuple(f"q[{k}]" for k in range(8))
    product = b.lift(0.72)
    for name in names:
        product = product * (b.sin(b.input(name)) + 0.25)
    graph = phase(Graph((*names, "qd[0]"), {"y": product * b.input("qd[0]")}))
    rng = np.random.default_rng(0)
    limits = dict.fromkeys(names, (-np.pi, np.pi)) | {"qd[0]": (-1.0, 1.0)}
    samples = {name: rng.uniform(*ends, 2000) for name, ends in limits.items()}
    domain = Domain(limits, frozenset(names), samples=samples)
    loose = InputDomain(limits, samples, samples, frozenset())
    safe = InputDomain(limits, samples, samples, frozenset(), domain=domain)
    largest = 0.72 * 1.25**8
    sizes = []
    for given, holds in ((loose, False), (safe, True)):
        _, fixed = to_words(graph, given, 24)
        word: Format = fixed.formats[fixed.graph.outputs["y"]]
        sizes.append(word.limits[1])
        assert (word.limits[1] > largest) == holds
        assert bool(falsify(fixed, domain, 100, 5).flagged) != holds
    assert sizes[1] <= 2 * 1.1 * largest
