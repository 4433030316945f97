"""Entries of an MJCF that have no counterpart here, a note for each; couplings of its joints.

Joints may follow others, be locked, or be in loops.

An equality of two joints that is linear makes one of them follow the other, as URDF's ``<mimic>``;
one of a joint with itself holds it. All others (``connect``, ``weld``, polynomials of a higher
degree, tendons that pull at several joints) join bodies in ways that a tree has not: each is a
loop, which who reads the robot refuses unless it is left open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..system.quoting import changing
from .unsupported import few
from .xml_lines import quoted

if TYPE_CHECKING:
    import mujoco


FREE = 0  # mjtJoint
MOST = 12  # names in a note


def notes_of(model: mujoco.MjModel, joints: list[str], moved: list[str]) -> Iterator[str]:
    """The notes of a compiled model with these ``joints``; ``moved``: links whose frame stands at
    their joint's anchor."""
    yield from _flags(model)
    yield from _free(model, joints)
    for what, values in (
        ("polynomial damping", getattr(model, "dof_dampingpoly", None)),
        ("damping of actuators", getattr(model, "actuator_damping", None)),
        ("armature of actuators", getattr(model, "actuator_armature", None)),
    ):
        if values is not None and np.any(values):
            yield changing(f"{what}: left out; a design's joints: may say damping and armature")
    if moved:
        yield f"at their joint's anchor, not at their body's frame: frames of links {listed(moved)}"
    if model.opt.density or model.opt.viscosity:
        yield changing("density or viscosity of a medium: left out")
    springs = [
        name
        for k, name in enumerate(joints)
        if model.jnt_stiffness[k] or np.any(getattr(model, "jnt_stiffnesspoly", [0] * (k + 1))[k])
    ]
    if springs and not disabled(model, SPRING):
        yield changing(f"stiffness of {few(springs)}: left out; joints have no springs")
    if model.body_gravcomp.any() and not disabled(model, GRAVITY):
        yield changing("gravcomp: left out; gravity acts on every body")
    geoms = np.any(model.geom_contype) or np.any(model.geom_conaffinity)
    if (geoms or model.npair) and not disabled(model, CONTACT):
        yield "contacts: left out; geoms give their inertia alone"
    alone = [t for t in range(model.ntendon) if is_of_one_joint(model, t) and pulls(model, t)]
    if alone:
        own = " and ".join(dict.fromkeys(what for t in alone for what in pulls(model, t)))
        yield changing(f"{own} of {_many(len(alone), 'tendon')} of one joint: left out")
    for number, what, instead in (
        (model.ntendon, "tendon", "efforts and limits of motion are the joints'"),
        (model.nu, "actuator", "tau is at the joints, whatever gears and limits of forces say"),
        (model.nmocap, "mocap body", "they are fixed to the world"),
        (model.nflex, "flex", changing("bodies are rigid")),
        (model.nplugin, "plugin", changing("their forces are not computed")),
    ):
        if number:
            yield f"{_many(number, what)}: left out; {instead}"


def _flags(model: mujoco.MjModel) -> Iterator[str]:
    """Notes on features of the file that its flags switch off."""
    for flag, what, has in (
        (DAMPER, "damping", model.dof_damping),
        (FRICTION_LOSS, "friction loss", model.dof_frictionloss),
        (LIMIT, "limits of position", model.jnt_limited),
    ):
        if disabled(model, flag) and np.any(has):
            yield f"{what}: none, as a flag of its <option> says"


def _free(model: mujoco.MjModel, joints: list[str]) -> Iterator[str]:
    """Notes on free joints: their conventions, and their features that are left out."""
    free = [k for k in range(model.njnt) if model.jnt_type[k] == FREE]
    if not free:
        return
    yield (
        f"{few([joints[k] for k in free])}: free; its velocity here is the body's twist in its "
        "own frame, linear then angular, and its quaternion x, y, z, w; MuJoCo's is linear in the "
        "world's frame, and w, x, y, z"
    )
    for what, values, flag in (
        ("damping", model.dof_damping, DAMPER),
        ("friction loss", model.dof_frictionloss, FRICTION_LOSS),
        ("armature", model.dof_armature, 0),
    ):
        own = [joints[k] for k in free if values[model.jnt_dofadr[k] :][:6].any()]
        if own and not disabled(model, flag):
            yield changing(f"{what} of {few(own)}: left out; it is free")


def listed(names: list[str]) -> str:
    """The first few of them."""
    return ", ".join(names[:MOST]) + " …" * (len(names) > MOST)


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number > 1)}"


CONNECT, WELD, JOINT, TENDON = range(4)  # mjtEq
TYPES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
OF_SITES = 6  # mjtObj: what connect and weld join, where it is no body
OF_A_JOINT = 1  # mjtWrap: a joint with a coefficient
# Flags of <option>, as bits of ``disableflags``.
CONSTRAINT, EQUALITY, FRICTION_LOSS, LIMIT, CONTACT, SPRING, DAMPER, GRAVITY = (
    1 << bit for bit in range(8)
)


def disabled(model: mujoco.MjModel, flag: int) -> bool:
    """Whether the file's flags switch ``flag`` off, alone or with all constraints."""
    flags = int(model.opt.disableflags)
    constraint = EQUALITY | FRICTION_LOSS | LIMIT | CONTACT
    return bool(flags & flag or (flags & CONSTRAINT and flag & constraint))


@dataclass(frozen=True)
class Following:
    """A joint whose position is ``multiplier`` times that of joint ``master``, and ``offset``."""

    master: int
    multiplier: float
    offset: float


@dataclass(eq=False)
class Couplings:
    """Joints by number: those that follow another, those that are locked [rad or m]; a line for
    each loop; notes."""

    following: dict[int, Following] = field(default_factory=dict)
    locked: dict[int, float] = field(default_factory=dict)
    loops: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def couplings_of(model: mujoco.MjModel, joints: list[str], bodies: list[str]) -> Couplings:
    """The couplings of a compiled model, whose ``joints`` and ``bodies`` have these names."""
    found = Couplings()
    active = [k for k in range(model.neq) if model.eq_active0[k]]
    off = "disabled by its flag" if disabled(model, EQUALITY) else "not active at the start"
    idle = model.neq - (0 if disabled(model, EQUALITY) else len(active))
    if idle:
        found.notes.append(f"{idle} equality constraint{'s' * (idle > 1)}: left out; {off}")
    if not disabled(model, EQUALITY):
        for k in active:
            if model.eq_type[k] == JOINT:
                _join(model, k, joints, found)
            else:
                found.loops.append(_loop(model, k, bodies))
    _resolve_locked(found)
    for k, own in found.following.items():
        text = f"{own.multiplier:g} {quoted(joints[own.master])} + {own.offset:g}"
        found.notes.append(f"joint {quoted(joints[k])}: follows, exactly: {text}")
    for k, place in found.locked.items():
        found.notes.append(f"joint {quoted(joints[k])}: fixed at {place:g} by an equality")
    found.loops.extend(_pulling(model))
    return found


def _join(model: mujoco.MjModel, k: int, joints: list[str], found: Couplings) -> None:
    """An equality of joints: y = y₀ + a₀ + a₁ (x - x₀) + a₂ (x - x₀)² + …, with x₀ and y₀ of
    qpos0."""
    one, two = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    start = model.qpos0[model.jnt_qposadr[one]]
    a = np.asarray(model.eq_data[k][:5], dtype=np.float64)
    if one in found.following or one in found.locked:
        found.loops.append(f"{_named(model, k)}: joint {quoted(joints[one])} has an equality twice")
    elif two < 0 or not a[1:].any():
        found.locked[one] = float(start + a[0])
    elif a[2:].any():
        pair = f"{quoted(joints[one])} to {quoted(joints[two])}"
        found.loops.append(f"{_named(model, k)}: joins {pair} by a polynomial that is not linear")
    elif one in _masters(two, found):
        found.loops.append(f"{_named(model, k)}: joint {quoted(joints[one])} follows itself")
    else:
        offset = start + a[0] - a[1] * model.qpos0[model.jnt_qposadr[two]]
        found.following[one] = Following(two, float(a[1]), float(offset))


def _masters(joint: int, found: Couplings) -> list[int]:
    """A joint, the one that it follows, the one that that follows, and so on."""
    chain = [joint]
    while (own := found.following.get(chain[-1])) is not None:
        chain.append(own.master)
    return chain


def _resolve_locked(found: Couplings) -> None:
    """Lock the joints that follow a locked joint, too."""
    for k in list(found.following):
        *between, last = _masters(k, found)
        if last in found.locked:
            place = found.locked[last]
            for joint in reversed(between):
                own = found.following.pop(joint)
                place = found.locked[joint] = own.multiplier * place + own.offset


def _named(model: mujoco.MjModel, k: int) -> str:
    name = model.equality(k).name
    return f"<{TYPES[model.eq_type[k]]}{f' name={quoted(name)}' if name else ''}>"


def _loop(model: mujoco.MjModel, k: int, bodies: list[str]) -> str:
    ends = [int(model.eq_obj1id[k]), int(model.eq_obj2id[k])]
    if model.eq_type[k] not in (CONNECT, WELD):
        return f"{_named(model, k)}: joins what it names"
    if model.eq_objtype[k] == OF_SITES:
        ends = [int(model.site_bodyid[end]) for end in ends]
    return f"{_named(model, k)}: joins {' to '.join(quoted(bodies[end]) for end in ends)}"


def _pulling(model: mujoco.MjModel) -> Iterator[str]:
    """A line for each tendon that couples several joints by forces or inertia, and each flex."""
    import mujoco

    for t in range(model.ntendon):
        if is_of_one_joint(model, t):
            continue
        if own := pulls(model, t):
            name = model.tendon(t).name
            label = f"<tendon{f' name={quoted(name)}' if name else ''}>"
            yield f"{label}: joins joints by its {' and '.join(own)}"
    for k in range(model.nflex):
        if not model.flex_rigid[k]:
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, k)
            yield f"<flex{f' name={quoted(name)}' if name else ''}>: joins bodies by its elasticity"


def is_of_one_joint(model: mujoco.MjModel, t: int) -> bool:
    """Whether tendon ``t`` is a multiple of one joint's position."""
    first = model.tendon_adr[t]
    return bool(model.tendon_num[t] == 1 and model.wrap_type[first] == OF_A_JOINT)


def pulls(model: mujoco.MjModel, t: int) -> list[str]:
    """The ways in which tendon ``t`` moves joints without an actuator."""
    return [
        what
        for what, key, flag in (
            ("spring", "tendon_stiffness", SPRING),
            ("spring", "tendon_stiffnesspoly", SPRING),
            ("damping", "tendon_damping", DAMPER),
            ("damping", "tendon_dampingpoly", DAMPER),
            ("friction loss", "tendon_frictionloss", FRICTION_LOSS),
            ("armature", "tendon_armature", 0),
        )
        if np.any(getattr(model, key, np.zeros(t + 1))[t]) and not disabled(model, flag)
    ]
