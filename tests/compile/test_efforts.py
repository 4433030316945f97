"""The note of limits that no motor of the robot follows: its numbers, measured here anew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.expected import note_of_efforts
from rbdgen.compile.flow import front_end
from rbdgen.design.loading import load
from rbdgen.system.quoting import changes_results

MASS = 2.0  # kg, 0.25 m off each axis


def arm(tmp_path: Path, velocity: float, effort: float = 12, axis: str = "0 0 1") -> str:
    """A URDF of three equal links in a chain; about z, no weight is borne."""
    lines = ['<robot name="arm"><link name="l0"/>']
    for k in range(1, 4):
        lines += [
            f'<joint name="j{k}" type="revolute"><parent link="l{k - 1}"/><child link="l{k}"/>',
            f'<origin xyz="0.5 0 0"/><axis xyz="{axis}"/>',
            f'<limit lower="-2" upper="2" effort="{effort}" velocity="{velocity}"/></joint>',
            f'<link name="l{k}"><inertial><origin xyz="0.25 0 0"/><mass value="{MASS}"/>',
            '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>',
        ]
    file = tmp_path / f"arm{velocity}_{effort}.urdf"
    file.write_text("\n".join([*lines, "</robot>"]))
    return str(file)


def note_of(file: str, **choices: Any) -> str:
    return note_of_efforts(*load(file, **choices))


def largest(file: str, velocity: float, acceleration: float = 10) -> float:
    """The median joint's largest |τ| of random states over its effort limit."""
    robot = load(file)[1]
    rng = np.random.default_rng(5)
    signs = [rng.choice([-1.0, 1.0], (2000, 3)) for _ in range(2)]
    q = rng.uniform(-np.pi, np.pi, (2000, 3))
    tau = golden.rnea(robot, q, velocity * signs[0], acceleration * signs[1])
    efforts = [joint.limits.effort for joint in robot.joints]
    return float(np.median(np.abs(tau).max(axis=0) / efforts))


def test_velocities_that_no_motor_reaches_are_told_with_one_that_fits(tmp_path: Path) -> None:
    file = arm(tmp_path, velocity=50)
    note = note_of(file, acceleration=1)
    found = re.fullmatch(
        r"at these limits tau reaches (.+) times the effort limits \(median joint; (\d+) bits of "
        r"its word\): lower them with --velocity (.+), or to those of a recording .+",
        note,
    )
    assert found and changes_results(note)
    times, bits, velocity = map(float, found.groups())
    assert times == pytest.approx(largest(file, 50, 1), rel=0.25) and times > 8
    assert bits == round(np.log2(times))
    assert 0.5 < largest(file, velocity, 1) < 2
    assert note_of(file, velocity=velocity, acceleration=1) == ""


def test_whoever_said_the_limits(tmp_path: Path) -> None:
    file = arm(tmp_path, velocity=1)
    assert note_of(file) == ""
    assert "--velocity" in note_of(file, velocity=50)
    (fitting,) = re.findall(r"--acceleration ([\d.]+)", note_of(file, acceleration=2000))
    assert 0.5 < largest(file, 1, float(fitting)) < 2


def test_efforts_that_are_no_reference_say_nothing(tmp_path: Path) -> None:
    """None, and such as do not bear the robot's weight; a design's own are those to go by."""
    assert note_of(arm(tmp_path, 50, effort=0)) == ""
    heavy = arm(tmp_path, 50, effort=1, axis="0 1 0")
    assert largest(heavy, 0, 0) > 1 and largest(heavy, 50) > 8
    assert note_of(heavy) == ""
    file = arm(tmp_path, velocity=50)
    assert note_of(file, functions=("fd",), effort=12) == ""


def test_it_is_of_dynamics_in_words(tmp_path: Path) -> None:
    file = arm(tmp_path, velocity=50)
    assert note_of(file, functions=("m", "twist"), frames=("l3",)) == ""
    assert note_of(file, functions=("nle",)) != ""
    for in_floats in (False, True):
        notes = front_end(file, in_floats=in_floats).notes
        assert (note_of(file) in notes) == (not in_floats)
