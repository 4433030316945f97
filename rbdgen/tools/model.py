"""A built design as a Python object: NumPy batches in, NumPy batches out, every bit."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..design.target import Ports
from ..system.records import NamedWord
from .toolchain import SimulationError

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Result:
    """The results of a run of N tokens; R of them, one of each token unless said otherwise.

    Cycles count from the first one in the session; ``result_cycle - accept_cycle`` is the latency.
    """

    outputs: Int64  # (R, output fields)
    accept_cycle: Int64  # (N,) cycle in which the token was taken
    result_cycle: Int64  # (R,) cycle in which its result was taken
    cycles: int
    toggles: Toggles | None = None

    def field(self, model: Model, name: str) -> Int64:
        """One output field, (N,)."""
        names = [f.name for f in model.ports.output.fields]
        return self.outputs[:, names.index(name)]


SPANS = ("filling", "full rate", "draining", "at rest")


@dataclass(frozen=True)
class Toggles:
    """Changes of each watched bit (4, bits), and cycles, in each of the `SPANS` of a run: until the
    first result, until the last task is taken, until ``settle`` cycles after the last result, and
    then without any task."""

    count: NDArray[np.uint32]
    cycles: tuple[int, ...]

    def rate(self, span: str) -> NDArray[np.float64]:
        """Changes a cycle, of each bit."""
        k = SPANS.index(span)
        return self.count[k] / max(self.cycles[k], 1)


class _Request(ctypes.Structure):
    """``struct Request`` of the harness."""

    _fields_ = [
        ("tokens", ctypes.c_uint64),
        ("awaited", ctypes.c_uint64),
        ("inputs", ctypes.c_void_p),
        ("outputs", ctypes.c_void_p),
        ("accept_cycle", ctypes.c_void_p),
        ("result_cycle", ctypes.c_void_p),
        ("stall_in", ctypes.c_uint64),
        ("stall_out", ctypes.c_uint64),
        ("hang_limit", ctypes.c_uint64),
        ("under_way", ctypes.c_uint64),
        ("drain", ctypes.c_uint64),
        ("held", ctypes.c_void_p),
        ("holds", ctypes.c_uint64),
        ("waits", ctypes.c_uint64),
        ("progress", ctypes.c_void_p),
        ("toggles", ctypes.c_void_p),
        ("settle", ctypes.c_uint64),
        ("accepted", ctypes.c_uint64),
        ("results", ctypes.c_uint64),
        ("cycles", ctypes.c_uint64),
        ("spans", ctypes.c_uint64 * len(SPANS)),
    ]


_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint64)
_FAULTS = {
    1: "hangs: no transfer on either side for {hang_limit} cycles",
    2: "withdraws a result: valid fell before ready came",
    3: "changes a result while it waits for ready",
    4: "gives more results than it took tokens",
    5: "was stopped",
}


class Model:
    """A built design."""

    def __init__(self, library: Path, ports: Ports, observed: int = 0) -> None:
        self.library = library
        self.ports = ports
        self.observed = observed
        self.calls = ctypes.CDLL(str(library.resolve()))
        self.calls.rbdgen_open.argtypes = [ctypes.c_uint64, ctypes.c_char_p]
        self.calls.rbdgen_open.restype = ctypes.c_void_p
        self.calls.rbdgen_close.argtypes = [ctypes.c_void_p]
        self.calls.rbdgen_close.restype = None
        self.calls.rbdgen_stream.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Request)]
        self.calls.rbdgen_stream.restype = ctypes.c_int

    def session(self, seed: int = 0, waves: Path | None = None) -> Session:
        """The design after reset, which keeps its state from one batch to the next.

        ``seed``: of the stalls and of the registers that have no reset; ``waves``: VCD file, for a
        model built with ``trace=True``.
        """
        return Session(self, seed, waves)

    def run(
        self, inputs: ArrayLike, *, seed: int = 0, waves: Path | None = None, **choices: Any
    ) -> Result:
        """Stream a batch through the design from reset on; as `Session.run`."""
        with self.session(seed, waves) as session:
            return session.run(inputs, **choices)


class Session:
    """A design since its reset. One thread at a time is in it, the others wait.

    It ends with `close`, as a context, or when nothing refers to it any more.
    """

    def __init__(self, model: Model, seed: int = 0, waves: Path | None = None) -> None:
        self.model, self.seed = model, seed
        self._alone = threading.Lock()
        self._design = model.calls.rbdgen_open(seed, os.fsencode(waves) if waves else None)
        self.close = weakref.finalize(self, model.calls.rbdgen_close, self._design)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        inputs: ArrayLike,
        *,
        stall_in: float = 0.0,
        stall_out: float = 0.0,
        hang_limit: int = 10_000,
        under_way: int | None = None,
        awaited: int | None = None,
        drain: int = 64,
        progress: Callable[[int], None] | None = None,
        held: Sequence[int] = (),
        waits: int = 0,
        settle: int | None = None,
    ) -> Result:
        """Stream a batch through the design.

        Args:
            inputs: (N, input fields) integers, each within its field's range.
            stall_in, stall_out: probability, per cycle, that no new token is offered and that
                results are not taken.
            hang_limit: cycles without any transfer that count as a hang.
            under_way: how many tokens may be without a result before another is offered (any).
            awaited: results of all tokens (as many as there are, one after each has been taken).
            drain: cycles watched, after the last result, for results that must not come.
            progress: called with the number of results every 65536 of them.
            held: words for the registers for many tasks, in their order; none keeps those that
                are in them.
            waits: cycles after these before the first token is offered.
            settle: count changes of the watched bits, at rest from so many cycles after the last
                result on (not counted).

        Raises:
            ValueError: inputs of the wrong shape or out of range, or such words for registers.
            SimulationError: a hang, a lost, surplus or unstable result; it says in which cycle.
                The session is closed then.
        """
        model = self.model
        source, sink = model.ports.input.fields, model.ports.output.fields
        tokens = _checked(inputs, source)
        n = len(tokens)
        due = n if awaited is None else awaited
        result = Result(
            np.zeros((due, len(sink)), np.int64), np.zeros(n, np.int64), np.zeros(due, np.int64), 0
        )
        raised: list[BaseException] = []

        def report(results: int) -> bool:
            try:
                if progress:
                    progress(results)
            except BaseException as error:  # carried through C++ and raised below
                raised.append(error)
            return not raised

        registers = _registers(model.ports, held)
        if settle is not None and not model.observed:
            raise ValueError(f"{model.library.name} has no bits that are watched")
        toggles = np.zeros((len(SPANS), model.observed), np.uint32)
        callback = _PROGRESS(report)
        request = _Request(
            n,
            due,
            tokens.ctypes.data,
            result.outputs.ctypes.data,
            result.accept_cycle.ctypes.data,
            result.result_cycle.ctypes.data,
            _threshold(stall_in),
            _threshold(stall_out),
            hang_limit,
            n if under_way is None else under_way,
            drain,
            registers.ctypes.data,
            len(registers),
            waits,
            ctypes.cast(callback, ctypes.c_void_p),
            None if settle is None else toggles.ctypes.data,
            settle or 0,
        )
        with self._alone:
            if not self.close.alive:
                raise SimulationError(f"{model.library.name}: the session is closed")
            status = model.calls.rbdgen_stream(self._design, ctypes.byref(request))
            if status:
                self.close()
        if raised:
            raise raised[0]
        if status:
            fault = _FAULTS[status].format(hang_limit=hang_limit)
            raise SimulationError(
                f"{model.library.name} {fault} (cycle {request.cycles}, seed {self.seed}, "
                f"{request.accepted} of {n} tokens taken, {request.results} results)"
            )
        counted = None if settle is None else Toggles(toggles, tuple(request.spans))
        cycles = int(request.cycles)
        return Result(result.outputs, result.accept_cycle, result.result_cycle, cycles, counted)


def _registers(ports: Ports, held: Sequence[int]) -> Int64:
    """Words (registers,) that the port for them takes."""
    if not len(held):
        return np.zeros(0, np.int64)
    if ports.registers is None:
        raise ValueError(f"{len(held)} words for registers, of which the design has none")
    return _checked(held, [ports.registers.word], "register")[:, 0]


def _threshold(probability: float) -> int:
    """Probability in units of 2^-32."""
    if not 0.0 <= probability < 1.0:
        raise ValueError(f"stall probability {probability}: 0 up to, not including, 1 possible")
    return int(probability * 2**32)


def _checked(inputs: ArrayLike, fields: Sequence[NamedWord], row: str = "token") -> Int64:
    """(N, fields) int64, contiguous, every value within its field; ``row``: the name of each."""
    tokens = np.asarray(inputs)
    if tokens.ndim == 1 and len(fields) == 1:
        tokens = tokens[:, None]
    if tokens.ndim != 2 or tokens.shape[1] != len(fields):
        raise ValueError(f"inputs of shape {tokens.shape}: (N, {len(fields)}) expected")
    if tokens.dtype.kind not in "iu":
        raise ValueError(f"inputs of type {tokens.dtype}: integers expected")
    low, high = _limits(tuple(fields))
    beyond = (tokens < low) | (tokens > high)
    if beyond.any():
        row_of, column = np.argwhere(beyond)[0]
        own = fields[column]
        least, most = own.limits
        raise ValueError(
            f"{row} {row_of}: {own.name} = {tokens[row_of, column]} does not fit "
            f"{own.width} bits ({least} to {most})"
        )
    return np.ascontiguousarray(tokens, np.int64)


@cache
def _limits(fields: tuple[NamedWord, ...]) -> tuple[Int64, Int64]:
    """The least and the greatest value of each field (fields,)."""
    most = np.iinfo(np.int64).max
    low, high = zip(*(own.limits for own in fields), strict=True)
    return np.array(low, np.int64), np.array([min(own, most) for own in high], np.int64)
