"""The packets in software."""

from __future__ import annotations

import random

import pytest

from rbdgen.shell.task_packets import LANES, PacketFormat, Response, Status, TaskFunction

FUNCTIONS = {
    0: TaskFunction("id", 3, 2),
    3: TaskFunction("minv", 1, 9),
    15: TaskFunction("m", 0, 0),
}


def packets_of(lanes: int) -> PacketFormat:
    return PacketFormat(FUNCTIONS, (18, 32, 4), lanes)


def test_words_lie_in_the_lanes_from_the_lowest_up() -> None:
    assert packets_of(1).encode_task(0, 0xABCD, [-2, 1 << 30, 7]) == [
        0xABCD0000,
        0xFFFFFFFE,
        1 << 30,
        7,
    ]
    assert packets_of(2).encode_task(3, 1, [-1]) == [0xFFFFFFFF_00010003]
    beats = packets_of(2).encode_response(Response(0, Status.OVERFLOW, 5, (-3, 4)))
    assert beats == [0xFFFFFFFD_00050100, 4]
    assert packets_of(4).encode_task(15, 2, []) == [0x0002000F]


@pytest.mark.parametrize("lanes", LANES)
def test_decode_inverts_encode(lanes: int) -> None:
    packets, rng = packets_of(lanes), random.Random(lanes)
    for _ in range(100):
        code, status = rng.choice(list(FUNCTIONS)), rng.choice(list(Status))
        count = 0 if status.is_error else FUNCTIONS[code].words_out
        words = tuple(rng.choice((-(1 << 31), -1, 5, (1 << 31) - 1)) for _ in range(count))
        response = Response(code, status, rng.randrange(1 << 16), words)
        beats = packets.encode_response(response)
        assert len(beats) == (1 if status.is_error else packets.response_beats(code))
        assert packets.decode_response(beats) == response


def test_what_is_wrong_first_is_said() -> None:
    packets = packets_of(1)
    right = packets.encode_task(0, 9, [1, 2, 3])
    assert packets.judge_task(right) == Status.OK
    assert packets.judge_task(right[:-1]) == Status.TOO_SHORT
    assert packets.judge_task([*right, 0]) == Status.TOO_LONG
    optional = [right[0] | 1 << 15, *right[1:], 0]
    assert packets.judge_task(optional) == Status.BAD_OPTIONS
    assert packets.judge_task([optional[0] | 16, 0]) == Status.UNKNOWN_FUNCTION
    assert packets.refuse([optional[0] | 16, 0]) == [9 << 16 | 2 << 8 | 16]


def test_what_no_packet_can_say_is_refused() -> None:
    packets = packets_of(2)
    for problem, code, tag, words in (
        ("function 1 is none of 0 id, 3 minv, 15 m", 1, 0, []),
        ("id takes 3 words, not 2", 0, 0, [1, 2]),
        ("id: word 2 = 8 does not fit 4 bits", 0, 0, [0, 0, 8]),
        ("tag 65536 does not fit 16 bits", 15, 1 << 16, []),
    ):
        with pytest.raises(ValueError, match=problem):
            packets.encode_task(code, tag, words)
    for problem, beats in (
        ("of no beats", []),
        ("unknown status 6", [6 << 8]),
        ("of 2 beats came with 1", [0]),
        ("of 1 beats came with 2", [2 << 8, 0]),
        ("lanes that have none", [0, 1 << 32]),
        ("function 7 is none of", [7]),
    ):
        with pytest.raises(ValueError, match=problem):
            packets.decode_response(beats)
    with pytest.raises(ValueError, match="of 2 words was given 1"):
        packets.encode_response(Response(0, Status.OK, 0, (1,)))


def test_formats_that_cannot_be_are_refused() -> None:
    f = TaskFunction("f", 1, 1)
    for problem, functions, widths, lanes in (
        ("lanes = 3 is none of 1, 2, 4, 8, 16", {0: f}, (8,), 3),
        ("without functions", {}, (8,), 1),
        ("33 bits does not fit a word of 32", {0: f}, (33,), 1),
        ("function f: code 256 is not below 256", {256: f}, (8,), 1),
        ("function f: 1 words in", {0: f}, (), 1),
        ("two functions of one name", {0: f, 1: f}, (8,), 1),
    ):
        with pytest.raises(ValueError, match=problem):
            PacketFormat(functions, widths, lanes)
