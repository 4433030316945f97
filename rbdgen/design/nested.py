"""Mappings within a design file: limits, drivetrains of joints, and what was chosen for it.

Their YAML values know their line, so that a misspelt key is reported where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from ..robot.model import RobotError
from ..robot.xml_lines import did_you_mean, quoted
from .checks import DRIVETRAIN_CHECKS, FOLD, FORMULATION, INTERVAL, LIMIT_CHECKS


@dataclass(frozen=True)
class YamlNode:
    """One value of a YAML file."""

    file: str
    node: yaml.Node

    def error(self, message: str) -> RobotError:
        return RobotError(f"{self.file}:{self.node.start_mark.line + 1}: {message}")

    def mapping(self, known: list[str] | None, what: str) -> dict[str, YamlNode]:
        """Key → value; a key that is not ``known`` (None: any) or stands twice is refused."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"{what}: expected lines of the form key: value")
        entries: dict[str, YamlNode] = {}
        for key_node, value in self.node.value:
            at = YamlNode(self.file, key_node)
            key = at.text()
            if known is not None and key not in known:
                hint = did_you_mean(key, known, f"; the keys are {', '.join(known)}")
                raise at.error(f"unknown key {quoted(key)}{hint}")
            if key in entries:
                raise at.error(f"the key {quoted(key)} stands twice; keep one of them")
            entries[key] = YamlNode(self.file, value)
        return entries

    def value_of(self, *path: str) -> YamlNode:
        """The value under a chain of keys that is there."""
        node = self
        for key in path:
            node = node.mapping(None, key)[key]
        return node

    def text(self) -> str:
        """A scalar as it is written."""
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value:
            raise self.error("expected a word")
        return str(self.node.value)

    def plain(self) -> Any:
        """The value in Python: str for scalars (the reader knows the type), list, dict."""
        if isinstance(self.node, yaml.SequenceNode):
            return [YamlNode(self.file, item).text() for item in self.node.value]
        return self.text()

    def checked(self, key: str, check: Callable[[Any], Any]) -> Any:
        """``check`` of the value; its ValueError becomes a line of this file."""
        try:
            return check(self.plain())
        except RobotError:
            raise
        except ValueError as error:
            raise self.error(f"{key}: {error}") from None


def parse_yaml(data: bytes, file: str) -> YamlNode:
    """The root of a YAML file with one document."""
    try:
        root = yaml.compose(data, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        raise RobotError(f"{file}:{line}: not YAML: {problem}") from None
    except RecursionError:
        raise RobotError(f"{file}:1: not a design: brackets nested too deep") from None
    if root is None:
        raise RobotError(f"{file}:1: the file is empty; write at least robot: FILE.urdf")
    return YamlNode(file, root)


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


# What rbdgen chooses where nobody has → the keys of its entry in design files, in their order.
# Words have none: files say them.
PROMISED, FORMULATED, FITTED = "words", "formulated", "fitted"
CHOICES: dict[str, tuple[str, ...]] = {
    PROMISED: (),
    FORMULATED: ("formulation", "note"),
    FITTED: ("note", "fits", "ii", "fold"),
}
_CHECKS: dict[str, Callable[[Any], Any]] = {
    "formulation": FORMULATION,
    "ii": INTERVAL,
    "fold": FOLD,
}


@dataclass(frozen=True)
class Choice:
    """A choice that rbdgen made where nobody had.

    ``what``: a key of `CHOICES`. ``note``: why, in one line. ``options``: those that it is of, and
    their values. ``fits``: whether the design fits its part then; else it is the smallest.
    """

    what: str
    note: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    fits: bool = True

    def __post_init__(self) -> None:
        try:
            checked = {key: _CHECKS[key](value) for key, value in self.options.items()}
        except ValueError as error:
            raise RobotError(f"{self.what}: {error}") from None
        object.__setattr__(self, "options", checked)

    @property
    def entry(self) -> dict[str, Any]:
        """Its entry in a design file."""
        values = {"note": self.note, "fits": self.fits, **self.options}
        return {key: values.get(key) for key in CHOICES[self.what]}

    @classmethod
    def of(cls, what: str, entry: Mapping[str, Any]) -> Choice:
        """The choice of such an entry."""
        options = {key: value for key, value in entry.items() if key not in ("note", "fits")}
        return cls(what, entry["note"], options, entry.get("fits", True))
