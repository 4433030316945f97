"""The AXI4-Stream shells, around a small core of this file's own, on the bench in sim/."""

import random
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from rbdgen.shell.axi import (
    Packet,
    Shell,
    WideShell,
    WordShell,
    fields_of,
    wide_packet,
    word_packet,
)
from sim.runner import build, run
from tests.support.packets import malformed_packets

LATENCY = 5


class PrefixSums(wiring.Component):
    """18-bit prefix sums of ``operands`` numbers, each with a flag that it went below zero.

    A task a clock, `LATENCY` clocks; a credit for each place in the FIFO behind the pipeline.
    """

    def __init__(self, operands: int, results: int) -> None:
        self.task = data.StructLayout({"x": data.ArrayLayout(signed(11), operands), "minus": 1})
        self.result = data.StructLayout(
            {
                "total": data.ArrayLayout(signed(18), results),
                "negative": data.ArrayLayout(unsigned(1), results),
            }
        )
        super().__init__(
            {"i": In(stream.Signature(self.task)), "o": Out(stream.Signature(self.result))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        depth = LATENCY + 3
        m.submodules.fifo = queue = fifo.SyncFIFOBuffered(width=self.result.size, depth=depth)
        credits = Signal(range(depth + 1), init=depth)
        taken = self.i.valid & self.i.ready
        given = self.o.valid & self.o.ready
        m.d.comb += self.i.ready.eq(credits != 0)
        m.d.sync += credits.eq(credits - taken + given)

        result = Signal(self.result)
        operands = [self.i.p.x[k] for k in range(self.task["x"].shape.length)]
        sums = list(accumulate(operands))
        for k in range(self.result["total"].shape.length):
            total = Mux(self.i.p.minus, -sums[k % len(sums)], sums[k % len(sums)])
            m.d.comb += [result.total[k].eq(total), result.negative[k].eq(total < 0)]

        value, valid = result.as_value(), taken
        for _ in range(LATENCY):
            next_value, next_valid = Signal(len(value), reset_less=True), Signal()
            m.d.sync += [next_value.eq(value), next_valid.eq(valid)]
            value, valid = next_value, next_valid
        m.d.comb += [
            queue.w_data.eq(value),
            queue.w_en.eq(valid),
            self.o.payload.as_value().eq(queue.r_data),
            self.o.valid.eq(queue.r_rdy),
            queue.r_en.eq(self.o.ready),
        ]
        return m

    def compute(self, task: dict[str, int]) -> dict[str, int]:
        """What the hardware computes."""
        operands = self.task["x"].shape.length
        sums = list(accumulate(task[f"x[{k}]"] for k in range(operands)))
        result = {}
        for k in range(self.result["total"].shape.length):
            total = -sums[k % operands] if task["minus"] else sums[k % operands]
            result[f"total[{k}]"] = total
            result[f"negative[{k}]"] = int(total < 0)
        return result


def random_task(layout: data.Layout, rng: random.Random) -> dict[str, int]:
    task = {}
    for field in fields_of(layout):
        low = -(1 << (field.width - 1)) if field.signed else 0
        high = low + (1 << field.width) - 1
        # The extremes are where a sign extension goes wrong.
        task[field.name] = rng.choice((low, high, rng.randint(low, high)))
    return task


def scenario(shell: Shell, seed: int, count: int = 30) -> dict[str, Any]:
    rng = random.Random(seed)
    core = shell.core
    tasks = [random_task(core.task, rng) for _ in range(count)]
    return {
        "packets": [shell.packet_in.encode(task) for task in tasks],
        "results": [shell.packet_out.encode(core.compute(task)) for task in tasks],
        "malformed": malformed_packets(shell.packet_in, rng),
        "clocks_per_task": shell.clocks_per_task(),
        "takes_every": 1,
        "resumes": 1,
        "drain": 20 * (len(shell.packet_in.beats) + len(shell.packet_out.beats)) + 2 * LATENCY,
    }


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("wrap", "operands", "results", "clocks"),
    [
        pytest.param(WideShell, 5, 4, 1, id="wide"),
        pytest.param(WordShell, 6, 3, 7, id="words, input the slower", marks=pytest.mark.slow),
        pytest.param(WordShell, 2, 34, 36, id="words, output the slower, two words of flags"),
    ],
)
def test_on_the_bench(
    wrap: Callable[[PrefixSums], Shell],
    operands: int,
    results: int,
    clocks: int,
    tmp_path: Path,
) -> None:
    shell = wrap(PrefixSums(operands, results))
    assert shell.clocks_per_task() == clocks
    build(shell, tmp_path)
    assert run("sim.axi_bench", scenario(shell, seed=operands), tmp_path) == 6


def test_bench_sees_a_wrong_bit(tmp_path: Path) -> None:
    """The bench can fail: one bit of one result is enough, and so is a rate that is not kept."""
    shell = WordShell(PrefixSums(2, 2))
    build(shell, tmp_path)
    wrong = scenario(shell, seed=7)
    wrong["results"][-1][0] ^= 1
    for testcase in ("full_rate", "random_back_pressure"):
        with pytest.raises(RuntimeError, match="1 of 1 tests"):
            run("sim.axi_bench", wrong, tmp_path, testcase=testcase)
    slow = scenario(shell, seed=7) | {"clocks_per_task": 4}
    with pytest.raises(RuntimeError, match="1 of 1 tests"):
        run("sim.axi_bench", slow, tmp_path, testcase="full_rate")


LAYOUT = data.StructLayout({"a": signed(18), "f": 1, "b": signed(32), "u": 7, "g": 1})


def test_word_packet_puts_flags_last() -> None:
    packet = word_packet(LAYOUT)
    assert [[field.name for field in beat.fields] for beat in packet.beats] == [
        ["a"],
        ["b"],
        ["u"],
        ["f", "g"],
    ]
    task = {"a": -2, "f": 0, "b": -(1 << 31), "u": 127, "g": 1}
    assert packet.encode(task) == [0xFFFFFFFE, 0x80000000, 127, 0b10]


def test_wide_packet_is_padded_to_bytes() -> None:
    packet = wide_packet(LAYOUT)
    assert packet.width == 64
    task = {"a": -1, "f": 0, "b": 1, "u": 0, "g": 1}
    assert packet.encode(task) == [0x3FFFF | 1 << 19 | 1 << 58]


@pytest.mark.parametrize("packet", [wide_packet(LAYOUT), word_packet(LAYOUT)], ids=["wide", "word"])
def test_decode_inverts_encode(packet: Packet) -> None:
    rng = random.Random(3)
    for _ in range(200):
        task = random_task(LAYOUT, rng)
        assert packet.decode(packet.encode(task)) == task


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"q\[0\] has 33 bits"):
        word_packet(data.StructLayout({"q": data.ArrayLayout(signed(33), 2)}))
    with pytest.raises(ValueError, match="a = 131072 does not fit 18 bits"):
        word_packet(LAYOUT).encode({"a": 1 << 17, "f": 0, "b": 0, "u": 0, "g": 0})
    with pytest.raises(ValueError, match="4 beats, not 3"):
        word_packet(LAYOUT).decode([0, 0, 0])


@pytest.mark.parametrize(
    ("operands", "results", "core", "clocks"),
    [
        # seven beats in, four out
        (6, 3, {}, 7),
        (6, 3, {"interval": 9}, 9),
        (6, 3, {"interval": 9, "takes_every": 4}, 12),
        (6, 3, {"takes_every": 4}, 8),
        (6, 3, {"takes_every": 7, "resumes": 30}, 7),
        # three in, 36 out
        (2, 34, {"interval": 4, "takes_every": 4}, 36),
        (2, 34, {"interval": 4, "resumes": 40}, 40),
        (2, 34, {"interval": 33, "takes_every": 8, "resumes": 50}, 40),
        (2, 34, {"interval": 36, "resumes": 50}, 36),
    ],
)
def test_clocks_of_a_task_are_those_of_what_is_slowest(
    operands: int, results: int, core: dict[str, int], clocks: int
) -> None:
    """The link in, the core, which may wait for its cycle, or the link out."""
    assert WordShell(PrefixSums(operands, results)).clocks_per_task(**core) == clocks
