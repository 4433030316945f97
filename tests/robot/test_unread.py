"""What a URDF says of joints and the dynamics leave out is said, once for each kind."""

from __future__ import annotations

import pytest

from rbdgen.robot.model import RobotError
from rbdgen.robot.urdf import parse_urdf
from rbdgen.system.quoting import changing
from tests.support.urdf_transmissions import FILE, LIMIT, arm, transmission


def notes_of(text: str) -> list[str]:
    notes: list[str] = []
    parse_urdf(text, file=FILE, notes=notes)
    return notes


def test_what_else_stands_in_dynamics_is_one_note() -> None:
    read, some = '<dynamics damping="0.5" friction="2"/>', '<dynamics stiffness="3" armature="1"/>'
    (note,) = notes_of(arm(read, some, read, some))
    said = 'stiffness of 2 joints ("j1", "j3") in <dynamics>: not read; joints have no springs'
    assert note == changing(f"{FILE}:3: {said}")
    for own, said in {
        'rotor_inertia="2e-5" gear_ratio="50"': "rotor_inertia, gear_ratio of joint",
        'coulomb="2"': "coulomb of joint",
    }.items():
        (note,) = notes_of(arm(f"<dynamics {own}/>"))
        assert said in note and "spring" not in note and "armature" in note
    own = '<axis xyz="0 0 1"/><dynamics damping="1" friction="0"/>'
    (note,) = notes_of(arm(own, kind="planar"))
    assert note.startswith(f'{FILE}:2: damping of joint "j0" in <dynamics>: left out; only joints')


def test_joints_that_do_not_move_need_no_note() -> None:
    text = arm('<dynamics damping="1"/>').replace('type="revolute"', 'type="fixed"')
    assert notes_of(text) == []


@pytest.mark.parametrize(
    ("text", "start", "fragment"),
    [
        (transmission("j0", "<mechanicalReduction> 50 </mechanicalReduction>"),
         f'{FILE}:3: mechanicalReduction of joint "j0"', "joints', not the motors'"),
        (transmission("j0", "<mechanicalReduction>-1</mechanicalReduction>"),
         f'{FILE}:3: mechanicalReduction of joint "j0"', "joints', not the motors'"),
        ('<transmission name="t"><gap_joint name="j0" mechanical_reduction="1.0" '
         'gear_ratio="40"/></transmission>',
         f'{FILE}:3: gear_ratio of joint "j0"', "joints', not the motors'"),
        ('<ros2_control name="c"><transmission name="t"><joint name="j0" role="r">'
         "<mechanical_reduction>100</mechanical_reduction></joint></transmission></ros2_control>",
         f'{FILE}:3: mechanical_reduction of joint "j0"', "joints', not the motors'"),
        (transmission("j0", "<rotorInertia>1e-5</rotorInertia>"),
         f'{FILE}:3: rotorInertia of joint "j0"', "times the squared reduction"),
        ('<gazebo reference="j0"><armature>0.1</armature></gazebo>',
         f'{FILE}:3: armature of joint "j0"', "taken as rotors' inertias"),
    ],
)  # fmt: skip
def test_what_motors_have(text: str, start: str, fragment: str) -> None:
    (note,) = notes_of(arm("", extra=text))
    assert note.startswith(start)
    assert fragment in note


def test_drakes_rotors() -> None:
    own = '<drake:rotor_inertia value="1e-5"/><drake:gear_ratio value="160"/>'
    ratio, rotor = notes_of(arm(own, own))
    assert rotor.startswith(f'{FILE}:2: drake:rotor_inertia of 2 joints ("j0", "j1") taken')
    assert ratio.startswith(f'{FILE}:2: drake:gear_ratio of 2 joints ("j0", "j1") read for rotors')


@pytest.mark.parametrize(
    "text",
    [
        transmission("j0", "<mechanicalReduction>1</mechanicalReduction>"),
        transmission("j0", "<mechanicalReduction/>"),
        transmission("another", "<mechanicalReduction>50</mechanicalReduction>"),
        transmission("j0", "<rotorInertia>0.0</rotorInertia>"),
        '<gazebo reference="l1"><mu1>0.2</mu1></gazebo>',
    ],
)
def test_what_changes_nothing_is_no_note(text: str) -> None:
    assert notes_of(arm("", extra=text)) == []


def test_limits_that_urdf_does_not_have_are_noted() -> None:
    own = LIMIT.replace("/>", ' current="9" gear_velocity="3"/>')
    (note,) = notes_of(arm("", own))
    assert note == f'{FILE}:3: current, gear_velocity of joint "j1" in <limit>: not read'
    with pytest.raises(RobotError, match=r'"velocty" is no attribute .* did you mean "velocity"\?'):
        notes_of(arm(own.replace("velocity=", "velocty=", 1)))


@pytest.mark.parametrize(
    ("axis", "noted"),
    [
        ("", True),  # URDF's default is x
        ('<axis xyz="1 0 0"/>', True),
        ('<axis xyz="0 0 -1"/>', True),
        ('<axis xyz="0 0 1"/>', False),
        ('<axis xyz="0 0 7"/>', False),
    ],
)
def test_planes_that_pinocchio_has_elsewhere(axis: str, noted: bool) -> None:
    notes = notes_of(arm(axis, axis, kind="planar"))
    assert len(notes) == noted
    for note in notes:
        assert note.startswith(f'{FILE}:2: planar 2 joints ("j0", "j1"): ')
        assert "Pinocchio ignores the axis" in note
