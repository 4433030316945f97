"""Rows of many numbers, wherever they lie in memory."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from rbdgen.codegen.interface import Array, ArrayEntry, ArrayInterface, rows
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from tests.support.library import Library, has

# The first two are whole halves of lines, in double or in both; the last is neither.
SIZES = (264, 132, 131)
STATES = 2 * 16 + 3
LINE = 64


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The number k of each array is k times the input, most of them zero."""
    b = Builder()
    x = b.input("x")
    outputs = {f"o{a}_{k}": (k + 1.0) * x for a, n in enumerate(SIZES) for k in range(3, n, 7)}
    places = {name: name[1:].split("_") for name in outputs}
    interface = ArrayInterface(
        (Array("given", (1,)),),
        tuple(Array(f"o{a}", (n,)) for a, n in enumerate(SIZES)),
        {"x": ArrayEntry("given", 0)},
        {name: (ArrayEntry(f"o{a}", int(k)),) for name, (a, k) in places.items()},
    )
    return Library(Graph(("x",), outputs), tmp_path_factory.mktemp("rows"), interface)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_begin_anywhere(library: Library, dtype: Any) -> None:
    size, suffix = np.dtype(dtype).itemsize, "_f32" if dtype is np.float32 else ""
    x = np.arange(1, STATES + 1, dtype=dtype)
    for isa in has():
        call = library.of[f"made_rows{suffix}_{isa}"]
        call.restype = ctypes.c_longlong
        for offset in range(0, LINE, size):
            found = [_at(offset, STATES * n * size, dtype) for n in SIZES]
            gives = (ctypes.c_void_p * len(SIZES))(*(whole.ctypes.data + offset for whole in found))
            takes = (ctypes.c_void_p * 1)(x.ctypes.data)
            assert call(ctypes.c_longlong(STATES), takes, gives) == 0
            for whole, n in zip(found, SIZES, strict=True):
                first, last = offset // size, offset // size + STATES * n
                k = np.arange(n)
                wanted = np.where(k % 7 == 3, (k + 1) * x[:, None], 0)
                assert (whole[first:last].reshape(STATES, n) == wanted).all(), (isa, offset)
                assert np.isnan(whole[:first]).all() and np.isnan(whole[last:]).all()


def _at(offset: int, size: int, dtype: Any) -> np.ndarray:
    """An array that begins at a line, with room for ``size`` bytes behind ``offset`` and a line."""
    room = np.empty(size + 3 * LINE, np.uint8)
    start = -room.ctypes.data % LINE
    whole = room[start : start + LINE + (offset + size) // LINE * LINE].view(dtype)
    whole[:] = np.nan
    return whole


def test_numbers_of_a_state_before_each_array() -> None:
    takes = Array("q", (3,)), Array("R", (2, 3)), Array("h", ())
    found = rows(ArrayInterface(takes, (Array("q", (3,)), Array("M", (3, 4))), {}, {}))
    for way, wanted in (("in", {"q": 0, "R": 3, "h": 9}), ("out", {"q_out": 0, "M": 3})):
        assert {own["name"]: own["before"] for own in found[f"rows_{way}"]} == wanted
    assert (found["row_in"], found["row_out"]) == (10, 15)
