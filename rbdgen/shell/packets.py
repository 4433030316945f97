"""Packets between a host and an accelerator on a board, in software.

A *payload* is a task or a response with every word at its own width, the lowest bit first, one
behind the other, and zeros up to whole bytes:

=========  ===================================  ==================================================
bits       task                                 response
=========  ===================================  ==================================================
8          function                             function
8          –                                    `Status`
16         tag                                  tag
the rest   the function's operands              the function's results; none if it is an error
=========  ===================================  ==================================================

A *frame* is a payload and its CRC-32 (of Ethernet, lowest byte first) between two flags, as PPP has
it in HDLC-like framing (RFC 1662 §4.2, appendix C): the bytes `FLAG` and `ESCAPE` inside are sent
as `ESCAPE` and the byte with bit 5 turned. So a flag always ends a frame, whatever was damaged
before it, and the next frame is read as if nothing had happened. The CRC begins with the design's
identity, which is not sent: frames of another design's host, or board, are damaged ones.

A task's frame is answered by one response, a damaged one by a response of `BROKEN` with the tag 0
that says of no task: which one it was is not known. A host asks again for what is not answered in
time; a task may safely be computed twice.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .task_packets import Response, Status

FLAG, ESCAPE, TURNED = 0x7E, 0x7D, 0x20
BROKEN = 0xFF  # the function of a response to a frame that was damaged
SELF_TEST = 0xFE  # the function of a task without operands, which runs the vectors on the board
CRC_BYTES = 4
BAUD = 3_000_000  # what the USB bridges of boards reach
IP, PORT = "192.168.1.50", 10_000  # of a board on a network
BUFFER = 1024  # bytes of payloads that wait on a board; a power of two


class DamagedFrame(ValueError):
    """A frame that is not what was sent, or no frame at all."""


@dataclass(frozen=True)
class PacketWidths:
    """Widths, in bits, of the words of a function's tasks and of its results."""

    operands: tuple[int, ...]
    results: tuple[int, ...]

    @property
    def task_bytes(self) -> int:
        """Bytes of a task's payload."""
        return 3 + -(-sum(self.operands) // 8)

    @property
    def line_bytes(self) -> tuple[int, int]:
        """Bytes of a task's frame and of a result's, two flags and the CRC among them.

        Of random words one byte in 128 is sent as two.
        """
        return self.task_bytes + CRC_BYTES + 2, self.response_bytes + CRC_BYTES + 2

    @property
    def response_bytes(self) -> int:
        """Bytes of a result's payload."""
        return 4 + -(-sum(self.results) // 8)


TESTED = PacketWidths((), (16, 16, 32))
"""The words of a `SELF_TEST` response: tasks answered, wrong words, clocks."""


def task(code: int, tag: int, words: Sequence[int], layout: PacketWidths) -> bytes:
    """The payload of a task; ValueError for words that do not fit it."""
    packed = _packed(words, layout.operands)
    return bytes([code]) + tag.to_bytes(2, "little") + packed


def response(payload: bytes, of: Mapping[int, PacketWidths]) -> Response:
    """Decode a response's payload; DamagedFrame for one that no design sends."""
    if len(payload) < 4:
        raise DamagedFrame(f"a response of {len(payload)} bytes")
    code, said, tag = payload[0], payload[1], int.from_bytes(payload[2:4], "little")
    if code == BROKEN:
        return Response(code, Status.OK, 0)  # a status says nothing there
    try:
        status = Status(said)
    except ValueError:
        raise DamagedFrame(f"a response of unknown status {said}") from None
    if status.is_error:
        return Response(code, status, tag)
    if code not in of or len(payload) != of[code].response_bytes:
        raise DamagedFrame(f"a result of function {code} with {len(payload)} bytes")
    return Response(code, status, tag, tuple(_unpacked(payload[4:], of[code].results)))


def crc_of(identity: str, payload: bytes = b"") -> int:
    """The CRC of a payload; ``identity``: 16 hexadecimal digits, the manifest's."""
    return zlib.crc32(payload, zlib.crc32(bytes.fromhex(identity)))


def framed(identity: str, payload: bytes) -> bytes:
    """The frame of a payload."""
    whole = payload + crc_of(identity, payload).to_bytes(CRC_BYTES, "little")
    frame = bytearray([FLAG])
    for byte in whole:
        frame += bytes([ESCAPE, byte ^ TURNED]) if byte in (FLAG, ESCAPE) else bytes([byte])
    return bytes(frame + bytes([FLAG]))


class Unframed:
    """Payloads out of bytes as they come: ``feed`` gives those that are whole.

    ``damaged``: frames that were not, since the start.
    """

    def __init__(self, identity: str) -> None:
        self.damaged = 0
        self._identity = identity
        self._frame = bytearray()
        self._escaped = False

    def feed(self, data: Iterable[int]) -> Iterator[bytes]:
        """The payloads that the bytes complete."""
        for byte in data:
            if byte == FLAG:
                frame, escaped = bytes(self._frame), self._escaped
                self._frame.clear()
                self._escaped = False
                if not frame and not escaped:
                    continue  # between two frames
                payload, crc = frame[:-CRC_BYTES], frame[-CRC_BYTES:]
                good = crc_of(self._identity, payload).to_bytes(CRC_BYTES, "little") == crc
                if escaped or not payload or not good:
                    self.damaged += 1
                else:
                    yield payload
            elif byte == ESCAPE:
                self._escaped = True
            else:
                self._frame.append(byte ^ TURNED if self._escaped else byte)
                self._escaped = False


def _packed(words: Sequence[int], widths: Sequence[int]) -> bytes:
    if len(words) != len(widths):
        raise ValueError(f"{len(widths)} words, not {len(words)}")
    bits = at = 0
    for word, width in zip(words, widths, strict=True):
        if not -(1 << width - 1) <= word < 1 << width - 1:
            raise ValueError(f"{word} does not fit {width} bits")
        bits |= (int(word) & (1 << width) - 1) << at
        at += width
    return bits.to_bytes(-(-at // 8), "little")


def _unpacked(data: bytes, widths: Sequence[int]) -> Iterator[int]:
    bits = int.from_bytes(data, "little")
    for width in widths:
        sign = 1 << width - 1
        yield ((bits & (1 << width) - 1) ^ sign) - sign
        bits >>= width
