"""What is one sum: which nodes are parts of it, and its terms with their signs and shifts."""

from __future__ import annotations

import pytest

from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node
from rbdgen.passes.sums import Sums, Term


def sums(b: Builder, **outputs: Node) -> Sums:
    return Sums(Graph(("w", "x", "y", "z"), outputs))


@pytest.fixture
def inputs() -> tuple[Builder, Node, Node, Node, Node]:
    b = Builder()
    return (b, *(b.input(name) for name in "wxyz"))  # type: ignore[return-value]


def test_a_sum_is_part_of_the_sum_that_alone_reads_it(inputs: tuple) -> None:
    b, w, x, y, z = inputs
    inner = b.add(w, x)
    whole = b.sub(y, inner)
    found = sums(b, out=whole)
    assert found.is_partial(inner) and not found.is_whole(inner)
    assert not found.is_partial(whole) and found.is_whole(whole)
    assert list(found.terms(whole)) == [Term(y), Term(w, -1), Term(x, -1)]
    for other in (b.mul(inner, z), b.neg(inner), inner):  # what reads it besides
        found = sums(b, out=whole, other=other)
        assert not found.is_partial(inner) and found.is_whole(inner)
        assert list(found.terms(whole)) == [Term(y), Term(inner, -1)]


@pytest.mark.parametrize("kind", ["neg", "shift", "mulc", "mul"])
def test_negations_and_shifts_stand_between_other_products_do_not(kind: str, inputs: tuple) -> None:
    b, w, x, y, z = inputs
    inner = b.add(w, x)
    between = {
        "neg": lambda: b.neg(inner),
        "shift": lambda: b.mul(4.0, inner),
        "mulc": lambda: b.mul(3.0, inner),
        "mul": lambda: b.mul(z, inner),
    }[kind]()
    whole = b.add(y, between)
    found, free = sums(b, out=whole), kind in ("neg", "shift")
    assert found.is_partial(inner) == free
    assert between not in found.graph.users or found.is_partial(between)  # y - a has no −a
    expected = {
        "neg": [Term(y), Term(w, -1), Term(x, -1)],
        "shift": [Term(y), Term(w, 1, 2), Term(x, 1, 2)],
    }
    if whole.op is not between.op and free:
        assert sorted(map(repr, found.terms(whole))) == sorted(map(repr, expected[kind]))
    # a product of the sum that no sum reads
    alone = sums(b, out=between)
    assert not alone.is_partial(inner)


def test_a_sum_that_is_read_behind_a_shift_and_elsewhere_stays_whole(inputs: tuple) -> None:
    b, w, x, y, z = inputs
    inner = b.add(w, x)
    whole = b.add(y, b.mul(2.0, inner))
    found = sums(b, out=whole, other=b.mul(inner, z))
    assert not found.is_partial(inner)
    assert sorted(map(repr, found.terms(whole))) == sorted(map(repr, [Term(y), Term(inner, 1, 1)]))


def test_a_sum_ends_where_its_region_does() -> None:
    b = Builder()
    with b.region("forward", 0):
        inner = b.add(b.input("w"), b.input("x"))
    with b.region("forward", 1):
        y = b.input("y")
        whole = b.add(y, inner)
    found = sums(b, out=whole)
    assert not found.is_partial(inner) and found.is_whole(inner)
    assert sorted(map(repr, found.terms(whole))) == sorted(map(repr, [Term(y), Term(inner)]))
