"""A robot's dynamics by any of the parallel formulations, in JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from rbdgen.api.folder import InputError
from rbdgen.design.design import Design, promising
from rbdgen.design.effects import refuse_design
from rbdgen.design.loading import load, refuse_unknown
from rbdgen.design.options import DesignChoices
from rbdgen.design.rules import PARALLEL
from rbdgen.golden import tree
from rbdgen.robot.model import Robot

from .algebra import Array
from .formulations import (
    BIAS,
    FORWARD,
    INVERSE,
    MASS,
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
)
from .jax_installed import jax, jnp
from .kinematics import COMPILED, KinematicRules, Observing, at_frames, known
from .links import NUMBERS, Links, links_of
from .native import NATIVE, Native, can_compile
from .passing import Passing
from .refusals import refuse
from .rules import Rules
from .step import integrated
from .straight import GRAPH, Straight

OURS = ("base", "mimic", "gravity", "open_loops", "xacro")  # choices that change the robot
DTYPES = ("float64", "float32")
FEW = 8  # coordinates, of whose graphs XLA compiles in seconds
_ROWS, _COLUMNS = [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]  # of a rotational inertia
SLOPES_OF = {"did": "id", "dfd": "fd"}
ORDER = ("q", "qd", "qdd", "tau", "f_ext")  # of arrays that a function takes


class Dynamics(Observing):
    """A robot's dynamics, of one state or many, by formulations of logarithmic depth.

    Order and conventions of arrays are those of `rbdgen_host.driver.Dynamics`. All arrays share any
    leading shape: q (…, nq); qd, qdd, tau (…, nv); f_ext (…, bodies, 6), force then moment in each
    link's frame. Units are SI, and joints are in the order of `joint_names`. Results are JAX
    arrays. Methods can be called within jax.jit, jax.vmap and jax.jacfwd. Outside of these, each
    compiles once for every method and shape.

    ``robot`` is a URDF, a design file, a shipped robot or a Robot. ``dtype`` is "float64", which
    must be enabled in JAX, or "float32". ``threads`` threads share a large batch of the method
    "native"; 0 is as many as there are cores. ``choices`` are ``base``, ``mimic``, ``gravity``,
    ``open_loops`` and ``xacro`` of a design; the others concern hardware.
    """

    def __init__(
        self,
        robot: str | Path | Robot,
        *,
        dtype: str = "float64",
        threads: int = 0,
        **choices: Unpack[DesignChoices],
    ) -> None:
        if dtype not in DTYPES:
            raise InputError(f"dtype: {dtype!r} is unknown; one of {', '.join(DTYPES)}")
        if dtype == "float64" and not jax.config.read("jax_enable_x64"):
            raise InputError(
                "float64 is switched off in JAX: call jax.config.update('jax_enable_x64', True) "
                "first, or take dtype='float32'"
            )
        self.dtype = jnp.dtype(dtype)
        self.robot, self._design = _loaded(robot, choices)
        self._filed = not isinstance(robot, Robot)
        self._threads = threads
        links = links_of(self.robot)
        self._links = links.arrays(lambda x: jnp.asarray(x, self.dtype))
        self._along = Passing(links.parent)
        self._origin = self  # whose links' numbers a copy has others of
        self._compiled = cache(self._made)
        self._rules = cache(self._ruled)

    @property
    def nq(self) -> int:
        return self.robot.nq

    @property
    def nv(self) -> int:
        return self.robot.nv

    @property
    def joint_names(self) -> list[str]:
        """The joints that move, in the order of q and qd."""
        return list(self.robot.joint_names)

    @property
    def parameters(self) -> Array:
        """(n, 10) of each link that moves, fixed ones merged: mass, first moment, and Ixx, Ixy,
        Iyy, Ixz, Iyz, Izz about the link's origin, as Pinocchio's ``toDynamicParameters``."""
        I = self._links.inertia[..., 0]
        moment = I[:, :3, 3:][:, [2, 0, 1], [1, 2, 0]]
        return jnp.concatenate([I[:, 5, 5:], moment, I[:, _ROWS, _COLUMNS]], -1)

    def with_parameters(self, parameters: Any) -> Dynamics:
        """The same robot with other `parameters`, which may be traced and differentiated.

        Its methods are the formulations, but for "cfa", whose matrices are made beforehand.
        """
        p = jnp.asarray(parameters, self.dtype)
        if p.shape != (self._links.n, 10):
            raise InputError(f"parameters are {p.shape}; expected ({self._links.n}, 10)")
        x, y, z = p[:, 1], p[:, 2], p[:, 3]
        o = 0 * x
        H = jnp.stack([jnp.stack(r, -1) for r in ([o, -z, y], [z, o, -x], [-y, x, o])], -2)
        I = (
            jnp.zeros_like(H)
            .at[:, _ROWS, _COLUMNS]
            .set(p[:, 4:])
            .at[:, _COLUMNS, _ROWS]
            .set(p[:, 4:])
        )
        m = p[:, :1, None] * jnp.eye(3, dtype=self.dtype)
        top, low = (jnp.concatenate(own, -1) for own in ([I, H], [-H, m]))
        inertia: Any = jnp.concatenate([top, low], -2)[..., None]
        return _copy(self._origin, replace(self._links, inertia=inertia))

    @property
    def inverse_method(self) -> str:
        """The method of inverse dynamics by default.

        On a CPU "native", for which the robot's file is compiled; without file or C++ compiler
        "graph" of at most `FEW` coordinates, "serial" of more. Elsewhere "axes".
        """
        return self._usual("serial", "axes")

    @property
    def mass_method(self) -> str:
        """The mass matrix's method by default: "native" or "graph" likewise, else "composite"."""
        return self._usual("composite", "composite")

    @property
    def forward_method(self) -> str:
        """The method of forward dynamics by default: "native" or "graph" likewise, else "serial" on
        a CPU and "hybrid_abia" elsewhere; "jsiia" where a joint mimics another."""
        if self._links.mimics:
            return self._usual("jsiia", "jsiia")
        return self._usual("serial", "hybrid_abia")

    def _usual(self, on_cpu: str, elsewhere: str) -> str:
        if jax.default_backend() != "cpu":
            return elsewhere
        if self._origin is not self:
            return on_cpu
        if self._filed and can_compile():
            return NATIVE
        return GRAPH if self.nv <= FEW else on_cpu

    def inverse_dynamics(
        self, q: Any, qd: Any, qdd: Any, method: str | None = None, f_ext: Any = None
    ) -> Array:
        """The efforts τ (…, nv), by ``method`` or, if None, by `inverse_method`.

        "native" is compiled C++, "graph" the compiler's graph in JAX, and "serial" goes link by
        link. "link", "world" and "axes" are scans in the links' frames, in the base's, or along the
        base's axes.
        """
        method = self.inverse_method if method is None else method
        known(method, (*INVERSE, *COMPILED))
        return self._call(("id", method), q=q, qd=qd, qdd=qdd, f_ext=f_ext)

    def mass_matrix(self, q: Any, method: str | None = None) -> Array:
        """The mass matrix M (…, nv, nv), by ``method`` or, if None, by `mass_method`.

        "native" and "graph" are those of `inverse_dynamics`. "composite" sums inertias; "columns"
        is the inverse dynamics of each unit acceleration.
        """
        method = self.mass_method if method is None else method
        known(method, (*MASS, *COMPILED))
        return self._call(("m", method), q=q)

    def forward_dynamics(
        self, q: Any, qd: Any, tau: Any, method: str | None = None, f_ext: Any = None
    ) -> Array:
        """The accelerations q̈ (…, nv), by ``method`` or, if None, by `forward_method`.

        "native" and "graph" are those of `inverse_dynamics`. "serial" computes articulated bodies
        link by link, and "jsiia" inverts the mass matrix. "hybrid_abia" computes articulated
        inertias link by link and all else by scans; "scanned_abia" scans these, too. "cfa" solves
        for constraint forces by odd-even elimination.

        Raises RobotError for a method that the robot does not support, with the link and the
        remedy.
        """
        method = self.forward_method if method is None else method
        known(method, (*FORWARD, *COMPILED))
        if method not in COMPILED:
            self._refuse(method)
        return self._call(("fd", method), q=q, qd=qd, tau=tau, f_ext=f_ext)

    def inverse_dynamics_derivatives(
        self, q: Any, qd: Any, qdd: Any, method: str | None = None, f_ext: Any = None
    ) -> tuple[Array, Array, Array]:
        """∂τ/∂q along the tangent space of q, ∂τ/∂q̇ and ∂τ/∂q̈ = M, (…, nv, nv) each."""
        method = self.inverse_method if method is None else method
        known(method, (*INVERSE, *COMPILED))
        return self._call(("did", method), q=q, qd=qd, qdd=qdd, f_ext=f_ext)

    def forward_dynamics_derivatives(
        self, q: Any, qd: Any, tau: Any, method: str | None = None, f_ext: Any = None
    ) -> tuple[Array, Array, Array]:
        """∂q̈/∂q along the tangent space of q, ∂q̈/∂q̇ and ∂q̈/∂τ = M⁻¹, (…, nv, nv) each.

        Raises RobotError as `forward_dynamics` does.
        """
        method = self.forward_method if method is None else method
        known(method, (*FORWARD, *COMPILED))
        if method not in COMPILED:
            self._refuse(method)
        return self._call(("dfd", method), q=q, qd=qd, tau=tau, f_ext=f_ext)

    def integrate(self, q: Any, v: Any) -> Array:
        """q ⊕ v (…, nq), as `rbdgen.golden.integrate` computes it.

        The derivative by ``v`` at 0 gives gradients along a floating base's tangent space.
        """
        return self._call(("step", ""), q=q, qd=v)

    def _call(self, which: tuple[Any, ...], **arrays: Any) -> Any:
        shapes = {"q": (self.nq,), "f_ext": (len(self.robot.moving), 6)}
        leading: tuple[int, ...] | None = None
        given = {}
        for name, values in arrays.items():
            if values is None:
                continue
            array = jnp.asarray(values, self.dtype)
            own = shapes.get(name, (self.nv,))
            before = array.shape[: max(array.ndim - len(own), 0)]
            if array.shape != before + own:
                several = ", ".join(map(str, ("N", *own)))
                raise InputError(f"{name} is {array.shape}; expected {own} or ({several})")
            if leading is not None and before != leading:
                raise InputError(
                    f"{name} is {array.shape}; q is {(*leading, self.nq)}, which is another "
                    "number of states"
                )
            leading, given[name] = before, array
        return self._compiled(which)(**given)

    def _made(self, which: tuple[Any, ...]) -> Callable[..., Any]:
        function, method, *frames = which
        if function in SLOPES_OF and method != NATIVE:
            return jax.jit(partial(self._slopes, SLOPES_OF[function], method))
        if method in COMPILED:
            rule = self._rules(method, *frames)[function]
            return jax.jit(lambda **arrays: rule(*(arrays[n] for n in ORDER if n in arrays)))
        made: dict[str, Callable[..., Array]] = {
            "id": self._inverse,
            "m": self._mass,
            "fd": self._forward,
            "step": self._step,
        }

        def run(**arrays: Array) -> Array:
            leading = arrays["q"].shape[:-1]
            # states last, inside
            flat = {
                name: jnp.moveaxis(x.reshape(-1, *x.shape[len(leading) :]), 0, -1)
                for name, x in arrays.items()
            }
            result = jnp.moveaxis(made[function](method, **flat), -1, 0)
            return result.reshape(*leading, *result.shape[1:])

        return jax.jit(run)

    def _ruled(self, method: str, *frames: Any) -> Mapping[str, Callable[..., Any]]:
        """The compiler's functions by name, at ``frames`` in a frame of reference; InputError for a
        Robot, which has no file, and for other parameters."""
        if self._origin is not self:
            raise InputError(
                f"method: {method} has the file's numbers as constants; this robot has others, or "
                "came through JAX: take a formulation, such as 'serial', "
                "if there is one, or the Dynamics of the file"
            )
        design = at_frames(self._design, self.robot, *frames) if frames else self._design
        graph = Straight(design, self.robot)
        if method == GRAPH:
            return graph.functions
        if not self._filed:
            raise InputError(
                f"method: {NATIVE} is compiled from a robot's file; this one came as a Robot"
            )
        native = Native(design, self.robot, self.dtype, self._threads, lambda _: None)
        seen = KinematicRules(native, graph, self.robot, self.integrate).functions
        return {**Rules(native, self.robot).functions, **seen}

    def _refuse(self, method: str) -> None:
        refuse(self._links, method)
        if method == "cfa" and self._origin is not self:
            raise InputError("method: cfa has the file's inertias as constants; take 'serial'")

    def _slopes(self, function: str, method: str, **arrays: Array) -> tuple[Array, Array, Array]:
        """The derivatives of ``function`` by q, qd and what comes third: a jvp of each unit."""
        names = [name for name in ORDER if name in arrays]
        q, *rest = (arrays[name] for name in names)
        compute = self._compiled((function, method))

        def of(v: Array, *x: Array) -> Array:
            moved = (self.integrate(q, v), *x, *rest[2:])
            return compute(**dict(zip(names, moved, strict=True)))

        zero = jnp.zeros_like(rest[0])
        units = jnp.eye(3 * self.nv, dtype=self.dtype).reshape(-1, 3, self.nv)
        units = jnp.broadcast_to(
            units[(slice(None), *(None,) * (zero.ndim - 1))],
            (3 * self.nv, *zero.shape[:-1], 3, self.nv),
        )

        def along(unit: Array) -> Array:
            change = tuple(unit[..., k, :] for k in range(3))
            return jax.jvp(of, (zero, *rest[:2]), change)[1]

        found = jnp.moveaxis(jax.vmap(along)(units), 0, -1)
        by_q, by_qd, by_last = jnp.split(found, 3, -1)
        return by_q, by_qd, by_last

    def _inverse(
        self, method: str, q: Array, qd: Array, qdd: Array, f_ext: Array | None = None
    ) -> Array:
        forces = self._on_links(f_ext, q)
        return inverse_dynamics(self._links, self._along, method, q, qd, qdd, forces)

    def _mass(self, method: str, q: Array) -> Array:
        return mass_matrix(self._links, self._along, method, q)

    def _forward(
        self, method: str, q: Array, qd: Array, tau: Array, f_ext: Array | None = None
    ) -> Array:
        rest = tau - self._inverse(BIAS, q, qd, jnp.zeros_like(qd), f_ext)
        return forward_dynamics(self._links, self._along, method, q, rest)

    def _step(self, _: str, q: Array, qd: Array) -> Array:
        return integrated(jnp, self.robot, q, qd)

    def _on_links(self, f_ext: Array | None, like: Array) -> Array:
        """Moment and force (n, 6, N) on each link in its frame; ``f_ext`` (bodies, 6, N)."""
        if f_ext is None:
            return jnp.zeros((self._links.n, 6, like.shape[-1]), self.dtype)
        return jnp.einsum("nij,njs->nis", jnp.asarray(self._to_links, self.dtype), f_ext)

    @cached_property
    def _to_links(self) -> Any:
        """(n, 6, 6) of a force, then moment, in the frame that the file gave the link."""
        units = np.broadcast_to(np.eye(6)[:, None], (6, self._links.n, 6))
        return np.moveaxis(tree.body_forces(self._links.robot, units), 1, 2)


def _copy(origin: Dynamics, links: Links) -> Dynamics:
    """The robot with other numbers of its links."""
    made = copy(origin)
    made._links = links
    made._compiled, made._rules = cache(made._made), cache(made._ruled)
    return made


def _flat(dynamics: Dynamics) -> tuple[tuple[Array, ...], Dynamics]:
    return tuple(getattr(dynamics._links, name) for name in NUMBERS), dynamics._origin


def _whole(origin: Dynamics, numbers: Sequence[Array]) -> Dynamics:
    return _copy(origin, replace(origin._links, **dict(zip(NUMBERS, numbers, strict=True))))


jax.tree_util.register_pytree_node(Dynamics, _flat, _whole)


def _loaded(robot: str | Path | Robot, choices: Mapping[str, Any]) -> tuple[Robot, Design]:
    """The robot, and its design."""
    refuse_unknown(choices, Dynamics)
    for name in choices:
        if name not in OURS:
            raise InputError(f"{name} is a choice of hardware; here there are {', '.join(OURS)}")
    if isinstance(robot, Robot):
        if choices:
            raise InputError(f"{next(iter(choices))}: a Robot has its own; leave it out")
        return robot, promising(Design(robot.name))
    design, loaded = load(robot, **choices)
    refuse_design(design, str(robot), PARALLEL)
    return loaded, design
