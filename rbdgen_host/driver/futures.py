"""Calls of a robot's dynamics, queued, and their answers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rbdgen.api.folder import InputError
from rbdgen.design.functions import ALIASES, BY_NAME, GIVEN_BASE, GIVES, NEEDS, WHOLE
from rbdgen.graph.word import FAR

from .requests import Answer, Tasks
from .words import Array, Flags

if TYPE_CHECKING:
    from .base_link import BaseLink

Found = Array | tuple[Array | None, ...]


class OverflowWarning(RuntimeWarning):
    """Some results are wrong because a word of the design was too short."""


class FarWarning(RuntimeWarning):
    """Some results are wrong because the given M⁻¹ came from a state that was too far."""


class FarError(ArithmeticError):
    """Some results are wrong because the given M⁻¹ came from a state too far
    (``on_overflow="raise"``).
    """


@dataclass(frozen=True)
class Call:
    """Functions that a call asks for, and what it returns. It takes what the first of them does,
    which the design must have; an array in ``returns`` may be one of these."""

    functions: tuple[str, ...]
    returns: tuple[str, ...]


def _call(name: str) -> Call:
    """The call of Pinocchio's that a function is: its last results, and what is asked for besides.

    M⁻¹ that comes in is returned, as by Pinocchio.
    """
    own = BY_NAME[name]
    besides = (own.together,) if own.together else ()
    more = [array for function in besides for array in GIVES[function]]
    more += [array for array in own.takes if array == "Minv"]
    slopes = tuple(array for array in own.gives if array.startswith("d")) or own.gives
    return Call((name, *besides), (*slopes, *more))


_CALLS = {BY_NAME[name].pinocchio: _call(name) for name in WHOLE}
_GIVEN = {free: given for given, free in GIVEN_BASE.items()}
CALLS = (
    _CALLS
    | {
        f"{name}_given": Call(tuple(_GIVEN[f] for f in call.functions), call.returns)
        for name, call in _CALLS.items()
        if _GIVEN.keys() >= {*call.functions}
    }
    | {alias: _call(name) for alias, name in ALIASES.items() if name not in WHOLE}
    | {
        "framesForwardKinematics": Call(("pose",), GIVES["pose"]),
        "getFrameJacobian": Call(("jac",), GIVES["jac"]),
        "forwardKinematics": Call(("twist", "pose"), (*GIVES["pose"], *GIVES["twist"])),
    }
    | {name: Call((name,), GIVES[name]) for name in NEEDS}
)


class Queue(Protocol):
    """The driver that a call waits in."""

    on_overflow: str
    base_link: BaseLink | None

    def run(self) -> None:
        """Answers everything queued."""


@dataclass(eq=False, repr=False)
class Ticket:
    """A call that waits for its turn, or has had it.

    ``tags`` has, for each function that the call asks for, the tag of every state's task (N,).
    """

    call: str
    tags: dict[str, NDArray[np.int64]]
    _driver: Queue = field(repr=False)
    _leading: tuple[int, ...] = field(repr=False)
    _given: dict[str, Array] = field(repr=False)  # what the call came with, (N, …)
    _batches: list[Tasks] = field(repr=False)
    _answers: list[Answer] = field(default_factory=list, repr=False)

    def __repr__(self) -> str:
        states = " × ".join(map(str, self._leading)) or "one"
        return f"<{self.call} of {states} states, {'done' if self.done else 'waiting'}>"

    @property
    def done(self) -> bool:
        """Whether the call has been answered."""
        return bool(self._answers)

    def result(self) -> Found:
        """The return value of the method with the call's name; runs everything queued if necessary.

        Function names, such as ``did``, return all arrays of the function in the order of `GIVES`:
        an array, or several. An overflow is warned of, raised as OverflowError, or ignored, as the
        driver was told. The same holds for M⁻¹ of a state too far.
        """
        self._tell(self.overflow, "states overflowed", OverflowError, OverflowWarning)
        self._tell(self.far, "states' Minv was not near", FarError, FarWarning)
        arrays = self.arrays
        found = tuple(arrays.get(name) for name in CALLS[self.call].returns)
        return found[0] if len(found) == 1 and found[0] is not None else found

    def _tell(
        self, flags: Flags, what: str, error: type[Exception], warning: type[Warning]
    ) -> None:
        """Raise the error, warn, or do neither, as the driver was told."""
        if self._driver.on_overflow == "ignore" or not flags.any():
            return
        where = np.flatnonzero(flags)
        message = f"{self.call}: {len(where)} of {flags.size} {what}, the first is {where[0]}"
        if self._driver.on_overflow == "raise":
            raise error(message)
        warnings.warn(message, warning, stacklevel=5)

    @property
    def arrays(self) -> dict[str, Array]:
        """All that came of the call, by name: (…, nv) or (…, nv, nv), with what it came with."""
        found: dict[str, Array] = {}
        for answer in self._answered():
            found |= answer.arrays
        if self._driver.base_link is not None:
            found = self._driver.base_link.results(found, self._given)
        call = CALLS[self.call]
        for name in set(NEEDS[call.functions[0]]) & set(call.returns) - found.keys():
            found[name] = self._given[name]
        return {name: self._shaped(values) for name, values in found.items()}

    @property
    def overflow(self) -> Flags:
        """Which states' results are wrong because a word was too short, of the leading shape."""
        flags = [answer.overflow for answer in self._answered()]
        flags += [tasks.outside for tasks in self._batches]
        return np.logical_or.reduce(flags).reshape(self._leading)

    @property
    def far(self) -> Flags:
        """Which states' M⁻¹ that came in was not near, of the leading shape."""
        flags = [a.arrays[FAR] != 0 for a in self._answered() if FAR in a.arrays]
        return np.logical_or.reduce([np.zeros(self._leading, np.bool_).ravel(), *flags]).reshape(
            self._leading
        )

    @property
    def latency(self) -> dict[str, NDArray[np.int64]]:
        """Function → cycles from taking each state's task to its result; the rtl back end only."""
        return {
            tasks.function: self._shaped(answer.latency)
            for tasks, answer in zip(self._batches, self._answered(), strict=True)
            if answer.latency is not None
        }

    def _answered(self) -> list[Answer]:
        if not self.done:
            self._driver.run()
        if not self.done:
            raise InputError(f"{self.call}: not answered: what ran with it was refused; call again")
        return self._answers

    def _shaped(self, values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape((*self._leading, *values.shape[1:]))
