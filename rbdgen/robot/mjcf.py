"""A robot in MJCF as a URDF that says the same, by way of MuJoCo's own compiled model.

The compiled model has every default, angle, orientation, frame and geometry's inertia worked out,
so that none of MJCF's compiler settings is read here. Joints become a chain, each at its anchor:

* a body with several joints gets a link without mass for each but the last;
* q is MuJoCo's qpos: a joint's ``ref`` is in its placement;
* a link's frame stands at its body's last hinge's anchor, turned as the body.

Flags of ``<option>`` are read: what they disable is not in the URDF. So is gravity, where it is not
the Earth's. The URDF itself has a note for each element of MJCF that this package lacks (``NOTE``).
An element that would make it another robot has a note that readers of the URDF refuse (``LOOP``).

MuJoCo's compiled model of an MJCF, without the assets that say nothing of its bodies.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from .mjcf_notes import (
    DAMPER,
    FRICTION_LOSS,
    GRAVITY,
    LIMIT,
    couplings_of,
    disabled,
    listed,
    notes_of,
)
from .model import EARTH, Array, RobotError
from .urdf_elements import GRAVITY as GRAVITY_OF
from .urdf_elements import LOOP, MADE, NOTE, UNSAID
from .xml_lines import one_line, quoted

if TYPE_CHECKING:
    import mujoco


FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint


def urdf_of_mjcf(source: Path | str, shown: str) -> str:
    """The URDF of an MJCF file, or of a text; ``shown``: what messages call it, and, without its
    folders, notes.

    RobotError, one line: MuJoCo is not installed or refuses the file, or a joint turns as a ball.
    """
    model, name, notes = compiled(source, shown)
    return _Conversion(model, name, shown, notes).text()


class _Conversion:
    """One compiled model on its way to a text."""

    def __init__(self, model: mujoco.MjModel, name: str, shown: str, notes: list[str]) -> None:
        self.model, self.shown, self.notes = model, shown, notes
        self.file = Path(shown).name
        self.name = name
        if not name.strip():
            self.name = self.file.split(".")[0] or "robot"
            notes.append(f"the model has no name; called {self.name}")
        self.taken: set[str] = set()  # names of links
        self.joined: set[str] = set()  # names of joints
        self.bodies = self._names("body", [model.body(i).name for i in range(model.nbody)])
        self.joints = self._names("joint", [model.joint(i).name for i in range(model.njnt)])
        self.couplings = couplings_of(model, self.joints, self.bodies)
        self.offsets = [np.zeros(3)]  # each body's link frame, in the body's own
        self.moved: list[str] = []  # links whose frame is not their body's

    def _names(self, kind: str, names: list[str]) -> list[str]:
        """The names of bodies or joints; those without a name get their kind and number."""
        taken = self.taken if kind == "body" else self.joined
        taken.update(name for name in names if name.strip())
        found = [
            name if name.strip() else _unique(f"{kind}{i}", taken) for i, name in enumerate(names)
        ]
        numbered = [own for own, name in zip(found, names, strict=True) if not name.strip()]
        if numbered:
            many = f"{kind}s without a name" if kind == "joint" else "bodies without a name"
            self.notes.append(f"{many}, called by their number: {listed(numbered)}")
        return found

    def text(self) -> str:
        """The whole URDF."""
        lines = [line for i in range(self.model.nbody) for line in self._body(i)]
        notes = [
            f"MJCF, converted by way of MuJoCo {version('mujoco')}",
            *self.notes,
            *self._gravity_notes(),
            *self.couplings.notes,
            *notes_of(self.model, self.joints, self.moved),
        ]
        said = [self._element(NOTE, note) for note in notes]
        said += [self._element(LOOP, loop) for loop in self.couplings.loops]
        if not np.array_equal(self.gravity, EARTH):
            said.append(f'  <{GRAVITY_OF} xyz="{_numbers(self.gravity)}"/>')
        head = f'<robot name={quoteattr(self.name)} version="1.1" {MADE}="rbdgen">'
        return "\n".join([head, *said, *lines, "</robot>"]) + "\n"

    def _element(self, tag: str, text: str) -> str:
        return f"  <{tag} text={quoteattr(f'{self.file}: {text}')}/>"

    @property
    def gravity(self) -> Array:
        """The file's gravity (3,) [m/s²], in the world's frame."""
        return np.zeros(3) if disabled(self.model, GRAVITY) else np.array(self.model.opt.gravity)

    def _gravity_notes(self) -> Iterator[str]:
        if not np.array_equal(self.gravity, EARTH):
            gravity = " ".join(f"{g:g}" for g in self.gravity)
            why = " (a flag of its <option> disables it)" if disabled(self.model, GRAVITY) else ""
            yield f"gravity is the file's, {gravity} m/s²{why}, unless a design says another"

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
            name = _unique(f"{body}_fixed", self.joined)
            yield from _joint(name, "fixed", parent, body, at + start, quaternion)
            yield self._link(i)
            return
        anchor = np.zeros(3)
        for k in range(first, first + many):
            kind, last = int(model.jnt_type[k]), k == first + many - 1
            child = body if last else _unique(f"{body}_{self.joints[k]}", self.taken)
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
        locked = self.couplings.locked.get(k)
        zero = ref if locked is None else ref - locked  # what the placement takes off
        limited = model.jnt_limited[k] and not disabled(model, LIMIT)
        if model.jnt_type[k] == HINGE:
            turn = np.array([*np.sin(-zero / 2) * axis, np.cos(-zero / 2)])
            quaternion = _product(quaternion, turn) if zero else quaternion
            kind = "revolute" if limited else "continuous"
        else:
            place = place - zero * _turned(quaternion, axis)
            kind = "prismatic"
        if locked is not None:
            yield from _joint(self.joints[k], "fixed", parent, child, place, quaternion)
            return
        dof = int(model.jnt_dofadr[k])
        most = np.abs(model.jnt_actfrcrange[k]).max() if model.jnt_actfrclimited[k] else 0.0
        inside = [f'<axis xyz="{_numbers(axis)}"/>']
        lower, upper = model.jnt_range[k] if limited else (0.0, 0.0)  # 0, 0: none
        if limited or most:
            said = f'lower="{float(lower)!r}" upper="{float(upper)!r}" effort="{float(most)!r}"'
            inside.append(f'<limit {said} velocity="0" {UNSAID}="velocity"/>')
        drive = {
            "damping": 0.0 if disabled(model, DAMPER) else model.dof_damping[dof],
            "friction": 0.0 if disabled(model, FRICTION_LOSS) else model.dof_frictionloss[dof],
            "armature": model.dof_armature[dof],
        }
        if any(drive.values()):
            said = " ".join(f'{key}="{float(value)!r}"' for key, value in drive.items() if value)
            inside.append(f"<dynamics {said}/>")
        if (own := self.couplings.following.get(k)) is not None:
            master = quoteattr(self.joints[own.master])
            said = f'multiplier="{own.multiplier!r}" offset="{own.offset!r}"'
            inside.append(f"<mimic joint={master} {said}/>")
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


def _unique(name: str, taken: set[str]) -> str:
    """``name``, or with a number, so that it is taken by nothing else; then it is."""
    found = next(n for i in count() if (n := f"{name}_{i}" if i else name) not in taken)
    taken.add(found)
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
    """The numbers as text that reads back to the same bits."""
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


def compiled(source: Path | str, shown: str) -> tuple[mujoco.MjModel, str, list[str]]:
    """The compiled model of a file or a text, its name, and notes.

    ``shown``: what messages call it. Files of meshes, textures and height fields may be missing, or
    be refused, where all bodies whose geometry they are have an ``<inertial>``. RobotError, one
    line: MuJoCo is not installed, or refuses the file.
    """
    try:
        import mujoco
    except ModuleNotFoundError:
        raise RobotError(
            f'{shown}: is MJCF, which MuJoCo reads: pip install "rbdgen[robots]"'
        ) from None
    warned: list[str] = []
    before = mujoco.get_mju_user_warning()  # the default one writes a file where the user stands
    mujoco.set_mju_user_warning(warned.append)
    try:
        with catch_warnings(record=True) as more:
            simplefilter("always")
            model, name = _compiled(source, warned)
        warned += [str(warning.message) for warning in more]
    except (ValueError, OSError) as error:
        raise RobotError(f"{shown}: MuJoCo refuses it: {_said(error)}") from None
    finally:
        mujoco.set_mju_user_warning(before)
    notes = [f"MuJoCo says: {one_line(' '.join(text.split()), 300)}" for text in warned]
    return model, name, notes


def _compiled(source: Path | str, warned: list[str]) -> tuple[mujoco.MjModel, str]:
    """The model and its name; ``warned`` receives what is wrong with files that it does without."""
    import mujoco

    if isinstance(source, Path):
        spec = mujoco.MjSpec.from_file(str(source))
    else:
        spec = mujoco.MjSpec.from_string(source)
    try:
        model = spec.compile()
    except ValueError as error:
        if not _strip(spec):
            raise
        model = spec.compile()
        warned.append(
            f"{_said(error)}: meshes, textures and height fields are left out, and no inertia "
            "follows from them"
        )
    return model, spec.modelname


def _said(error: Exception) -> str:
    return one_line(" ".join(str(error).removeprefix("Error: ").split()), 300)


def _strip(spec: mujoco.MjSpec) -> bool:
    """Take off all that reads a file and has no part in an inertia; whether there was any."""
    import mujoco

    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    kinds = (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD, mujoco.mjtGeom.mjGEOM_SDF)
    before = len(spec.geoms)
    for geom in list(spec.geoms):
        of_world = geom.parent.name == spec.worldbody.name
        if geom.type in kinds and (of_world or (geom.parent.explicitinertial and not always)):
            spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms}
    unused = [mesh for mesh in spec.meshes if mesh.name not in used]
    assets = [*unused, *spec.textures, *spec.hfields, *spec.skins]
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for element in (*assets, *spec.sensors, *spec.pairs):  # the last two name geoms
        spec.delete(element)
    return bool(assets) or len(spec.geoms) < before
