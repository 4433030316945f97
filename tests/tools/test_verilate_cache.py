"""Verilated models in the cache: made once, again where damaged, by several processes."""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.system.cache import CacheError, is_cached
from rbdgen.tools import verilate
from rbdgen.tools.model import Model
from rbdgen.tools.toolchain import OF_LONG_RUNS, SimulationError, Toolchain
from rbdgen.tools.verilate import build
from tests.support.stream_fifo import DESIGN, PORTS, tokens

pytestmark = pytest.mark.rtl


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "rbdgen"


def works(model: Model) -> None:
    np.testing.assert_array_equal(model.run(tokens(20)).outputs, tokens(20))


MADE = ["runtime.h", "runtime.h.gch", "verilated.o", "verilated_threads.o"]


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Toolchain:
    """One that is quick: an object has the name of its source in it."""
    script = tmp_path / "compiler"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exec cat "$0"\n'
        'while [ "$1" != -o ]; do shift; done; echo "of $2" > "$2"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    return Toolchain.find(trace=False)


@pytest.mark.slow
def test_the_runtime_is_made_once(tmp_path: Path, source: Path, cache: Path) -> None:
    """Two designs, one runtime; the models are as good as any. A damaged one is built again."""
    said: list[str] = []

    def model_of(source: Path) -> tuple[Model, dict[str, int]]:
        said.clear()
        model = build([source], "fifo", ports=PORTS, progress=said.append)
        works(model)
        (runtime,) = cache.glob("verilator-*")
        return model, {file.name: file.stat().st_mtime_ns for file in runtime.iterdir()}

    model, first = model_of(source)
    assert [file.name for file in cache.glob("model-*/*.so")] == ["fifo.so"]
    other = tmp_path / "other.v"
    other.write_text(source.read_text() + "// another\n")
    another, second = model_of(other)
    assert another.library != model.library
    assert first == second
    assert set(first) == {*MADE, "digests.json"}
    cut_short(model.library)
    assert model_of(source)[0].library == model.library
    folder = model.library.parent
    assert said[0] == f"{folder}: damaged, or without digests; made again"
    assert {file.name for file in folder.iterdir()} == {"fifo.so", "digests.json"}
    model_of(source)
    assert not said


def test_what_is_included_counts(tmp_path: Path, cache: Path, compiler: Toolchain) -> None:
    """As does every other thing that a model is made of."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "more.vh").write_text("// one\n")
    (tmp_path / "fifo.v").write_text(f'`include "more.vh"\n{DESIGN}')
    sources, include = [tmp_path / "fifo.v"], [tmp_path / "include"]

    def made(**changes: Any) -> int:
        with suppress(OSError):  # that compiler's libraries cannot be loaded
            build(sources, "fifo", include_dirs=include, **{"ports": PORTS, **changes})
        return len(list(cache.glob("model-*")))

    assert [made(), made()] == [1, 1]
    assert made(ports=replace(PORTS, reset=None)) == 2
    assert made(optimisation=OF_LONG_RUNS) == 3
    (tmp_path / "include" / "more.vh").write_text("// two\n")
    assert [made(), made()] == [4, 4]
    script = Path(compiler.compiler[0])
    script.write_text(script.read_text() + "# another version\n")
    assert [made(), made()] == [5, 5]
    assert [made(trace=True), made(trace=True)] == [6, 6]


@pytest.mark.slow
def test_a_model_for_waves_serves_without(source: Path, cache: Path) -> None:
    traced = build([source], "fifo", ports=PORTS, trace=True)
    said: list[str] = []
    again = build([source], "fifo", ports=PORTS, progress=said.append)
    assert (again.library, said) == (traced.library, [])
    works(again)


@pytest.mark.slow
def test_of_large_designs_few_levels_are_traced(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note says so each time, and the dump has the first levels, no deeper."""
    deep = "".join(
        f"module m{k} (input clk, output reg s{k} = 0);\n"
        f"always @(posedge clk) s{k} <= ~s{k};\nm{k + 1} below (clk);\nendmodule\n"
        for k in range(3)
    )
    large = tmp_path / "large.v"
    inside = DESIGN.replace("reg [199:0] memory", "m0 below (clk, );\n reg [199:0] memory")
    large.write_text(f"{inside}{deep}module m3 (input clk); endmodule\n")
    traced = {}
    for most in (10**9, 0):
        monkeypatch.setattr(verilate, "ALL_TRACED", most)
        for _ in range(2):
            said: list[str] = []
            model = build([large], "fifo", ports=PORTS, trace=True, progress=said.append)
            assert [line for line in said if "left out" in line] == ([] if most else [said[0]])
        assert len(said) == (0 if most else 1)
        model.run(tokens(3), waves=tmp_path / "waves.vcd")
        text = (tmp_path / "waves.vcd").read_text()
        traced[most] = {name for name in ("head", "s0", "s1", "s2") if f" {name} " in text}
    assert traced == {10**9: {"head", "s0", "s1", "s2"}, 0: {"head", "s0", "s1"}}


@pytest.mark.parametrize("name", [*MADE, "digests.json"])
def test_a_damaged_runtime_is_made_again(name: str, compiler: Toolchain, cache: Path) -> None:
    said: list[str] = []
    runtime = compiler.runtime(said.append)
    folder = runtime.header.parent
    assert not said
    for damage in (cut_short, Path.unlink):
        damage(folder / name)
        assert compiler.runtime(said.append) == runtime
        assert said == [f"{folder}: damaged, or without digests; made again"]
        said.clear()
        assert (folder / "verilated.o").read_text().endswith("/verilated.o\n")
    assert compiler.runtime(said.append) == runtime
    assert not said
    assert [file.name for file in cache.iterdir()] == [folder.name]


def test_several_processes_make_the_runtime_at_once(compiler: Toolchain, cache: Path) -> None:
    fork = multiprocessing.get_context("fork")

    def make() -> None:
        for _ in range(20):
            runtime = compiler.runtime(lambda _: None)
            with suppress(OSError):  # another may be as quick
                cut_short(runtime.objects[0])

    folder = compiler.runtime(lambda _: None).header.parent
    both = [fork.Process(target=make) for _ in range(3)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    compiler.runtime(lambda _: None)
    assert [file.name for file in cache.iterdir()] == [folder.name]
    assert is_cached(folder, MADE)


def cut_short(file: Path) -> None:
    data = file.read_bytes()
    file.unlink()  # as it may be loaded
    file.write_bytes(data[: len(data) // 2])


def test_a_cache_that_cannot_be_is_one_line(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(CacheError, match=r"file.*: Not a directory; XDG_CACHE_HOME can name"):
        build([source], "fifo", ports=PORTS)


def test_errors_name_the_line(folder: Path, cache: Path) -> None:
    broken = folder / "broken.v"
    broken.write_text("module broken (input clk);\n  nonsense\nendmodule\n")
    with pytest.raises(SimulationError, match=r"Verilator: .*broken\.v:\d+"):
        build([broken], "broken", ports=PORTS)
    assert not list(cache.glob("*"))


def test_folders_of_any_name(folder: Path, cache: Path) -> None:
    """Sources and what they include are found, though Verilator looks for variables in paths."""
    place = folder / '-a $(touch x) ${HOME} "b" \\ %'
    place.mkdir()
    (place / "broken.v").write_text('`include "inner.vh"\n')
    (place / "inner.vh").write_text("\nmodule nonsense\n")
    with pytest.raises(SimulationError, match=r"Verilator: .*include_0/inner\.vh:\d+"):
        build([place / "broken.v"], "broken", ports=PORTS, include_dirs=[place])
