"""The table of functions: what it says fits together, and the rest of the program asks it."""

from __future__ import annotations

from pathlib import Path

import pytest

import rbdgen
import rbdgen_host
from rbdgen import golden
from rbdgen.design.functions import (
    BY_NAME,
    GIVEN_BASE,
    GIVES,
    NEEDS,
    TABLE,
    TRAITS,
    RobotFunction,
    having,
)
from rbdgen.graph.word import SHAPES

STATE = {"q", "qd", "qdd", "tau", "Minv", "h", "steps", "q_ref", "qd_ref", "qdd_ref"}
KNOWN_BY_NAME = 8  # files, of rbdgen and its host


@pytest.mark.parametrize("own", TABLE, ids=lambda own: own.name)
def test_a_function_takes_states_and_gives_arrays(own: RobotFunction) -> None:
    assert set(own.takes) <= STATE
    assert "matrix" in own.traits or set(own.gives) <= SHAPES.keys() | {"q", "qd"}
    assert own.about and own.traits
    for other in filter(None, (own.beside, own.together)):
        assert set(BY_NAME[other].takes) <= set(own.takes) | {"qdd"}
    if own.pinocchio and own.name in golden.__all__:
        assert callable(getattr(golden, own.name))


def test_each_trait_is_some_function_s() -> None:
    assert all(having(trait) for trait in TRAITS)
    assert set(having("inverse")) <= set(having("factors"))
    assert having("loops") == tuple(sorted(having("loops"), key=list(NEEDS).index))


def test_a_base_that_moves_as_it_is_told_takes_its_acceleration() -> None:
    assert list(GIVEN_BASE.values()) == ["fd", "minv", "dfd"]
    for given, free in GIVEN_BASE.items():
        assert GIVES[given] == GIVES[free]
        assert set(NEEDS[given]) - set(NEEDS[free]) == ({"qdd"} if free != "minv" else set())


def test_few_files_know_a_function_by_name() -> None:
    places = [Path(module.__file__ or "").parent for module in (rbdgen, rbdgen_host)]
    files = [file for place in places for file in place.rglob("*.py")]
    known = [file.name for file in files if '"minv"' in file.read_text("utf-8")]
    assert len(known) <= KNOWN_BY_NAME, known
