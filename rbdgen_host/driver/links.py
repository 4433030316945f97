"""Ways to a board: what moves bytes, and what makes tasks and results of them."""

from __future__ import annotations

import select
import socket
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from rbdgen.api.folder import InputError
from rbdgen.shell.packets import (
    BROKEN,
    BUFFER,
    FLAG,
    PORT,
    DamagedFrame,
    PacketWidths,
    Unframed,
    framed,
    response,
    task,
)
from rbdgen.shell.task_packets import Response

from .defaults import DynamicsWarning

if TYPE_CHECKING:
    import serial

TAGS = 1 << 16
DEVICES = Path("/sys/class/tty")
UDP = "udp"
DATAGRAM = 1400  # bytes at the most
PATIENCE = 0.5  # s without an answer, after which is asked again
SIMULATED = 20.0  # the same where a simulation answers, on a machine that has more to do
TRIES = 6  # in a row without any
BUSY = 120.0  # s for which a simulation may be silent
OFFERED = BUFFER // 2  # bytes of frames under way: the board's buffer is never full


class Transport(Protocol):
    """A channel of bytes to a board and back; who has another line writes these three methods.

    One whose answers may take longer than `PATIENCE` has ``patience`` besides, in seconds, and one
    that may be silent for longer than `TRIES` times that, ``endurance``.
    """

    def write(self, data: bytes) -> None:
        """Send all of it."""

    def read(self, timeout: float) -> bytes:
        """Some bytes that have arrived; none after ``timeout`` seconds without any."""

    def close(self) -> None:
        """The end."""


def latency_note(path: str, devices: Path = DEVICES) -> str:
    """A line on the latency timer of the FTDI bridge behind a port, if it is not at its least.

    ``devices``: where Linux has the ports.
    """
    timer = devices / Path(path).resolve().name / "device" / "latency_timer"
    try:
        milliseconds = int(timer.read_text("ascii"))
    except (OSError, ValueError):
        return ""  # no such bridge, or not Linux
    if milliseconds <= 1:
        return ""
    return (
        f"port: {path}: its bridge waits {milliseconds} ms for more bytes, so that each call takes "
        f"as long; as root: echo 1 > {timer}"
    )


class SerialPort:
    """A serial line, or what looks like one; InputError where it cannot be opened, or is lost.

    One that was lost is opened again when it is next written to. ``patience``, ``endurance``: as
    `TaskLink` has them.
    """

    def __init__(
        self, path: str, baud: int, patience: float = PATIENCE, endurance: float | None = None
    ) -> None:
        self.patience, self.endurance = patience, endurance
        self._path, self._baud = path, baud
        self._port: serial.Serial | None = self._opened()

    def write(self, data: bytes) -> None:
        if self._port is None:
            self._port = self._opened()
        with self._lost(self._port):
            self._port.write(data)

    def read(self, timeout: float) -> bytes:
        if self._port is None:
            return b""
        with self._lost(self._port) as port:
            port.timeout = timeout
            return bytes(port.read(1) + port.read(port.in_waiting))

    def close(self) -> None:
        if self._port is not None:
            self._port.close()

    def _opened(self) -> serial.Serial:
        try:
            import serial
        except ImportError:
            raise InputError(
                'no pyserial for serial ports: pip install "rbdgen[synthesis]"'
            ) from None
        try:
            port = serial.Serial(self._path, self._baud)
        except (ValueError, OSError) as error:  # SerialException is an OSError
            raise InputError(f"port: {self._path}: {error}") from None
        # an FTDI bridge's latency timer: 1 ms, where Linux has 16; ports without one refuse
        with suppress(AttributeError, NotImplementedError, ValueError):
            port.set_low_latency_mode(True)
        if note := latency_note(self._path):
            warnings.warn(note, DynamicsWarning, stacklevel=2)
        return port

    @contextmanager
    def _lost(self, port: serial.Serial) -> Iterator[serial.Serial]:
        """InputError where the line is gone, as when its plug was pulled."""
        try:
            yield port
        except OSError as error:
            self._port = None
            with suppress(OSError):
                port.close()
            raise InputError(
                f"port: {self._path}: lost: {error}; the next call opens it again"
            ) from None


class UdpPort:
    """Datagrams to a board, ``udp://HOST`` or ``udp://HOST:PORT``; InputError for another text."""

    def __init__(
        self, url: str, patience: float = PATIENCE, endurance: float | None = None
    ) -> None:
        self.patience, self.endurance, self._url = patience, endurance, url
        own = urlsplit(url)
        try:
            if own.scheme != UDP or not own.hostname or own.path:
                raise ValueError("expected udp://HOST:PORT")
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.connect((own.hostname, own.port or PORT))
        except (ValueError, OSError) as error:
            raise InputError(f"port: {url}: {error}") from None

    def write(self, data: bytes) -> None:
        with self._lost():
            for start in range(0, len(data), DATAGRAM):
                with suppress(ConnectionRefusedError):  # of the one before, which nobody took
                    self._socket.send(data[start : start + DATAGRAM])

    def read(self, timeout: float) -> bytes:
        found = b""
        with self._lost():
            while select.select([self._socket], [], [], 0 if found else timeout)[0]:
                with suppress(ConnectionRefusedError):
                    found += self._socket.recv(2 * DATAGRAM)
                    continue
                break
        return found

    @contextmanager
    def _lost(self) -> Iterator[None]:
        """InputError where there is no way to the board, as when the cable was pulled."""
        try:
            yield
        except OSError as error:
            raise InputError(f"port: {self._url}: {error}") from None

    def close(self) -> None:
        self._socket.close()


@dataclass(frozen=True)
class _Waiting:
    """A task that was sent and not answered."""

    task: int
    frame: bytes


@dataclass
class TaskLink:
    """Tasks asked of a board, however bad the line is: lost and damaged ones are asked again.

    ``patience``: seconds without an answer after which is asked again; ``endurance``: those after
    which nobody is there. ``repeated``, ``damaged``: how many tasks and frames were.
    """

    transport: Transport
    layouts: Mapping[int, PacketWidths]
    identity: str
    name: str
    patience: float = PATIENCE
    endurance: float = 0.0  # `TRIES` times ``patience`` unless given
    repeated: int = 0
    _next_tag: int = 0
    _unframed: Unframed = field(init=False)

    def __post_init__(self) -> None:
        self._unframed = Unframed(self.identity)
        self.endurance = self.endurance or (TRIES + 1) * self.patience

    @classmethod
    def over(
        cls, transport: Transport, layouts: Mapping[int, PacketWidths], identity: str, name: str
    ) -> TaskLink:
        """The link over a transport, as patient as that says."""
        patience = getattr(transport, "patience", PATIENCE)
        endurance = getattr(transport, "endurance", None) or 0.0
        return cls(transport, layouts, identity, name, patience, endurance)

    @property
    def damaged(self) -> int:
        """Frames from the board that were not what it sent."""
        return self._unframed.damaged

    def ask(
        self,
        tasks: Sequence[tuple[int, Sequence[int]]],
        progress: Callable[[int], None] = lambda _: None,
    ) -> list[Response]:
        """The answers to tasks (function, words), in their order.

        InputError where the board says nothing at all, or refuses a task.
        """
        answers: dict[int, Response] = {}
        waiting: dict[int, _Waiting] = {}
        left = iter(range(len(tasks)))
        asked = heard = time.monotonic()
        while len(answers) < len(tasks):
            self._offer(tasks, left, waiting)
            before = len(answers)
            lost = False  # some frame of ours, it is not known which
            for answer in self._heard():
                own = waiting.get(answer.tag)
                if answer.function == BROKEN:
                    lost = True
                elif own is None or tasks[own.task][0] != answer.function:
                    pass  # the second answer to a task that was asked again
                elif answer.status.is_error:
                    raise InputError(f"{self.name}: the board says {answer.status.name}")
                else:
                    answers[waiting.pop(answer.tag).task] = answer
            now = time.monotonic()
            if len(answers) > before:
                asked = heard = now
                progress(len(answers))
            if waiting and now - heard > self.endurance:
                raise InputError(self._why())
            if waiting and now - asked > (self.patience / 10 if lost else self.patience):
                asked = now
                self._again(waiting)
        return [answers[k] for k in range(len(tasks))]

    def _heard(self) -> Iterator[Response]:
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
