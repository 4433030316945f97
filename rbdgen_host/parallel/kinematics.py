"""Where frames of links are and how they move, and the centre of mass, by compiled functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from rbdgen.api.folder import InputError
from rbdgen.design.choices import EVERY
from rbdgen.design.design import Design, of_functions
from rbdgen.design.functions import REFERRED
from rbdgen.design.loading import resolved
from rbdgen.robot.frames import ALIGNED
from rbdgen.robot.model import Robot
from rbdgen.robot.xml_lines import did_you_mean

from .algebra import Array
from .jax_installed import jax, jnp
from .native import NATIVE, Native
from .rules import differentiable, is_none, mv, step_of, summed
from .straight import GRAPH, Straight, called

COMPILED = (NATIVE, GRAPH)  # methods that are the compiler's, not one of the formulations
Links = str | Sequence[str]


class Observing(ABC):
    """Methods of `Dynamics` of what is seen from the world.

    ``frames``: the names of F links, fixed ones, too; "all": of each joint the link that it moves.
    ``reference``: what velocities and Jacobians are in, the linear part first, as
    `rbdgen.golden` has it: "local-world-aligned", "local" or "world". ``method``: "native" or
    "graph"; None, `frame_method`. RobotError where no joint moves a link, and for another
    reference.
    """

    @abstractmethod
    def _usual(self, on_cpu: str, elsewhere: str) -> str:
        """The method by default, if the compiled one is not."""

    @abstractmethod
    def _call(self, which: tuple[Any, ...], **arrays: Any) -> Any:
        """The results of a function by a method, perhaps at frames, at arrays of states."""

    @property
    def frame_method(self) -> str:
        """The method of these by default: "native" on a CPU, where the robot's file is compiled;
        without file or C++ compiler, and elsewhere, "graph"."""
        return self._usual(GRAPH, GRAPH)

    def frame_poses(
        self, q: Any, frames: Links = EVERY, method: str | None = None
    ) -> tuple[Array, Array]:
        """Positions (…, F, 3) and rotations (…, F, 3, 3): x_world = R x_frame + p."""
        return self._seen("pose", method, _names(frames), ALIGNED, q=q)

    def frame_jacobians(
        self, q: Any, frames: Links = EVERY, reference: str = ALIGNED, method: str | None = None
    ) -> Array:
        """J (…, F, 6, nv): the frames' velocities are J q̇."""
        return self._seen("jac", method, _names(frames), reference, q=q)

    def frame_velocities(
        self,
        q: Any,
        qd: Any,
        frames: Links = EVERY,
        reference: str = ALIGNED,
        method: str | None = None,
    ) -> Array:
        """Twists (…, F, 6), linear then angular [m/s; rad/s]."""
        return self._seen("twist", method, _names(frames), reference, q=q, qd=qd)

    def center_of_mass(self, q: Any, method: str | None = None) -> Array:
        """The centre of mass (…, 3) of all bodies that joints carry."""
        return self._seen("com", method, q=q)

    def center_of_mass_jacobian(self, q: Any, method: str | None = None) -> Array:
        """J (…, 3, nv): the centre of mass moves with J q̇."""
        return self._seen("jcom", method, q=q)

    def _seen(self, function: str, method: str | None, *frames: Any, **arrays: Any) -> Any:
        method = self.frame_method if method is None else method
        known(method, COMPILED)
        return self._call((function, method, *frames), **arrays)


class KinematicRules:
    """`Native` functions of frames and masses that can be differentiated, to any order.

    The derivatives of poses, of velocities and of the centre of mass are Jacobians, those of
    Jacobians JAX's own of ``graph``; all along the tangent space of q. ``integrate``: q ⊕ v. Frames
    whose poses are differentiated have Jacobians that are local-world-aligned.
    """

    def __init__(
        self,
        compute: Native,
        graph: Straight,
        robot: Robot,
        integrate: Callable[[Array, Array], Array],
    ) -> None:
        self._graph, self._robot, self._integrate = graph, robot, integrate
        changes: Mapping[str, Callable[..., Any]] = {
            "pose": self._change_of_poses,
            "twist": self._change_of_velocities,
            "com": self._change_of_center,
            "jac": partial(self._change_of_matrix, "jac"),
            "jcom": partial(self._change_of_matrix, "jcom"),
        }
        self.functions: Mapping[str, Callable[..., Any]] = {
            name: differentiable(partial(called, compute, name), change)
            for name, change in changes.items()
        }

    def _change_of_poses(self, x: Sequence[Array], dx: Sequence[Any]) -> tuple[Any, Any]:
        """Dp = J_linear v, and dR = (J_angular v) × R."""
        p, R = self.functions["pose"](*x)
        v = step_of(self._robot, x[0], dx[0])
        if v is None:
            return (p, R), (jnp.zeros_like(p), jnp.zeros_like(R))
        change = _moved(self.functions["jac"](*x), v)
        return (p, R), (change[..., :3], jnp.cross(change[..., 3:, None], R, axis=-2))

    def _change_of_velocities(self, x: Sequence[Array], dx: Sequence[Any]) -> tuple[Array, Array]:
        """D(J q̇) = (DJ) q̇ + J dq̇."""
        q, qd = x
        twists = self.functions["twist"](*x)
        J, change = self._change_of_matrix("jac", (q,), dx[:1])
        by_qd = None if is_none(dx[1]) else _moved(J, dx[1])
        return twists, summed(twists, [_moved(change, qd), by_qd])

    def _change_of_center(self, x: Sequence[Array], dx: Sequence[Any]) -> tuple[Array, Array]:
        c = self.functions["com"](*x)
        step = step_of(self._robot, x[0], dx[0])
        return c, summed(c, [mv(self.functions["jcom"](*x), step)])

    def _change_of_matrix(
        self, name: str, x: Sequence[Array], dx: Sequence[Any]
    ) -> tuple[Array, Array]:
        (q,), J = x, self.functions[name](*x)
        v = step_of(self._robot, q, dx[0])
        if v is None:
            return J, jnp.zeros_like(J)
        compute = self._graph.functions[name]
        moved = jax.jvp(lambda v: compute(self._integrate(q, v)), (jnp.zeros_like(v),), (v,))
        return J, moved[1]


def _names(frames: Any) -> tuple[str, ...]:
    if not isinstance(frames, Iterable):
        raise InputError(f"frames: {frames!r} is no link's name; one, several, or {EVERY}")
    return (frames,) if isinstance(frames, str) else tuple(frames)


def at_frames(design: Design, robot: Robot, frames: Sequence[str], reference: str) -> Design:
    """The design of functions at frames of ``robot``; RobotError where it has none such."""
    own = of_functions(design, REFERRED, frames=frames, reference=reference)
    return resolved(own, robot)


def known(method: str, methods: Any) -> None:
    """Raise InputError unless there is such a method, with the one that may be meant."""
    if method not in methods:
        hint = did_you_mean(method, methods, f"; one of {', '.join(methods)}")
        raise InputError(f"method: {method!r} is unknown{hint}")


def _moved(J: Array, v: Any) -> Array:
    """J v (…, F, 6) of J (…, F, 6, nv) and v (…, nv)."""
    return jnp.einsum("...fij,...j->...fi", J, v)
