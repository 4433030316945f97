"""M⁻¹ ∂τ column by column: the datapath of one column, or part of one, computes all of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.compile.matrix_rows import IN_COLUMNS, PRODUCT, ROOMY, DotProducts, smallest_shape
from rbdgen.compile.product import Product
from rbdgen.dynamics.interface import random_inputs
from rbdgen.graph.evaluate import evaluate
from tests.support.coordinates import worst_in
from tests.support.limbs import WALKER
from tests.support.made import accelerate

FUNCTIONS = ("dfd", "difd")


@cache
def made(robot: str, base: str, ii: int, fold: str = "auto") -> Product:
    choices = {"functions": FUNCTIONS, "target": "xcup", "base": base, "ii": ii, "fold": fold}
    return accelerate(robot, **choices)


@pytest.mark.parametrize(
    ("entries", "interval", "shape"),
    [
        ([7] * 12, 1, None),
        ([7] * 12, 8, DotProducts(7, 3, 4, 8)),  # three at once, each in two cycles
        ([7] * 12, 12, DotProducts(7, 1, 12, 12)),
        ([7] * 12, 13, DotProducts(7, 1, 12, 12)),
        ([7] * 12, 24, DotProducts(7, 1, 12, 24)),
        ([7] * 10 + [8] * 3, 16, DotProducts(7, 1, 16, 16)),  # those of eight entries in two parts
        ([7], 16, DotProducts(4, 1, 2, 16)),
        ([5, 4, 4, 4], 16, DotProducts(5, 1, 4, 16)),  # no parts where they save nothing
        ([], 16, None),
    ],
)
def test_shape(entries: list[int], interval: int, shape: DotProducts | None) -> None:
    found = smallest_shape(entries, 7, interval, 1.25)
    assert found == shape
    if shape is not None:
        parts = sum(-(-n // shape.terms) for n in entries)
        assert (shape.turns - 1) * shape.parallel < parts <= shape.turns * shape.parallel
        assert shape.interval <= interval


def test_shape_where_multipliers_are_no_matter() -> None:
    """No operand is chosen then, and longer sums are rather whole."""
    assert smallest_shape([7] * 12, 7, 8, ROOMY) == DotProducts(7, 2, 6, 6)
    assert smallest_shape([7] * 10 + [8] * 3, 7, 16, ROOMY) == DotProducts(8, 1, 13, 13)


@pytest.mark.parametrize(
    ("robot", "base", "ii", "stages"),
    [
        ("pendulum", "fixed", 4, (PRODUCT,)),
        pytest.param("iiwa14", "fixed", 8, (PRODUCT,), marks=pytest.mark.slow),
        pytest.param("iiwa14", "fixed", 13, (PRODUCT,), marks=pytest.mark.slow),
        pytest.param(str(WALKER), "floating", 16, (IN_COLUMNS, PRODUCT), marks=pytest.mark.slow),
    ],
)
def test_columns_are_what_the_whole_gives(
    robot: str, base: str, ii: int, stages: tuple[str, ...]
) -> None:
    """Over real numbers, in other states than those that words are sized by; nothing is chosen."""
    whole = made(robot, base, ii)
    graph = whole.front.graph
    assert tuple(n for n in whole.accelerator.stages if n.startswith(PRODUCT)) == stages
    in_turn = whole.accelerator.stages[stages[0]]
    assert in_turn.limbs > 1
    states = random_inputs(whole.front.canonical, graph.inputs, 20, 4)
    exact = evaluate(graph, states)
    words = {**exact, **states}
    assert in_turn.piece.program is not None
    program = in_turn.piece.program.real
    ((_, template),) = program.templates.items()
    found = {}
    for visit in program.reads:
        own = dict.fromkeys(template.inputs, np.zeros(20))
        own |= {name: by * words[word] for name, (word, by) in program.read(visit).items()}
        values = evaluate(template, own)
        found |= {word: by * values[n] for n, (word, by) in program.given(visit).items()}
    if len(stages) > 1:
        found |= evaluate(whole.accelerator.stages[PRODUCT].fixed.graph, found)
    wanted = {name for name in exact if name.startswith("dqdd")}
    zeros = {name for name in wanted if not exact[name].any()}
    assert found.keys() >= wanted - zeros
    for name in wanted - zeros:
        np.testing.assert_allclose(
            found[name], exact[name], rtol=0, atol=1e-9 * np.abs(exact[name]).max()
        )


@pytest.mark.slow
def test_accuracy_and_multipliers() -> None:
    """One binary point for all columns: errors at most 4.5 times those of words of their own."""
    found = []
    for own in (made("iiwa14", "fixed", 13), made("iiwa14", "fixed", 13, "none")):
        state = within_limits(own, 500, 1)
        traffic = Traffic(own, inputs_of(own, state))
        assert not any(flags.any() for _, flags in traffic.expected.values())
        found.append((own, worst_in(traffic, "difd", state)))
    (columns, errors), (shared, least) = found
    assert all(errors[array] < 4.5 * least[array] for array in least)
    assert columns.accelerator.multipliers <= 1.25 * shared.accelerator.multipliers
    assert "columns of a product are time-multiplexed in product: 12 times 1" in " ".join(
        columns.notes
    )
    assert not shared.notes


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        pytest.param("iiwa14", {"ii": 1}, marks=pytest.mark.slow),
        # columns of each leg, whose datapaths are one
        pytest.param("hyq", {"ii": 40}, marks=pytest.mark.slow),
        pytest.param("iiwa14", {"ii": 13, "error": 1e-3}, marks=pytest.mark.slow),
    ],
)
def test_not_in_columns(robot: str, choices: dict[str, Any]) -> None:
    whole = accelerate(robot, functions=("difd",), target="xcup", **choices)
    assert "columns of a product are time-multiplexed" not in " ".join(whole.notes)


@pytest.mark.slow
def test_within_a_budget() -> None:
    """No multiplier more than sharing takes."""
    whole = accelerate("iiwa14", functions=FUNCTIONS, target="xcup", multipliers=130)
    assert whole.accelerator.multipliers <= 130
