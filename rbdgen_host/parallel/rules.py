"""Derivatives of compiled functions by other compiled functions, as JAX's transformations ask.

Matrices of gradients are along the tangent space of q, as `rbdgen.golden` has them; a change of q
is mapped into it first. Arrays have any leading axes; x is (q, qd, qdd or tau) and f_ext, if there
are forces on links.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jax.custom_derivatives import SymbolicZero

from rbdgen.api.folder import InputError
from rbdgen.design.functions import TOGETHER
from rbdgen.robot.model import Robot

from .algebra import Array
from .jax_installed import jax, jnp
from .native import NATIVE, Native
from .step import tangent

Arrays = tuple[Array, ...]
SLOPES = ("tau", "dtau_dq", "dtau_dqd", "M")
FORWARD_SLOPES = ("qdd", "dqdd_dq", "dqdd_dqd", "Minv")
CURVATURES = ("d2tau_dq2", "d2tau_dqd2", "d2tau_dq_dqd", "dM_dq")


class Rules:
    """`Native` functions that can be differentiated, forwards and backwards.

    ``inverse`` τ, ``mass`` M, ``forward`` q̈; ``slopes`` τ, ∂τ/∂q, ∂τ/∂q̇, M; ``forward_slopes``
    q̈, ∂q̈/∂q, ∂q̈/∂q̇, M⁻¹. Second derivatives are of the function ddid; InputError for third ones,
    RobotError where a robot cannot have a function.
    """

    def __init__(self, compute: Native, robot: Robot) -> None:
        self._compute, self._robot = compute, robot
        self.inverse = differentiable(self._inverse, self._change_of_inverse)
        self.slopes = differentiable(self._slopes, self._change_of_slopes)
        self.mass = differentiable(self._mass, self._change_of_mass)
        self.forward = differentiable(self._forward, self._change_of_forward)
        self.forward_slopes = differentiable(self._forward_slopes, self._change_of_forward_slopes)
        self._curvatures = differentiable(self._second, self._refuse_third)

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions id, m and fd; did and dfd, of which the three matrices alone."""
        return {
            "id": self.inverse,
            "m": self.mass,
            "fd": self.forward,
            "did": lambda *x: self.slopes(*x)[1:],
            "dfd": lambda *x: self.forward_slopes(*x)[1:],
        }

    def _called(self, functions: Sequence[str], last: str, x: Arrays) -> dict[str, Array]:
        names = ("q", "qd", last, "f_ext")
        return self._compute(tuple(functions), dict(zip(names, x, strict=False)))

    def _inverse(self, *x: Array) -> Array:
        return self._called(["id"], "qdd", x)["tau"]

    def _slopes(self, *x: Array) -> Arrays:
        found = self._called(["did", "m"], "qdd", x)
        return tuple(found[name] for name in SLOPES)

    def _second(self, *x: Array) -> Arrays:
        found = self._called(["ddid"], "qdd", x)
        return tuple(found[name] for name in CURVATURES)

    def _mass(self, q: Array) -> Array:
        return self._compute(("m",), {"q": q})["M"]

    def _forward(self, *x: Array) -> Array:
        return self._called(["fd"], "tau", x)["qdd"]

    def _forward_slopes(self, *x: Array) -> Arrays:
        found = self._called(["dfd", TOGETHER["dfd"]], "tau", x)
        return tuple(found[name] for name in FORWARD_SLOPES)

    def _change_of_inverse(self, x: Arrays, dx: Arrays) -> tuple[Array, Array]:
        tau, *slopes = self.slopes(*x)
        steps = self._steps(x, dx)
        return tau, summed(tau, [*map(mv, slopes, steps), self._by_forces(self.inverse, x, dx)])

    def _change_of_slopes(self, x: Arrays, dx: Arrays) -> tuple[Arrays, Arrays]:
        """Dτ as above, and D of the matrices by the curvatures."""
        found = self.slopes(*x)
        steps = self._steps(x, dx)
        by_forces = self._by_forces(self.inverse, x, dx)
        change = summed(found[0], [*map(mv, found[1:], steps), by_forces])
        return found, (change, *self._bent(found, x, dx, steps))

    def _bent(self, found: Arrays, x: Arrays, dx: Arrays, steps: Sequence[Array | None]) -> Arrays:
        """The changes of ∂τ/∂q, ∂τ/∂q̇ and M along ``steps`` of q, q̇ and q̈."""
        by_qq, by_vv, by_qv, dM = self._curvatures(*x)
        dq, dv, da = steps
        forced = self._by_forces(lambda *x: self.slopes(*x)[1], x, dx)
        return (
            summed(found[1], [_along("ijk", by_qq, dq), _along("ijk", by_qv, dv),
                            _along("ikj", dM, da), forced]),
            summed(found[2], [_along("ikj", by_qv, dq), _along("ijk", by_vv, dv)]),
            summed(found[3], [_along("ijk", dM, dq)]),
        )  # fmt: skip

    def _change_of_mass(self, primal: Arrays, change: Arrays) -> tuple[Array, Array]:
        (q,), (M,) = primal, (self.mass(*primal),)
        still = jnp.zeros(M.shape[:-1], M.dtype)
        *_, dM = self._curvatures(q, still, still)
        return M, summed(M, [_along("ijk", dM, step_of(self._robot, q, change[0]))])

    def _change_of_forward(self, x: Arrays, dx: Arrays) -> tuple[Array, Array]:
        qdd, *slopes = self.forward_slopes(*x)
        return qdd, self._change_of_qdd(qdd, slopes, x, dx)

    def _change_of_qdd(self, qdd: Array, slopes: Sequence[Array], x: Arrays, dx: Arrays) -> Array:
        forced = self._by_forces(self.inverse, x, dx)
        return summed(qdd, [*map(mv, slopes, self._steps(x, dx)), mv(-slopes[2], forced)])

    def _change_of_forward_slopes(self, x: Arrays, dx: Arrays) -> tuple[Arrays, Arrays]:
        """Changes of ∂q̈/∂q = −M⁻¹ ∂τ/∂q, ∂q̈/∂q̇ = −M⁻¹ ∂τ/∂q̇ and M⁻¹, with τ at this q̈.

        D(M⁻¹ A) = M⁻¹ (DA − DM M⁻¹ A).
        """
        found = qdd, by_q, by_v, Minv = self.forward_slopes(*x)
        change = self._change_of_qdd(qdd, found[1:], x, dx)
        at = (*x[:2], qdd, *x[3:])
        steps = (*self._steps(x, dx)[:2], change)
        of_q, of_v, of_M = self._bent(self.slopes(*at), at, dx, steps)
        mine = (-_mm(Minv, of_q + _mm(of_M, by_q)), -_mm(Minv, of_v + _mm(of_M, by_v)))
        return found, (change, *mine, -_mm(Minv, _mm(of_M, Minv)))

    def _refuse_third(self, x: Arrays, dx: Arrays) -> Any:
        raise InputError(
            f"method: {NATIVE} has first and second derivatives, and this is a third; take another "
            "method, such as 'axes'"
        )

    def _steps(self, x: Arrays, dx: Arrays) -> list[Array | None]:
        """Changes of q in its tangent space, of qd and of what comes third; None: none."""
        return [step_of(self._robot, x[0], dx[0]), *(None if is_none(d) else d for d in dx[1:3])]

    def _by_forces(self, function: Callable[..., Array], x: Arrays, dx: Arrays) -> Array | None:
        """The change of a function, affine in f_ext, along that of f_ext; None: none.

        ``function`` at rest but for q, with a unit of each force: what forces add depends on q
        alone.
        """
        if len(x) < 4 or is_none(dx[3]):
            return None
        q, qd, *_, f_ext = x
        leading, own = f_ext.shape[:-2], f_ext.shape[-2:]
        size = own[0] * own[1]
        units = jnp.eye(size, dtype=f_ext.dtype).reshape(size, *(1,) * len(leading), *own)
        units = jnp.concatenate([units, 0 * units[:1]])
        units = jnp.broadcast_to(units, (size + 1, *leading, *own))
        found = jax.vmap(lambda f: function(q, 0 * qd, 0 * qd, f))(units)
        found = jnp.moveaxis(found[:-1] - found[-1:], 0, -1)
        return mv(found, dx[3].reshape(*leading, *(1,) * (found.ndim - len(leading) - 2), size))


def differentiable(function: Callable[..., Any], change: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, whose derivative is ``change`` of its arguments and of their changes."""
    made = jax.custom_jvp(lambda *x: function(*x))
    made.defjvp(lambda x, dx: change(x, dx), symbolic_zeros=True)
    return made


def step_of(robot: Robot, q: Array, dq: Any) -> Array | None:
    """The change of q (…, nq) in its tangent space (…, nv); None: none."""
    if is_none(dq):
        return None
    if robot.nq == robot.nv:
        return dq
    flat = (jnp.moveaxis(a.reshape(-1, a.shape[-1]), 0, -1) for a in (q, dq))
    found = jnp.moveaxis(tangent(jnp, robot, *flat), -1, 0)
    return found.reshape(*q.shape[:-1], robot.nv)


def is_none(change: Any) -> bool:
    return isinstance(change, SymbolicZero)


def mv(A: Array, x: Array | None) -> Array | None:
    """A x, (…, i) of (…, i, j) and (…, j)."""
    return None if x is None else (A * x[..., None, :]).sum(-1)


def _mm(A: Array, B: Array) -> Array:
    return A @ B


def _along(axes: str, A: Array, x: Array | None) -> Array | None:
    """Σ A x over the axis k of A (…, i, j, k), whose last three axes are named by ``axes``."""
    return None if x is None else jnp.einsum(f"...{axes},...k->...ij", A, x)


def summed(like: Array, terms: Sequence[Array | None]) -> Array:
    """The sum of the terms that there are; zeros like ``like`` where there is none."""
    there = [term for term in terms if term is not None]
    return sum(there[1:], there[0]) if there else jnp.zeros_like(like)
