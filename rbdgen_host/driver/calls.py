"""Calls by Pinocchio's names, in its order and conventions: what each takes and gives, of what."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import ArrayLike

from rbdgen.api.folder import InputError
from rbdgen.design.functions import GIVEN_BASE, ROLLOUTS
from rbdgen.robot.xml_lines import did_you_mean

from .array_layout import into
from .configuration import Configuration
from .futures import Ticket
from .kinematics_calls import Observing, Out
from .words import Array

Derivatives = tuple[Array, Array, Array | None]


def _and(*others: ArrayLike | None) -> tuple[ArrayLike, ...]:
    """The optional arguments that are present."""
    return tuple(own for own in others if own is not None)


class Calls(Observing, Configuration):
    """Methods of `Dynamics`, each of a function of the design.

    q (…, nq), v, a, tau (…, nv), Minv (…, nv, nv), f_ext (…, bodies, 6): shapes, frames and units
    are those of `Dynamics`, and ``out`` is what it says there.
    """

    @property
    @abstractmethod
    def functions(self) -> tuple[str, ...]:
        """The functions of the design, by the names of `NEEDS`."""

    @abstractmethod
    def submit(self, call: str, *arrays: ArrayLike, f_ext: ArrayLike | None = None) -> Ticket:
        """Queue a call."""

    @abstractmethod
    def _at_once(
        self, call: str, arrays: tuple[ArrayLike, ...], f_ext: ArrayLike | None = None
    ) -> Any:
        """The compiled program's result for a call; None if no program takes these arrays."""

    def rnea(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        out: Out = None,
    ) -> Array:
        """Inverse dynamics: τ (…, nv), by the function id."""
        return self._one("rnea", q, v, a, f_ext=f_ext, out=out)

    def aba(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        a: ArrayLike | None = None,
        Minv: ArrayLike | None = None,
        out: Out = None,
    ) -> Array:
        """Forward dynamics: q̈ (…, nv), by the function fd.

        ``a`` is the acceleration of a base whose motion is given. For a design with
        ``root="each"``, it selects that role for these states; the base's entries of τ are then not
        read, and those of the result are zero. ``Minv`` is M⁻¹ of a state nearby, with
        ``inverse="near"``.
        """
        call = self._of_base("aba", a is not None)
        return self._one(call, q, v, tau, *_and(a, Minv), f_ext=f_ext, out=out)

    def crba(self, q: ArrayLike, *, out: Out = None) -> Array:
        """The mass matrix M (…, nv, nv), by the function m."""
        return self._one("crba", q, out=out)

    def computeMinverse(
        self, q: ArrayLike, *, Minv: ArrayLike | None = None, given: bool = False, out: Out = None
    ) -> Array:
        """The inverse mass matrix M⁻¹ (…, nv, nv), by the function minv.

        ``Minv`` is that of a state nearby, with ``inverse="near"``. ``given``, for a design with
        ``root="each"``, is the inverse for a base that is held; its rows and columns of the base
        are zero.
        """
        return self._one(self._of_base("computeMinverse", given), q, *_and(Minv), out=out)

    def computeRNEADerivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        out: Out = None,
    ) -> Derivatives:
        """∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M, each (…, nv, nv), by the functions did and m.

        M is None where the design lacks m.
        """
        return self._three("computeRNEADerivatives", q, v, a, f_ext=f_ext, out=out)

    def computeABADerivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        a: ArrayLike | None = None,
        Minv: ArrayLike | None = None,
        out: Out = None,
    ) -> Derivatives:
        """∂q̈/∂q, ∂q̈/∂v, ∂q̈/∂τ = M⁻¹, each (…, nv, nv), by the functions dfd and minv.

        M⁻¹ is None where the design lacks minv. ``a`` is that of `aba`. ``Minv`` is M⁻¹ of a state
        nearby, with ``inverse="near"``; the M⁻¹ that is returned serves the next state.
        """
        call = self._of_base("computeABADerivatives", a is not None)
        return self._three(call, q, v, tau, *_and(a, Minv), f_ext=f_ext, out=out)

    def computeABADerivativesFromMinverse(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        Minv: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        out: Out = None,
    ) -> Derivatives:
        """∂q̈/∂q, ∂q̈/∂v and M⁻¹, each (…, nv, nv), at a known acceleration a and M⁻¹.

        The function is difd. M⁻¹ is returned as it was given.
        """
        call = "computeABADerivativesFromMinverse"
        return self._three(call, q, v, a, Minv, f_ext=f_ext, out=out)

    def ComputeRNEASecondOrderDerivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        out: Out = None,
    ) -> tuple[Array, Array, Array, Array]:
        """∂²τ/∂q∂q, ∂²τ/∂v∂v, ∂²τ/∂q∂v and ∂M/∂q, each (…, nv, nv, nv), by the function ddid.

        Entry [i, j, k] is the derivative of τ_i by entry j of the first variable and entry k of the
        second. Entry [i, j, k] of the last is ∂M_ij/∂q_k. The first is symmetric in j and k, except
        for two directions of the same floating or planar joint.
        """
        return self._found("ddid", q, v, a, f_ext=f_ext, out=out)

    ddid = ComputeRNEASecondOrderDerivatives

    def computeJointTorqueRegressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None
    ) -> Array:
        """The regressor Y (…, nv, 10 · bodies) of τ = Y π, by the function regressor.

        π has ten parameters of each body, in the order of the manifest's ``body_names`` and in the
        frame of its link. They are its mass m, m c (3), and the inertia about the frame's origin,
        xx, xy, yy, xz, yz, zz. τ is the effort of rigid bodies without external forces.
        """
        return self._one("computeJointTorqueRegressor", q, v, a, out=out)

    regressor = computeJointTorqueRegressor

    def base_regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None) -> Array:
        """The regressor Yb (…, nv, base parameters) of τ = Yb π_b, by the function base_regressor.

        π_b are the fewest combinations of π that determine τ; `base_parameters` lists them.
        """
        return self._one("base_regressor", q, v, a, out=out)

    def step(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        Minv: ArrayLike | None = None,
        out: Out = None,
    ) -> tuple[Array, Array, Array, Array]:
        """A step of semi-implicit Euler and its derivatives, by the function step.

        Returns q₊ (…, nq) and v₊ (…, nv) after the design's ``step`` seconds. A (…, 2 nv, 2 nv) is
        their derivative by q and v, and B (…, 2 nv, nv) that by τ.
        """
        return self._found("step", q, v, tau, *_and(Minv), f_ext=f_ext, out=out)

    def constraintDynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        out: Out = None,
    ) -> tuple[Array, Array]:
        """Forward dynamics while the design's frames are held where they are, by the function cfd.

        Returns q̈ (…, nv) and the constraint forces of the F frames (…, F, 6). They are force then
        moment, along the world's axes at the frame's origin; the moments of point contacts are
        zero.
        """
        return self._found("cfd", q, v, tau, f_ext=f_ext, out=out)

    cfd = constraintDynamics

    def dcfd(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        out: Out = None,
    ) -> tuple[Array, ...]:
        """The results of `constraintDynamics`, then those of
        `computeConstraintDynamicsDerivatives`.
        """
        found: tuple[Array, ...] = self._found("dcfd", q, v, tau, f_ext=f_ext, out=out)
        return found

    def computeConstraintDynamicsDerivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        out: Out = None,
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        """∂q̈/∂q, ∂q̈/∂v, ∂q̈/∂τ, each (…, nv, nv), and ∂λ/∂q, ∂λ/∂v, ∂λ/∂τ, each (…, F, 6, nv).

        The function is dcfd. The derivatives are taken at the q̈ and λ of `constraintDynamics`.
        """
        call = "computeConstraintDynamicsDerivatives"
        found: tuple[Array, Array, Array, Array, Array, Array]
        found = self._found(call, q, v, tau, f_ext=f_ext, out=out)
        return found

    def rollout(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        h: ArrayLike,
        steps: ArrayLike,
        rule: str = "rk4",
        f_ext: ArrayLike | None = None,
        *,
        out: Out = None,
    ) -> tuple[Array, Array]:
        """q and v, each (…, nv), after ``steps`` steps of ``h`` seconds, with tau and f_ext held
        constant.

        ``h`` and ``steps`` are numbers, or arrays (…,). ``rule`` is "rk4", the classical rule of
        Runge and Kutta, or "euler", semi-implicit; these are also the functions' names. A step is
        the multiple of 2^-22 s that is nearest to h, with all back ends; the longest is 0.0117 s.
        Angles of continuous joints are returned within ±π.
        """
        if rule not in ROLLOUTS:
            hint = did_you_mean(rule, ROLLOUTS, f"; one of {', '.join(ROLLOUTS)}")
            raise InputError(f"rule: {rule!r} is unknown{hint}")
        found = self.submit(rule, q, v, tau, h, steps, f_ext=f_ext).result()
        last_q, last_v = into(rule, out, found)
        return last_q, last_v

    def _of_base(self, call: str, given: bool) -> str:
        """The call, or that whose base moves as it is told, of a design whose root is each."""
        told = not GIVEN_BASE.keys().isdisjoint(self.functions)
        return f"{call}_given" if given and told else call

    def _one(
        self, call: str, *arrays: ArrayLike, f_ext: ArrayLike | None = None, out: Out = None
    ) -> Array:
        found: Array = self._found(call, *arrays, f_ext=f_ext, out=out)
        return found

    def _found(
        self, call: str, *arrays: ArrayLike, f_ext: ArrayLike | None = None, out: Out = None
    ) -> Any:
        found = self._at_once(call, arrays, f_ext)
        if not found:
            found = self.submit(call, *arrays, f_ext=f_ext).result()
        elif len(found) == 1:
            (found,) = found
        return into(call, out, found)

    def _three(
        self, call: str, *arrays: ArrayLike, f_ext: ArrayLike | None = None, out: Out = None
    ) -> Derivatives:
        by_q, by_v, by_last = self._found(call, *arrays, f_ext=f_ext, out=out)
        return by_q, by_v, by_last
