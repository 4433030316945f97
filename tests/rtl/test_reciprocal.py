"""Reciprocals in whole cores: Verilog against the integer model, every bit, and against floats."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from rbdgen.design.target import find_target
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import FixedGraph
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Op
from rbdgen.graph.text import from_text
from rbdgen.schedule.channels import Pipeline
from rbdgen.shell.emit import emit
from rbdgen.tools.model import Model
from tests.support.cores import check, shared_folder
from tests.support.marks import fast_at
from tests.support.small_cores import alone, any_words, batch, in_fixed_point, plan_of, verilated
from tests.support.two_joints import mass_matrices, minv_of_two_joints

STATES = 4000


def tame_matrices(n: int, seed: int) -> dict[str, np.ndarray]:
    """Pivots that words of 12 bits can tell from zero."""
    rng = np.random.default_rng(seed)
    d1, d2 = 10 ** rng.uniform(-0.5, 0.5, (2, n))
    h = rng.uniform(-0.5, 0.5, n)
    return {"m11": d1 + h * h * d2, "m21": h * d2, "m22": d2}


def operations() -> Graph:
    """Reciprocals that are shifted, negated, scaled, squared and selected between."""
    return from_text(
        dedent("""\
        input a
        input x                 # its sign decides, and it is exact
        %0 = input a
        %1 = input x
        %2 = recip %0         @ forward 0
        %3 = neg %2           @ forward 0
        %4 = mulc %3 by 0.3   @ forward 0
        %5 = mul %4 %1        @ backward 0
        %6 = mul %2 %2        @ backward 0
        %7 = mulc %0 by 0.7   @ forward 0
        %8 = recip %7         @ forward 0
        %9 = add %8 %2        @ backward 0
        %10 = select %1 %9 %3 @ backward 0
        %11 = const 0.1
        %12 = select %1 %11 %1 @ backward 0
        output scaled = %5
        output square = %6
        output sum = %9
        output chosen = %10
        output bounded = %12
        """)
    )


def arguments(n: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"a": 10 ** rng.uniform(-1, 2, n), "x": rng.uniform(-3, 3, n)}


CASES = {
    "minv_12": (minv_of_two_joints, tame_matrices, 12, None),
    "minv_25": (minv_of_two_joints, mass_matrices, 25, None),
    "minv_32": (minv_of_two_joints, mass_matrices, 32, None),
    "operations_18": (operations, arguments, 18, None),
    "operations_22_logic": (operations, arguments, 22, 0),
}


@dataclass(frozen=True)
class Built:
    graph: Graph
    states: dict[str, np.ndarray]
    plan: Pipeline
    model: Model

    @property
    def fixed(self) -> FixedGraph:
        return self.plan.schedule.fixed

    @property
    def words(self) -> dict[str, np.ndarray]:
        return {name: self.fixed.inputs[name].quantize(v) for name, v in self.states.items()}


def planned(name: str) -> tuple[Graph, dict[str, np.ndarray], Pipeline]:
    make, draw, width, multipliers = CASES[name]
    graph, part = make(), find_target("ecp5-85f")
    if multipliers is not None:
        part = part.__class__(**{**part.__dict__, "multipliers": multipliers})
    fixed = in_fixed_point(graph, draw(20_000, 1), width)
    return graph, draw(STATES, 2), plan_of(fixed, part)


@pytest.fixture(scope="module", params=fast_at((2, 3), [*CASES]))
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder: Path = shared_folder(tmp_path_factory, "reciprocals")
    graph, states, plan = planned(request.param)
    return Built(graph, states, plan, verilated(plan, folder, request.param))


@pytest.mark.rtl
def test_every_bit_flag_and_latency_under_stalls(built: Built) -> None:
    inside, anywhere = (
        batch(built.plan, built.words),
        batch(built.plan, any_words(built.fixed, STATES, 3)),
    )
    assert anywhere.flags.any()
    assert not anywhere.flags.all()
    assert not inside.flags.any()
    for expected in (inside, anywhere):
        run = built.model.run(expected.tasks, seed=1)
        check(run, expected)
        np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, built.plan.latency)
        check(built.model.run(expected.tasks, stall_in=0.3, stall_out=0.4, seed=2), expected)


@pytest.mark.rtl
def test_pivots_that_are_not_positive_are_flagged(built: Built) -> None:
    words = {name: v.copy() for name, v in built.words.items()}
    pivot = "a" if "a" in words else "m22"
    words[pivot][::3] = -words[pivot][::3]
    words[pivot][1::3] = 0
    expected = batch(built.plan, words)
    one_of = list(built.fixed.graph.outputs).index("sum" if pivot == "a" else "22")
    np.testing.assert_array_equal(expected.flags[:, one_of], np.arange(STATES) % 3 < 2)
    check(built.model.run(expected.tasks, seed=3), expected)


@pytest.mark.rtl
def test_pivots_that_get_too_small_are_flagged(built: Built) -> None:
    """Positive, but below the smallest that the unit's exponents reach; and the smallest itself."""
    pivot = "a" if "a" in built.states else "m22"
    graph = built.fixed.graph
    unit = next(
        built.fixed.reciprocal(node)
        for node in graph.nodes
        if node.op is Op.EXPONENT and node.args[0].name == pivot
    )
    # 2^(lowest - 1) as a word; the word's first bit below the sign is 2^(top - 1)
    smallest = 1 << max(0, unit.operand - 2 - unit.top + unit.lowest)
    words = {name: v.copy() for name, v in built.words.items()}
    words[pivot][::2] = smallest
    words[pivot][1::2] = np.maximum(smallest - 1, 0)
    expected = batch(built.plan, words)
    one_of = "chosen" if pivot == "a" else "22"
    flags = expected.flags[:, list(graph.outputs).index(one_of)]
    assert flags[1::2].all()
    check(built.model.run(expected.tasks, seed=4), expected)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_floats(name: str) -> None:
    graph, states, plan = planned(name)
    fixed = plan.schedule.fixed
    words = {key: fixed.inputs[key].quantize(v) for key, v in states.items()}
    exact = evaluate(graph, {key: fixed.inputs[key].real(v) for key, v in words.items()})
    results = batch(plan, words).results
    for k, (output, node) in enumerate(fixed.graph.outputs.items()):
        got = fixed.formats[node].real(results[:, k])
        scale = np.abs(exact[output]).max()
        assert np.abs(got - exact[output]).max() < scale * 2.0 ** (6 - fixed.width), output


def test_every_operation_has_a_unit() -> None:
    lowered = {n.op for n in planned("operations_18")[2].schedule.fixed.graph.nodes}
    assert {Op.MANTISSA, Op.EXPONENT, Op.SCALE, Op.SELECT} <= lowered
    multipliers = emit(alone(planned("operations_22_logic")[2]), "logic").multipliers
    assert {unit.style for unit in multipliers} == {"logic"}
