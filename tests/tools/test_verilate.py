"""The Verilated model: packing, timing, stalls, and every fault that it must report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rbdgen.design.target import Ports, RegisterPorts
from rbdgen.system.records import NamedWord
from rbdgen.tools.model import Model
from rbdgen.tools.toolchain import SimulationError
from rbdgen.tools.verilate import build
from tests.support.stream_fifo import FIELDS, PORTS, tokens

pytestmark = pytest.mark.rtl


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


def test_a_session_goes_on_where_a_batch_ended(fifo: Model) -> None:
    """Cycles count on, and the next token is taken in the cycle after the last result."""
    batch = tokens(200)
    with fifo.session() as session:
        first = session.run(batch[:100])
        ticks = [session.run(batch[k : k + 1], drain=0) for k in range(100, 200)]
    outputs = np.concatenate([own.outputs for own in (first, *ticks)])
    np.testing.assert_array_equal(outputs, batch)
    accepted = [int(own.accept_cycle[0]) for own in ticks]
    start = first.cycles
    assert accepted == [start + 2 * k for k in range(100)]
    assert [own.cycles for own in ticks] == [2] * 100
    with pytest.raises(SimulationError, match="the session is closed"):
        session.run(batch)


def test_a_fault_ends_a_session(fifo: Model) -> None:
    session = fifo.session()
    with pytest.raises(SimulationError, match="hangs"):
        session.run(tokens(100, 1), hang_limit=300)
    with pytest.raises(SimulationError, match="the session is closed"):
        session.run(tokens(10))
    assert len(fifo.run(tokens(10)).outputs) == 10


def test_a_late_result_is_surplus_in_the_next_batch(fifo: Model) -> None:
    """A session that does not watch for surplus results after a batch finds them in the next."""
    session = fifo.session()
    assert len(session.run(tokens(100, 4), drain=0).outputs) == 100
    with pytest.raises(SimulationError, match="more results than"):
        session.run(np.zeros((0, len(FIELDS)), np.int64), drain=300)


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
    registers = RegisterPorts(NamedWord("word", 18), "write")
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
