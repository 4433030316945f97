"""The links alone, at sizes for which a whole design would be slow to build."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from amaranth.sim import Simulator

from rbdgen.shell.task_links import ResponseWriter, TaskReader
from rbdgen.shell.task_packets import PacketFormat, Response, Status, TaskFunction
from tests.support.function_core import result_layout, task_layout

FUNCTIONS = {
    0: TaskFunction("little", 1, 1),
    6: TaskFunction("much", 33, 105),
    7: TaskFunction("none", 0, 0),
    13: TaskFunction("some", 15, 16),
}
WIDTHS = tuple(1 + k % 32 for k in range(33))
RESULT_WIDTH = 23
TASK, RESULT = task_layout(WIDTHS), result_layout(RESULT_WIDTH, 105)


async def watchdog(ctx: Any) -> None:
    for _ in range(20000):
        await ctx.tick()
    raise AssertionError("it hangs")


def simulate(design: Any, *benches: Callable[[Any], Any]) -> None:
    simulator = Simulator(design)
    simulator.add_clock(1e-8)
    for bench in benches:
        simulator.add_testbench(bench)
    simulator.add_testbench(watchdog, background=True)
    simulator.run()


async def put(ctx: Any, link: Any, payload: Any) -> None:
    ctx.set(link.payload, payload)
    ctx.set(link.valid, 1)
    await ctx.tick().until(link.ready)
    ctx.set(link.valid, 0)


async def get(ctx: Any, link: Any) -> Any:
    ctx.set(link.ready, 1)
    (payload,) = await ctx.tick().sample(link.payload).until(link.valid)
    ctx.set(link.ready, 0)
    return payload


async def packet_from(ctx: Any, link: Any) -> tuple[list[int], Any]:
    """The beats of a packet and the last of them with all that came beside."""
    beats = []
    while True:
        beat = await get(ctx, link)
        beats.append(beat.data)
        if beat.last:
            return beats, beat


@pytest.mark.parametrize("lanes", [1, 8, 16])
def test_reader_takes_what_is_right_and_refuses_the_rest(lanes: int) -> None:
    packets = PacketFormat(FUNCTIONS, WIDTHS, lanes)
    reader = TaskReader(TASK, packets)
    rng = random.Random(lanes)
    sent, tasks, errors = [], [], []
    for tag in range(60):
        code = rng.choice([*FUNCTIONS, *FUNCTIONS, 1, 16])
        due = packets.task_beats(code) if code in FUNCTIONS else 2
        length = max(1, due + rng.choice((0, 0, 0, 0, -1, 1, due, 40)))
        beats = [rng.getrandbits(32 * lanes) for _ in range(length)]
        options = rng.choice((0, 0, 0, 128))
        beats[0] = beats[0] >> 32 << 32 | tag << 16 | options << 8 | code
        sent.append(beats)
        if packets.judge_task(beats) != Status.OK:
            errors.append((code, int(packets.judge_task(beats)), tag))
            continue
        words = [beat >> 32 * k & 0xFFFFFFFF for beat in beats for k in range(lanes)][1:]
        cut = [word & (1 << width) - 1 for word, width in zip(words, WIDTHS, strict=False)]
        tasks.append((code, tag, cut[: FUNCTIONS[code].words_in]))
    assert len(tasks) > 15
    assert {status for _, status, _ in errors} == {2, 3, 4, 5}

    async def source(ctx: Any) -> None:
        for beats in sent:
            for k, beat in enumerate(beats):
                await put(ctx, reader.i, {"data": beat, "last": k == len(beats) - 1})

    async def core(ctx: Any) -> None:
        for code, tag, words in tasks:
            await ctx.tick().repeat(rng.choice((1, 1, 5)))
            task = await get(ctx, reader.o)
            assert (task.function, task.tag) == (code, tag)
            got = [task.words[f"x{k}"] & (1 << WIDTHS[k]) - 1 for k in range(len(words))]
            assert got == words

    async def refusals(ctx: Any) -> None:
        for error in errors:
            header = await get(ctx, reader.error)
            assert (header.function, header.detail, header.tag) == error

    simulate(reader, source, core, refusals)


@pytest.mark.parametrize("lanes", [1, 2, 16])
def test_writer_sends_every_word_at_a_beat_a_clock(lanes: int) -> None:
    packets = PacketFormat(FUNCTIONS, WIDTHS, lanes)
    writer = ResponseWriter(RESULT, packets)
    rng = random.Random(lanes)
    high = (1 << RESULT_WIDTH - 1) - 1
    responses = []
    for tag in range(16):
        code = (6, 0, 7, 13)[tag % 4]
        words = [rng.randint(-high - 1, high) for _ in range(105)]
        responses.append((Response(code, Status(tag >> 2 & 1), tag, ()), words))

    async def core(ctx: Any) -> None:
        for response, words in responses:
            head = {"function": response.function, "tag": response.tag}
            await put(ctx, writer.i, {**head, "overflow": int(response.status), "words": words})

    async def sink(ctx: Any) -> None:
        await ctx.tick().until(writer.o.valid)
        for response, words in responses:
            count = FUNCTIONS[response.function].words_out
            due = Response(response.function, response.status, response.tag, tuple(words[:count]))
            for k, beat in enumerate(expected := packets.encode_response(due)):
                ctx.set(writer.o.ready, 1)
                assert ctx.get(writer.o.valid)
                sent = ctx.get(writer.o.payload)
                assert (sent.data, sent.last) == (beat, k == len(expected) - 1)
                assert (sent.function, sent.error) == (response.function, 0)
                await ctx.tick()
        assert not ctx.get(writer.o.valid)

    simulate(writer, core, sink)


def test_results_and_errors_take_turns() -> None:
    packets = PacketFormat(FUNCTIONS, WIDTHS, 2)
    writer = ResponseWriter(RESULT, packets)
    rounds = 8

    async def core(ctx: Any) -> None:
        for tag in range(rounds):
            await put(ctx, writer.i, {"function": 13, "tag": tag, "overflow": 0, "words": []})

    async def reader(ctx: Any) -> None:
        for tag in range(2 * rounds):
            await put(ctx, writer.error, {"function": 200, "detail": 3, "tag": tag})

    async def sink(ctx: Any) -> None:
        seen = []
        for _ in range(3 * rounds):
            beats, last = await packet_from(ctx, writer.o)
            assert len(beats) == (1 if last.error else packets.response_beats(13))
            seen.append(bool(last.error))
        both = seen[: 2 * rounds]
        assert both in ([False, True] * rounds, [True, False] * rounds)
        assert all(seen[2 * rounds :])

    simulate(writer, core, reader, sink)
