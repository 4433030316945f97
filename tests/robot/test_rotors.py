"""Rotors that a URDF's other tags say, as their joints feel them."""

from __future__ import annotations

import pytest

from rbdgen.robot.model import Drivetrain
from rbdgen.robot.urdf import parse_urdf
from tests.support.urdf_transmissions import FILE, arm, transmission


def drives(text: str) -> tuple[list[Drivetrain], list[str]]:
    notes: list[str] = []
    robot = parse_urdf(text, file=FILE, notes=notes)
    return [joint.drivetrain for joint in robot.joints], notes


def test_dynamics_are_read() -> None:
    revolute = arm('<dynamics damping="0.5" friction="2" armature="0.1"/>', "")
    assert drives(revolute) == ([Drivetrain(0.1, 0.5, 2.0, 0.1), Drivetrain()], [])
    prismatic = arm('<dynamics friction="3"/>', kind="prismatic")
    assert drives(prismatic)[0] == [Drivetrain(friction=3.0, width=0.01)]


@pytest.mark.parametrize(
    ("inside", "extra", "armature"),
    [
        ("", transmission("j0", "<rotorInertia>1e-5</rotorInertia>"), 1e-5),
        ("", transmission("j0", "<rotorInertia>1e-5</rotorInertia>"
                                "<mechanicalReduction>-50</mechanicalReduction>"), 0.025),
        ("", '<transmission name="t"><joint name="j0"><mechanicalReduction>20</mechanicalReduction>'
             '</joint><actuator name="m"><motorInertia>0.002</motorInertia></actuator>'
             "</transmission>", 0.8),
        ('<drake:rotor_inertia value="1e-5"/><drake:gear_ratio value="160"/>', "", 0.256),
        ("", '<gazebo reference="j0"><armature>0.1</armature></gazebo>', 0.1),
    ],
)  # fmt: skip
def test_reductions_are_squared(inside: str, extra: str, armature: float) -> None:
    (own, other), notes = drives(arm(inside, "", extra=extra))
    assert own.armature == pytest.approx(armature, rel=1e-12)
    assert other.armature == 0
    assert any('joint "j0" taken as rotors\' inertias' in note for note in notes)


@pytest.mark.parametrize(
    ("inside", "extra"),
    [
        ("", transmission("j0", "<rotorInertia>1</rotorInertia>") * 2),
        ("", '<transmission name="t"><joint name="j0"/><joint name="j1"/><actuator name="m">'
             "<rotorInertia>1</rotorInertia></actuator></transmission>"),
        ("", transmission("j0", "<rotorInertia>1</rotorInertia><gear_ratio>2</gear_ratio>"
                                "<mechanicalReduction>3</mechanicalReduction>")),
        ("", transmission("j0", "<rotorInertia>-1</rotorInertia>")),
        ('<dynamics armature="0"/>', transmission("j0", "<rotorInertia>1e200</rotorInertia>")),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_left_out(inside: str, extra: str) -> None:
    found, notes = drives(arm(inside, "", extra=extra))
    assert [own.armature for own in found] == [0, 0]
    assert any("left out: a joint has one armature" in note for note in notes)


def test_dynamics_win_over_rotors() -> None:
    extra = transmission("j0", "<rotorInertia>1</rotorInertia>")
    (own,), notes = drives(arm('<dynamics armature="0.3"/>', extra=extra))
    assert own.armature == 0.3
    assert any("left out: a joint has one armature" in note for note in notes)


def test_a_rotor_alone_is_inertia() -> None:
    text = arm('<dynamics armature="0.3"/>').replace('mass value="1"', 'mass value="0"')
    massless = (
        text.replace('xx="1"', 'xx="0"').replace('yy="1"', 'yy="0"').replace('zz="1"', 'zz="0"')
    )
    assert not any("singular" in note for note in drives(massless)[1])
    assert any("singular" in note for note in drives(massless.replace("0.3", "0"))[1])
