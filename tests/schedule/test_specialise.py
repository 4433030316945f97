"""Templates of a few visits each: the same words as those of all visits, from less."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.dynamics.program import program
from rbdgen.graph.fixed import evaluate_fixed
from rbdgen.graph.node import Op
from rbdgen.graph.visits import Visit, VisitResult, factored
from rbdgen.robot.denavit_hartenberg import chained_frames
from rbdgen.schedule.specialise import kind_of, specialised
from rbdgen.words.instances import FixedProgram
from rbdgen.words.program_words import fixed_program

RAILS = str(Path(__file__).parent.parent / "robots" / "rails.urdf")
CASES = [
    ("pendulum", "did", "fixed", 1),
    ("iiwa14_fast", "did", "fixed", 1),
    ("iiwa14_fast", "did", "fixed", 2),
    ("iiwa14_fast", "id", "fixed", 6),
    ("gantry", "did", "fixed", 2),
    ("hyq", "did,m", "floating", 5),
    ("tiago_like", "id", "fixed", 3),
]


@cache
def general(robot: str, functions: str, base: str) -> FixedProgram:
    front = front_end(robot, functions=tuple(functions.split(",")), base=base)
    visits = program(chained_frames(front.canonical), front.graph, 4)
    return fixed_program(visits, front.graph, sample_inputs(front), 18)


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case)))
def case(request: pytest.FixtureRequest) -> tuple[FixedProgram, FixedProgram, int]:
    robot, functions, base, rounds = request.param
    made = general(robot, functions, base)
    return made, specialised(made, rounds), rounds


Case = tuple[FixedProgram, FixedProgram, int]


def test_the_same_words_come_out(case: Case) -> None:
    """Of states and of any words: what is left out is zero, or nobody's, whatever comes in."""
    made, own, _ = case
    rng = np.random.default_rng(3)
    for shift in (0, 3):
        inputs = {
            name: rng.integers(word.lowest, word.highest, 50, endpoint=True) >> shift
            for name, word in made.whole.inputs.items()
        }
        before, after = evaluate_fixed(made.whole, inputs), evaluate_fixed(own.whole, inputs)
        assert list(after.outputs) == list(before.outputs)
        for name, words in before.outputs.items():
            fraction = made.whole.formats[made.whole.graph.outputs[name]].fraction
            left = own.whole.formats[own.whole.graph.outputs[name]].fraction
            np.testing.assert_array_equal(words * 2.0**-fraction, after.outputs[name] * 2.0**-left)


@pytest.mark.parametrize("rounds", [1, 2])
def test_what_is_one_number_is_read_as_one(rounds: int) -> None:
    """No datapath stores a constant: where all that others want of it is one, they read that."""
    made = FixedFunctions(
        front_end(RAILS, functions=("nle",), payload="l0", fold="joints")
    ).program[0]
    own = specialised(made, rounds)
    for sources in own.real.reads.values():
        for word, _ in map(factored, sources.values()):
            if isinstance(word, VisitResult):
                template = own.templates[word.visit.template].graph
                assert template.outputs[word.name].op is not Op.CONST
    rng = np.random.default_rng(3)
    inputs = {
        name: rng.integers(word.lowest, word.highest, 50, endpoint=True)
        for name, word in made.whole.inputs.items()
    }
    before, after = evaluate_fixed(made.whole, inputs), evaluate_fixed(own.whole, inputs)
    for name, node in made.whole.graph.outputs.items():
        words = made.whole.formats[node].real(before.outputs[name])
        left = own.whole.formats[own.whole.graph.outputs[name]]
        np.testing.assert_array_equal(left.real(after.outputs[name]), words)


def test_the_interface_stays(case: Case) -> None:
    made, own, _ = case
    assert own.whole.inputs == made.whole.inputs
    assert list(own.real.outputs) == list(made.real.outputs)


def test_so_many_visits_share_a_template(case: Case) -> None:
    made, own, rounds = case
    for name in made.templates:
        parts = [own.real.of(part) for part in own.templates if kind_of(part) == name]
        assert max(map(len, parts)) <= rounds
        assert len(parts) == -(-len(made.real.of(name)) // rounds)
        assert sorted(v.key for of in parts for v in of) == sorted(
            v.key for v in made.real.of(name)
        )


def test_nothing_is_left_that_no_visit_needs(case: Case) -> None:
    _, own, _ = case
    read = {
        s.visit.template: set[str]()
        for s in own.real.outputs.values()
        if isinstance(s, VisitResult)
    }
    sources = [s for reads in own.real.reads.values() for s in reads.values()]
    for source in [*sources, *own.real.outputs.values()]:
        if isinstance(source, VisitResult):
            read.setdefault(source.visit.template, set()).add(source.name)
    for name, template in own.templates.items():
        assert set(template.graph.outputs) == read[name]
        assert {n.name for n in template.graph.nodes if n.op is Op.INPUT} == set(template.inputs)
        for port, word in template.inputs.items():
            found = [own.real.reads[visit][port] for visit in own.real.of(name)]
            assert any(not isinstance(x, float) or int(word.quantize(x)) for x in found)
        for node in template.graph.nodes:
            if node.op is Op.MUL:
                assert all(a.op is not Op.CONST or a.value for a in node.args)


def products(made: FixedProgram) -> int:
    return sum(template.graph.operations()["mul"] for template in made.templates.values())


def test_products_of_iiwa_s_gradients() -> None:
    """A visit each takes under two thirds of what all that might be needed would take."""
    made = general("iiwa14_fast", "did", "fixed")
    alone = specialised(made, 1)
    visits = {name: len(made.real.of(name)) for name in made.templates}
    might = sum(n * made.templates[name].graph.operations()["mul"] for name, n in visits.items())
    assert products(alone) < 0.65 * might
    assert products(specialised(made, 2)) < 0.6 * products(alone)


def test_visits_that_need_the_same_are_together() -> None:
    """Columns that arrive at joints of the same side of the elbow: no link, so no arm to add."""
    own = specialised(general("iiwa14_fast", "did", "fixed"), 2)
    part = {visit.key: visit.template for visit in own.real.reads if "column" in visit.template}
    assert part[5, 1] == part[4, 1]
    assert part[5, 1] != part[5, 2]


def test_one_datapath_for_all_keeps_its_name() -> None:
    made = general("iiwa14_fast", "id", "fixed")
    assert set(specialised(made, 6).templates) == set(made.templates)
    assert Visit("out", (3,)) in specialised(made, 6).real.reads


def test_it_comes_out_the_same_every_time() -> None:
    made = general("hyq", "did,m", "floating")
    one, other = specialised(made, 5), specialised(made, 5)
    assert one.real.reads == other.real.reads
    assert list(one.templates) == list(other.templates)
