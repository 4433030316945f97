"""Fuzzing of a board's frames: random damage on the line, and the board's answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from rbdgen.api.results import Mismatch
from rbdgen.shell.packets import (
    BROKEN,
    ESCAPE,
    FLAG,
    SELF_TEST,
    TESTED,
    DamagedFrame,
    PacketWidths,
    Unframed,
    framed,
    response,
    task,
)
from rbdgen.shell.task_packets import Response
from rbdgen_host.driver.links import OFFERED, TAGS, Transport

WAIT = 60.0  # s without any answer, after which a line hangs
AGAIN = 5.0  # s without any answer, after which a self-test is asked for once more
SAID = 2000  # frames
RESTART = 40  # bursts, after which the board starts anew in the midst of one
KINDS = ("bits", "burst", "cut", "lost", "inserted", "merged", "noise")


@dataclass
class Damage:
    """Frames after a line, of which a share of ``often`` in 100 is corrupted. Seeded.

    A few bits turned, eight bytes in a row of anything, an end cut off, a byte lost or inserted,
    two frames run into one, or noise between two. ``harmed``: how many so far, of each kind.
    """

    seed: int
    often: float
    harmed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))

    def __post_init__(self) -> None:
        self._rng = Random(self.seed)

    def stream(self, frames: Sequence[bytes]) -> bytes:
        """All of them, one behind the other."""
        rng, found = self._rng, bytearray()
        for whole in frames:
            frame = bytearray(whole)
            if rng.random() * 100 >= self.often:
                found += frame
                continue
            kind, at = rng.choice(KINDS), rng.randrange(len(frame))
            self.harmed[kind] += 1
            if kind == "bits":
                for _ in range(rng.randrange(1, 5)):
                    frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
            elif kind == "burst":
                frame[at : at + 8] = rng.randbytes(len(frame[at : at + 8]))
            elif kind == "cut":
                frame = frame[at:] if rng.random() < 0.5 else frame[:at]
            elif kind == "lost":
                del frame[at]
            elif kind == "inserted":
                frame.insert(at, rng.randrange(256))
            elif kind == "merged":
                del frame[-1], found[-1:]
            else:
                frame += rng.randbytes(rng.randrange(1, 40)) + bytes([ESCAPE] * rng.randrange(2))
            found += frame
        return bytes(found)


@dataclass
class Flood:
    """Counts of a flood of frames, most of them damaged, sent without waiting for answers.

    ``answered`` of ``good`` tasks; ``wrong``: answers that are not the model's, to a task that was
    not asked, or to one that was answered before. ``refused``: said to be damaged. ``restarts``:
    of the board in the midst of frames and tasks, of which nobody knows which are answered.
    """

    sent: int = 0
    damaged: int = 0
    good: int = 0
    answered: int = 0
    wrong: int = 0
    refused: int = 0
    restarts: int = 0

    def __add__(self, other: Flood) -> Flood:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Flood(*(a + b for a, b in pairs))


@dataclass(frozen=True)
class Asked:
    """Tasks (function, words) of a design, and the answer to each, its tag apart."""

    identity: str
    layouts: Mapping[int, PacketWidths]
    tasks: Sequence[tuple[int, Sequence[int]]]
    answers: Sequence[Response]


def flood(
    transport: Transport,
    of: Asked,
    damaged: int,
    damage: Damage,
    restart: Callable[[], None],
    progress: Callable[[str], None] = lambda _: None,
) -> Flood:
    """Send frames of tasks, over and over, until so many were damaged.

    Which frames are whole, of what is left of the stream, the receiver in software says; that is
    what the board's is compared with. ``restart``: presses the board's reset. Raises Mismatch
    where nothing comes any more.
    """
    sends, found = Unframed(of.identity), Flood()
    hears = _Hears(transport, of, found)
    burst = max(OFFERED // max(max(own.line_bytes) for own in of.layouts.values()), 1)
    while found.damaged < damaged:
        asked = {k % TAGS: k % len(of.tasks) for k in range(found.sent, found.sent + burst)}
        frames = [framed(of.identity, _payload(of, k, tag)) for tag, k in asked.items()]
        found.sent += burst
        if found.sent // burst % RESTART == 0:
            transport.write(b"".join(frames))
            restart()
            found.restarts += 1
            hears.settle({tag: of.answers[k] for tag, k in asked.items()})
            continue
        # A flag ends what a cut has left open, so that every burst can be waited for.
        stream = damage.stream(frames) + bytes([FLAG])
        before = sends.damaged
        for payload in sends.feed(stream):
            tag = int.from_bytes(payload[1:3], "little")
            if tag not in asked or payload != _payload(of, asked[tag], tag):
                raise Mismatch("a damaged frame with the CRC of a good one; take another seed")
            hears.waiting[tag] = of.answers[asked[tag]]
        found.good += len(hears.waiting)
        found.damaged += sends.damaged - before
        transport.write(stream)
        hears.all()
        if found.sent // SAID != (found.sent - burst) // SAID:
            progress(f"{found.sent} frames, {found.damaged} damaged, {found.answered} answered")
    hears.settle({})
    return found


def _payload(of: Asked, k: int, tag: int) -> bytes:
    code, words = of.tasks[k]
    return task(code, tag, words, of.layouts[code])


class _Hears:
    """A receiver of a board's answers to pending tasks, one answer each."""

    def __init__(self, transport: Transport, of: Asked, found: Flood) -> None:
        self.waiting: dict[int, Response] = {}
        self._transport, self._of, self._found = transport, of, found
        self._unframed = Unframed(of.identity)
        self._tested = False

    def all(self) -> None:
        """Take what comes until no task waits; Mismatch if nothing comes any more."""
        heard = time.monotonic()
        self._take(0)
        while self.waiting:
            if self._take(0.05):
                heard = time.monotonic()
            elif time.monotonic() - heard > WAIT:
                raise Mismatch(f"{len(self.waiting)} tasks are not answered: the board hangs")
        self._found.wrong += self._unframed.damaged
        self._unframed.damaged = 0

    def settle(self, perhaps: dict[int, Response]) -> None:
        """Take what comes until a self-test answers, which waits for all that came before it.

        Answers to ``perhaps`` may come, at most once each. Mismatch if nothing comes any more.
        """
        self.waiting = perhaps
        answered = self._found.answered
        ask = framed(self._of.identity, task(SELF_TEST, 0, (), TESTED))
        self._tested, started, asked = False, time.monotonic(), -AGAIN
        while not self._tested:
            now = time.monotonic()
            if now - started > WAIT:
                raise Mismatch("no self-test is answered: the board hangs")
            if now - asked > AGAIN:  # a reset may have taken the one before
                asked = now
                self._transport.write(bytes([FLAG]) + ask)
            if self._take(0.05):
                started = asked = time.monotonic()
        self._found.answered, self._unframed.damaged = answered, 0
        self.waiting = {}

    def _take(self, timeout: float) -> bool:
        """Whether anything came."""
        came = self._transport.read(timeout)
        for payload in self._unframed.feed(came):
            try:
                answer = response(payload, {**self._of.layouts, SELF_TEST: TESTED})
            except DamagedFrame:
                self._found.wrong += 1
                continue
            if answer.function == BROKEN:
                self._found.refused += 1
                continue
            if answer.function == SELF_TEST:
                self._tested = True
                continue
            right = self.waiting.pop(answer.tag, None)
            if right is not None and replace(answer, tag=right.tag) == right:
                self._found.answered += 1
            else:
                self._found.wrong += 1
        return bool(came)
