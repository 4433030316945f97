"""Ways to a board: what moves bytes, and what makes tasks and results of them."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from ..api.folder import InputError
from ..board.packets import (
    BAUD,
    BUFFER,
    FLAG,
    PORT,
    Answered,
    DamagedFrame,
    Layout,
    Unframed,
    framed,
    response,
    task,
)

TAGS = 1 << 16
UDP = "udp"
DATAGRAM = 1400  # bytes at the most
PATIENCE = 0.5  # s without an answer, after which is asked again
SIMULATED = 20.0  # the same where a simulation answers, on a machine that has more to do
TRIES = 6  # in a row without any
OFFERED = BUFFER // 2  # bytes of frames under way: the board's buffer is never full


class Transport(Protocol):
    """What moves bytes to a board and back; who has another line writes these three.

    One whose answers may take longer than `PATIENCE` has ``patience`` besides, in seconds.
    """

    def write(self, data: bytes) -> None:
        """Send all of it."""

    def read(self, timeout: float) -> bytes:
        """What has come, some bytes at the least; none after ``timeout`` seconds without any."""

    def close(self) -> None:
        """The end."""


class SerialPort:
    """A serial line, or what looks like one; InputError where it cannot be opened."""

    def __init__(self, path: str, baud: int, patience: float = PATIENCE) -> None:
        self.patience = patience
        try:
            import serial
        except ImportError:
            raise InputError('no pyserial for serial ports: pip install "rbdgen[board]"') from None
        try:
            self._port = serial.Serial(path, baud)
        except (serial.SerialException, ValueError, OSError) as error:
            raise InputError(f"port: {path}: {error}") from None
        # an FTDI bridge's latency timer: 1 ms, where Linux has 16; ports without one refuse
        with suppress(AttributeError, NotImplementedError, ValueError):
            self._port.set_low_latency_mode(True)

    def write(self, data: bytes) -> None:
        self._port.write(data)

    def read(self, timeout: float) -> bytes:
        self._port.timeout = timeout
        return bytes(self._port.read(1) + self._port.read(self._port.in_waiting))

    def close(self) -> None:
        self._port.close()


class UdpPort:
    """Datagrams to a board, ``udp://HOST`` or ``udp://HOST:PORT``; InputError for another text."""

    def __init__(self, url: str, patience: float = PATIENCE) -> None:
        self.patience = patience
        own = urlsplit(url)
        try:
            if own.scheme != UDP or not own.hostname or own.path:
                raise ValueError("expected udp://HOST:PORT")
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.connect((own.hostname, own.port or PORT))
        except (ValueError, OSError) as error:
            raise InputError(f"port: {url}: {error}") from None

    def write(self, data: bytes) -> None:
        for start in range(0, len(data), DATAGRAM):
            with suppress(ConnectionRefusedError):  # of the one before, which nobody took
                self._socket.send(data[start : start + DATAGRAM])

    def read(self, timeout: float) -> bytes:
        found = b""
        while select.select([self._socket], [], [], 0 if found else timeout)[0]:
            with suppress(ConnectionRefusedError):
                found += self._socket.recv(2 * DATAGRAM)
                continue
            break
        return found

    def close(self) -> None:
        self._socket.close()


def opened(port: str, patience: float = PATIENCE) -> Transport:
    """The transport of a path of a serial port, or of ``udp://HOST:PORT``."""
    if port.startswith(f"{UDP}:"):
        return UdpPort(port, patience)
    return SerialPort(port, BAUD, patience)


@dataclass(frozen=True)
class _Waiting:
    """A task that was sent and not answered."""

    task: int
    frame: bytes


@dataclass
class Link:
    """Tasks asked of a board, however bad the line is: lost and damaged ones are asked again.

    ``repeated``, ``damaged``: how many of both there were.
    """

    transport: Transport
    layouts: Mapping[int, Layout]
    identity: str
    name: str
    patience: float = PATIENCE
    repeated: int = 0
    _next_tag: int = 0
    _unframed: Unframed = field(init=False)

    def __post_init__(self) -> None:
        self._unframed = Unframed(self.identity)

    @property
    def damaged(self) -> int:
        """Frames from the board that were not what it sent."""
        return self._unframed.damaged

    def ask(
        self,
        tasks: Sequence[tuple[int, Sequence[int]]],
        progress: Callable[[int], None] = lambda _: None,
    ) -> list[Answered]:
        """The answers to tasks (function, words), in their order.

        InputError where the board says nothing at all, or refuses a task.
        """
        answers: dict[int, Answered] = {}
        waiting: dict[int, _Waiting] = {}
        left = iter(range(len(tasks)))
        silent, heard = 0, time.monotonic()
        while len(answers) < len(tasks):
            self._offer(tasks, left, waiting)
            before = len(answers)
            lost = False  # some frame of ours, it is not known which
            for answer in self._heard():
                own = waiting.get(answer.tag)
                if answer.status is None:
                    lost = True
                elif own is None or tasks[own.task][0] != answer.function:
                    pass  # the second answer to a task that was asked again
                elif answer.status.is_error:
                    raise InputError(f"{self.name}: the board says {answer.status.name}")
                else:
                    answers[waiting.pop(answer.tag).task] = answer
            now = time.monotonic()
            if len(answers) > before:
                silent, heard = 0, now
                progress(len(answers))
            patience = self.patience / 10 if lost else self.patience
            if waiting and now - heard > patience:
                silent, heard = silent + 1, now
                if silent > TRIES * (10 if lost else 1):
                    raise InputError(self._why())
                self._again(waiting)
        return [answers[k] for k in range(len(tasks))]

    def _heard(self) -> Iterator[Answered]:
        """The answers in what has come."""
        for payload in self._unframed.feed(self.transport.read(self.patience / 10)):
            try:
                yield response(payload, self.layouts)
            except DamagedFrame:
                self._unframed.damaged += 1

    def _offer(
        self,
        tasks: Sequence[tuple[int, Sequence[int]]],
        left: Iterator[int],
        waiting: dict[int, _Waiting],
    ) -> None:
        """Send tasks, as many as the board has room for."""
        frames = b""
        under_way = sum(len(own.frame) for own in waiting.values())
        while under_way < OFFERED and (k := next(left, None)) is not None:
            code, words = tasks[k]
            tag = self._next_tag
            self._next_tag = (tag + 1) % TAGS
            frame = framed(self.identity, task(code, tag, words, self.layouts[code]))
            waiting[tag] = _Waiting(k, frame)
            under_way += len(frame)
            frames += frame
        if frames:
            self.transport.write(frames)

    def _again(self, waiting: Mapping[int, _Waiting]) -> None:
        """Send once more what has not been answered; two flags end whatever half has gone."""
        self.repeated += len(waiting)
        self.transport.write(bytes([FLAG]) + b"".join(own.frame for own in waiting.values()))

    def _why(self) -> str:
        other = f"; what came was no answer of {self.name}'s, {self.damaged} frames"
        said = other if self.damaged else ""
        return f"{self.name}: no answer from the board{said}: is this design on it?"
