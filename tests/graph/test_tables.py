"""Every table keyed by operation covers them all, with the right number of operands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from rbdgen.codegen.real import REAL
from rbdgen.graph.derivative import DERIVATIVE
from rbdgen.graph.evaluate import FLOAT
from rbdgen.graph.fixed import INTEGER
from rbdgen.graph.intervals import INTERVAL
from rbdgen.graph.node import ARITY, Builder, Op
from rbdgen.graph.tangent import TANGENT
from rbdgen.passes.rounding import CARRIED
from rbdgen.rtl.units import UNIT, Unit
from rbdgen.schedule.units import Job, job
from rbdgen.search import arrays
from rbdgen.search.ascent_numpy import SLOPE, VALUE

# Table → arguments before the operands.
TABLES: dict[str, tuple[Mapping[Op, Callable[..., Any]], int]] = {
    "FLOAT": (FLOAT, 1),
    "REAL": (REAL, 1),
    "INTEGER": (INTEGER, 3),
    "INTERVAL": (INTERVAL, 1),
    "DERIVATIVE": (DERIVATIVE, 2),
    "TANGENT": (TANGENT, 3),
    "CARRIED": (CARRIED, 2),
    "VALUE": (VALUE, 1),
    "SLOPE": (SLOPE, 2),
}


# Operations without hardware of their own: what comes, wires, and what a pass has rewritten.
FREE = {Op.INPUT, Op.CONST, Op.HELD, Op.MULC, Op.RECIP}


def test_every_operation_has_an_arity() -> None:
    assert set(ARITY) == set(Op)


@pytest.mark.parametrize("name", TABLES)
def test_no_table_has_a_hole(name: str) -> None:
    table, before = TABLES[name]
    assert set(table) == set(Op)
    for op, compute in table.items():
        signature = inspect.signature(compute)
        signature.bind(*range(before + ARITY[op]))  # TypeError: too few or too many


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
            inspect.signature(make).bind(*range(before + ARITY[op]))


def test_hardware_is_shared_by_all_nodes_of_a_job() -> None:
    """Those that the schedule starts together are ports of one unit."""
    b = Builder()
    x = b.input("x")
    shared: dict[Job, list[Unit]] = {}
    for op in Op:
        node = b.node(op, *[x] * ARITY[op])
        shared.setdefault(job(node), []).append(UNIT[op])
    assert sorted(map(len, shared.values()))[-2:] == [2, 2]  # sine and cosine; a reciprocal
    for units in shared.values():
        assert len({unit.place for unit in units}) == 1
        assert len({unit.port for unit in units}) == len(units)
