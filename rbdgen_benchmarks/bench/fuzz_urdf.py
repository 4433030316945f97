"""Robots' files with something wrong in them: what becomes of each, beside Pinocchio.

A file is refused in one line that names its own, or it is read, and then its robot is the one that
Pinocchio reads. There is no third way.
"""

from __future__ import annotations

import copy
import os
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from xml.etree.ElementTree import Element

from rbdgen.api.folder import write_file
from rbdgen.api.results import Mismatch
from rbdgen.robot.model import JointKind, Robot, RobotError
from rbdgen.robot.urdf import parse_urdf
from rbdgen.system.quoting import Progress
from rbdgen.system.templates import data_folder

from .measurement import Row, measurement
from .same_robot import assert_same_robot

FILES, SEED = 100_000, 1
LONGEST = 1000  # characters of a refusal
FARTHEST = 1e6  # m; nothing is left of a comparison to absolute tolerances beyond
NAME = "arm.urdf"
REFUSED, READ, SAME, TRACEBACK, DIFFERS = "refused", "read", "as Pinocchio", "traceback", "differs"

# One of each kind of joint, a mimic, and what is none of a robot's.
ZOO = """<robot name="zoo">
  <link name="a"><inertial><mass value="2"/><origin xyz="0 .1 0" rpy="0 0 1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz=".1" izz="2"/></inertial>
    <visual><origin xyz="1 2 3"/></visual></link>
  <link name="b"/> <link name="c"/> <link name="d"/> <link name="e"/> <link name="f"/>
  <joint name="e1" type="revolute"><parent link="d"/><child link="e"/>
    <axis xyz="0 -2 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="b1" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <joint name="c1" type="floating"><parent link="b"/><child link="c"/></joint>
  <joint name="d1" type="fixed"><parent link="a"/><child link="d"/>
    <origin xyz="1 0 0" rpy="0 1 0"/></joint>
  <joint name="f1" type="continuous"><parent link="e"/><child link="f"/>
    <mimic joint="e1" multiplier="-2" offset="1"/></joint>
  <transmission name="t"><joint name="e1"/></transmission>
</robot>
"""
WORDS = [
    "", " ", "0", "-1", "1e-30", "1e30", "1e999", "nan", "-inf", "0,5", "one", "1 2", "0 0 0",
    "1 2 3 4", "0 0 1", "\t1\n0 0 ", "${x}", "a", "b", "f", "e1", "fixed", "floating", "planar",
    "continuous", "prismatic", "spherical", "x" * 300, "é\n", "<&>\"'", "xyz", "link", "joint",
    "origin", "inertial", "mass", "mimic", "xacro:if", "gazebo", "robot",
]  # fmt: skip


def texts() -> list[str]:
    """The files that are changed."""
    names = ("pendulum", "gantry", "iiwa14")
    return [ZOO, *((data_folder("robots") / f"{n}.urdf").read_text("utf-8") for n in names)]


def _parent_of(root: Element, child: Element) -> Element | None:
    return next((e for e in root.iter() if any(c is child for c in e)), None)


def delete(root: Element, one: Element, other: Element, word: str) -> None:
    parent = _parent_of(root, one)
    if parent is not None:
        parent.remove(one)


def double(root: Element, one: Element, other: Element, word: str) -> None:
    parent = _parent_of(root, one)
    if parent is not None:
        parent.append(copy.deepcopy(one))


def move(root: Element, one: Element, other: Element, word: str) -> None:
    parent = _parent_of(root, one)
    if parent is not None and not any(e is other for e in one.iter()):
        parent.remove(one)
        other.insert(0, one)


def swap_attributes(root: Element, one: Element, other: Element, word: str) -> None:
    one.attrib, other.attrib = other.attrib, one.attrib


def drop_attribute(root: Element, one: Element, other: Element, word: str) -> None:
    if one.attrib:
        del one.attrib[sorted(one.attrib)[len(word) % len(one.attrib)]]


def set_attribute(root: Element, one: Element, other: Element, word: str) -> None:
    if one.attrib:
        one.attrib[sorted(one.attrib)[len(other.tag) % len(one.attrib)]] = word


def corrupt_number(root: Element, one: Element, other: Element, word: str) -> None:
    for key in ("xyz", "rpy", "value", "ixx", "lower", "multiplier"):
        if key in one.attrib:
            words = one.attrib[key].split()
            one.attrib[key] = " ".join([word, *words[1:]])


def scale_number(root: Element, one: Element, other: Element, word: str) -> None:
    """Leaves a valid robot, more often than not."""
    for key in ("xyz", "rpy", "value", "multiplier"):
        if key in one.attrib:
            one.attrib[key] = " ".join(f"{1.7 * float(w) + 0.1}" for w in one.attrib[key].split())


def rename(root: Element, one: Element, other: Element, word: str) -> None:
    name = word.strip() or "x"
    if name.replace(":", "").isalnum():
        one.tag = name


MUTATIONS: list[Callable[[Element, Element, Element, str], None]] = [
    delete, double, move, swap_attributes, drop_attribute, set_attribute, corrupt_number,
    scale_number, rename,
]  # fmt: skip


def mutated(rng: Random, sources: list[str]) -> str:
    """One of the files with one to three changes."""
    root = ElementTree.fromstring(rng.choice(sources))
    for _ in range(rng.randint(1, 3)):
        found = list(root.iter())
        try:
            rng.choice(MUTATIONS)(root, rng.choice(found), rng.choice(found), rng.choice(WORDS))
        except ValueError:
            continue  # a number that an earlier change corrupted cannot be scaled
    return ElementTree.tostring(root, encoding="unicode")


def refusal_of(source: str | bytes) -> Robot | str:
    """The robot, or the line that says why there is none; AssertionError where that says too little
    of it or too much."""
    try:
        return parse_urdf(source, file=NAME, mimic="independent")
    except RobotError as error:
        message = str(error)
        place = message.split(":")
        assert place[0] == NAME
        assert place[1].isdigit()
        assert "\n" not in message
        assert len(message) < LONGEST
        return message


def is_as_pinocchio_reads(robot: Robot, source: str) -> bool:
    """Whether Pinocchio reads the text, too; AssertionError where it reads another robot.

    It trusts its input, so where it refuses nothing follows.
    """
    import pinocchio

    if any(joint.kind is JointKind.PLANAR for joint in robot.joints):
        return False  # its planar joints ignore the axis
    sizes = [abs(joint.placement.translation).max() for joint in robot.joints]
    if max(sizes, default=0) > FARTHEST:
        return False
    # It separates numbers by spaces only, and drops an <inertial> that it cannot read.
    source = re.sub("&#0?(9|10|13);", " ", source)
    try:
        with _unheard():
            model = pinocchio.buildModelFromXML(source)
    except (ValueError, RuntimeError):
        return False
    assert_same_robot(robot, model)
    return True


@contextmanager
def _unheard() -> Iterator[None]:
    """Silence Pinocchio's reader, which writes on standard error for each file."""
    kept = os.dup(2)
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def verdicts(files: int, seed: int) -> Iterator[tuple[str, str]]:
    """The verdict on each file, and its text."""
    rng, sources = Random(seed), texts()
    for _ in range(files):
        text = mutated(rng, sources)
        try:
            found = refusal_of(text)
            if isinstance(found, str):
                yield REFUSED, text
                continue
        except Exception:
            yield TRACEBACK, text
            continue
        try:
            yield (SAME if is_as_pinocchio_reads(found, text) else READ), text
        except AssertionError:
            yield DIFFERS, text


LEGEND = (
    "One to three elements, attributes or numbers of four robots' files changed at random. "
    "Refused: in one line\nthat names file and line. Read: Pinocchio refuses, or has no such "
    "joint. Differs: it reads another robot."
)


def _as_read(found: list[dict[str, Any]]) -> None:
    """Mismatch for a traceback, and for another robot."""
    (row,) = found
    if row[TRACEBACK] or row[DIFFERS]:
        raise Mismatch(f"{row[TRACEBACK]} tracebacks, {row[DIFFERS]} other robots")


@measurement(
    "fuzz-urdf",
    "minutes",
    ("files", REFUSED, READ, SAME, TRACEBACK, DIFFERS),
    cases=lambda: [(FILES,)],
    legend=LEGEND,
    page=True,
    check=_as_read,
)
def mutated_robots(place: Path, progress: Progress, files: int) -> Iterator[Row]:
    """How many of so many files are refused, read, and read as Pinocchio reads them.

    Those that end in a traceback or in another robot are written beside the table, and Mismatch
    says that there are such.
    """
    count: Counter[str] = Counter()
    for k, (verdict, text) in enumerate(verdicts(files, SEED), 1):
        count[verdict] += 1
        if verdict in (TRACEBACK, DIFFERS):
            write_file(place / f"{verdict}-{count[verdict]}.urdf", text)
        if k % 5000 == 0:
            progress(f"{k} of {files} files: {', '.join(f'{n} {v}' for v, n in count.items())}")
    yield [files, *(count[own] for own in (REFUSED, READ, SAME, TRACEBACK, DIFFERS))]
