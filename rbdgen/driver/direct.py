"""A call of compiled functions on arrays as they lie in memory, without queue or copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..api.compiled import Program
from ..api.completion import completed
from ..codegen.library import Library
from ..design.states import turns
from .tickets import Call


class Direct:
    """The functions that a call asks for, of one program each, which are there.

    Arrays must be as the first program takes them: NumPy's, of its type, C-contiguous, of the same
    leading shape. That they are finite is not looked at before: a state that is not has NaN for
    results. Entries that no result depends on may be anything.
    """

    def __init__(self, call: Call, programs: Sequence[Program]) -> None:
        first = programs[0]
        self._robot = first.robot
        self._first: Library = first.library
        self._names = [array.name for array in first.interface.takes]
        self._forces = "f_ext" in self._names
        forced = {first.robot.joints[i].body for i in first.robot.moving}
        self._forceable = forced <= set(first.design.external_forces)
        self._completing = bool(turns(first.robot)) or "Minv" in self._names
        self._angles = not {"sin", "cos"}.isdisjoint(self._names)
        # of each further program, which of the arrays it takes
        self._more = [
            (own.library, [self._names.index(array.name) for array in own.interface.takes])
            for own in programs[1:]
        ]
        given = [name for program in programs for name in program.library.names]
        # of what the call returns, which result it is, or which array that came in
        self._results = [given.index(name) if name in given else None for name in call.returns]
        self._kept = [self._names.index(n) if n in self._names else None for n in call.returns]
        entry = next(iter(first.interface.outputs.values()))[0]
        self._entry = first.library.names.index(entry.array), entry.at

    def __call__(
        self, arrays: tuple[Any, ...], f_ext: Any, threads: int
    ) -> tuple[NDArray | None, ...] | None:
        """What the call returns; None for arrays that are to be looked at, or changed, first.

        Singular.
        """
        if self._angles:
            return None
        if f_ext is not None:
            if not self._forceable or not self._forces:
                return None
            arrays = (*arrays, f_ext)
        elif self._forces:
            before = np.shape(arrays[0])[:-1]
            none = np.zeros((*before, *self._first.takes[-1]), self._first.dtype)
            arrays = (*arrays, none)
        leading = self._first.fits(arrays)
        if leading is None:
            return None
        if self._completing:
            arrays = self._completed(leading, arrays)
        found = self._first.run(leading, arrays, threads)
        for library, taken in self._more:
            found += library.run(leading, [arrays[k] for k in taken], threads)
        if self._unknown(leading, found):
            return None
        if len(self._results) == 1 and self._results[0] is not None:
            return (found[self._results[0]],)
        return tuple(
            found[k] if k is not None else None if own is None else arrays[own]
            for k, own in zip(self._results, self._kept, strict=True)
        )

    def _completed(self, leading: tuple[int, ...], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Quaternions of norm 1 and a symmetric Minv, in copies of q and Minv."""
        flat = {
            name: array.reshape(-1, *shape)
            for name, array, shape in zip(self._names, arrays, self._first.takes, strict=True)
        }
        flat = completed(self._robot, {**flat, "q": flat["q"].copy()})
        dtype = self._first.dtype
        return tuple(
            np.ascontiguousarray(flat[name], dtype).reshape(leading + shape)
            for name, shape in zip(self._names, self._first.takes, strict=True)
        )

    def _unknown(self, leading: tuple[int, ...], found: list[NDArray]) -> bool:
        """Whether a state has NaN for results."""
        which, at = self._entry
        values = found[which]
        if not leading:
            value = values.item(at)
            return bool(value != value)
        size = values[(0,) * len(leading)].size if values.size else 1
        return bool(np.isnan(values.reshape(-1, size)[:, at : at + 1]).any())
