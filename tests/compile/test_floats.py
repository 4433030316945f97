"""What of a robot's functions is in double where they are called in float, and what is said."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rbdgen.compile.floats import facts_of, with_doubles
from rbdgen.compile.flow import front_end
from rbdgen.compile.front import Front
from rbdgen.compile.samples import sample_states
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import evaluate, evaluate_mixed, to_float
from rbdgen.graph.node import Node
from rbdgen.passes.mixed_precision import in_double


def test_accelerations_take_double_and_efforts_do_not() -> None:
    front = front_end("iiwa14_fast", functions=("fd",))
    told, found = with_doubles(front)
    facts = facts_of(front, found)
    assert 0 < facts.in_double == len(found.nodes) < len(front.graph.nodes) / 2
    assert facts.reached <= 5e-6 < 1e-5 < facts.alone and facts.error == 1e-5
    note, of_inputs = told.notes[len(front.notes) :]
    assert f"{facts.in_double} of" in note and f"{facts.alone:.1e}" in note
    assert f"{facts.inputs:.1e}" in of_inputs and facts.inputs > 1e-5
    graph = front.graph
    columns = _drawn(front, 0.5)
    exact = evaluate(graph, {name: to_float(own) for name, own in columns.items()})
    largest = max(np.abs(own).max() for own in exact.values())

    def off(nodes: frozenset[Node]) -> float:
        values = evaluate_mixed(graph, columns, nodes)
        return max(np.abs(values[name] - own).max() for name, own in exact.items()) / largest

    assert off(found.nodes) <= facts.error < off(frozenset())
    inside = in_double(graph, _drawn(front, 0.0), facts.error)
    assert facts.alone > 1.2 * inside.alone  # corners of the limits are among the states
    front = front_end("iiwa14_fast", functions=("id",))
    told, found = with_doubles(front)
    assert not found.nodes and told.notes == front.notes
    assert facts_of(front, found).reached < 1e-6


def _drawn(front: Front, extremes: float) -> Mapping[str, np.ndarray]:
    state = sample_states(front.design, front.canonical, 4000, 3, extremes)
    return to_columns(front.canonical, front.graph.inputs, state)


def test_the_error_is_a_choice() -> None:
    _, found = with_doubles(front_end("gantry", functions=("fd",), float_error=1))
    assert not found.nodes
    _, some = with_doubles(front_end("gantry", functions=("fd",), float_error=1e-6))
    assert some.nodes and some.reached <= 5e-7 < found.alone


def test_loops_say_that_they_have_float_alone() -> None:
    front = front_end("iiwa14_fast", functions=("did",), code="loops", float_error=1e-6)
    told, found = with_doubles(front)
    assert not found.nodes and told.notes == front.notes  # that is enough
    assert found.alone < 1e-6


def test_lengths_of_floats_are_a_note() -> None:
    """Sines and cosines that come in as floats; angles have no length."""
    choices = {"functions": ("fd",), "float_error": 1e-6}
    front = front_end("iiwa14_fast", angles="sincos", **choices)
    told, found = with_doubles(front)
    assert 1e-6 < found.lengths < 1e-4
    (note,) = [note for note in told.notes if "has length 1 up to rounding" in note]
    assert f"differ by up to {found.lengths:.1e} of" in note
    assert with_doubles(front_end("iiwa14_fast", **choices))[1].lengths == 0
