"""Mutated robots: the reader refuses in one line, or gives the robot that the text describes."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rbdgen.robot.model import Robot, RobotError
from rbdgen.robot.urdf import parse_urdf
from rbdgen_benchmarks.bench.fuzz_urdf import (
    MUTATIONS,
    WORDS,
    is_as_pinocchio_reads,
    refusal_of,
    texts,
)

TEXTS = texts()


@st.composite
def mutated_trees(draw: st.DrawFn) -> str:
    root = ElementTree.fromstring(draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 3))):
        found = list(root.iter())
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
    found = refusal_of(source)
    if not isinstance(found, str):
        return found
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


FUZZ = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@settings(FUZZ, max_examples=500)
@given(mutated_trees())
def test_mutated_elements(text: str) -> None:
    robot = read_or_refuse(text)
    check_mimics(text)
    if robot is not None:
        check_tree(robot, text)
        is_as_pinocchio_reads(robot, text)


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
