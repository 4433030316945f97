"""The Verilated model: packing, timing, stalls, and every fault that it must report."""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.simulate import verilate
from rbdgen.simulate.model import Model
from rbdgen.simulate.ports import Ports, Registers
from rbdgen.simulate.toolchain import SimulationError, Toolchain
from rbdgen.simulate.verilate import build
from rbdgen.system.cache import is_kept
from rbdgen.system.named_word import NamedWord

pytestmark = pytest.mark.rtl

# A FIFO of 8 tokens. Field `fault` of a token makes the design misbehave from then on.
DESIGN = """
module fifo (
    input clk, input rst,
    input [199:0] i__payload, input i__valid, output i__ready,
    output [199:0] o__payload, output o__valid, input o__ready
);
    reg [199:0] memory [0:7];
    reg [3:0] head = 0, tail = 0;
    reg [2:0] fault = 0;
    reg [7:0] age = 0;
    wire [3:0] used = head - tail;
    wire present = used != 0;
    assign i__ready = used != 8 && fault != 1;
    assign o__valid = present && !(fault == 2 && age[0]) || fault == 4 && age == 200;
    assign o__payload = memory[tail[2:0]] ^ (fault == 3 ? age : 0);
    always @(posedge clk) begin
        age <= age + 1;
        if (i__valid && i__ready) begin
            memory[head[2:0]] <= i__payload;
            head <= head + 1;
            if (i__payload[199:197] != 0) fault <= i__payload[199:197];
        end
        if (present && o__valid && o__ready && fault != 5) tail <= tail + 1;
        if (rst) begin head <= 0; tail <= 0; fault <= 0; age <= 0; end
    end
endmodule
"""
FIELDS = [
    *(NamedWord(f"s{n}", n) for n in (1, 18, 31, 33, 64)),
    *(NamedWord(f"u{n}", n, signed=False) for n in (3, 16, 31)),
    NamedWord("fault", 3, signed=False),
]
PORTS = Ports.of(FIELDS, FIELDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("verilated")


@pytest.fixture(scope="module")
def source(folder: Path) -> Path:
    path = folder / "fifo.v"
    path.write_text(DESIGN)
    return path


@pytest.fixture(scope="module")
def fifo(source: Path) -> Model:
    return build([source], "fifo", ports=PORTS)


def tokens(n: int, fault: int = 0) -> np.ndarray:
    """Random tokens with the extremes of every field; ``fault`` in the middle one."""
    rng = np.random.default_rng(7)
    columns = [
        rng.integers(f.limits[0], f.limits[1], n, dtype=np.int64, endpoint=True)
        for f in PORTS.input.fields[:-1]
    ]
    for row, bound in ((0, 0), (1, 1)):
        for column, f in zip(columns, PORTS.input.fields, strict=False):
            column[row] = f.limits[bound]
    faults = np.zeros(n, np.int64)
    faults[n // 2] = fault
    return np.stack([*columns, faults], axis=1)


def test_fields_fill_the_payload() -> None:
    assert PORTS.input.width == 200


def test_every_bit_passes_at_full_rate(fifo: Model) -> None:
    batch = tokens(1000)
    result = fifo.run(batch)
    np.testing.assert_array_equal(result.outputs, batch)
    np.testing.assert_array_equal(result.accept_cycle, np.arange(1000))
    np.testing.assert_array_equal(result.result_cycle, np.arange(1000) + 1)
    np.testing.assert_array_equal(result.field(fifo, "s33"), batch[:, 3])


@pytest.mark.parametrize(("stall_in", "stall_out"), [(0.5, 0.0), (0.0, 0.5), (0.3, 0.7)])
def test_stalls_lose_nothing(fifo: Model, stall_in: float, stall_out: float) -> None:
    batch = tokens(5000)
    result = fifo.run(batch, stall_in=stall_in, stall_out=stall_out, seed=3)
    np.testing.assert_array_equal(result.outputs, batch)
    slowest = 1 - max(stall_in, stall_out)
    assert 0.9 < 5000 / result.cycles / slowest < 1.1
    again = fifo.run(batch, stall_in=stall_in, stall_out=stall_out, seed=3)
    np.testing.assert_array_equal(again.accept_cycle, result.accept_cycle)
    other = fifo.run(batch, stall_in=stall_in, stall_out=stall_out, seed=4)
    assert (other.result_cycle != result.result_cycle).any()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (1, "hangs: no transfer .* for 300 cycles"),
        (2, "withdraws a result"),
        (3, "changes a result"),
        (4, "more results than"),
        (5, "more results than"),
    ],
)
def test_faults_are_reported(fifo: Model, fault: int, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        fifo.run(tokens(100, fault), stall_out=0.5, hang_limit=300, drain=300)


@pytest.mark.parametrize("most", [1, 3])
def test_few_under_way(fifo: Model, most: int) -> None:
    """A token comes after the result of the one so many before it."""
    batch = tokens(500)
    result = fifo.run(batch, under_way=most, stall_out=0.7, seed=2)
    np.testing.assert_array_equal(result.outputs, batch)
    assert (result.accept_cycle[most:] > result.result_cycle[:-most]).all()
    due = np.maximum(result.result_cycle[:-most], result.accept_cycle[most - 1 : -1]) + 1
    np.testing.assert_array_equal(result.accept_cycle[most:], due)


def test_no_tokens(fifo: Model) -> None:
    assert fifo.run(np.zeros((0, len(FIELDS)), np.int64)).outputs.shape == (0, len(FIELDS))


def test_inputs_are_checked(fifo: Model) -> None:
    batch = tokens(10)
    batch[4, 1] = 1 << 17
    with pytest.raises(ValueError, match=r"token 4: s18 = 131072 does not fit 18 bits"):
        fifo.run(batch)
    with pytest.raises(ValueError, match=r"\(N, 9\) expected"):
        fifo.run(batch[:, 1:])
    with pytest.raises(ValueError, match="integers expected"):
        fifo.run(batch.astype(float))


# Two registers in a chain, whose words leave beside what came in.
REGISTERS = """
module held (
    input clk, input [17:0] word, input write,
    input [17:0] i__payload, input i__valid, output i__ready,
    output [53:0] o__payload, output o__valid, input o__ready
);
    reg [17:0] first = 0, last = 0;
    assign i__ready = o__ready;
    assign o__valid = i__valid;
    assign o__payload = {i__payload, last, first};
    always @(posedge clk) if (write) begin first <= last; last <= word; end
endmodule
"""


@pytest.mark.parametrize("held", [(-1, -131072), (131071, -5), (-7, 11)])
def test_words_of_registers_leave_others_alone(folder: Path, held: tuple[int, int]) -> None:
    """Negative ones too: in what Verilator makes, bits above a port's own reach its neighbours."""
    (source := folder / "held.v").write_text(REGISTERS)
    fields = [NamedWord(name, 18) for name in ("first", "last", "came")]
    registers = Registers(NamedWord("word", 18), "write")
    ports = replace(Ports.of(fields[2:], fields, registers), reset=None)
    model = build([source], "held", ports=ports)
    batch = np.array([-131072, -3, 0, 1, 131071])
    expected = np.stack([*(np.full(5, word) for word in held), batch], axis=1)
    np.testing.assert_array_equal(model.run(batch, held=held).outputs, expected)
    with pytest.raises(ValueError, match=r"register 1: word = 131072 does not fit 18 bits"):
        model.run(batch, held=(held[0], 131072))


def test_words_for_no_registers(fifo: Model) -> None:
    with pytest.raises(ValueError, match="2 words for registers, of which the design has none"):
        fifo.run(tokens(10), held=(1, 2))


def test_progress_can_stop_a_run(fifo: Model) -> None:
    def stop(results: int) -> None:
        raise KeyboardInterrupt(results)

    with pytest.raises(KeyboardInterrupt, match="65536"):
        fifo.run(tokens(100_000), progress=stop)


def test_built_once(tmp_path: Path, source: Path, fifo: Model) -> None:
    """From the same text, wherever it lies."""
    lines: list[str] = []
    copy = tmp_path / "copy.v"
    copy.write_text(source.read_text())
    again = build([copy], "fifo", ports=PORTS, progress=lines.append)
    assert again.library == fifo.library
    assert not lines


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
    assert [made(defines={"A": "1"}), made(defines={"A": "2"})] == [2, 3]
    assert made(ports=replace(PORTS, reset=None)) == 4
    (tmp_path / "include" / "more.vh").write_text("// two\n")
    assert [made(), made()] == [5, 5]
    script = Path(compiler.compiler[0])
    script.write_text(script.read_text() + "# another version\n")
    assert [made(), made()] == [6, 6]
    assert [made(trace=True), made(trace=True)] == [7, 7]


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
    runtime = compiler.runtime(2, said.append)
    folder = runtime.header.parent
    assert not said
    for damage in (cut_short, Path.unlink):
        damage(folder / name)
        assert compiler.runtime(2, said.append) == runtime
        assert said == [f"{folder}: damaged, or without digests; made again"]
        said.clear()
        assert (folder / "verilated.o").read_text().endswith("/verilated.o\n")
    assert compiler.runtime(2, said.append) == runtime
    assert not said
    assert [file.name for file in cache.iterdir()] == [folder.name]


def test_several_processes_make_the_runtime_at_once(compiler: Toolchain, cache: Path) -> None:
    fork = multiprocessing.get_context("fork")

    def make() -> None:
        for _ in range(20):
            runtime = compiler.runtime(1, lambda _: None)
            with suppress(OSError):  # another may be as quick
                cut_short(runtime.objects[0])

    folder = compiler.runtime(1, lambda _: None).header.parent
    both = [fork.Process(target=make) for _ in range(3)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    compiler.runtime(1, lambda _: None)
    assert [file.name for file in cache.iterdir()] == [folder.name]
    assert is_kept(folder, MADE)


def cut_short(file: Path) -> None:
    data = file.read_bytes()
    file.unlink()  # as it may be loaded
    file.write_bytes(data[: len(data) // 2])


def test_a_cache_that_cannot_be_is_one_line(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(SimulationError, match=r"file.*: Not a directory; XDG_CACHE_HOME can name"):
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


@pytest.mark.slow
def test_waves(folder: Path, source: Path) -> None:
    model = build([source], "fifo", ports=PORTS, trace=True)
    waves = folder / "fifo.vcd"
    model.run(tokens(20), waves=waves)
    text = waves.read_text()
    assert "i__payload" in text
    assert text.count("#") > 40


def test_field_width() -> None:
    with pytest.raises(ValueError, match="65 bits"):
        NamedWord("x", 65)
