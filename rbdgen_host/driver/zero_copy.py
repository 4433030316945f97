"""A call of a compiled program on arrays as they lie in memory, without queue or copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.api.arrays import completed
from rbdgen.api.native_programs import NativeProgram
from rbdgen.codegen.library import Library, like_numpy, module_of, on_device
from rbdgen.design.bounds import turns
from rbdgen.design.functions import NEEDS
from rbdgen.graph.word import FAR
from rbdgen.robot.variations import PAYLOAD


class Direct:
    """A call that passes arrays unchanged to the program that computes its results.

    Arrays must be as the program takes them: NumPy's, or CuPy's of a GPU, of its type,
    C-contiguous, of the same leading shape. That they are finite is not looked at before: a state
    that is not has NaN for results. Entries that no result depends on may be anything.
    """

    def __init__(self, returns: Sequence[str], program: NativeProgram) -> None:
        self._robot, self._library = program.robot, program.library
        self.module = self._library.module if isinstance(self._library, Library) else None
        self._names = [array.name for array in program.interface.takes]
        self._forces, self._loaded = "f_ext" in self._names, PAYLOAD in self._names
        forced = {program.robot.joints[i].body for i in program.robot.moving}
        self._forceable = forced <= set(program.design.external_forces)
        self._forces_shape = (len(program.robot.moving), 6)  # force, then moment
        self._turns = tuple((own.start, own.stop) for own in turns(program.robot).values())
        self._completing = bool(self._turns) or "Minv" in self._names
        self._angles = not {"sin", "cos"}.isdisjoint(self._names)
        given = program.library.names
        # of what the call returns, which result it is, or which array that came in
        self._results = [given.index(name) if name in given else None for name in returns]
        kept = {name for function in program.design.functions for name in NEEDS[function]}
        self._kept = [self._names.index(n) if n in kept else None for n in returns]
        self._far = given.index(FAR) if FAR in given else None
        entry = next(iter(program.interface.outputs.values()))[0]
        self._entry = given.index(entry.array), entry.at

    def __call__(
        self, arrays: tuple[Any, ...], f_ext: Any, payload: NDArray, threads: int
    ) -> tuple[NDArray | None, ...] | None:
        """The results of the call; None for arrays that must be checked, or converted, first.

        ``payload``: the ten numbers of all states. Singular.
        """
        if self._angles:
            return None
        if f_ext is not None:
            if not self._forceable or not self._forces:
                return None
            arrays = (*arrays, f_ext)
        foreign = on_device(arrays[0]) and not like_numpy(arrays[0])
        if foreign and ((self._forces and f_ext is None) or self._loaded or self._completing):
            return None
        if f_ext is None and self._forces:
            arrays = (*arrays, self._same(arrays[0], np.zeros(self._forces_shape)))
        if self._loaded:
            arrays = (*arrays, self._same(arrays[0], payload))
        leading = self._library.fits(arrays)
        if leading is None:
            return None
        if self._completing:
            arrays = self._completed(leading, arrays)
        found = self._library.run(leading, arrays, threads)
        # on a GPU NaN, and what was far, stay for who asks
        if not on_device(arrays[0]) and self._unusual(leading, found):
            return None
        if len(self._results) == 1 and self._results[0] is not None:
            return (found[self._results[0]],)
        return tuple(
            found[k] if k is not None else None if own is None else arrays[own]
            for k, own in zip(self._results, self._kept, strict=True)
        )

    def bound(self, fallback: Callable[..., Any], threads: int) -> Any:
        """The call as a function of the compiled module, with no Python on the way; None if arrays
        are needed that the caller does not give, or that are changed on the way.

        ``fallback``: the method that answers for arrays that must be checked or converted, and
        where a state is unusual. Its name and description are the function's.
        """
        changed = {"Minv", "f_ext", PAYLOAD, "sin", "cos"}.intersection(self._names)
        if not isinstance(self._library, Library) or self._library.bind is None or changed:
            return None
        at = self._entry[0], self._entry[1], -1 if self._far is None else self._far
        results = tuple(-1 if own is None else own for own in self._results)
        says = fallback.__name__, fallback.__doc__ or ""
        return self._library.bind(*says, fallback, threads, *at, self._turns, results)

    def _same(self, like: Any, values: NDArray) -> Any:
        """``values`` for each state, where ``like`` is."""
        of = module_of(like) if on_device(like) else np
        made = of.empty((*np.shape(like)[:-1], *values.shape), self._library.dtype)
        made[...] = of.asarray(values)
        return made

    def _completed(self, leading: tuple[int, ...], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Quaternions of norm 1 and a symmetric Minv, in copies of q and Minv."""
        flat = {
            name: array.reshape(-1, *shape)
            for name, array, shape in zip(self._names, arrays, self._library.takes, strict=True)
        }
        flat = completed(self._robot, {**flat, "q": flat["q"].copy()})
        of, dtype = module_of(arrays[0]), self._library.dtype
        return tuple(
            of.ascontiguousarray(flat[name], dtype).reshape(leading + shape)
            for name, shape in zip(self._names, self._library.takes, strict=True)
        )

    def _unusual(self, leading: tuple[int, ...], found: list[NDArray]) -> bool:
        """Whether a state has NaN for results, or had an M⁻¹ that was not near."""
        if self._far is not None and found[self._far].any():
            return True
        which, at = self._entry
        values = found[which]
        if not leading:
            value = values.item(at)
            return bool(value != value)
        size = values[(0,) * len(leading)].size if values.size else 1
        return bool(np.isnan(values.reshape(-1, size)[:, at : at + 1]).any())
