"""What of a robot's functions is in double where they are called in float, and what is said."""

from __future__ import annotations

from rbdgen.compile.floats import facts_of, with_doubles
from rbdgen.compile.flow import front_end


def test_accelerations_take_double_and_efforts_do_not() -> None:
    front = front_end("iiwa14", functions=("fd",))
    told, found = with_doubles(front)
    facts = facts_of(front, found)
    assert 0 < facts.in_double == len(found.nodes) < len(front.graph.nodes) / 2
    assert facts.reached <= 5e-6 < 1e-5 < facts.alone and facts.error == 1e-5
    (note,) = set(told.notes) - set(front.notes)
    assert f"{facts.in_double} of" in note and f"{facts.alone:.1e}" in note
    front = front_end("iiwa14", functions=("id",))
    told, found = with_doubles(front)
    assert not found.nodes and told.notes == front.notes
    assert facts_of(front, found).reached < 1e-6


def test_the_error_is_a_choice() -> None:
    _, found = with_doubles(front_end("gantry", functions=("fd",), float_error=1))
    assert not found.nodes
    _, some = with_doubles(front_end("gantry", functions=("fd",), float_error=1e-6))
    assert some.nodes and some.reached <= 5e-7 < found.alone


def test_loops_say_that_they_have_float_alone() -> None:
    front = front_end("iiwa14", functions=("did",), code="loops", float_error=1e-6)
    told, found = with_doubles(front)
    assert not found.nodes and told.notes == front.notes  # that is enough
    assert found.alone < 1e-6
