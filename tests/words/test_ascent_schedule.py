"""Which signals a search climbs on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.graph.node import Builder
from rbdgen.words import ascent_schedule as climbs
from rbdgen.words.ascent_schedule import decided, unlike
from rbdgen.words.order import UNITS, run
from rbdgen.words.wordlength import integer_bits
from rbdgen_benchmarks.bench.chains import chain_urdf


def test_signals_are_unlike_each_other_and_each_is_like_one() -> None:
    rng = np.random.default_rng(1)
    apart = rng.normal(size=(40, 512)).astype(np.float32)
    values = np.concatenate([apart, -3 * apart, apart + 0.1 * apart[::-1]]).astype(np.float32)
    chosen = unlike(values)
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    among = np.abs(unit[chosen] @ unit[chosen].T)
    assert (among[~np.eye(len(chosen), dtype=bool)] < climbs.ALIKE).all()
    assert (np.abs(unit @ unit[chosen].T).max(axis=1) >= climbs.ALIKE).all()
    assert chosen == sorted(set(chosen)) and len(chosen) == 40


def test_signals_that_are_always_zero_are_unlike_all() -> None:
    values = np.zeros((3, 8), np.float32)
    values[1] = 1
    assert unlike(values) == [0, 1, 2]


@pytest.mark.parametrize(("seen", "is_decided"), [(1.7, True), (1.01, True), (0.9, False)])
def test_operands_decide_a_word_that_must_hold_what_they_make(
    seen: float, is_decided: bool
) -> None:
    b = Builder()
    x, y = b.input("x"), b.input("y")
    total = b.add(x, y)
    found = {x: 0.9, y: 0.9, total: seen}
    assert decided(total, found, dict.fromkeys(found, 0.05)) is is_decided
    assert not decided(x, found, dict.fromkeys(found, 0.05))


def test_a_large_graph_is_searched_where_its_signals_are_unlike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all words have the bits that a search of every signal gives them; and it is said."""
    path = tmp_path / "chain.urdf"
    path.write_text(chain_urdf(6))
    front = front_end(str(path), fit=False)
    given, graph = sample_inputs(front), run(UNITS, front.graph, None)
    every = given.searched(graph)[1]
    said: list[str] = []
    monkeypatch.setattr(climbs, "WORK", 1e6)
    some = given.searched(graph, said.append)[1]
    assert any("least alike" in line for line in said)
    bits = [integer_bits(some.bound[n]) - integer_bits(every.bound[n]) for n in graph.nodes]
    assert sum(b != 0 for b in bits) < 0.02 * len(bits), bits
