"""Couplings of MJCF joints besides the tree: joints that follow, are locked, or are in loops.

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

from .xml_lines import quoted

if TYPE_CHECKING:
    import mujoco

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
