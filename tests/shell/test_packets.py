"""Frames and packed words, in software."""

from __future__ import annotations

import random

import pytest

from rbdgen.shell.packets import (
    BROKEN,
    ESCAPE,
    FLAG,
    DamagedFrame,
    PacketWidths,
    Unframed,
    framed,
    response,
    task,
)
from rbdgen.shell.task_packets import Response, Status

IDENTITY = "0123456789abcdef"
LAYOUT = PacketWidths((21, 18, 3), (18, 7))


def test_words_are_packed_from_the_lowest_bit() -> None:
    payload = task(5, 0xABCD, [-1, 1, -4], LAYOUT)
    assert payload[:3] == bytes([5, 0xCD, 0xAB])
    assert int.from_bytes(payload[3:], "little") == (1 << 21) - 1 | 1 << 21 | 0b100 << 39
    assert len(payload) == LAYOUT.task_bytes
    with pytest.raises(ValueError, match="does not fit 3 bits"):
        task(5, 0, [0, 0, 4], LAYOUT)
    with pytest.raises(ValueError, match="3 words, not 2"):
        task(5, 0, [0, 0], LAYOUT)


def test_a_response_says_what_it_is() -> None:
    words = (-(1 << 17), 63)
    bits = (words[0] & (1 << 18) - 1) | words[1] << 18
    payload = bytes([5, Status.OVERFLOW, 1, 2]) + bits.to_bytes(4, "little")
    assert response(payload, {5: LAYOUT}) == Response(5, Status.OVERFLOW, 0x0201, words)
    assert response(bytes([9, Status.UNKNOWN_FUNCTION, 1, 0]), {}).words == ()
    assert response(bytes([BROKEN, 0, 0, 0]), {}) == Response(BROKEN, Status.OK, 0)
    for wrong in (b"", payload[:-1], bytes([5, 99, 0, 0])):
        with pytest.raises(DamagedFrame):
            response(wrong, {5: LAYOUT})


def test_frames_survive_any_payload() -> None:
    payloads = [bytes([FLAG, ESCAPE, 0, 255]), bytes(range(256)), b"\x7d" * 9]
    stream = b"".join(framed(IDENTITY, own) for own in payloads)
    unframed = Unframed(IDENTITY)
    assert list(unframed.feed(stream)) == payloads
    assert unframed.damaged == 0
    # byte by byte it is the same
    assert [own for byte in stream for own in unframed.feed([byte])] == payloads


def test_no_damage_goes_unnoticed() -> None:
    """Bits turned, bytes lost, inserted, cut: what comes is what was sent, or nothing."""
    rng = random.Random(3)
    sent = {bytes(rng.randbytes(30)) for _ in range(400)}
    unframed = Unframed(IDENTITY)
    seen = 0
    for payload in sorted(sent):
        frame = bytearray(framed(IDENTITY, payload))
        at = rng.randrange(len(frame))
        kind = rng.randrange(4)
        if kind == 0:
            frame[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del frame[at]
        elif kind == 2:
            frame.insert(at, rng.randrange(256))
        else:
            del frame[at:]
        for found in unframed.feed(frame):
            assert found in sent
            seen += 1
    assert seen < 40  # those whose first or last flag was hit, and that the next one's flag mended
    assert unframed.damaged > 300
    assert list(unframed.feed(framed(IDENTITY, b"after"))) == [b"after"]


def test_frames_of_another_design_are_damaged_ones() -> None:
    unframed = Unframed("f" * 16)
    assert list(unframed.feed(framed(IDENTITY, b"payload"))) == []
    assert unframed.damaged == 1
