"""Templates in words: one format at all ends of what is joined, and what they make together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import Front, front_end
from rbdgen.compile.front import trace
from rbdgen.compile.words import sample_inputs, with_extremes
from rbdgen.design.design import Design
from rbdgen.design.target import find_target
from rbdgen.dynamics.program import program
from rbdgen.graph.evaluate import Array, evaluate
from rbdgen.graph.fixed import FixedGraph, Format, evaluate_fixed, renamed
from rbdgen.graph.graph import CopyingBuilder, Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.graph.verify import verify_fixed
from rbdgen.graph.visits import VisitResult, factored, once
from rbdgen.graph.word import indices, kind_of
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.denavit_hartenberg import chained_frames
from rbdgen.robot.model import Drivetrain, JointKind
from rbdgen.words.instances import FixedProgram, copied
from rbdgen.words.order import InputDomain, worst_error
from rbdgen.words.program_ranges import program_word_samples
from rbdgen.words.program_words import fixed_program
from tests.support.marks import slow
from tests.support.random_robots import ALL_KINDS, lighter, random_robot

# robot, functions: the error that is allowed of each coordinate with words of 18 bits, about twice
# what is measured; ten times that at a tenth of the limits
ERRORS = {
    ("pendulum", "did"): 1e-4,
    ("iiwa14_fast", "id"): 2.6e-3,
    ("iiwa14_fast", "did"): 5e-3,
    ("iiwa14_fast", "m"): 5e-4,
    ("hyq", "did,m"): 3e-4,
    ("baxter", "id"): 1e-3,
    ("gantry", "did"): 5e-4,
    ("tiago_like", "id"): 5e-4,
}
LOADED = str(Path(__file__).parent.parent / "robots" / "loaded.urdf")
CHAINS = [(f"chain{seed}", "did") for seed in range(6)]
TREES = [(f"tree{seed}", "did") for seed in (1, 2, 4)]
CASES = [*ERRORS, *CHAINS, *TREES]


@cache
def front(robot: str, functions: str) -> Front:
    names = tuple(functions.split(","))
    if not robot.startswith(("chain", "tree")):
        return front_end(robot, functions=names)
    seed = int(robot[-1])
    rng = np.random.default_rng(10 * seed + 7)
    if robot.startswith("chain"):
        given = random_robot(rng, 2 + seed % 4, [JointKind.REVOLUTE], branching=0.0)
    else:
        given = random_robot(rng, 5, ALL_KINDS, 0.5, mimic=0.8)
    design, canonical = Design("", functions=names), canonicalize(given)
    part = find_target(design.target)
    return Front(design, part, given, canonical, trace(design, canonical))


@cache
def given_of(robot: str, functions: str) -> InputDomain:
    made = front(robot, functions)
    given = sample_inputs(made)
    # of random robots states at random alone do not show how large all signals get
    random = robot.startswith(("chain", "tree"))
    return with_extremes(made, given, lambda _: None) if random else given


@cache
def words_of(robot: str, functions: str, width: int = 18) -> FixedProgram:
    made = front(robot, functions)
    given = given_of(robot, functions)
    states = {name: values[:500] for name, values in given.samples.items()}
    visits = program(chained_frames(made.canonical), made.graph, 4, states=states)
    return fixed_program(visits, made.graph, given, width)


def in_words(whole: FixedGraph, columns: dict[str, Array]) -> dict[str, Array]:
    return {name: word.quantize(columns[name]) for name, word in whole.inputs.items()}


@pytest.mark.parametrize("case", [slow((case,)) if k % 2 else case for k, case in enumerate(CASES)])
def test_ends_of_what_is_joined_fit(case: tuple[str, str]) -> None:
    """No bit that a visit or the task gives is lost on its way to those who read it; of what is
    read in other units the last ones are."""
    words = words_of(*case)
    for visit, sources in words.real.reads.items():
        for port, (source, by) in ((port, factored(s)) for port, s in sources.items()):
            to, here = words.templates[visit.template].inputs[port], (source, visit, port)
            if isinstance(source, str):
                own = renamed(words.whole.inputs[source], by)
                assert own.fraction <= to.fraction, here
                assert own.width - own.fraction == to.width - to.fraction, here
            elif isinstance(source, VisitResult):
                sender = words.templates[source.visit.template]
                node = sender.graph.outputs[source.name]
                for word in (sender.formats[node], words.whole.formats[copy(words, source)]):
                    own = renamed(word, by)
                    shifted = (visit.template, port) in words.real.shifted
                    assert shifted or own.fraction <= to.fraction, here
                    assert own.width - own.fraction <= to.width - to.fraction, here


def copy(words: FixedProgram, result: VisitResult) -> Node:
    """The node of the whole robot that a visit's result is."""
    node = words.templates[result.visit.template].graph.outputs[result.name]
    return words.copies[result.visit][node]


@pytest.mark.parametrize("case", ERRORS)
def test_the_whole_robot_is_within_an_error(case: tuple[str, str]) -> None:
    error = worst_error(words_of(*case).whole, front(*case).graph, given_of(*case)).share
    assert ERRORS[case] / 8 < error < ERRORS[case]


def light_chain(geared_too: bool, functions: tuple[str, ...]) -> Front:
    """Three joints, each of whose links weighs a thirtieth of the one before, and rotors alike."""
    rng = np.random.default_rng(12)
    robot = lighter(random_robot(rng, 3, [JointKind.REVOLUTE], branching=0.0), 30.0)
    if geared_too:
        rotor = Drivetrain(1e-2, 1e-1, 1e-1, 1.0)  # of the last joint more than its link
        robot = robot.with_joints([replace(joint, drivetrain=rotor) for joint in robot.joints])
    design, canonical = Design("", functions=functions), canonicalize(robot)
    return Front(design, find_target(design.target), robot, canonical, trace(design, canonical))


def by_rows(graph: Graph, values: Mapping[str, Array]) -> dict[Any, float]:
    """Kind and row of outputs → their RMS."""
    rows: dict[Any, list[Array]] = {}
    for name in graph.outputs:
        rows.setdefault((kind_of(name), indices(name)[0]), []).append(values[name])
    return {row: float(np.sqrt(np.square(own).mean())) for row, own in rows.items()}


def off_by_rows(made: Front, words: FixedFunctions, scale: float) -> list[dict[Any, float]]:
    """The RMS of errors where joints are time-multiplexed, of those where each signal has words of
    its own, and of what is right, at a part of the limits of rates."""
    columns = {
        name: values[:1000] * (scale if kind_of(name) in ("qd", "qdd") else 1.0)
        for name, values in words.given.samples.items()
    }
    exact = {name: np.broadcast_to(x, 1000) for name, x in evaluate(made.graph, columns).items()}
    found = []
    for whole in (words.program[0].whole, words.whole[1]):
        got = evaluate_fixed(whole, in_words(whole, columns)).outputs
        formats = {name: whole.formats[node] for name, node in whole.graph.outputs.items()}
        errors = {name: word.real(got[name]) - exact[name] for name, word in formats.items()}
        found.append(by_rows(made.graph, errors))
    return [*found, by_rows(made.graph, exact)]


@pytest.mark.parametrize("geared_too", [False, True], ids=["bare", "geared"])
@pytest.mark.parametrize("functions", [("id",), ("did", "m")])
def test_light_joints_are_as_exact_as_heavy_ones(
    functions: tuple[str, ...], geared_too: bool
) -> None:
    """At the limits of rates and at a tenth, every row beside words of its own for each signal."""
    made = light_chain(geared_too, functions)
    words = FixedFunctions(made)
    for scale in (1.0, 0.1):
        shared, own, _ = off_by_rows(made, words, scale)
        ratios = {row: shared[row] / own[row] for row in own}
        assert max(ratios.values()) < 4, ratios


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "functions", "base"),
    [
        ("iiwa14", ("did",), "fixed"),
        ("baxter", ("id",), "fixed"),
        ("humanoid", ("id",), "floating"),
    ],
)
def test_joints_of_robots_are_as_exact(robot: str, functions: tuple[str, ...], base: str) -> None:
    """Of the rows, beside their own sizes, the one that is off most."""
    made = front_end(robot, functions=functions, base=base)
    words = FixedFunctions(made)
    for scale in (1.0, 0.1):
        shared, own, sizes = off_by_rows(made, words, scale)
        for kind in {kind for kind, _ in sizes}:
            rows = [row for row in sizes if row[0] == kind and sizes[row] > 0]
            worst = (max(errors[row] / sizes[row] for row in rows) for errors in (shared, own))
            assert next(worst) < 4.5 * next(worst), (kind, scale)


@pytest.mark.parametrize(("payload", "most"), [(None, 5e-3), ("slide", 5e-3)])
def test_gradients_of_a_light_robot_that_carries(payload: str | None, most: float) -> None:
    """Joints are counted in units of what they weigh with payloads and rotors; a result that is
    small beside its operands has no more room than their errors take."""
    made = front_end(LOADED, functions=("dfd",), payload=payload, width=18, fold="joints", ii=64)
    words = FixedFunctions(made)
    program_in_words, width = words.program
    assert width == 18
    few = {name: values[:500] for name, values in words.given.few.items()}
    exact = evaluate(made.graph, few)
    found = program_word_samples(once("whole", made.graph), program_in_words.whole, few)
    off = {
        kind: np.linalg.norm([found[n] - exact[n] for n in exact if kind_of(n) == kind])
        / np.linalg.norm([np.broadcast_to(exact[n], 500) for n in exact if kind_of(n) == kind])
        for kind in ("qdd", "dqdd_dq")
    }
    assert max(off.values()) < most, off


@pytest.mark.parametrize("width", [12, 15, 18])
def test_a_sine_keeps_its_cosines_width(width: int) -> None:
    """Though it is handed on with fewer bits: one unit makes both."""
    templates = words_of("pendulum", "m", width).templates
    found: dict[tuple[str, Node], set[int]] = {}
    for name, fixed in templates.items():
        for node in fixed.graph.nodes:
            if node.op in (Op.SIN, Op.COS):
                found.setdefault((name, node.args[0]), set()).add(fixed.formats[node].width)
    assert found and all(len(widths) == 1 for widths in found.values())


def test_more_bits_are_less_error() -> None:
    case = "pendulum", "did"
    few, many = (words_of(*case, width).whole for width in (18, 24))
    before, after = (worst_error(x, front(*case).graph, given_of(*case)) for x in (few, many))
    ratio = before.share / after.share
    assert 30 < ratio < 130  # 2^6


@pytest.mark.parametrize("case", CASES)
def test_nothing_overflows_within_the_limits(case: tuple[str, str]) -> None:
    """Three in four of these states are not those that ranges were taken from."""
    whole = words_of(*case).whole
    columns = {name: values[::7] for name, values in given_of(*case).samples.items()}
    found = evaluate_fixed(whole, in_words(whole, columns))
    assert not {node: int(v.sum()) for node, v in found.overflowed.items() if v.any()}


@pytest.mark.parametrize("case", [case for case in CASES if case[1] != "m"])
def test_words_from_anywhere_overflow(case: tuple[str, str]) -> None:
    """All but the mass matrix, which reads angles only, and they may have any word."""
    whole = words_of(*case).whole
    rng = np.random.default_rng(2)
    columns = {
        name: rng.integers(word.lowest, word.highest, 500, endpoint=True)
        for name, word in whole.inputs.items()
    }
    assert any(v.any() for v in evaluate_fixed(whole, columns).overflowed.values())


def every_word(fixed: FixedGraph, inputs: dict[str, Array]) -> dict[Node, Array]:
    found: dict[Node, Array] = {}
    evaluate_fixed(fixed, inputs, found.__setitem__)
    return found


@pytest.mark.parametrize("case", [("hyq", "did,m"), ("chain1", "did"), *TREES])
def test_every_visit_is_its_template(case: tuple[str, str]) -> None:
    """Bit for bit at every node, also where constants are worked out."""
    words = words_of(*case)
    whole = words.whole
    columns = {name: values[-200:] for name, values in given_of(*case).samples.items()}
    tasks = in_words(whole, columns)
    found = every_word(whole, tasks)

    def real(node: Node) -> Array:
        word = whole.formats[node]
        return word.real(found[node] if node in found else word.quantize(np.full(200, node.value)))

    def task(name: str) -> Array:
        return whole.inputs[name].real(tasks[name])

    constants = int(case in TREES)  # of which some have none
    for visit, copies in words.copies.items():
        template = words.templates[visit.template]
        inputs: dict[str, Array] = {}
        for port, source in words.real.reads[visit].items():
            word, (of, by) = template.inputs[port], factored(source)
            if isinstance(of, float):
                inputs[port] = np.broadcast_to(word.quantize(of), 200)
            else:  # bits that only some readers have are 0, those that the reader has not are left
                value = real(copy(words, of)) if isinstance(of, VisitResult) else task(of)
                read = np.floor(np.ldexp(by * value, word.fraction)).astype(np.int64)
                inputs[port] = np.broadcast_to(read, 200)
        made = every_word(template, inputs)
        assert set(copies) == set(template.graph.nodes)
        for node, own in copies.items():
            constants += own.op is Op.CONST and node.op not in (Op.CONST, Op.INPUT)
            expected = template.formats[node].real(np.broadcast_to(made[node], 200))
            if node.op is not Op.INPUT:
                np.testing.assert_array_equal(real(own), expected)
    assert constants > 0


def test_a_constant_that_overflows_is_found() -> None:
    """A bug of ranges, not of a robot: three times 3 in four bits."""
    builder = Builder()
    x = builder.input("x")
    graph = Graph(("x",), {"y": builder.add(x, builder.mul(2.0, x))})
    word = Format(4, 0)
    formats = {node: word if node.op is not Op.MULC else Format(4, -1) for node in graph.nodes}
    template = verify_fixed(FixedGraph(graph, {"x": word}, formats, 4))
    for value, fits in ((2.0, True), (3.0, False)):
        builder = CopyingBuilder()
        constant = builder.node(Op.CONST, value=value)
        own = {constant: word}
        if fits:
            copies = copied(builder, template, {"x": constant}, own, ("visit", 0))
            assert copies[graph.outputs["y"]].value == 3 * value
        else:
            with pytest.raises(AssertionError, match="overflows on constants"):
                copied(builder, template, {"x": constant}, own, ("visit", 0))


def test_inputs_that_no_visit_reads_have_words() -> None:
    """The first joint of iiwa14 stands upright: inverse dynamics does not ask for its angle."""
    case = "iiwa14_fast", "id"
    made, whole = front(*case), words_of(*case).whole
    assert tuple(whole.inputs) == made.graph.inputs
    read = {node.name for node in whole.graph.nodes if node.op is Op.INPUT}
    assert set(whole.inputs) - read == {"q[0]"}
    assert whole.inputs["q[0]"] == Format(18, 15)
    assert list(whole.graph.outputs) == list(made.graph.outputs)
