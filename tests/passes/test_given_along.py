"""What visits read, from the task's words on: limits, states in turn, what they hand on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rbdgen.graph.fixed import FixedGraph
from rbdgen.graph.graph import Graph
from rbdgen.graph.visits import LIMB, in_turn, once, then
from rbdgen.words.input_domain import InputDomain
from rbdgen.words.instances import instantiate
from rbdgen.words.order import to_words
from rbdgen.words.program_ranges import ProgramDomain, program_in_words
from tests.support.notation import graph

LEG, TRUNK, REST = graph(f="v*q"), graph(b="w + w"), graph(f="f0 + f1")
TASK = {"w": np.array([1.0, -1.0, 0.5]), "q0": np.ones(3), "q1": np.array([0.0, 2.0, 3.0])}
LIMITS = {"w": (-1.0, 1.0), "q0": (-1.0, 1.0), "q1": (-4.0, 3.0)}

legs = in_turn(
    LEG,
    [
        ({"v": ("b", 1), "q": ("q0", 1)}, {"f": ("f0", 1)}),
        ({"v": ("b", -1), "q": ("q1", -1)}, {"f": ("f1", -1)}),
    ],
)
program = then(then(once("trunk", TRUNK), legs, TASK), once("rest", REST), TASK)


def words(graph: Graph, given: InputDomain) -> FixedGraph:
    return to_words(graph, given, 18)[1]


def given() -> InputDomain:
    return InputDomain(LIMITS, TASK, TASK, frozenset())


def test_states_of_all_visits_in_turn() -> None:
    along = ProgramDomain(program, given())
    along.made("trunk", words(TRUNK, along.of("trunk")))
    found = along.of(LIMB)
    assert found.limits["q"] == (-3.0, 4.0)
    np.testing.assert_array_equal(found.samples["q"], [1, 0, 1, -2, 1, -3])
    np.testing.assert_array_equal(found.samples["v"], [2, -2, -2, 2, 1, -1])
    assert found.related == {"v"}  # the trunk gives it
    thin = along.of(LIMB, thinned=True)
    assert thin.samples["q"].tolist() == [1, -2]  # the first's first state, the second's second


def test_extremes_visit_by_visit() -> None:
    """Thinned, a visit's extremes come by themselves, and show what those of all visits do."""
    draw = np.random.default_rng(7)
    extremes = {name: draw.uniform(*LIMITS[name], 50) for name in TASK}
    along = ProgramDomain(program, replace(given(), extremes=extremes))
    along.made("trunk", words(TRUNK, along.of("trunk")))
    every, thin = along.of(LIMB), along.of(LIMB, thinned=True)
    assert len(every.extremes["q"]) == 100
    assert [len(states["q"]) for states in thin.further()] == [50, 50]
    thin = replace(thin, samples=every.samples)
    assert thin.ranges(LEG).bound == every.ranges(LEG).bound


def test_what_is_read_has_been_through_every_visit() -> None:
    """The rest's samples are what the whole computes; its words hold what the limbs' words may."""
    along, fixed = ProgramDomain(program, given()), {}
    for name, template in program.templates.items():
        found = along.of(name)
        fixed[name] = words(template, found)
        along.made(name, fixed[name])
    np.testing.assert_array_equal(found.samples["f0"], 2 * TASK["w"] * TASK["q0"])
    # v and q of the mirrored one with their signs, and the force with its own
    np.testing.assert_array_equal(found.samples["f1"], -2 * TASK["w"] * TASK["q1"])
    leg = fixed[LIMB]
    assert found.limits["f0"] == leg.formats[leg.graph.outputs["f"]].limits
    again = program_in_words(program, given(), words)
    assert {k: f.inputs for k, f in again.items()} == {k: f.inputs for k, f in fixed.items()}


def test_zero_where_nothing_is_read() -> None:
    """An input that a visit does not name is zero, and what that gives is worked out."""
    own = in_turn(LEG, [({"v": ("w", 1)}, {"f": ("a", 1)}), ({"v": ("w", 2), "q": ("q1", 1)}, {})])
    along = ProgramDomain(own, given())
    assert along.of(LIMB).limits == {"v": (-2.0, 2.0), "q": (-4.0, 3.0)}
    np.testing.assert_array_equal(along.of(LIMB).samples["q"], [0, 0, 0, 2, 0, 3])
    one = in_turn(LEG, [({}, {"f": ("a", 1)})])
    made = instantiate(one, {LIMB: words(LEG, along.of(LIMB))})
    assert made.whole.graph.outputs["a"].value == 0.0
