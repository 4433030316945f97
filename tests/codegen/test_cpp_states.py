"""Batches of states in C++: sines to two ulps, by any number of threads, singular ones too."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.codegen.cpp import cpp
from rbdgen.codegen.interface import Array, ArrayEntry, ArrayInterface
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.graph.word import renamed, spell
from tests.support.library import Library, has

SEED = 3


def angles(dtype: Any, n: int) -> np.ndarray:
    """Within ±1e4, on and beside multiples of a quarter turn, tiny, and beyond."""
    rng = np.random.default_rng(SEED)
    quarters = rng.integers(-6366, 6367, n) * np.longdouble("1.5707963267948966192313216916")
    return np.concatenate(
        [
            rng.uniform(-1e4, 1e4, n),
            rng.uniform(-4, 4, n),
            np.nextafter(quarters.astype(dtype), rng.choice([-np.inf, np.inf], n)),
            quarters.astype(dtype),
            10.0 ** rng.uniform(-30, 4, n),
            [0.0, 1e4, -1e4, 1.0001e4, -1.5e5, 1e9, 3e20, 1e37],
        ]
    ).astype(dtype)


def test_sine_and_cosine_are_right_to_two_ulps(library: Library) -> None:
    for dtype in (np.float64, np.float32):
        y = angles(dtype, 20_000)
        states = np.stack([np.ones_like(y), y, y], axis=1)
        for isa in ("", *has()):
            code, found = library.rows(states, isa=isa)
            _, last = library.rows(states[-1:], isa=isa)  # alone
            assert code == 0
            most = 1.5 if isa in ("avx512", "avx2") else 2.0  # with fused products
            for k, function in ((2, np.sin), (3, np.cos)):
                wanted = function(y.astype(np.longdouble))
                ulps = np.abs(found[:, k] - wanted) / np.spacing(np.abs(wanted.astype(dtype)))
                assert ulps.max() < most, (isa, function, y[ulps.argmax()], ulps.max())
                assert last[0, k] == found[-1, k]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_broken_state_gives_no_numbers(bad: float, library: Library) -> None:
    for dtype in (np.float64, np.float32):
        good = np.random.default_rng(SEED).uniform(0.5, 1, (37, 3)).astype(dtype)
        for isa in ("", *has()):
            for at in (0, 5, 17, 36):
                for k in range(3):  # one of them is not read
                    states = good.copy()
                    states[at, k] = bad
                    code, found = library.rows(states, isa=isa)
                    assert code == 0
                    assert np.isnan(found[at]).all()
                    others = np.arange(37) != at
                    np.testing.assert_array_equal(
                        found[others], library.rows(good, isa=isa)[1][others]
                    )


@pytest.mark.parametrize("n", [1024, 1025, 5000])
@pytest.mark.parametrize("threads", [0, 2, 3, 7])
def test_threads_share_a_batch(library: Library, threads: int, n: int) -> None:
    """Each has states that follow each other; the first singular one of all is said."""
    states = np.random.default_rng(SEED).uniform(0.5, 1, (n, 3))
    for wrong in ([], [0], [n - 1], [n - 1, 1023], [4200 % n, 2100 % n]):
        states[:, 0] = 0.7
        states[wrong, 0] = 0.0
        one, several = library.rows(states), library.rows(states, threads=threads)
        assert one[0] == several[0] == (1 + min(wrong) if wrong else 0)
        np.testing.assert_array_equal(one[1], several[1])


def test_a_singular_state_is_said(library: Library) -> None:
    for dtype in (np.float64, np.float32):
        good = np.random.default_rng(SEED).uniform(0.5, 1, (1001, 3)).astype(dtype)
        for isa in ("", *has()):
            for at in ([3], [7, 8], [1000], [992, 1000], [44, 5], [16, 999]):
                for pivot in (0.0, -1.0, 1e-30):
                    states = good.copy()
                    states[at, 0] = pivot
                    states[0, 1] = np.nan  # not what is meant by singular
                    code, found = library.rows(states, isa=isa)
                    threads = library.rows(states, threads=2)[0]
                    wrong = [] if pivot > 0 else at
                    assert code == threads == (1 + min(at) if wrong else 0)
                    assert np.isnan(found[[0, *wrong]]).all()
                    assert np.isfinite(np.delete(found, [0, *wrong], axis=0)).all()
            columns = np.ascontiguousarray(good[:992].T)
            assert library.blocks(columns, isa)[0] == 0
            columns[0, [600, 77]] = 0.0
            code, found = library.blocks(columns, isa)
            assert code == 78 and np.isnan(found[:, [77, 600]]).all()
            assert np.isnan(found).sum() == 8


@pytest.fixture(
    scope="module", params=[{}, {"longest": 1, "part": 2, "large": 1}], ids=["whole", "parts"]
)
def library(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """1/x, x + y, sine and cosine of y; z is not read. In one function, or in two."""
    b = Builder()
    x, y = b.input("x"), b.input("y")
    outputs = {"1/x": b.recip(x), "x + y": x + y, "sin": b.sin(y), "cos": b.cos(y)}
    graph = Graph(("x", "y", "z"), outputs)
    return Library(graph, tmp_path_factory.mktemp("library"), **request.param)


SURROUNDED = """#include "made.h"
#include <vector>
template <class S, class Call> int tried(Call call) {{
    for (long long n : {{1, 2, 7, 8, 9, 16, 24, 33}}) {{
        {arrays}
        if (call(n, {arguments})) return 2;
        {checks}
    }}
    return 0;
}}
int main() {{ return tried<double>(made) + tried<float>(made_f32); }}
"""


@pytest.mark.slow
def test_nothing_beside_the_arrays_is_touched(tmp_path: Path) -> None:
    """Arrays of 1 to 9 numbers a state, on the heap, where a sanitizer watches both ends."""
    b, sizes = Builder(), range(1, 10)
    places = {spell(f"in{size}", k): (size, k) for size in sizes for k in range(size)}
    doubled = {renamed(name, f"out{size}"): name for name, (size, _) in places.items()}
    graph = Graph(tuple(places), {to: 2.0 * b.input(name) for to, name in doubled.items()})
    interface = ArrayInterface(
        tuple(Array(f"in{size}", (size,)) for size in sizes),
        tuple(Array(f"out{size}", (size,)) for size in sizes),
        {name: ArrayEntry(f"in{size}", k) for name, (size, k) in places.items()},
        {
            renamed(n, f"out{size}"): (ArrayEntry(f"out{size}", k),)
            for n, (size, k) in places.items()
        },
    )
    files, _ = cpp(graph, interface, "made", {"robot": "a robot", "functions": "functions"})
    files["main.cpp"] = SURROUNDED.format(
        arrays="\n".join(f"std::vector<S> {x}{k}(n * {k}, 1);" for x in "io" for k in sizes),
        arguments=", ".join(f"{x}{k}.data()" for x in "io" for k in sizes),
        checks="\n".join(f"for (S x : o{k}) if (x != 2) return 1;" for k in sizes),
    )
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    sources = [str(tmp_path / name) for name in files if name.endswith(".cpp")]
    sanitized = ("-std=c++17", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    subprocess.run(["g++", *sanitized, *sources, "-o", str(tmp_path / "run")], check=True)
    subprocess.run([str(tmp_path / "run")], check=True)
