"""Values of single URDF elements: names, numbers, poses, inertias, limits, each checked.

Pose and inertia conventions: http://wiki.ros.org/urdf/XML/link and .../joint.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from pathlib import PurePath

import numpy as np

from .model import (
    Array,
    Inertia,
    JointKind,
    Limits,
    RobotError,
    Transform,
    skew,
)
from .xml_lines import Element, did_you_mean, one_line, quoted

KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
    "floating": JointKind.FLOATING,
    "planar": JointKind.PLANAR,
}

# Attributes that each element may have. An unknown one is refused: a misspelt `rpy` that is
# passed over gives a robot that looks right and is wrong.
ATTRIBUTES = {
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "axis": ("xyz", "rpy"),  # some exporters write an rpy here; it has no meaning
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "mimic": ("joint", "multiplier", "offset"),
    "drake:mimic": ("joint", "multiplier", "offset"),  # in files that keep it from others
    "limit": ("lower", "upper", "velocity", "effort"),
    "dynamics": ("damping", "friction", "armature"),
}

# What published files give these elements besides. It is not read, which ``unread`` notes. Others
# are let pass where they can be no slip for one of those above.
BESIDES = {
    "limit": ("acceleration", "deceleration", "jerk", "current", "command_effort", "gear_velocity"),
    "dynamics": (),
}
LONGEST_NAME = 150
# An attribute of <robot> in a URDF that was made of MJCF or xacro. Children of it: what was left
# out; what closes a loop or couples joints there; its gravity.
MADE = "xmlns:rbdgen"
NOTE, LOOP, GRAVITY = "rbdgen:note", "rbdgen:loop", "rbdgen:gravity"
UNSAID = "rbdgen:unsaid"  # an attribute of <limit>: what URDF demands there, and MJCF has not
_SLIP, _LETTERS = 0.7, 3  # how like another name a slip is; how many letters it adds or drops

# Children that are read. Others are passed over (meshes, sensors, simulators' extras), unless
# their tag is a near miss, which would drop a number that the author meant to give.
CHILDREN = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "joint": ("origin", "axis", "parent", "child", "limit", "mimic", "dynamics"),
    "inertial": ("origin", "mass", "inertia"),
}

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LARGEST = 1e15  # metre, kilogram, kg·m²: beyond it products of inputs could overflow
_SHORTEST = 1e-9  # an axis or quaternion below this has no direction
_ROUNDING = 1e-6  # of the largest moment about the link's origin: files print six digits
_NEGLIGIBLE = 1e-7  # kg·m²: what a gram has at 1 cm; published dummy links err by less


def expand(file: str) -> str:
    """The conversion of a xacro file to a URDF."""
    place = PurePath(one_line(file, 200))
    stem = place.name.removesuffix(".xacro").removesuffix(".urdf")
    made = place.with_name(stem + (".urdf" if place.suffix == ".xacro" else "_expanded.urdf"))
    return f"expand it first: xacro {shlex.quote(str(place))} > {shlex.quote(str(made))}"


def attribute(element: Element, key: str) -> str | None:
    """The attribute's text, with a clear refusal of xacro that was not expanded.

    A URDF that was made of another file holds no xacro: a name there may have ``${`` or ``$(``.
    """
    value = element.attributes.get(key)
    if value is None or MADE in element.root.attributes:
        return value
    if "${" in value or "$(" in value:
        raise element.error(f"{key}={quoted(value)} is xacro; {expand(element.file)}")
    return value


def name_of(element: Element) -> str:
    """The element's own name: there, not blank, and on one line, as reports and files quote it.

    It is part of the names of files, which systems keep below 256 bytes.
    """
    name = required(element, "name")
    if not name.isprintable():
        raise element.error("the name holds a line break or control character; remove it")
    if len(name) > LONGEST_NAME:
        raise element.error(f"a name of {len(name)} characters; shorten it to {LONGEST_NAME}")
    return name


def required(element: Element, key: str) -> str:
    value = attribute(element, key)
    if value is None:
        known = ATTRIBUTES.get(element.tag, ())
        near = get_close_matches(key, [name for name in element.attributes if name not in known], 1)
        usual = "0" if key in ("ixy", "ixz", "iyz") else "..."
        cure = f"is {quoted(near[0])} a slip for it?" if near else f'write {key}="{usual}"'
        raise element.error(f"has no {key}; {cure}")
    if not value.strip():
        raise element.error(f"{key} is empty; fill it in")
    return value


def numbers(element: Element, key: str, count: int, default: tuple[float, ...]) -> Array:
    """``count`` finite numbers separated by any white space; ``default`` without the attribute."""
    value = attribute(element, key)
    if value is None:
        return np.array(default)
    words = value.split()
    if len(words) != count:
        needs = "1 number" if count == 1 else f"{count} numbers"
        hint = "; separate them by spaces" if "," in value or ";" in value else ""
        raise element.error(f"{key} needs {needs}, has {len(words)}: {quoted(value)}{hint}")
    return np.array([_number(element, key, word) for word in words])


def _number(element: Element, key: str, word: str) -> float:
    if word.lstrip("+-.").lower() in ("nan", "inf", "infinity"):
        if element.tag == "limit" and not word.lower().endswith("nan"):
            return -math.inf if word.startswith("-") else math.inf  # another way to say "none"
        raise element.error(f"{key} must be finite, is {quoted(word)}")
    if not _NUMBER.fullmatch(word):
        hint = "; write a decimal point" if re.fullmatch(r"[+-]?\d+,\d+", word) else ""
        raise element.error(f"{key}: {quoted(word)} is not a number{hint}")
    value = float(word)
    if not abs(value) <= _LARGEST and element.tag != "limit":  # ±1e16 is a way to say "none"
        raise element.error(f"{key}: {quoted(word)} is no physical size (at most {_LARGEST:g})")
    return value


def check_attributes(element: Element, wanted: Collection[str] = ()) -> None:
    """RobotError for an attribute that the element cannot have.

    Files give some elements more than URDF fixes (``BESIDES``). There it is one for what may be a
    slip: a name like another, or any, where one of those ``wanted`` is missing.
    """
    known, besides = ATTRIBUTES[element.tag], BESIDES.get(element.tag)
    complete = all(key in element.attributes for key in wanted)
    for key in element.attributes:
        if key in known or ":" in key:
            continue
        if besides is not None and (key in besides or (complete and not _slip(key, known))):
            continue
        hint = did_you_mean(key.lower(), known, f"; it has {', '.join(known)}")
        hint = did_you_mean(key.lower(), [k for k in known if k not in element.attributes], hint)
        raise element.error(f"{quoted(key)} is no attribute of <{element.tag}>{hint}")


def _slip(key: str, known: Iterable[str]) -> bool:
    near = [name for name in known if abs(len(name) - len(key)) <= _LETTERS]
    return bool(get_close_matches(key.lower(), near, n=1, cutoff=_SLIP))


def check_children(element: Element) -> None:
    known = CHILDREN[element.tag]
    for child in element:
        if child.tag not in known and ":" not in child.tag:
            hint = did_you_mean(child.tag.lower(), known, cutoff=0.75)
            if hint:
                raise child.error(f"<{child.tag}> is not URDF{hint}")


def pose(parent: Element) -> Transform:
    """The ``<origin>`` directly inside ``parent``; the identity without one."""
    origin = parent.only("origin")
    if origin is None:
        return Transform()
    check_attributes(origin)
    translation = numbers(origin, "xyz", 3, (0.0, 0.0, 0.0))
    if "quat_xyzw" in origin.attributes:
        return Transform(_rotation_quaternion(origin), translation)
    return Transform(rotation_rpy(*numbers(origin, "rpy", 3, (0.0, 0.0, 0.0))), translation)


def _rotation_quaternion(origin: Element) -> Array:
    """(3, 3) rotation of ``quat_xyzw``, which came with URDF 1.1."""
    if "rpy" in origin.attributes:
        raise origin.error("has both rpy and quat_xyzw; keep one of them")
    if origin.root.attributes.get("version", "1.0") == "1.0":
        raise origin.error('quat_xyzw needs <robot version="1.1">; add it, or write rpy')
    quaternion = numbers(origin, "quat_xyzw", 4, (0.0, 0.0, 0.0, 1.0))
    length = math.hypot(*quaternion)
    if length < _SHORTEST:
        raise origin.error('quat_xyzw is zero; write "0 0 0 1" for no rotation')
    v, w = quaternion[:3] / length, quaternion[3] / length
    # R = 1 + 2 w [v] + 2 [v]²
    rotation: Array = np.eye(3) + 2.0 * w * skew(v) + 2.0 * skew(v) @ skew(v)
    return rotation


def rotation_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """(3, 3) rotation of URDF's angles about the fixed x, then y, then z axis [rad].

    R = Rz(yaw) Ry(pitch) Rx(roll), multiplied out.
    """
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def kind(joint: Element) -> JointKind:
    written = required(joint, "type")
    if written not in KINDS:
        hint = did_you_mean(written, KINDS, f"; a type is one of {', '.join(KINDS)}")
        raise joint.error(f"unknown joint type {quoted(written)}{hint}")
    return KINDS[written]


def unit_axis(joint: Element) -> Array:
    """Direction (3,) of ``<axis>``, of length 1; URDF's default is x."""
    element = joint.only("axis")
    if element is None:
        return np.array([1.0, 0.0, 0.0])
    check_attributes(element)
    required(element, "xyz")
    axis = numbers(element, "xyz", 3, (1.0, 0.0, 0.0))
    length = math.hypot(*axis)
    if length < _SHORTEST:
        raise element.error('the axis has no direction; write one such as xyz="0 0 1"')
    return np.asarray(axis / length)


def inertia(link: Element, notes: list[str]) -> Inertia:
    """The link's inertia in its own frame; zero without ``<inertial>``.

    Notes what is suspicious; refuses what has no meaning as a body.
    """
    inertial = link.only("inertial")
    check_children(link)
    if inertial is None:
        return Inertia()
    check_children(inertial)
    at = pose(inertial)
    mass_element = inertial.only("mass")
    if mass_element is None:
        raise inertial.error('has no <mass>; write <mass value="..."/>')
    check_attributes(mass_element)
    required(mass_element, "value")
    mass = float(numbers(mass_element, "value", 1, (0.0,))[0])
    if mass < 0:
        raise mass_element.error(f"mass is negative ({mass:g} kg)")
    element = inertial.only("inertia")
    if element is None:
        if mass > 0:
            raise inertial.error("has no <inertia>; write one, with six zeros for a point mass")
        return Inertia()
    check_attributes(element)
    about_com = _moments(element)
    turned = at.rotation @ about_com @ at.rotation.T
    body = Inertia.about_com(mass, at.translation, (turned + turned.T) / 2)
    _check_moments(element, mass, about_com, body.J, notes)
    return body


def _moments(element: Element) -> Array:
    """The symmetric matrix (3, 3) of ``<inertia>``."""
    for key in ATTRIBUTES["inertia"]:
        required(element, key)
    xx, xy, xz, yy, yz, zz = (
        float(numbers(element, key, 1, (0.0,))[0]) for key in ATTRIBUTES["inertia"]
    )
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _check_moments(
    element: Element, mass: float, about_com: Array, about_origin: Array, notes: list[str]
) -> None:
    """A body's principal moments are not negative, and no one exceeds the sum of the others.

    Published robots break both rules about the centre of mass (products of inertia shifted
    twice, rounded tables), and still have positive kinetic energy however they turn about their
    own joint. That is noted. A negative diagonal, or negative energy about the joint, makes the
    mass matrix meaningless: refused.
    """
    smallest, middle, largest = np.linalg.eigvalsh(about_com)
    least_about_origin, _, scale = np.linalg.eigvalsh(about_origin)
    slack = _ROUNDING * max(abs(scale), abs(smallest), abs(largest))
    if smallest < -slack:
        moment = f"principal moment {smallest:.3g} kg·m² is negative"
        if min(least_about_origin, about_com.diagonal().min()) < -slack - _NEGLIGIBLE:
            raise element.error(
                f"{moment}: not positive definite, so no body has this inertia; "
                "check signs and products"
            )
        notes.append(element.text(f"{moment} about the centre of mass: no real body has it"))
    elif largest > smallest + middle + slack:
        notes.append(
            element.text(
                f"principal moment {largest:.3g} exceeds the sum of the others "
                f"({smallest:.3g} + {middle:.3g}): no real body has it"
            )
        )
    if mass == 0 and about_com.any():
        notes.append(element.text("turning inertia, but mass 0: no real body has it"))


def limits(joint: Element, notes: list[str]) -> Limits:
    """Position, velocity and effort limits of a revolute, continuous or prismatic joint."""
    element = joint.only("limit")
    turns_freely = joint.attributes["type"] == "continuous"
    if element is None:
        if not turns_freely:
            notes.append(joint.text("has no <limit>; taken as unlimited"))
        return Limits()
    every = ATTRIBUTES["limit"]
    check_attributes(element, every[2:] if turns_freely else every)
    lower, upper, velocity, effort = (float(numbers(element, key, 1, (0.0,))[0]) for key in every)
    if "velocity" not in element.attributes or UNSAID in element.attributes:
        velocity = math.inf
    if turns_freely:
        lower, upper = -math.inf, math.inf
    elif lower >= upper:
        # Exporters write 0 and 0, or nothing, or the largest and the least number, for a joint
        # without limits.
        said = (
            f"lower = upper = {lower:g}"
            if lower == upper
            else f"lower {lower:g} above upper {upper:g}"
        )
        notes.append(element.text(f"{said}; taken as unlimited"))
        lower, upper = -math.inf, math.inf
    if effort < 0:
        notes.append(element.text(f"effort is negative ({effort:g}); taken as none"))
    return Limits(lower, upper, velocity, effort if effort > 0 else math.inf)


def refuse_xacro(robot: Element) -> None:
    """A file that still holds xacro would lose links or joints without a word."""
    names = [key for key, value in robot.attributes.items() if "wiki/xacro" in value]
    spaces = ("xacro:", *(f"{key.removeprefix('xmlns:')}:" for key in names))
    for element in (robot, *robot.below()):
        if element.tag.startswith(spaces):
            raise RobotError(
                f"{element.file}:{element.line}: <{element.tag}>: the file is xacro; "
                f"{expand(element.file)}"
            )
    if not robot.all("link") and (names or robot.file.endswith(".xacro")):
        raise robot.error(f"has no <link>: the file is xacro; {expand(robot.file)}")
