"""The module of Python that a folder of C++ has: results, arrays in place, refusals, memory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from rbdgen.codegen.cpp import cpp
from rbdgen.codegen.interface import Array, ArrayEntry, ArrayInterface
from rbdgen.codegen.library import Library, Singular, build
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.system.compiler import find_compiler

INTERFACE = ArrayInterface(
    (Array("q", (2,)), Array("qd", (2,))),
    (Array("M", (2, 2)), Array("energy", ())),
    {name: ArrayEntry(name[:-3], int(name[-2])) for name in ("q[0]", "q[1]", "qd[0]", "qd[1]")},
    {
        "M[0,0]": (ArrayEntry("M", 0),),
        "M[1,0]": (ArrayEntry("M", 2), ArrayEntry("M", 1)),
        "energy": (ArrayEntry("energy", 0),),
    },
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """M00 = q0 qd1, M10 = M01 = q1 + qd0, M11 = 0, and energy = q0 q1."""
    folder = tmp_path_factory.mktemp("library")
    b = Builder()
    q0, q1, v0, v1 = (b.input(name) for name in INTERFACE.inputs)
    graph = Graph((*INTERFACE.inputs,), {"M[0,0]": q0 * v1, "M[1,0]": q1 + v0, "energy": q0 * q1})
    files, _ = cpp(graph, INTERFACE, "small", {"robot": 'a "robot" %s', "functions": "m"})
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    build(find_compiler(), np.float64, folder, "small", folder, lambda _: None, module=True)
    return Library(folder / "_small.so", "small", INTERFACE, np.float64)


def states(*shape: int) -> tuple[NDArray, NDArray]:
    q, qd = np.random.default_rng(4).uniform(-1, 1, (2, *shape, 2))
    return q, qd


def expected(q: NDArray, qd: NDArray) -> tuple[NDArray, NDArray]:
    m = np.zeros((*q.shape, 2))
    m[..., 0, 0] = q[..., 0] * qd[..., 1]
    m[..., 0, 1] = m[..., 1, 0] = q[..., 1] + qd[..., 0]
    return m, q[..., 0] * q[..., 1]


@pytest.mark.parametrize("shape", [(), (1,), (0,), (5,), (2, 9), (3000,)])
@pytest.mark.parametrize("threads", [1, 2])
def test_states_of_any_leading_shape(
    library: Library, shape: tuple[int, ...], threads: int
) -> None:
    given = states(*shape)
    for found, wanted in zip(library.run(shape, given, threads), expected(*given), strict=True):
        assert found.shape == wanted.shape
        assert_array_equal(found, wanted)


def test_results_go_where_the_caller_wants_them(library: Library) -> None:
    given = states(7)
    out = np.empty((7, 2, 2)), np.empty(7)
    found = library._compute(*given, out=out)
    assert found[0] is out[0]
    assert found[1] is out[1]
    assert_array_equal(out[0], expected(*given)[0])
    one = library._compute(*given, out=[None, out[1]])
    assert one[1] is out[1]
    assert_array_equal(one[0], out[0])


def test_anything_with_a_buffer_is_read_in_place(library: Library) -> None:
    q, qd = states()
    assert_array_equal(library._compute(memoryview(q), qd)[0], expected(q, qd)[0])


Q, QD = states(3)
READ_ONLY = np.empty((3, 2, 2))
READ_ONLY.flags.writeable = False
SHAPE = r"expected float64 \(2,\) or \(N, 2,?\), C-contiguous"


@pytest.mark.parametrize(
    ("arrays", "out", "error", "message"),
    [
        ((Q,), None, TypeError, "small: expected q, qd: 2 arrays, not 1"),
        (([0, 0], QD), None, TypeError, r"small: q is <class 'list'>; expected an array .* \(2,\)"),
        ((Q.astype(int), QD), None, ValueError, rf"small: q is int64 \(3, 2\); {SHAPE}"),
        ((Q, QD.astype("f4")), None, ValueError, rf"small: qd is float32 \(3, 2\); {SHAPE}"),
        ((Q.astype(">f8"), QD), None, ValueError, rf"small: q is >f8 \(3, 2\); {SHAPE}"),
        ((Q[:, :1], QD), None, ValueError, rf"small: q is float64 \(3, 1\) with strides; {SHAPE}"),
        ((Q, QD[:2]), None, ValueError, rf"qd is float64 \(2, 2\); {SHAPE}, with the states of q"),
        ((Q[0, 0], QD), None, ValueError, rf"small: q is float64 \(\); {SHAPE}"),
        ((Q, QD), np.empty(3), ValueError, "small: out has 3 arrays; expected 2"),
        ((Q, QD), 7, TypeError, "small: out is no sequence of arrays"),
        ((Q, QD), (READ_ONLY, None), ValueError, "small: M of out is .*, to be written"),
        ((Q, QD), (None, Q[:, 0]), ValueError, r"small: energy of out is float64 \(3,\) with str"),
        ((Q, QD), (None, Q.reshape(-1)[:3]), ValueError, "small: energy of out shares .* with q"),
    ],
)
def test_refused_in_a_line(
    library: Library, arrays: Any, out: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        library._compute(*arrays, out=out)
    assert re.search(message, str(caught.value))
    assert "\n" not in str(caught.value)


def test_unknown_words_are_refused(library: Library) -> None:
    with pytest.raises(TypeError, match=r"small: qd: arrays have no keywords: compute\(q, qd\)"):
        library._compute(Q, qd=QD)
    with pytest.raises(TypeError, match="small: 'output' is unknown; one of out, threads"):
        library._compute(Q, QD, output=None)
    with pytest.raises(ValueError, match="threads: 0; expected 1 to 4096"):
        library._compute(Q, QD, threads=0)


def test_memory_of_large_results_is_used_again_once_nobody_has_it(library: Library) -> None:
    given = states(2000)
    first, _ = library._compute(*given)
    view, place = first[5:], first.ctypes.data
    del first
    second, _ = library._compute(*given)
    assert not np.shares_memory(second, view)
    del view
    third, _ = library._compute(*given)
    assert third.ctypes.data == place
    assert_array_equal(third, second)


def test_a_bound_call_hands_on_what_it_does_not_take(library: Library) -> None:
    def fallback(*arrays: Any, **words: Any) -> Any:
        return arrays, words

    assert library.bind is not None
    call = library.bind("energy", "Half of m v².", fallback, 1, 1, 0, -1, ((0, 2),), (1, -1))
    assert (call.__name__, call.__doc__) == ("energy", "Half of m v².")
    q, qd = np.array([0.6, 0.8]), np.zeros(2)
    assert call(q, qd) == (q[0] * q[1], None)
    long = q * (1 + 1e-4)  # a unit vector up to what is normalised
    energy, _ = call(long, qd)
    assert_array_equal(energy, np.prod(long / np.sqrt((long**2).sum())))
    assert_array_equal(long, q * (1 + 1e-4))
    for odd in ([0.6, 0.8], q * 2, q.astype("f4"), np.array([np.nan, 1])):
        assert call(odd, qd) == ((odd, qd), {})
    assert call(q, qd, 3) == ((q, qd, 3), {})
    assert call(q, v=qd) == ((q,), {"v": qd})


def test_headers_that_are_missing(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": "/nowhere"})
    with pytest.raises(RuntimeError, match=r"no header Python.h in /nowhere: install it \(Debian"):
        build(find_compiler(), np.float64, Path(), "small", Path(), lambda _: None, module=True)


def test_a_singular_state_is_named() -> None:
    assert Singular(3, "mass matrix").state == 3
