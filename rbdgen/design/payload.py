"""Loads that a design must serve: payloads, forces of contacts, drivetrains; random ones of each.

A payload's ten words depend on each other: what has no mass has no inertia either. So states are
drawn, and searched, by its mass m, its centre of mass c and a rod's u, of which they are made:

    m,   m c,   inertia tr(Σ) 1 - Σ about the link's origin,   Σ = m c cᵀ + u uᵀ

In what is linear in inertia rods are the extremes of all bodies.

The direction in which a held frame is pushed is not known: the ground is below, a wall beside, a
handle pulls. So its force is within a cube, which holds the friction cone of every surface.

Rotors, damping and friction of a design override those of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..robot.model import Array, Drivetrain, Joint, JointKind, Robot, RobotError
from ..robot.rotors import without_friction
from ..robot.unsupported import few
from ..robot.variations import ENTRIES
from ..robot.xml_lines import did_you_mean, quoted
from ..system.quoting import changing, idle
from .arrays import held, is_loaded
from .checks import by_joint
from .design import Design
from .functions import HOLDING, OF_CONTACTS, UNLOADED

DEFAULT_MASS, DEFAULT_REACH, DEFAULT_INERTIA = 5.0, 0.2, 0.1  # kg, m, kg·m²
LOADS = 7  # m, c and u
DRAWN = 64  # different payloads that states at random have
# of m, c and u, by their limits: -u is the same rod as u
CORNERS = np.array(
    [(1, *c, 1, *u) for c in product((-1, 1), repeat=3) for u in product((-1, 1), repeat=2)]
)


@dataclass(frozen=True)
class PayloadLimits:
    """The heaviest payload [kg], the ``reach`` [m] of each coordinate of its centre of mass in the
    link's frame, and the largest moment of inertia about it [kg·m²]."""

    mass: float = DEFAULT_MASS
    reach: float = DEFAULT_REACH
    inertia: float = DEFAULT_INERTIA

    @classmethod
    def of(cls, design: Design) -> PayloadLimits:
        """Limits of a design, with defaults where it states none."""
        limits = design.limits
        return cls(
            limits.payload_mass or DEFAULT_MASS,
            limits.payload_reach or DEFAULT_REACH,
            limits.payload_inertia or DEFAULT_INERTIA,
        )

    def loads(self) -> list[tuple[float, float]]:
        """Interval of each of m, c and u."""
        rod = self.inertia**0.5
        return [(0.0, self.mass), *[(-self.reach, self.reach)] * 3, *[(-rod, rod)] * 3]

    def words(self) -> list[tuple[float, float]]:
        """Interval of each word of a payload."""
        moment = self.mass * self.reach
        across = moment * self.reach + self.inertia
        product, inertia = (-across, across), (0.0, 2 * across)
        return [
            (0.0, self.mass),
            *[(-moment, moment)] * 3,
            *(inertia, product, inertia, product, product, inertia),
        ]


def notes_of_payload(design: Design) -> list[str]:
    """Notes on the range of a payload's words, and on functions that ignore it."""
    without = ", ".join(name for name in design.functions if name in UNLOADED)
    notes = [f"payload: no payload changes {without}"] if without else []
    if not is_loaded(design):
        return [f"{notes[0]}, so the design has no payload inputs"]
    own = PayloadLimits.of(design)
    return [
        *notes,
        f'payload: on "{design.payload}" up to {own.mass:g} kg, its centre of mass within '
        f"{own.reach:g} m of the link's origin along each axis, its moments of inertia about that "
        f"up to {own.inertia:g} kg m²; limits: payload_mass, payload_reach, payload_inertia",
    ]


def words_of(loads: Sequence[Any]) -> list[Any]:
    """A payload's words of m, c and u: numbers, arrays or a graph's nodes."""
    m, c, u = loads[0], loads[1:4], loads[4:7]
    h = [m * x for x in c]
    xx, xy, yy, xz, yz, zz = (h[i] * c[j] + u[i] * u[j] for i, j in ENTRIES)
    return [m, *h, yy + zz, -xy, xx + zz, -xz, -yz, xx + yy]


def any_payloads(n: int, rng: np.random.Generator) -> Array:
    """Words (n, 10) of bodies of no payload's size, of which no two entries are equal."""
    first, other = rng.normal(0.0, 1.0, (2, LOADS, n))
    first[0], other[0] = np.abs(first[0]), np.abs(other[0])
    return np.stack(words_of(list(first)), axis=1) + np.stack(words_of(list(other)), axis=1)


def random_payloads(limits: PayloadLimits, n: int, rng: np.random.Generator) -> Array:
    """Words (n, 10) of payloads of which ``DRAWN`` are different: none, some anywhere within
    the limits, and all at their corners."""
    lower, upper = np.array(limits.loads()).T
    loads = rng.uniform(lower, upper, (DRAWN, LOADS))
    loads[0] = 0.0
    loads[DRAWN - len(CORNERS) :] = upper * CORNERS
    return np.stack(words_of(list(loads.T)), axis=1)[rng.integers(DRAWN, size=n)]


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

    def components(self, axes: int) -> Array:
        """The limits of all components that hold a frame, (3,) or (6,)."""
        return np.array([self.force] * 3 + [self.moment] * 3)[:axes]


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
        heaviest += PayloadLimits.of(design).mass
    return heaviest * float(np.linalg.norm(robot.gravity))


def notes_of_contacts(design: Design, limits: ContactLimits) -> list[str]:
    """Notes on the range of words where frames are held, and on functions beside cfd."""
    axes, damping = held(design)
    unbounded = [
        "contact_damping: none: where the held directions are nearly dependent, as of a straight "
        "limb, forces and inertias have no bound and words no room; 0.01 (1/kg) bounds them"
    ]
    if damping or set(OF_CONTACTS).isdisjoint(design.functions):
        unbounded = []
    holding = ", ".join(name for name in design.functions if name in HOLDING)
    if not holding:
        return unbounded
    why = "" if limits.weight is None else f", {SHARE:g} times the weight of {limits.weight:.4g} N"
    moment = f" and {limits.moment:.4g} N·m about it" if axes > 3 else ""
    notes = [
        f"contact_force: efforts are those of frames held by up to {limits.force:.4g} N along each "
        f"axis{why}{moment}; limits: contact_force, contact_moment"
    ]
    if others := [name for name in design.functions if name not in HOLDING]:
        notes.append(
            f"{holding}: {', '.join(others)} is of frames that move, so words have room for that "
            f"and are less exact where frames are held; make {holding} a design of its own"
        )
    return notes + unbounded


PINOCCHIO = "Pinocchio has none; --no-friction (friction=False) leaves it out"


def driven(design: Design, robot: Robot, notes: list[str] | None = None) -> Robot:
    """The robot with the drivetrains that its design gives it.

    A joint's own block of the design wins over the file; a width of friction that the design gives
    a joint by name wins over its block's, and that over the one of all joints. ``notes`` receives
    where damping and friction are in τ, how friction is approximated, or that both are left out.

    Raises:
        RobotError: a joint that does not move, or has several coordinates; starts with the choice.
    """
    widths = by_joint(design.friction_width) if design.friction_width is not None else {}
    joints = {joint.name: joint for joint in robot.joints if joint.kind.nv}
    for choice, names in (("joints", design.joints), ("friction_width", widths)):
        for name in names:
            if name:
                _check(choice, name, joints)
    made = [_driven(design, joint, widths) for joint in robot.joints]
    if notes is not None:
        notes += _notes(design, made)
        notes += _idle(design, made, widths)
    robot = robot.with_joints(made)
    return robot if design.friction else without_friction(robot)


def _driven(design: Design, joint: Joint, widths: Mapping[str, float]) -> Joint:
    file, said = joint.drivetrain, design.joints.get(joint.name)
    every, own = widths.get("", file.width), widths.get(joint.name)
    if joint.kind.nv != 1:
        return joint
    if said is None:
        return replace(joint, drivetrain=replace(file, width=own or every))
    made = Drivetrain(
        file.armature if said.armature is None else said.armature,
        file.damping if said.damping is None else said.damping,
        file.friction if said.friction is None else said.friction,
        own or said.friction_width or every,
    )
    return replace(joint, drivetrain=made)


def _check(choice: str, name: str, joints: Mapping[str, Joint]) -> None:
    if name not in joints:
        hint = did_you_mean(name, joints, f"; one of {', '.join(joints) or 'none'}")
        raise RobotError(f"{choice}: no joint {quoted(name)} moves{hint}")
    if joints[name].kind.nv != 1:
        raise RobotError(
            f"{choice}: joint {quoted(name)} is {joints[name].kind.value}; armature, damping and "
            "friction are of joints that turn or slide"
        )


def _idle(design: Design, joints: list[Joint], widths: Mapping[str, float]) -> list[str]:
    """Notes on the design's friction settings for joints without friction."""
    rubbing = [joint.name for joint in joints if joint.drivetrain.friction]
    notes = []
    if not design.friction and not rubbing and not any(j.drivetrain.damping for j in joints):
        notes.append(idle("friction", False, "joints with damping or friction, and none has any"))
    if widths and not (rubbing and design.friction):
        why = "and none has any" if design.friction else "which is left out"
        said = ",".join(f"{name}={own:g}".lstrip("=") for name, own in widths.items())
        return [*notes, idle("friction_width", said, f"joints' friction, {why}")]
    for name in widths:
        if name and name not in rubbing:
            said = f"{widths[name]:g} of {quoted(name)}"
            notes.append(idle("friction_width", said, "joints with friction, and it has none"))
    return notes


def _notes(design: Design, joints: list[Joint]) -> list[str]:
    """Which joints have damping, how friction is approximated, or what is left out."""
    resisted = [j.name for j in joints if j.drivetrain.damping or j.drivetrain.friction]
    if not design.friction:
        what = f"damping and friction of {few(resisted)}: left out (--no-friction)"
        return [f"{what}; rotors' inertias stay"] if resisted else []
    notes: list[str] = []
    if damped := [j.name for j in joints if j.drivetrain.damping]:
        notes.append(changing(f"damping of {few(damped)}: in tau, where {PINOCCHIO}"))
    for width in sorted({j.drivetrain.width for j in joints if j.drivetrain.friction}):
        own = [j for j in joints if j.drivetrain.friction and j.drivetrain.width == width]
        notes.append(
            changing(
                f"friction of {few([j.name for j in own])}: smoothed, c (3 x - x³) / 2 of "
                f"x = qd / {width:g} up to |x| = 1, c beyond; --friction-width says another width; "
                f"in tau, where {PINOCCHIO}"
            )
        )
    return notes
