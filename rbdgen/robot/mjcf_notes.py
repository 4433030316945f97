"""A note for each thing that an MJCF has and this package has not, or reads in another way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..system.notes import changing
from .mjcf_couplings import (
    CONTACT,
    DAMPER,
    FRICTION_LOSS,
    GRAVITY,
    LIMIT,
    SPRING,
    disabled,
    is_of_one_joint,
    pulls,
)
from .unsupported import few

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
