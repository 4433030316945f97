"""Every table keyed by operation covers them all, with the right number of operands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import rbdgen
from rbdgen.codegen.real import REAL
from rbdgen.graph.derivative import DERIVATIVE
from rbdgen.graph.evaluate import FLOAT, INTERVAL
from rbdgen.graph.fixed import INTEGER
from rbdgen.graph.node import Builder, Op
from rbdgen.rtl.units import UNIT, Unit
from rbdgen.schedule.units import Job, job
from rbdgen.words import ranges as rounding
from rbdgen.words import value_range as arrays
from rbdgen.words import word_errors as errors
from tests.words.ascent_numpy import SLOPE, VALUE

# Table → what it has for each operation, and the number of arguments before the operands.
TABLES: dict[str, tuple[Mapping[Op, Callable[..., Any]], int]] = {
    "FLOAT": (FLOAT, 1),
    "REAL": (REAL, 1),
    "INTEGER": (INTEGER, 3),
    "INTERVAL": (INTERVAL, 1),
    "DERIVATIVE": ({op: own.slopes for op, own in DERIVATIVE.items()}, 2),
    "DERIVATIVE, tangents": ({op: own.tangent for op, own in DERIVATIVE.items()}, 3),
    "CARRIED": (rounding.CARRIED, 2),
    "CARRIED, of prove": (errors.CARRIED, 2),
    "VALUE, of tests": (VALUE, 1),
    "SLOPE, of tests": (SLOPE, 2),
}
# Operations that a table leaves to a method, which a language in which it differs has, too.
ELSEWHERE = {"REAL": {Op.INPUT}}
# The places of all tables in the package; of a table with a default it says where.
PLACES = {
    "FLOAT": "graph/evaluate.py",
    "REAL": "codegen/real.py",
    "INTEGER": "graph/fixed.py",
    "INTERVAL": "graph/evaluate.py",
    "DERIVATIVE": "graph/derivative.py",
    "CARRIED": "words/ranges.py, words/word_errors.py",
    "UNIT": "rtl/units.py",
    "MORE": "passes/mixed_precision.py",  # 1, unless it is there
    "TAKES": "compile/formulation.py",  # 0, unless it is there
}


# Operations without hardware of their own: what comes, wires, and what a pass has rewritten.
FREE = {Op.INPUT, Op.CONST, Op.PARAMETER, Op.MULC, Op.RECIP}


def test_an_operation_is_a_row_in_eight_tables() -> None:
    places: dict[str, list[str]] = {}
    package = Path(rbdgen.__file__).parent
    for path in sorted(package.rglob("*.py")):
        for name in re.findall(r"^(\w+): (?:dict|Mapping)\[Op, .* = ", path.read_text(), re.M):
            places.setdefault(name, []).append(path.relative_to(package).as_posix())
    assert {name: ", ".join(found) for name, found in places.items()} == PLACES
    total = sum(len(found) for name, found in places.items() if name not in ("MORE", "TAKES"))
    assert total == 8


@pytest.mark.parametrize("name", TABLES)
def test_no_table_has_a_hole(name: str) -> None:
    table, before = TABLES[name]
    assert set(table) == set(Op) - ELSEWHERE.get(name, set())
    for op, compute in table.items():
        signature = inspect.signature(compute)
        signature.bind(*range(before + op.arity))  # TypeError: too few or too many


@pytest.mark.parametrize("file", ["ascent.cpp", "extents.cpp"])
def test_compiled_searches_have_the_same_numbers(file: str) -> None:
    """Every operation that is handed to them, where they expect it: they check nothing."""
    text = Path(arrays.__file__).with_name(file).read_text()
    (found,) = re.findall(r"enum Op \{ (.*?) \};", text)
    assert found.split(", ") == [op.name for op in arrays.COMPILED]
    assert set(arrays.OPS) == set(Op)


@pytest.mark.parametrize("op", Op)
def test_the_table_of_hardware_has_no_hole(op: Op) -> None:
    unit = UNIT[op]
    assert (unit.logic is None and unit.place is None) == (op in FREE)
    assert bool(unit.place) == bool(unit.port)
    for make, before in ((unit.logic, 3), (unit.place, 2)):
        if make is not None:
            inspect.signature(make).bind(*range(before + op.arity))


def test_hardware_is_shared_by_all_nodes_of_a_job() -> None:
    """Those that the schedule starts together are ports of one unit."""
    b = Builder()
    x = b.input("x")
    shared: dict[Job, list[Unit]] = {}
    for op in Op:
        node = b.node(op, *[x] * op.arity)
        shared.setdefault(job(node), []).append(UNIT[op])
    assert sorted(map(len, shared.values()))[-2:] == [2, 2]  # sine and cosine; a reciprocal
    for units in shared.values():
        assert len({unit.place for unit in units}) == 1
        assert len({unit.port for unit in units}) == len(units)
