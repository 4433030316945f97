"""Every table keyed by operation covers them all, with the right number of operands."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from rbdgen.codegen.cpp import CPP
from rbdgen.graph.derivative import DERIVATIVE
from rbdgen.graph.evaluate import FLOAT
from rbdgen.graph.fixed import INTEGER
from rbdgen.graph.node import ARITY, Op
from rbdgen.passes.ranges import INTERVAL
from rbdgen.passes.rounding import CARRIED
from rbdgen.search.ascent import SLOPE, VALUE

# Table → arguments before the operands.
TABLES: dict[str, tuple[Mapping[Op, Callable[..., Any]], int]] = {
    "FLOAT": (FLOAT, 1),
    "CPP": (CPP, 1),
    "INTEGER": (INTEGER, 2),
    "INTERVAL": (INTERVAL, 1),
    "DERIVATIVE": (DERIVATIVE, 2),
    "CARRIED": (CARRIED, 2),
    "VALUE": (VALUE, 1),
    "SLOPE": (SLOPE, 2),
}


def test_every_operation_has_an_arity() -> None:
    assert set(ARITY) == set(Op)


@pytest.mark.parametrize("name", TABLES)
def test_no_table_has_a_hole(name: str) -> None:
    table, before = TABLES[name]
    assert set(table) == set(Op)
    for op, compute in table.items():
        signature = inspect.signature(compute)
        signature.bind(*range(before + ARITY[op]))  # TypeError: too few or too many
