"""Calls that wait, and run together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbdgen.api.folder import InputError
from rbdgen.design.arrays import given_coordinates, is_loaded, of_state, takes
from rbdgen.design.functions import BESIDE, GIVES
from rbdgen.robot.model import Robot
from rbdgen.robot.variations import PAYLOAD
from rbdgen.robot.xml_lines import did_you_mean

from .array_layout import flat_states
from .calls import Calls
from .futures import CALLS, Call, Found, Ticket
from .requests import TAGS, Backend, Tasks
from .words import SPELT

if TYPE_CHECKING:
    from .base_link import BaseLink


class Queued(Calls):
    """The calls of a back end, queued and run together."""

    on_overflow: str
    cycles: int | None
    base_link: BaseLink | None
    backend: str
    _backend: Backend
    _robot: Robot  # that arrays are of
    _saturate: bool
    _payload: NDArray[np.float64]
    _queue: list[Ticket]
    _next_tag: int

    def submit(
        self,
        call: str,
        *arrays: ArrayLike,
        f_ext: ArrayLike | None = None,
        payload: ArrayLike | None = None,
    ) -> Ticket:
        """Queue a call: a method's name, or a function's, and its arrays in their order.

        ``payload``: (…, 10), as Pinocchio's ``toDynamicParameters`` has it, about the link's
        origin, in place of what `set_payload` has said.

        What is queued runs together when any of its results is asked for, or with `collect`.

        Raises InputError for a call that the design lacks, for arrays of a wrong shape, not
        finite, or beyond what their words hold; nothing has been queued then.
        """
        own = self._known(call)
        taken = self._takes(own.functions[0])
        if len(arrays) != len(taken):
            names = ", ".join(SPELT.get(name, name) for name in taken)
            raise InputError(f"{call} takes {names}: {len(taken)} arrays, not {len(arrays)}")
        given: dict[str, ArrayLike] = dict(zip(taken, arrays, strict=True))
        if f_ext is not None:
            given["f_ext"] = f_ext
        if is_loaded(self._backend.design):
            given[PAYLOAD] = self._payload if payload is None else payload
        elif payload is not None:
            raise InputError(f"{call}: payload: the design carries none")
        robot, free = self._robot, self._robot.nv - self._base
        on_gpu = self.backend.startswith("cuda")
        leading, flat = flat_states(robot, free, call, given, on_gpu)
        moved = self.base_link.state(flat) if self.base_link else flat
        batches, tag = [], self._next_tag
        n = len(flat["q"])
        for function in self._asked(call):
            values, outside = self._backend.values(function, moved, self._saturate)
            batches.append(Tasks(function, values, outside, (tag + np.arange(n)) % TAGS))
            tag += n
        self._next_tag = tag % TAGS
        tags = {tasks.function: tasks.tags for tasks in batches}
        ticket = Ticket(call, tags, self, leading, flat, batches)
        self._queue.append(ticket)
        return ticket

    def collect(self) -> list[Found]:
        """Run what is queued, together; the results in the order in which it was submitted."""
        queue = list(self._queue)
        self.run()
        return [ticket.result() for ticket in queue]

    def run(self) -> None:
        """Run what is queued, together, so that all tickets are done; Singular, and none is."""
        queue, self._queue = self._queue, []
        answers, self.cycles = self._backend.run([t for ticket in queue for t in ticket._batches])
        left = iter(answers)
        for ticket in queue:
            ticket._answers = [next(left) for _ in ticket._batches]

    def _asked(self, call: str) -> list[str]:
        """The functions that a call takes: those that there are, and what another base needs."""
        own = CALLS[call].functions
        besides = BESIDE.get(own[0]) if self.base_link else None
        if besides and besides not in self.functions:
            raise InputError(
                f"{call} of the file's base needs {besides} too, the accelerator's being another; "
                "add it to the functions"
            )
        wanted = dict.fromkeys((*own, besides))
        return [name for name in wanted if name in self.functions]

    def _takes(self, function: str) -> tuple[str, ...]:
        """The arrays that a function takes."""
        return takes(function, *of_state(self._backend.design))

    @property
    def _base(self) -> int:
        """The number of v's first entries that are the base's, of a base with prescribed motion."""
        return given_coordinates(self._backend.design, self._robot)

    def _known(self, call: str) -> Call:
        if call not in CALLS:
            hint = did_you_mean(call, CALLS, f"; one of {', '.join(CALLS)}")
            raise InputError(f"no call {call!r}{hint}")
        needed = CALLS[call].functions[0]
        if needed not in self.functions:
            raise InputError(
                f"{call} needs the function {needed}; the design has {', '.join(self.functions)}"
                f"{self._elsewhere(needed)}"
            )
        return CALLS[call]

    def _elsewhere(self, function: str) -> str:
        """A hint that another function's results have all that this one gives; else empty."""
        wanted = {*GIVES[function]}
        for own in self.functions:
            if wanted < {*GIVES[own]} and self._takes(own) == self._takes(function):
                return f', and submit("{own}") gives {", ".join(GIVES[function])}, too'
        return ""
