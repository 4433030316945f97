"""M⁻¹ column by column, of the factors that one stage finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from rbdgen.compile import inverse_factors
from rbdgen.compile.flow import front_end
from rbdgen.compile.inverse_factors import INVERSE, MANY, factors_that_save
from rbdgen.compile.matrix_rows import FORWARD, OF_FACTORS
from rbdgen.compile.product import Product
from rbdgen.compile.samples import sample_states
from rbdgen.dynamics.interface import to_columns
from rbdgen.graph.evaluate import Array, evaluate
from rbdgen.graph.fixed import convert, evaluate_fixed
from rbdgen.graph.word import indices, kind_of
from tests.support.made import accelerate

CHOICES: dict[str, Any] = {"functions": ("m", "minv", "fd"), "target": "xcup"}


def made(robot: str, ii: int, many: int, **choices: Any) -> Product:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inverse_factors, "MANY", many)
        patch.setattr(inverse_factors, "FEWER", 10)
        return accelerate(robot, **CHOICES, ii=ii, **choices)


@pytest.mark.parametrize(
    ("robot", "ii", "many", "choices"),
    [
        ("pendulum", 4, 100, {}),  # has too few additions
        ("pendulum", 1, 0, {}),  # no time for two columns
        ("pendulum", 4, 0, {"fold": "none"}),
        ("pendulum", 4, 0, {"error": 1e-3}),
    ],
)
def test_where_columns_take_no_turns(
    robot: str, ii: int, many: int, choices: dict[str, Any]
) -> None:
    assert OF_FACTORS not in made(robot, ii, many, **choices).accelerator.stages


@pytest.mark.parametrize(
    ("functions", "additions", "interval", "many", "expected"),
    [
        (("m", "minv"), 2000, 2, MANY, True),
        (("m", "minv"), 1999, 2, MANY, False),
        (("m", "minv"), 2000, 1, MANY, False),  # there are two columns
        (("m",), 2000, 2, MANY, False),
        # of M's two pivots one takes an addition, and of M⁻¹'s entries one: half of four
        (("m", "minv"), 4, 2, 0, True),
        (("m", "minv"), 3, 2, 0, False),
    ],
)
def test_columns_save_where_they_leave_few_additions_and_have_time(
    functions: tuple[str, ...],
    additions: int,
    interval: int,
    many: int,
    expected: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inverse_factors, "MANY", many)
    front = front_end("pendulum", functions=functions)
    assert (factors_that_save(front, additions, interval) is not None) is expected


@pytest.mark.parametrize(
    ("robot", "ii", "base"),
    [
        ("pendulum", 5, "fixed"),
        ("gantry", 11, "fixed"),  # M has entries that are constant, and rows apart
        pytest.param("iiwa14_fast", 8, "fixed", marks=pytest.mark.slow),
        pytest.param("hyq", 18, "floating", marks=pytest.mark.slow),
    ],
)
def test_columns_are_what_the_whole_gives(robot: str, ii: int, base: str) -> None:
    """Over real numbers and in words, in other states than those that words are sized by."""
    found = made(robot, ii, 0, base=base)
    stages = found.accelerator.stages
    coordinates = found.front.canonical.nv
    assert stages[INVERSE].interval == ii // coordinates * coordinates
    assert any(note.startswith("columns of M⁻¹ are time-multiplexed") for note in found.notes)
    graph = found.front.graph
    robot_made = found.front.canonical
    drawn = sample_states(found.design, robot_made, 50, 4)
    states = to_columns(robot_made, graph.inputs, drawn)
    exact = evaluate(graph, states)
    factors, columns = stages[OF_FACTORS], stages[INVERSE]
    assert columns.limbs == coordinates and columns.piece.program is not None
    read = {name: word.quantize(exact[name]) for name, word in factors.fixed.inputs.items()}
    first = evaluate_fixed(factors.fixed, read)
    words = {
        name: convert(first.outputs[name], factors.outputs[name], word)[0]
        for name, word in columns.fixed.inputs.items()
    }
    second = evaluate_fixed(columns.fixed, words)
    assert not first.overflowed and not second.overflowed
    wanted = [name for name in graph.outputs if kind_of(name) == "Minv"]
    assert sorted(second.outputs) == sorted(wanted)
    scale = {
        name: np.sqrt(_diagonal(exact, name, 0) * _diagonal(exact, name, 1)) for name in wanted
    }
    for name in wanted:
        off = columns.outputs[name].real(second.outputs[name]) - exact[name]
        assert np.abs(off / scale[name]).max() < 2e-3, name
    _check_forward(found, {**states, **exact}, second.outputs)


def _check_forward(found: Product, exact: dict[str, Array], inverse: Mapping[str, Array]) -> None:
    """q̈ row by row in one datapath, beside what these words of τ, of the bias and of M⁻¹ say."""
    stages = found.accelerator.stages
    rows, graph = stages[FORWARD], found.front.graph
    wanted = [name for name in graph.outputs if kind_of(name) == "qdd"]
    assert rows.limbs == len(wanted) == len(rows.outputs)
    words = {
        name: convert(inverse[name], stages[INVERSE].outputs[name], word)[0]
        if name in inverse
        else word.quantize(exact[name])
        for name, word in rows.fixed.inputs.items()
    }
    read = {name: word.real(words[name]) for name, word in rows.fixed.inputs.items()}
    made = evaluate_fixed(rows.fixed, words)
    assert not made.overflowed
    left = {
        j: read.get(f"tau[{j}]", 0.0) - read.get(f"bias[{j}]", 0.0) for j in map(_place, wanted)
    }
    for name in wanted:
        k, value = _place(name), rows.outputs[name].real(made.outputs[name])
        row = {j: read.get(f"Minv[{max(k, j)},{min(k, j)}]", 0.0) for j in left}
        reach = sum(
            np.abs(x) * np.sqrt(exact[f"Minv[{k},{k}]"] * exact[f"Minv[{j},{j}]"])
            for j, x in left.items()
        )
        off = value - sum(row[j] * x for j, x in left.items())
        assert np.abs(off / reach).max() < 5e-4, name


def _place(name: str) -> int:
    (k,) = indices(name)
    return k


def _diagonal(exact: dict[str, Array], name: str, place: int) -> Array:
    """The diagonal entry in a Minv's row (0) or column (1)."""
    k = name[5:-1].split(",")[place]
    return exact[f"Minv[{k},{k}]"]
