"""Mutated robots: the reader refuses in one line, or gives the robot that the text describes."""

from __future__ import annotations

import copy
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rbdgen.robot.model import JointKind, Robot, RobotError
from rbdgen.robot.urdf import parse_urdf
from rbdgen.system.data import data_folder
from tests.robot.same_robot import assert_same_robot

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
TEXTS = [ZOO] + [
    (data_folder("robots") / f"{name}.urdf").read_text("utf-8")
    for name in ("pendulum", "gantry", "iiwa14")
]
WORDS = [
    "", " ", "0", "-1", "1e-30", "1e30", "1e999", "nan", "-inf", "0,5", "one", "1 2", "0 0 0",
    "1 2 3 4", "0 0 1", "\t1\n0 0 ", "${x}", "a", "b", "f", "e1", "fixed", "floating", "planar",
    "continuous", "prismatic", "spherical", "x" * 300, "é\n", "<&>\"'", "xyz", "link", "joint",
    "origin", "inertial", "mass", "mimic", "xacro:if", "gazebo", "robot",
]  # fmt: skip


def elements_of(root: Element) -> list[Element]:
    return list(root.iter())


def parent_of(root: Element, child: Element) -> Element | None:
    return next((e for e in root.iter() if any(c is child for c in e)), None)


def delete(root: Element, one: Element, other: Element, word: str) -> None:
    parent = parent_of(root, one)
    if parent is not None:
        parent.remove(one)


def double(root: Element, one: Element, other: Element, word: str) -> None:
    parent = parent_of(root, one)
    if parent is not None:
        parent.append(copy.deepcopy(one))


def move(root: Element, one: Element, other: Element, word: str) -> None:
    parent = parent_of(root, one)
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


@st.composite
def mutated_trees(draw: st.DrawFn) -> str:
    root = ElementTree.fromstring(draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 3))):
        found = elements_of(root)
        one, other = (found[draw(st.integers(0, len(found) - 1))] for _ in range(2))
        try:
            draw(st.sampled_from(MUTATIONS))(root, one, other, draw(st.sampled_from(WORDS)))
        except ValueError:
            continue  # a number that an earlier mutation corrupted cannot be scaled
    return ElementTree.tostring(root, encoding="unicode")


@st.composite
def mutated_bytes(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from(TEXTS)).encode()
    start = draw(st.integers(0, len(data)))
    stop = draw(st.one_of(st.just(len(data)), st.integers(start, min(start + 30, len(data)))))
    return data[:start] + draw(st.binary(max_size=8)) + data[stop:]


def read_or_refuse(source: str | bytes) -> Robot | None:
    try:
        return parse_urdf(source, file="arm.urdf", mimic="independent")
    except RobotError as error:
        message = str(error)
        assert message.startswith("arm.urdf:")
        assert message.split(":")[1].isdigit()
        assert "\n" not in message
        assert len(message) < 1000
        with pytest.raises(RobotError):  # a wrong mimic is one more reason, never one less
            parse_urdf(source)
        return None


def check_mimics(source: str | bytes) -> None:
    """Folding: every mimic joint ends at a free joint, by finite numbers."""
    try:
        folded = parse_urdf(source)
    except RobotError:
        return
    for joint in folded.joints:
        if joint.mimic is not None:
            assert joint.mimic.joint in folded.free
            assert math.isfinite(joint.mimic.multiplier)
            assert math.isfinite(joint.mimic.offset)


def check_tree(robot: Robot, source: str | bytes) -> None:
    """What an independent, trusting reader of the same text sees."""
    try:
        document = ElementTree.fromstring(source.strip())
    except ElementTree.ParseError:
        # It resolves namespaces, which URDF does not ask for: `:lower` or an undeclared prefix.
        return
    links = {element.get("name"): element for element in document.findall("link")}
    joints = {element.get("name"): element for element in document.findall("joint")}
    assert sorted(links) == sorted([robot.base_body, *(j.body for j in robot.joints)])
    assert sorted(joints) == sorted(j.name for j in robot.joints)
    for i, joint in enumerate(robot.joints):
        element = joints[joint.name]
        assert joint.parent < i
        above = robot.joints[joint.parent].body if joint.parent >= 0 else robot.base_body
        assert element.find("parent").attrib["link"] == above
        assert element.find("child").attrib["link"] == joint.body
        assert np.linalg.norm(joint.axis) == pytest.approx(1)
        R = joint.placement.rotation
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(R) == pytest.approx(1)
        assert np.isfinite(joint.placement.translation).all()
        assert np.isfinite(joint.inertia.h).all()
        assert np.isfinite(joint.inertia.J).all()
        assert joint.inertia.mass >= 0
    masses = [float(m.attrib["value"]) for m in document.findall("link/inertial/mass")]
    total = robot.base_inertia.mass + sum(j.inertia.mass for j in robot.joints)
    assert total == pytest.approx(sum(masses))


def check_pinocchio(robot: Robot, source: str) -> None:
    """Pinocchio trusts its input; where it reads the text at all, it must read the same."""
    if any(joint.kind is JointKind.PLANAR for joint in robot.joints):
        return  # its planar joints ignore the axis
    sizes = [abs(joint.placement.translation).max() for joint in robot.joints]
    if max(sizes, default=0) > 1e6:
        return  # nothing is left of a comparison to absolute tolerances
    # It separates numbers by spaces only, and drops an <inertial> that it cannot read.
    source = re.sub("&#0?(9|10|13);", " ", source)
    try:
        model = pin.buildModelFromXML(source)
    except (ValueError, RuntimeError):
        return
    assert_same_robot(robot, model)


FUZZ = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@settings(FUZZ, max_examples=1000)
@given(mutated_trees())
def test_mutated_elements(text: str) -> None:
    robot = read_or_refuse(text)
    check_mimics(text)
    if robot is not None:
        check_tree(robot, text)
        check_pinocchio(robot, text)


@settings(FUZZ, max_examples=1000)
@given(mutated_bytes())
def test_mutated_bytes(data: bytes) -> None:
    robot = read_or_refuse(data)
    check_mimics(data)
    if robot is not None:
        check_tree(robot, data)


@settings(FUZZ, max_examples=300)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_noise(data: str | bytes) -> None:
    assert read_or_refuse(data) is None


def test_the_mutations_leave_enough_to_compare() -> None:
    """A fuzz test that only ever sees refusals would pass with any reader."""
    kept = []

    @settings(FUZZ, max_examples=200)
    @given(mutated_trees())
    def count(text: str) -> None:
        kept.append(read_or_refuse(text) is not None)

    count()
    assert 0.2 < np.mean(kept) < 0.8
