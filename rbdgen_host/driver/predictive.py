"""Model predictive control of a robot, in C++ that is compiled for this machine once."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbdgen.api.controllers import compiled
from rbdgen.robot.xml_lines import did_you_mean
from rbdgen.system.quoting import Progress

Array = NDArray[np.float64]


class Report(NamedTuple):
    """Iterations of a solve, its roll-outs of all step lengths, whether the last iteration could
    not have lowered the cost by more than the tolerance, and the most that a number is beyond a
    limit."""

    iterations: int
    searches: int
    converged: bool
    excess: float


class Fields:
    """Arrays by name, in one memory. Reading one gives a view, setting one copies into it."""

    _arrays: Mapping[str, Array]

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        object.__setattr__(self, "_arrays", dict(arrays))

    def __getattr__(self, name: str) -> Any:
        array = self._own(name)
        return array if array.ndim else float(array)

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        self._own(name)[...] = value

    def __dir__(self) -> list[str]:
        return list(self._arrays)

    def _own(self, name: str) -> Array:
        if name not in self._arrays:
            known = tuple(self._arrays)
            raise AttributeError(
                f"no {name!r}{did_you_mean(name, known, '; one of ' + ', '.join(known))}"
            )
        return self._arrays[name]


class PredictiveController:
    """A robot's optimal motions from measured states on.

    ``problem``: what is wanted, and ``plan``: the motion that was found, as `Fields`, arrays of
    float64 whose shapes ``docs/mpc.md`` lists. ``robot``: a URDF, a design file or a shipped robot;
    ``knots``: steps ahead; ``choices``: other fields of Design.
    """

    problem: Fields
    plan: Fields

    def __init__(
        self,
        robot: str | Path,
        knots: int | None = None,
        progress: Progress = lambda _: None,
        **choices: Any,
    ) -> None:
        made = compiled(str(robot), progress, knots=knots, **choices)
        self._module, entry = made.module, made.entry
        self.joint_names, self.nv, self.notes = entry.joint_names, entry.nv, entry.notes
        self.knots: int = entry.facts["knots"]
        size, alignment = self._module.size, self._module.alignment
        room = np.zeros(size + alignment, np.uint8)
        self._memory = room[-room.ctypes.data % alignment :][:size]
        self._module.new(self._memory)
        places = zip(("problem", "plan"), self._module.places, strict=True)
        for name, at in places:
            setattr(self, name, self._fields(entry.facts[name], at))

    def _fields(self, arrays: list[dict[str, Any]], at: int) -> Fields:
        found = {}
        for own in arrays:
            end = at + 8 * prod(own["shape"])
            found[own["name"]] = self._memory[at:end].view(np.float64).reshape(own["shape"])
            at = end
        return Fields(found)

    def solve(
        self, x: ArrayLike, iterations: int = 100, tolerance: float = 1e-9, slack: float = 1e-4
    ) -> Report:
        """The best motion from x = (q, qd) (2 nv,) on, in ``plan``, by iLQR.

        The search begins with ``plan`` as it is, and ends when an iteration could not lower the
        cost by more than ``tolerance`` of it, and limits are kept to ``slack``. ValueError for an x
        of another size, and without a ``problem.step`` above 0.
        """
        self._refuse_no_step()
        found = self._module.solve(self._memory, _state(x), iterations, tolerance, slack)
        return Report(*found)

    def prepare(self) -> bool:
        """Gains around the plan, before x is known: a real-time iteration's first part.

        False, and those of the last plan, where the inputs' matrix is not positive definite.
        ValueError without a ``problem.step`` above 0.
        """
        self._refuse_no_step()
        return bool(self._module.prepare(self._memory))

    def respond(self, x: ArrayLike) -> Array:
        """The efforts (nv,) for x, at once: its second part."""
        tau = np.empty(self.nv)
        self._module.respond(self._memory, _state(x), tau)
        return tau

    def advance(self, x: ArrayLike) -> None:
        """The plan from x on, by a whole step: its last part, when the efforts are sent."""
        self._module.advance(self._memory, _state(x))

    def shift(self, part: float = 1.0) -> None:
        """The plan so much of a step later, for the next measurement."""
        self._module.shift(self._memory, part)

    def _refuse_no_step(self) -> None:
        if not self.problem.step > 0:
            raise ValueError("problem.step: set the seconds from a knot to the next, above 0")


def _state(x: ArrayLike) -> Array:
    return np.ascontiguousarray(x, np.float64)
