"""A robot's dynamics with the names, the order and the conventions of Pinocchio's functions.

One interface, answered by any of these back ends: ``cpp`` and ``cpp32``, C++ in double and single
precision, compiled for this machine; ``golden``, the float64 reference; ``cuda`` and ``cuda32``,
the C++ on its GPU, ``cuda-on-cpu`` and ``cuda32-on-cpu``, their text on the CPU; ``integer``, the
design's integer model; ``rtl``, its Verilog, Verilated: the same bits as ``integer``, and the
cycles that they took; ``board``, an accelerator on a board.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from rbdgen.api.folder import InputError
from rbdgen.api.native_programs import DTYPES
from rbdgen.design.arrays import gives, is_loaded
from rbdgen.design.design import canonical_of, has_registers
from rbdgen.design.functions import GIVEN_BASE, ROLLOUTS, UNFORCED
from rbdgen.design.loading import as_filed, refuse_unknown
from rbdgen.design.options import DesignChoices
from rbdgen.robot.base_parameters import base_parameters
from rbdgen.robot.model import RobotError
from rbdgen.robot.variations import SIZE, checked_body, payload_of

from .backends import backend as make_backend
from .calls import Calls
from .copies import identity, placed, remade
from .defaults import (
    OUTSIDE,
    changing_notes,
    check_words,
    notes_of_arguments,
    notes_of_choices,
    usual_backend,
    warn_of,
)
from .futures import CALLS
from .kinematics_calls import Observing
from .queued import Queued
from .requests import Backend
from .words import SPELT, Array
from .zero_copy import Direct

if TYPE_CHECKING:
    from rbdgen.api.calibration import RealCalibration

    from .base_link import BaseLink
    from .links import Transport

NO_INERTIA = np.zeros((3, 3))


class Dynamics(Queued):
    """A robot's dynamics, one call at a time or several together.

    The methods take one state or a batch: arrays of any leading shape, which all share and which
    the results have. q (…, nq), v, a, tau (…, nv), Minv (…, nv, nv), f_ext (…, bodies, 6), force
    then moment in each link's frame. Units are SI, and joints are in the order of `joint_names`. A
    floating base has q = (x, y, z, quaternion x, y, z, w) and v = (linear, angular) in the base's
    own frame. Gradients are along the tangent space. Matrices are complete, with both triangles.

    If the base's motion is given, tau, Minv and all results have nv − 6 in place of nv. Forward
    dynamics then takes ``a``, too, and reads its first six entries. With ``inverse="near"``, for
    golden and compiled back ends, functions of M⁻¹ also take ``Minv`` of a state nearby. States and
    results refer to the base of the robot's file, whatever ``base_link`` the design has.

    ``robot`` is a URDF, a design file, a shipped robot or a generated folder. A robot becomes an
    accelerator unless ``accelerator`` is False. A folder has an accelerator, or a core whose tasks
    compute all functions. Calls for the same states that wait together share such a task.
    ``choices`` are fields of Design, such as ``functions`` and ``ii``; a folder takes none.

    ``backend`` is one of `BACKENDS`. The default for a robot is ``cpp``, or ``golden`` with a
    warning if there is no C++ compiler. For a folder with hardware it is ``integer``.

    ``on_overflow`` is "warn" (OverflowWarning, FarWarning), "raise" (OverflowError, FarError) or
    "ignore". It applies where a word was too short, or M⁻¹ came from a state too far;
    `Ticket.overflow` and `Ticket.far` say which states. ``outside`` is "raise" (InputError) or
    "saturate", for inputs beyond their words; a saturated input counts as an overflow. ``trust``
    accepts files of a folder that changed since they were generated.

    ``cpp`` and ``cpp32`` take less than a microsecond for a state of an arm. C-contiguous arrays of
    float64, or float32, are read where they lie, and the results have the same type; others are
    copied first. ``threads`` threads share a batch, without the GIL. A singular mass matrix raises
    `Singular`, a LinAlgError. Words are never too short. ``cuda`` and ``cuda32`` do the same, and
    read arrays of CuPy on the GPU, if all are such. Results are then CuPy's, with NaN for a state
    that is not finite.

    ``port`` locates a ``board``: the path of a serial port, ``udp://HOST``, ``pynq:FILE.bit`` on a
    Zynq with PYNQ, or a `Transport` of yours.

    The attribute ``cycles`` counts the last run from the first accepted task to the last result; it
    is None except with the rtl back end. ``notes`` says what is left out, approximated or chosen,
    as in a manifest. A note that makes results differ from the robot's file, or from Pinocchio, is
    also a `DynamicsWarning` when the object is made.

    ``out`` of a method is an array for the result, or a sequence with one for each result, of its
    shape and type, or None. These arrays are returned. ``cpp`` and ``cpp32`` write into them
    directly if all arrays are C-contiguous and share no memory; otherwise results are copied.

    Objects can be copied and pickled, and so sent to other processes, except those of a board.
    """

    def __init__(
        self,
        robot: str | Path,
        backend: str | None = None,
        *,
        on_overflow: str = "warn",
        outside: str = "raise",
        trust: bool = False,
        threads: int = 1,
        port: str | Transport | None = None,
        progress: Callable[[str], None] = lambda _: None,
        **choices: Unpack[DesignChoices],
    ) -> None:
        chosen: tuple[str, ...] = ()
        if backend is None:
            backend, chosen = usual_backend(robot)
            threads = 1 if chosen else threads
        check_words(backend=backend, on_overflow=on_overflow, outside=outside)
        refuse_unknown(choices, Dynamics)
        self.backend = backend
        self.on_overflow = on_overflow
        self.cycles: int | None = None
        self._saturate = outside == "saturate"
        if threads < 1 or (threads > 1 and backend not in DTYPES):
            raise InputError(
                f"threads: {threads} of {backend}; {' and '.join(DTYPES)} have several"
            )
        self._threads = threads
        self._made_of = placed(robot), choices | {"trust": trust, "threads": threads}
        self._backend: Backend = make_backend(
            backend, robot, progress, trust, threads, port, **choices
        )
        self.identity = identity(self._backend.design)
        self.notes = (
            *(*chosen, *self._backend.notes, *notes_of_choices(backend, choices)),
            *notes_of_arguments(
                backend,
                robot,
                on_overflow=on_overflow,
                outside=outside,
                trust=trust,
                near=self._backend.design.inverse == "near",
            ),
        )
        self._robot = self._backend.robot  # that arrays are of
        self.base_link: BaseLink | None = None
        if self._backend.design.base_link is not None:
            from .base_link import BaseLink

            self._robot = as_filed(self._backend.design)
            self.base_link = BaseLink(self._robot, self._backend.robot)
        self._payload = np.zeros(SIZE)
        self._parameters: str | RealCalibration | None = None
        self._direct = self._directly()
        self._module = next((own.module for own in self._direct.values()), None)
        self._bind()
        self._all: Direct | None = None
        self._queue, self._next_tag = [], 0
        warn_of(self._robot.name, (*chosen, *changing_notes(self.notes)))

    def __reduce__(self) -> tuple[Any, ...]:
        """The arguments of an equal copy; InputError for resources that only this process has."""
        if self._queue:
            raise InputError("copy: tasks wait to be collected; collect them first")
        if self.backend == "board":
            raise InputError(
                "copy: the port of a board is this process's; make a Dynamics where it is used"
            )
        robot, given = self._made_of
        own = {"backend": self.backend, "on_overflow": self.on_overflow}
        arguments = {**given, **own, "outside": OUTSIDE[self._saturate]}
        kind = type(self)
        return remade, (kind, robot, arguments, self.identity, self._payload, self._parameters)

    def __repr__(self) -> str:
        return (
            f"<Dynamics of {self._robot.name}, {self.backend}: {', '.join(self.functions)}; "
            f"nq {self.nq}, nv {self.nv}>"
        )

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions of the design, by the names of `NEEDS`."""
        return self._backend.design.functions

    @property
    def nq(self) -> int:
        return self._robot.nq

    @property
    def nv(self) -> int:
        return self._robot.nv

    @property
    def joint_names(self) -> list[str]:
        """The joints that move, in the order of q and v."""
        return list(self._robot.joint_names)

    @cached_property
    def base_parameters(self) -> dict[str, dict[str, float]]:
        """Names of the columns of `base_regressor`, in their order → the parameters of links that
        each is the sum of, with factors, as in ``{"tool.m": 0.1, "arm.mx": 1.0}``."""
        canonical = canonical_of(self._backend.design)(self._robot)
        return base_parameters(canonical, self._base).named(canonical)

    def set_payload(
        self, mass: float = 0.0, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike = NO_INERTIA
    ) -> None:
        """Set the payload of the design's link for all calls from now on; without arguments, none.

        ``mass`` [kg]; ``com`` (3,) [m], the centre of mass in the link's frame; ``inertia`` (3, 3)
        [kg·m²] about that, along the link's axes. InputError for what no body has, and for a design
        without payload.
        """
        if not is_loaded(self._backend.design):
            raise InputError(
                "set_payload: the design's functions take none; name the link that carries it: "
                'payload="LINK", --payload LINK'
            )
        try:
            self._payload = payload_of(checked_body(mass, com, inertia))
        except RobotError as error:
            raise InputError(f"set_payload: {error}") from None

    def set_parameters(self, robot: str | Path | RealCalibration) -> None:
        """The robot that all calls from now on are of, of a design for all robots of a model.

        Its file, the JSON that ``rbdgen calibrate`` made of it, or what `rbdgen.api.calibrate`
        returned. RobotError for a robot of another structure, or out of tolerance; InputError for
        words of another design, and for a back end or a design without registers.
        """
        if not has_registers(self._backend.design):
            raise InputError(
                "set_parameters: the robot's parameters are constants of this design; "
                'parameters="registers", --parameters registers'
            )
        if self._queue:
            raise InputError("set_parameters: tasks wait to be collected; collect them first")
        if self._backend.registers is None:
            raise InputError(f"set_parameters: {self.backend} has no registers that can be written")
        self._backend.registers.hold(robot)
        self._parameters = placed(robot) if isinstance(robot, str | Path) else robot

    def everything(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        Minv: ArrayLike | None = None,
        f_ext: ArrayLike | None = None,
    ) -> dict[str, Array]:
        """All that the functions give at the same states, by name.

        Of ``functions=("id", "did", "m")`` tau, dtau_dq, dtau_dqd and M. Compiled back ends have
        one program for it, which shares what the functions share and is compiled when it is first
        asked for; tasks of the others run together. Rollouts are left out.

        Raises InputError for arrays that the functions need and that were not given.
        """
        given = {"q": q, "qd": v, "qdd": a, "tau": tau, "Minv": Minv}
        functions, needed, returns = self._whole
        taken: dict[str, ArrayLike] = {}
        for name in needed:
            if (values := given[name]) is None:
                raise InputError(
                    f"everything of {', '.join(functions)} needs {SPELT.get(name, name)}"
                )
            taken[name] = values
        if self._backend.joint is not None and self.base_link is None:
            if self._all is None:
                self._all = Direct(returns, self._backend.joint())
            arrays = tuple(taken[name] for name in needed)
            if (own := self._all(arrays, f_ext, self._payload, self._threads)) is not None:
                return {n: x for n, x in zip(returns, own, strict=True) if x is not None}
        queued = len(self._queue)
        try:
            for function in functions:
                wanted = [taken[name] for name in self._takes(function)]
                forces = None if function in UNFORCED else f_ext
                self.submit(function, *wanted, f_ext=forces)
        except InputError:
            del self._queue[queued:]
            raise
        tickets = self._queue[queued:]
        self.run()
        found: dict[str, Array] = {}
        for ticket in tickets:
            ticket.result()  # which warns of overflow
            found |= ticket.arrays
        return {name: found[name] for name in returns}

    def _at_once(
        self, call: str, arrays: tuple[ArrayLike, ...], f_ext: ArrayLike | None = None
    ) -> Any:
        """The compiled program's result for a call; None if no program takes these arrays."""
        if call not in self._direct:
            return None
        return self._direct[call](arrays, f_ext, self._payload, self._threads)

    def _directly(self) -> dict[str, Direct]:
        """Call → its compiled program, if its arrays are those that it takes."""
        programs = self._backend.programs
        if self.base_link is not None:
            return {}
        return {
            name: Direct(call.returns, programs[call.functions[0]])
            for name, call in CALLS.items()
            if call.functions[0] in programs
        }

    def _bind(self) -> None:
        """Put functions of compiled modules in place of the methods that they can answer for.

        A method that a subclass has changed stays, and so does what is no method's alone.
        """
        for name, direct in self._direct.items():
            method = getattr(type(self), name, None)
            for holder in (Calls, Observing):
                if method is None or holder.__dict__.get(name) is not method:
                    continue
                if (own := direct.bound(getattr(self, name), self._threads)) is not None:
                    self.__dict__[name] = own

    @cached_property
    def _whole(self) -> tuple[list[str], list[str], list[str]]:
        """The functions but rollouts and those of a base that moves as it is told; the arrays that
        they take, and those that they give."""
        apart = (*ROLLOUTS, *GIVEN_BASE)
        functions = [name for name in self.functions if name not in apart]
        needed = [name for own in functions for name in self._takes(own)]
        given = [name for own in functions for name in gives(self._backend.design, own)]
        return functions, list(dict.fromkeys(needed)), list(dict.fromkeys(given))
