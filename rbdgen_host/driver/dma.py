"""An accelerator in the logic of a Zynq, behind AXI DMA, as pynq calls it. Not run on one by us.

A transfer to the design is a task's packet, one from it a response's: what `rbdgen package vivado`
puts together, with cells called ``dma`` and ``core``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rbdgen.api.folder import InputError
from rbdgen.shell.task_packets import PacketFormat, Response, Status
from rbdgen.shell.task_registers import register_table

from .links import PATIENCE, TAGS

PYNQ = "pynq:"  # how a port begins that is the path of a bitstream
UNDER_WAY = 8  # tasks; the next one is sent while the design works on those
DTYPE = np.uint32


class DmaChannel(Protocol):
    """One way of pynq's DMA."""

    @property
    def idle(self) -> bool:
        """Whether the last transfer has ended."""

    def transfer(self, array: Any) -> None:
        """Begin to move a buffer; one that receives ends where its packet does."""

    def wait(self) -> None:
        """Wait for the end of the transfer; the received data is then in the buffer."""


class DmaLink:
    """Tasks asked of the design that ``bitfile`` has, which is loaded.

    Raises InputError where there is no pynq, or the file holds another design.
    """

    def __init__(
        self,
        bitfile: str,
        packets: PacketFormat,
        identity: str,
        name: str,
        patience: float = PATIENCE,
    ) -> None:
        try:
            pynq = import_module("pynq")
        except ImportError:
            raise InputError(
                f"port: {PYNQ}{bitfile}: no pynq here: it is on boards with PYNQ's image"
            ) from None
        try:
            overlay = pynq.Overlay(bitfile)
            self._dma, self._core = overlay.dma, overlay.core
        except (OSError, AttributeError) as error:
            raise InputError(f"port: {PYNQ}{bitfile}: {error}") from None
        offsets = {own.name: own.offset for own in register_table(packets.functions)}
        low, high = (self._core.read(offsets[f"identity_{half}"]) for half in ("low", "high"))
        if f"{high << 32 | low:016x}" != identity:
            raise InputError(
                f"port: {PYNQ}{bitfile}: has the design {high << 32 | low:016x}, not {name}'s "
                f"{identity}: make it of this folder"
            )
        self._packets, self._name, self._patience = packets, name, patience
        self._tasks: Mapping[int, NDArray[np.uint32]] = {
            code: pynq.allocate((packets.task_beats(code),), DTYPE) for code in packets.functions
        }
        longest = max(packets.response_beats(code) for code in packets.functions)
        self._response: NDArray[np.uint32] = pynq.allocate((longest,), DTYPE)
        self._next_tag = 0

    def write(self, words: Sequence[int]) -> None:
        """Words into the registers for many tasks; no task is under way."""
        (offset,) = (own.offset for own in register_table({}, held=1) if own.name == "parameter")
        for word in words:
            self._core.write(offset, int(word) & 0xFFFFFFFF)

    def ask(
        self,
        tasks: Sequence[tuple[int, Sequence[int]]],
        progress: Callable[[int], None] = lambda _: None,
    ) -> list[Response]:
        """The answers to tasks (function, words), in their order.

        InputError where the design says nothing, or refuses a task.
        """
        send, receive = self._dma.sendchannel, self._dma.recvchannel
        answers: dict[int, Response] = {}
        under_way: dict[int, int] = {}  # tag → task
        sent, sending, receiving = 0, False, False
        heard = time.monotonic()
        while len(answers) < len(tasks):
            if not receiving:
                receive.transfer(self._response)
                receiving = True
            if sending and send.idle:
                send.wait()
                sending = False
            if not sending and sent < len(tasks) and len(under_way) < UNDER_WAY:
                under_way[self._next_tag] = sent
                self._send(send, self._next_tag, *tasks[sent])
                self._next_tag = (self._next_tag + 1) % TAGS
                sent, sending = sent + 1, True
            if receive.idle:
                receive.wait()
                receiving = False
                answer = self._answer()
                if answer.tag not in under_way:
                    raise InputError(f"{self._name}: an answer to no task, of tag {answer.tag}")
                answers[under_way.pop(answer.tag)] = answer
                progress(len(answers))
                heard = time.monotonic()
            elif time.monotonic() - heard > self._patience:
                raise InputError(
                    f"{self._name}: no answer from the design within {self._patience:g} s: load "
                    "its bitstream again"
                )
        if sending:
            send.wait()
        return [answers[k] for k in range(len(tasks))]

    def _send(self, channel: DmaChannel, tag: int, code: int, words: Sequence[int]) -> None:
        buffer = self._tasks[code]
        buffer[:] = self._packets.encode_task(code, tag, [int(word) for word in words])
        channel.transfer(buffer)

    def _answer(self) -> Response:
        """The answer in the buffer; beats after its packet belong to others. InputError."""
        beats = [int(beat) for beat in self._response]
        code, status = beats[0] & 0xFF, beats[0] >> 8 & 0xFF
        result = code in self._packets.functions and status in (Status.OK, Status.OVERFLOW)
        length = self._packets.response_beats(code) if result else 1
        found = self._packets.decode_response(beats[:length])
        if found.status.is_error:
            raise InputError(f"{self._name}: the design says {found.status.name}")
        return found
