"""The robots that travel with rbdgen, other forms of a robot, and one mounted on another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..design.loading import filed, load, shipped_robots
from ..draw.tables import table
from ..robot.canonical import merge_fixed
from ..robot.compose import mounted
from ..robot.model import JointKind
from ..robot.sources import descriptions
from ..robot.xml_lines import read_bytes
from ..system.records import Record
from .folder import write_file
from .output_paths import check_place


@dataclass(frozen=True)
class Shipped(Record):
    """A robot: joints that move, how many of a kind, the longest chain of them."""

    name: str
    file: str
    moving: int
    kinds: str
    height: int


@dataclass(frozen=True)
class RobotForm(Record):
    """A form in which a robot can be given; ``cure``: the command that installs its reader."""

    given: str
    example: str
    read_by: str
    cure: str


@dataclass(frozen=True)
class Robots(Record):
    """All of them."""

    robots: tuple[Shipped, ...]
    forms: tuple[RobotForm, ...]


def robots() -> Robots:
    """The robots that a name is enough for, as ``rbdgen info iiwa14``; and other forms."""
    return Robots(tuple(_shipped(name) for name in sorted(shipped_robots())), tuple(_forms()))


def as_text(found: Robots) -> str:
    """The same for people."""
    rows = [[own.name, own.moving, own.kinds, own.height, own.file] for own in found.robots]
    shipped = table(("robot", "joints", "", "longest chain", "file"), rows)
    others = [[own.given, own.example, own.read_by, own.cure] for own in found.forms]
    return shipped + "\n\n" + table(("or", "as in", "read by", "missing; to get it"), others)


def _forms() -> Iterator[RobotForm]:
    cure = 'pip install "rbdgen[robots]"'

    def read_by(package: str) -> tuple[str, str]:
        return package, "" if find_spec(package) else cure

    yield RobotForm("URDF", "rbdgen info my_robot.urdf", "rbdgen", "")
    yield RobotForm("a design", "rbdgen info my_robot.yaml", "rbdgen", "")
    yield RobotForm("xacro", "rbdgen info my_robot.urdf.xacro", *read_by("xacro"))
    yield RobotForm("MJCF", "rbdgen info my_robot.xml", *read_by("mujoco"))
    yield RobotForm("URDF or MJCF, piped", "xacro a.xacro left:=1 | rbdgen info -", "rbdgen", "")
    by, missing = read_by("robot_descriptions")
    many = "a name" if missing else f"{len(descriptions())} names"
    yield RobotForm(f"{many} of {by}", "rbdgen info panda_description", by, missing)


def _shipped(name: str) -> Shipped:
    design, robot = load(name)
    moving = merge_fixed(robot)
    height: list[int] = []
    for joint in moving.joints:
        height.append(1 + (height[joint.parent] if joint.parent >= 0 else 0))
    kinds = [joint.kind for joint in moving.joints]
    counts = {kind: kinds.count(kind) for kind in JointKind if kind in kinds}
    said = ", ".join(f"{n} {kind.value}" for kind, n in counts.items())
    mimics = sum(joint.mimic is not None for joint in moving.joints)
    said += f", {mimics} of them mimic" * (mimics > 0)
    return Shipped(name, str(design.robot), len(kinds), said, max(height, default=0))


def mount(
    base: str,
    arm: str,
    link: str,
    output: str | Path,
    *,
    xyz: Sequence[float] = (0.0, 0.0, 0.0),
    rpy: Sequence[float] = (0.0, 0.0, 0.0),
    prefix: str = "arm_",
) -> Path:
    """Write to ``output`` the URDF of ``base`` with ``arm`` fixed to its ``link``, and return that
    path.

    Both are URDFs, YAML designs or shipped robots; only their URDF is used. ``xyz`` [m] and ``rpy``
    [rad] place the arm in the link's frame. ``prefix`` begins the names of its links and joints.

    Raises RobotError or OutputError, in one line.
    """
    place = Path(output)
    check_place(place)
    files = filed(base).robot, filed(arm).robot
    texts = read_bytes(files[0]), read_bytes(files[1])
    text = mounted(*texts, link, xyz=xyz, rpy=rpy, prefix=prefix, files=files)
    write_file(place, text)
    return place
