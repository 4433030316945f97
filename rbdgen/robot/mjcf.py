"""A robot in MJCF as a URDF that says the same, by way of MuJoCo's own compiled model.

The compiled model has every default, angle, orientation, frame and geometry's inertia worked out,
so that none of MJCF's compiler settings is read here. Joints become a chain, each at its anchor:

* a body with several joints gets a link without mass for each but the last;
* q is MuJoCo's qpos: a joint's ``ref`` is in its placement;
* a link's frame stands at its body's last hinge's anchor, turned as the body.

What MJCF has and this package has not is a note each, in the URDF itself (``NOTE``).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from ..system.notes import changing
from .model import Array, RobotError
from .unread import few
from .urdf_elements import NOTE
from .xml_lines import one_line, quoted

if TYPE_CHECKING:
    import mujoco

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
EARTH = (0.0, 0.0, -9.81)  # a design's gravity, unless it says another


def urdf_of_mjcf(source: Path | str, shown: str) -> str:
    """The URDF of an MJCF file, or of a text; ``shown``: what messages call it, and, without its
    folders, notes.

    RobotError, one line: MuJoCo is not installed or refuses the file, or a joint turns as a ball.
    """
    try:
        import mujoco
    except ModuleNotFoundError:
        raise RobotError(
            f'{shown}: is MJCF, which MuJoCo reads: pip install "rbdgen[robots]"'
        ) from None
    try:
        if isinstance(source, Path):
            spec = mujoco.MjSpec.from_file(str(source))
        else:
            spec = mujoco.MjSpec.from_string(source)
        model = spec.compile()
    except (ValueError, OSError) as error:
        said = one_line(" ".join(str(error).removeprefix("Error: ").split()), 300)
        raise RobotError(f"{shown}: MuJoCo refuses it: {said}") from None
    return _Conversion(model, spec.modelname, shown, mujoco.__version__).text()


class _Conversion:
    """One compiled model on its way to a text."""

    def __init__(self, model: mujoco.MjModel, name: str, shown: str, version: str) -> None:
        self.model, self.name, self.shown, self.version = model, name, shown, version
        self.bodies = [model.body(i).name or f"body{i}" for i in range(model.nbody)]
        self.joints = [model.joint(i).name or f"joint{i}" for i in range(model.njnt)]
        self.taken = {*self.bodies}
        self.offsets = [np.zeros(3)]  # each body's link frame, in the body's own
        self.moved: list[str] = []  # links whose frame is not their body's

    def text(self) -> str:
        """The whole URDF."""
        lines = [line for i in range(self.model.nbody) for line in self._body(i)]
        notes = [f"MJCF, converted by way of MuJoCo {self.version}", *self._notes()]
        name = Path(self.shown).name
        said = [f"  <{NOTE} text={quoteattr(f'{name}: {note}')}/>" for note in notes]
        head = f'<robot name={quoteattr(self.name)} version="1.1" xmlns:rbdgen="rbdgen">'
        return "\n".join([head, *said, *lines, "</robot>"]) + "\n"

    def _body(self, i: int) -> Iterator[str]:
        """A body's joints, each with its link; the last link is the body."""
        model = self.model
        body, parent = self.bodies[i], self.bodies[model.body_parentid[i]]
        if i == 0:
            yield f"  <link name={quoteattr(body)}/>"
            return
        start, quaternion = model.body_pos[i], _xyzw(model.body_quat[i])
        at = -self.offsets[model.body_parentid[i]]  # the parent body's frame, in its link's
        first, many = int(model.body_jntadr[i]), int(model.body_jntnum[i])
        if not many:
            self.offsets.append(np.zeros(3))
            name = self._unique(f"{body}_fixed", self.joints)
            yield from _joint(name, "fixed", parent, body, at + start, quaternion)
            yield self._link(i)
            return
        anchor = np.zeros(3)
        for k in range(first, first + many):
            kind, last = int(model.jnt_type[k]), k == first + many - 1
            child = body if last else self._unique(f"{body}_{self.joints[k]}", self.taken)
            if kind == BALL:
                raise RobotError(
                    f"{self.shown}: joint {quoted(self.joints[k])}: turns as a ball, which no "
                    "joint here does; write three hinges"
                )
            if kind == FREE:
                yield from _joint(self.joints[k], "floating", parent, child, np.zeros(3), _NONE)
            else:
                before = anchor
                anchor = np.array(model.jnt_pos[k]) if kind == HINGE else anchor
                if k == first:
                    place = at + start + _turned(quaternion, anchor)
                else:
                    place, quaternion = anchor - before, _NONE
                yield from self._moving(k, parent, child, place, quaternion)
            if not last:
                yield f"  <link name={quoteattr(child)}/>"
            parent = child
        self.offsets.append(anchor)
        if anchor.any():
            self.moved.append(body)
        yield self._link(i)

    def _moving(
        self, k: int, parent: str, child: str, place: Array, quaternion: Array
    ) -> Iterator[str]:
        """A hinge or slide, its position 0 moved by MuJoCo's ``ref``."""
        model = self.model
        ref, axis = float(model.qpos0[model.jnt_qposadr[k]]), np.array(model.jnt_axis[k])
        if model.jnt_type[k] == HINGE:
            half = -ref / 2
            turn = np.array([*np.sin(half) * axis, np.cos(half)])
            quaternion = _product(quaternion, turn) if ref else quaternion
            kind = "revolute" if model.jnt_limited[k] else "continuous"
        else:
            place = place - ref * _turned(quaternion, axis)
            kind = "prismatic"
        dof = int(model.jnt_dofadr[k])
        most = np.abs(model.jnt_actfrcrange[k]).max() if model.jnt_actfrclimited[k] else 0.0
        inside = [f'<axis xyz="{_numbers(axis)}"/>']
        lower, upper = model.jnt_range[k] if model.jnt_limited[k] else (0.0, 0.0)  # 0, 0: none
        if model.jnt_limited[k] or most:
            said = f'lower="{float(lower)!r}" upper="{float(upper)!r}" effort="{float(most)!r}"'
            inside.append(f'<limit {said} velocity="0"/>')
        drive = {
            "damping": model.dof_damping[dof],
            "friction": model.dof_frictionloss[dof],
            "armature": model.dof_armature[dof],
        }
        if any(drive.values()):
            said = " ".join(f'{key}="{float(value)!r}"' for key, value in drive.items() if value)
            inside.append(f"<dynamics {said}/>")
        yield from _joint(self.joints[k], kind, parent, child, place, quaternion, inside)

    def _link(self, i: int) -> str:
        """A body's mass, centre of mass and principal moments, where MuJoCo has them."""
        model, name = self.model, quoteattr(self.bodies[i])
        if not model.body_mass[i] and not model.body_inertia[i].any():
            return f"  <link name={name}/>"
        xx, yy, zz = (float(value) for value in model.body_inertia[i])
        at = _origin(model.body_ipos[i] - self.offsets[i], _xyzw(model.body_iquat[i]))
        return (
            f'  <link name={name}><inertial>{at}<mass value="{float(model.body_mass[i])!r}"/>'
            f'<inertia ixx="{xx!r}" ixy="0" ixz="0" iyy="{yy!r}" iyz="0" izz="{zz!r}"/>'
            "</inertial></link>"
        )

    def _notes(self) -> Iterator[str]:
        """One line for each thing that the file has and this package has not."""
        model = self.model
        free = [name for k, name in enumerate(self.joints) if model.jnt_type[k] == FREE]
        if free:
            yield (
                f"{few(free)}: free; its velocity here is the body's twist in its own frame, "
                "linear then angular, and its quaternion x, y, z, w; MuJoCo's is linear in the "
                "world's frame, and w, x, y, z"
            )
            for what, values in (
                ("damping", model.dof_damping),
                ("friction loss", model.dof_frictionloss),
                ("armature", model.dof_armature),
            ):
                own = [
                    name
                    for k, name in enumerate(self.joints)
                    if model.jnt_type[k] == FREE and values[model.jnt_dofadr[k] :][:6].any()
                ]
                if own:
                    yield changing(f"{what} of {few(own)}: left out; it is free")
        for what, values in (
            ("polynomial damping", getattr(model, "dof_dampingpoly", None)),
            ("damping of actuators", getattr(model, "actuator_damping", None)),
            ("armature of actuators", getattr(model, "actuator_armature", None)),
        ):
            if values is not None and np.any(values):
                yield changing(f"{what}: left out; a design's joints: may say damping and armature")
        if self.moved:
            named = ", ".join(self.moved)
            yield f"at their joint's anchor, not at their body's frame: frames of links {named}"
        if not np.allclose(model.opt.gravity, EARTH, rtol=0, atol=1e-12):
            gravity = " ".join(f"{float(g):g}" for g in model.opt.gravity)
            yield changing(f"its gravity is a design's to say: --gravity {gravity}")
        if model.opt.density or model.opt.viscosity:
            yield changing("density or viscosity of a medium: left out")
        springs = [name for k, name in enumerate(self.joints) if model.jnt_stiffness[k]]
        if springs:
            yield changing(f"stiffness of {few(springs)}: left out; joints have no springs")
        if model.body_gravcomp.any():
            yield changing("gravcomp: left out; gravity acts on every body")
        if np.any(model.geom_contype) or np.any(model.geom_conaffinity):
            yield "contacts: left out; geoms give their inertia alone"
        actuated = "tau is at the joints, whatever gears and limits of forces say"
        coupled = changing("closed chains and coupled joints are not computed")
        for number, what, instead in (
            (model.neq, "equality constraint", coupled),
            (model.ntendon, "tendon", changing("their forces are not computed")),
            (model.nu, "actuator", actuated),
            (model.nmocap, "mocap body", "they are fixed to the world"),
            (model.nflex, "flex", changing("bodies are rigid")),
            (model.nplugin, "plugin", changing("their forces are not computed")),
        ):
            if number:
                yield f"{number} {what}{'s' * (number > 1)}: left out; {instead}"

    def _unique(self, name: str, taken: list[str] | set[str]) -> str:
        """``name``, or with a number, so that it is taken by nothing else."""
        found = next(n for i in count() if (n := f"{name}_{i}" if i else name) not in taken)
        self.taken.add(found)
        return found


_NONE = np.array([0.0, 0.0, 0.0, 1.0])  # a quaternion x, y, z, w that turns nothing


def _joint(
    name: str,
    kind: str,
    parent: str,
    child: str,
    place: Array,
    quaternion: Array,
    inside: list[str] | None = None,
) -> Iterator[str]:
    yield f'  <joint name={quoteattr(name)} type="{kind}">'
    yield f"    <parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>"
    yield f"    {_origin(place, quaternion)}{''.join(inside or [])}"
    yield "  </joint>"


def _origin(xyz: ArrayLike, quaternion: ArrayLike) -> str:
    return f'<origin xyz="{_numbers(xyz)}" quat_xyzw="{_numbers(quaternion)}"/>'


def _numbers(values: ArrayLike) -> str:
    """So that reading them gives the same bits."""
    return " ".join(repr(float(value)) for value in np.asarray(values))


def _xyzw(wxyz: Any) -> Array:
    return np.roll(np.asarray(wxyz, dtype=np.float64), -1)


def _product(a: Array, b: Array) -> Array:
    """The quaternion (4,), x, y, z, w, of turning by ``b`` and then by ``a``."""
    v = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.array([*v, a[3] * b[3] - a[:3] @ b[:3]])


def _turned(quaternion: Array, x: ArrayLike) -> Array:
    """``x`` (3,) turned: x + 2 w (v × x) + 2 v × (v × x)."""
    v, w = quaternion[:3], quaternion[3]
    across = np.cross(v, np.asarray(x))
    return np.asarray(np.asarray(x) + 2.0 * w * across + 2.0 * np.cross(v, across))
