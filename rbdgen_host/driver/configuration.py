"""Steps in configuration space by Pinocchio's names, for one state or a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rbdgen import golden
from rbdgen.api.folder import InputError
from rbdgen.robot.model import Robot

from .array_layout import into, numbers
from .words import Array


class Configuration:
    """Methods of `Dynamics` that need the robot alone, computed on the CPU for all back ends.

    q (…, nq) and v (…, nv) of one leading shape; results are float32 where both arrays are.
    Quaternions and (cos, sin) of any length but zero stand for their directions. InputError for
    arrays of another shape, and where a result is not finite.
    """

    _robot: Robot
    _module: Any = None  # of a compiled program of this robot

    def neutral(self) -> Array:
        """q (nq,) with all joints at zero."""
        return golden.neutral(self._robot)

    def integrate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """q (…, nq) after unit time of the constant velocity v, that of bodies in their frames."""
        return self._stepped(golden.integrate, {"q": q, "v": v}, out)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Array | None = None) -> Array:
        """The smallest constant velocity v (…, nv) that leads from q0 to q1 in unit time.

        Joints without limits turn the shorter way, as bodies do.
        """
        return self._stepped(golden.difference, {"q0": q0, "q1": q1}, out)

    def _stepped(
        self, step: Callable[..., Array], given: Mapping[str, ArrayLike], out: Array | None
    ) -> Array:
        call, robot, rows, leading = step.__name__, self._robot, [], None
        if self._module is not None:
            with suppress(TypeError, ValueError):  # arrays that are to be checked or converted
                return into(call, out, getattr(self._module, call)(*given.values()))
        arrays = [numbers(call, said, values) for said, values in given.items()]
        for said, array in zip(given, arrays, strict=True):
            size = robot.nv if said == "v" else robot.nq
            leading = array.shape[:-1] if leading is None else leading
            if array.shape != (*leading, size) or array.dtype.kind not in "fiu":
                raise InputError(
                    f"{call}: {said} is {array.dtype} {array.shape}; expected numbers "
                    f"{(*leading, size)}"
                )
            rows.append(array.astype(np.float64).reshape(-1, size))
        assert leading is not None
        with np.errstate(all="ignore"):
            found = step(robot, *rows)
        bad = np.argwhere(~np.isfinite(found))
        if len(bad):
            raise InputError(
                f"{call}: the result of state {bad[0][0]} is not finite: an input is not, or a "
                "quaternion or (cos, sin) has length 0"
            )
        dtype = (
            np.float32 if {own.dtype for own in arrays} == {np.dtype(np.float32)} else np.float64
        )
        return into(call, out, found.reshape(*leading, found.shape[1]).astype(dtype, copy=False))
