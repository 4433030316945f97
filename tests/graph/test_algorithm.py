"""Each step of integer algorithms against its meaning in Python's own integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rbdgen.graph.algorithm import Do, Draft, Variable
from rbdgen.graph.integers import STEPS as MEANING
from rbdgen.graph.integers import execute
from tests.support.widths import check_widths

BITS = 6  # of x; y has one less
X, Y = (v.ravel() for v in np.meshgrid(np.arange(-32, 32), np.arange(-16, 16)))
TABLE = np.array([[k * k, 63 - k] for k in range(32)])
Step = Callable[[Draft, Variable, Variable], Variable]


def normalised(x: int) -> tuple[int, int, int]:
    """Of a word of 6 bits, in 9, by 3 places at most."""
    window, places = (x & 31) << 4, 0
    while places < 3 and not window >> 8:
        window, places = window << 1, places + 1
    return window, places, int(x < 0)


def part(k: int) -> Step:
    return lambda d, x, y: d.normalise(x, 9, 2)[k]


# What is drafted of words x and y, and what it is in Python.
STEPS: dict[str, tuple[Step, Callable[[int, int], int]]] = {
    "constant": (lambda d, x, y: d.const(-5), lambda x, y: -5),
    "bits": (lambda d, x, y: d.bits(x, 1, 3), lambda x, y: x >> 1 & 7),
    "word": (lambda d, x, y: d.word(x, 3), lambda x, y: ((x & 7) ^ 4) - 4),
    "bits above": (lambda d, x, y: d.bits(x, 4, 5, signed=True), lambda x, y: x >> 4),
    "as bits": (lambda d, x, y: d.bits(x, 0, 6), lambda x, y: x & 63),
    "join": (lambda d, x, y: d.join(y, x), lambda x, y: x * 32 + (y & 31)),
    "join as signed": (
        lambda d, x, y: d.join(y, d.bits(x, 0, 6), signed=True),
        lambda x, y: x * 32 + (y & 31),
    ),
    "zeros behind": (lambda d, x, y: d.join(d.const(0, 2), x), lambda x, y: 4 * x),
    "centre": (lambda d, x, y: d.centre(d.bits(x, 0, 6)), lambda x, y: (x & 63) - 32),
    "left": (lambda d, x, y: d.left(x, 3), lambda x, y: x << 3),
    "right": (lambda d, x, y: d.right(x, 2), lambda x, y: x >> 2),
    "right of all": (lambda d, x, y: d.right(x, 9), lambda x, y: x >> 9),
    "add": (lambda d, x, y: d.add(x, d.bits(y, 0, 5)), lambda x, y: x + (y & 31)),
    "sub": (lambda d, x, y: d.sub(d.bits(x, 0, 6), y), lambda x, y: (x & 63) - y),
    "mul": (lambda d, x, y: d.mul(x, y), lambda x, y: x * y),
    "times": (lambda d, x, y: d.times(x, 201), lambda x, y: 201 * x),
    "not": (lambda d, x, y: d.invert(d.bits(x, 0, 1)), lambda x, y: ~x & 1),
    "or": (lambda d, x, y: d.either(*ends(d, x, y)), lambda x, y: (x | y) & 1),
    "xor": (lambda d, x, y: d.differ(*ends(d, x, y)), lambda x, y: (x ^ y) & 1),
    "select": (
        lambda d, x, y: d.select(d.bits(y, 0, 1), x, d.left(y, 1)),
        lambda x, y: x if y & 1 else 2 * y,
    ),
    "negate": (
        lambda d, x, y: d.word(d.negate(d.bits(x, 0, 6), d.bits(y, 0, 1)), 6),
        lambda x, y: -x if y & 1 and x > -32 else x,
    ),
    "saturate": (lambda d, x, y: d.saturate(d.bits(x, 0, 6), 0), lambda x, y: min(x & 63, 31)),
    "saturate a sum": (
        lambda d, x, y: d.saturate(d.sub(d.bits(x, 0, 5), d.const(1)), -1),
        lambda x, y: min((x & 31) - 1, 15),
    ),
    "row": (
        lambda d, x, y: d.lookup(d.bits(x, 0, 5), TABLE, (10, 6))[0],
        lambda x, y: (x & 31) ** 2,
    ),
    "column": (
        lambda d, x, y: d.lookup(d.bits(x, 0, 5), TABLE, (10, 6))[1],
        lambda x, y: 63 - (x & 31),
    ),
    "window": (part(0), lambda x, y: normalised(x)[0]),
    "places": (part(1), lambda x, y: normalised(x)[1]),
    "negative": (part(2), lambda x, y: normalised(x)[2]),
    "shift": (lambda d, x, y: d.shift(x, d.bits(y, 0, 3)), lambda x, y: x >> (y & 7)),
    "stage": (lambda d, x, y: d.stage(x, y)[1], lambda x, y: y),
    "meet": (lambda d, x, y: d.meet(x, y)[0], lambda x, y: x),
}


def ends(draft: Draft, *words: Variable) -> list[Variable]:
    return [draft.bits(x, 0, 1) for x in words]


def test_no_step_is_left_out() -> None:
    assert set(MEANING) == set(Do) == tried()


def tried() -> set[Do]:
    """The steps that the cases above are made of."""
    found = set()
    for make, _ in STEPS.values():
        draft = Draft()
        out = make(draft, draft.input("x", BITS), draft.input("y", BITS - 1))
        found |= {step.do for step in draft.finish(out=out).steps}
    return found


@pytest.mark.parametrize("name", STEPS)
def test_each_step_of_every_word(name: str) -> None:
    make, meaning = STEPS[name]
    draft = Draft()
    x, y = draft.input("x", BITS), draft.input("y", BITS - 1)
    algorithm = draft.finish(out=make(draft, x, y))
    found = np.broadcast_to(execute(algorithm, x=X, y=Y)["out"], X.shape)
    expected = [meaning(a, b) for a, b in zip(X.tolist(), Y.tolist(), strict=True)]
    np.testing.assert_array_equal(found, expected)
    check_widths(algorithm, x=X, y=Y)
