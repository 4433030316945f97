"""The mappings within a design: limits, joints' drivetrains, and what was chosen for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..robot.model import RobotError
from .checks import DRIVETRAIN_CHECKS, FOLD, FORMULATION, INTERVAL, LIMIT_CHECKS


@dataclass(frozen=True)
class MotionLimits:
    """The limits that a design gives for the motion of a joint, or of all; None where not.

    ``velocity`` [rad/s or m/s] and ``acceleration`` [rad/s² or m/s²] bound the absolute value;
    ``position`` is (lower, upper) [rad or m]; ``force`` [N] and ``moment`` [N·m] bound each
    component of an external force, for all links alike; ``effort`` [N·m or N] the absolute value
    of what forward dynamics takes. ``payload_mass`` [kg], ``payload_reach`` [m] and
    ``payload_inertia`` [kg·m²] bound a payload's mass, each coordinate of its centre of mass in its
    link's frame, and its moments of inertia about that. ``contact_force`` [N] and
    ``contact_moment`` [N·m] bound each component of what holds a frame.
    """

    velocity: float | None = None
    acceleration: float | None = None
    position: tuple[float, float] | None = None
    force: float | None = None
    moment: float | None = None
    effort: float | None = None
    payload_mass: float | None = None
    payload_reach: float | None = None
    payload_inertia: float | None = None
    contact_force: float | None = None
    contact_moment: float | None = None

    def __post_init__(self) -> None:
        for key in LIMIT_CHECKS:
            if getattr(self, key) is not None:
                object.__setattr__(self, key, LIMIT_CHECKS[key](getattr(self, key)))


@dataclass(frozen=True)
class JointDrivetrain:
    """A design's rotor and friction for a joint; None to use the file's.

    ``armature`` [kg·m² or kg], ``damping`` [N·m·s/rad or N·s/m], ``friction`` [N·m or N] and
    ``friction_width`` [rad/s or m/s] are those of ``Drivetrain``.
    """

    armature: float | None = None
    damping: float | None = None
    friction: float | None = None
    friction_width: float | None = None

    def __post_init__(self) -> None:
        for key, check in DRIVETRAIN_CHECKS.items():
            if getattr(self, key) is not None:
                try:
                    object.__setattr__(self, key, check(getattr(self, key)))
                except ValueError as error:
                    raise RobotError(f"joints: {key}: {error}") from None

    @classmethod
    def of(cls, name: str, said: Any) -> JointDrivetrain:
        """Itself, or the one of a mapping; RobotError."""
        if isinstance(said, cls):
            return said
        if not isinstance(said, Mapping) or not set(said) <= set(DRIVETRAIN_CHECKS):
            raise RobotError(
                f"joints: {name}: a mapping of some of {', '.join(DRIVETRAIN_CHECKS)}, not {said!r}"
            )
        return cls(**said)


@dataclass(frozen=True)
class Fitted:
    """The choices of rbdgen's that make a design fit its part, where nobody had chosen.

    ``note``: why, in one line. ``fits``: whether anything did; else this is the smallest.
    """

    note: str
    fits: bool = True
    ii: int | None = None
    fold: str = "auto"

    def __post_init__(self) -> None:
        for key, check in (("ii", INTERVAL), ("fold", FOLD)):
            try:
                object.__setattr__(self, key, check(getattr(self, key)))
            except ValueError as error:
                raise RobotError(f"fitted: {key}: {error}") from None


@dataclass(frozen=True)
class Formulated:
    """The formulation that style latency chose, where nobody had; ``note``: why, in one line."""

    formulation: str
    note: str

    def __post_init__(self) -> None:
        try:
            FORMULATION(self.formulation)
        except ValueError as error:
            raise RobotError(f"formulated: formulation: {error}") from None
