"""Forces by which frames are held, as a design must serve them.

Nobody says along which way a frame is pushed: the ground is below, a wall beside, a handle pulls.
So a force is within a cube, which holds the friction cone of every surface.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..robot.model import Array, JointKind, Robot
from .choices import HELD
from .design import Design
from .payload import PayloadLimits

SHARE = 1.5  # of the weight that a frame may carry, as one of two feet of a trot does
LEVER = 0.25  # m: the moment that a surface takes, by the force on it
CARRIED = (JointKind.PRISMATIC, JointKind.PLANAR, JointKind.FLOATING)


@dataclass(frozen=True)
class ContactLimits:
    """The largest component of the force [N], and of the moment [N·m], that holds a frame.

    ``weight`` [N]: the weight of what stands on the frames, where the force follows from that.
    """

    force: float
    moment: float
    weight: float | None = None

    @classmethod
    def of(cls, design: Design, robot: Robot, external: float) -> ContactLimits:
        """Limits of a design, with defaults where it states none.

        A default is a share of the weight that no joint of the base holds, else ``external``, the
        limit of external forces.
        """
        weight, said = _weight(design, robot), design.limits.contact_force
        force = said or SHARE * weight or external
        moment = design.limits.contact_moment or LEVER * force
        return cls(force, moment, weight if weight and not said else None)

    def components(self, contact: str) -> Array:
        """The limits of all components that hold a frame, (3,) or (6,)."""
        return np.array([self.force] * 3 + [self.moment] * 3)[: HELD[contact]]


def _weight(design: Design, robot: Robot) -> float:
    """The weight of the heaviest tree whose first joint slides or is free; 0 if there is none."""
    masses = [joint.inertia.mass for joint in robot.joints]
    still = [joint.kind is JointKind.FIXED for joint in robot.joints]
    heaviest = 0.0
    for i, joint in reversed(list(enumerate(robot.joints))):
        above, on_base = joint.parent, True
        if above >= 0:
            masses[above] += masses[i]
        while above >= 0:
            on_base, above = on_base and still[above], robot.joints[above].parent
        if on_base and joint.kind in CARRIED:
            heaviest = max(heaviest, masses[i])
    if heaviest and design.payload is not None:
        heaviest += PayloadLimits.of(design.limits).mass
    return heaviest * float(np.linalg.norm(robot.gravity))


def notes_of_contacts(design: Design, limits: ContactLimits) -> list[str]:
    """Notes on the range of words where frames are held, and on functions beside cfd."""
    if "cfd" not in design.functions:
        return []
    why = "" if limits.weight is None else f", {SHARE:g} times the weight of {limits.weight:.4g} N"
    moment = f" and {limits.moment:.4g} N·m about it" if design.contact == "surface" else ""
    notes = [
        f"contact_force: efforts are those of frames held by up to {limits.force:.4g} N along each "
        f"axis{why}{moment}; limits: contact_force, contact_moment"
    ]
    if others := [name for name in design.functions if name != "cfd"]:
        notes.append(
            f"cfd: {', '.join(others)} is of frames that move, so words have room for that and are "
            "less exact where frames are held; make cfd a design of its own"
        )
    if not design.contact_damping:
        notes.append(
            "contact_damping: none: where the held directions are nearly dependent, as of a "
            "straight limb, forces have no bound and words no room; 0.01 (1/kg) bounds them"
        )
    return notes
