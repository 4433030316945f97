"""The URDF reader: every hazard is handled or refused where it stands."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rbdgen.robot.model import JointKind, RobotError
from rbdgen.robot.urdf import parse_urdf
from tests.support.urdf_texts import (
    BODY,
    FILE,
    MIMIC,
    PAIR,
    arm,
    body,
    joint,
    link,
    moments,
    read,
    robot,
)


def test_link_without_inertial_has_zero_inertia() -> None:
    assert (
        read(robot(link("base"), link("tip", ""), joint("j", "base", "tip")))
        .joints[0]
        .inertia.is_zero
    )


def test_zero_mass_link() -> None:
    still = '<inertial><mass value="0"/></inertial>'
    assert read(body(still)).joints[0].inertia.is_zero


def test_one_link_is_a_robot_without_joints() -> None:
    lonely = read(robot(link("base")))
    assert (lonely.nv, lonely.base_body, lonely.base_inertia.mass) == (0, "base", 1)


def test_joint_before_its_parent_and_depth_first_in_file_order() -> None:
    found = read(
        robot(
            joint("z_leaf", "left", "hand"),
            joint("right", "base", "right"),
            joint("left", "base", "left"),
            *map(link, ("hand", "left", "right", "base")),
        )
    )
    assert found.joint_names == ["right", "left", "z_leaf"]
    assert [j.parent for j in found.joints] == [-1, -1, 1]
    assert found.base_body == "base"


def test_missing_origin_xyz_rpy_and_axis_have_the_defaults_of_urdf() -> None:
    plain = read(arm("")).joints[0]
    assert_allclose(plain.placement.translation, 0)
    assert_allclose(plain.placement.rotation, np.eye(3))
    assert_allclose(plain.axis, [1, 0, 0])
    turned = read(arm('<origin rpy="0 0 0.5"/>')).joints[0].placement
    assert_allclose(turned.translation, 0)
    assert turned.rotation[1, 0] == pytest.approx(math.sin(0.5))
    moved = read(arm('<origin xyz="1 2 3"/>')).joints[0].placement
    assert_allclose(moved.translation, [1, 2, 3])


def test_odd_white_space_and_number_forms() -> None:
    text = arm('<origin xyz=" +1.\t.5e1\n\n  -2E-1 "/>')
    assert_allclose(read(text).joints[0].placement.translation, [1, 5, -0.2])


def test_blank_lines_and_byte_order_mark_before_the_declaration() -> None:
    text = '<?xml version="1.0"?>\n' + robot(link("base"))
    assert read("\n \n" + text).name == "arm"
    assert read(b"\xef\xbb\xbf" + text.encode()).name == "arm"
    assert read(text.encode("utf-16")).name == "arm"
    with pytest.raises(RobotError, match=r"^arm.urdf:4: "):
        read("\n\n" + '<?xml version="1.0"?>\n' + "<html/>")


def test_declared_encoding_is_honoured_in_bytes_and_void_in_text() -> None:
    text = '<?xml version="1.0" encoding="iso-8859-1"?>' + robot(link("tête"))
    assert read(text.encode("latin-1")).base_body == "tête"
    assert read(text).base_body == "tête"


def test_tags_of_others_are_passed_over() -> None:
    found = read(
        robot(
            '<transmission name="t"><joint name="j"><limit lower="x"/></joint></transmission>',
            '<gazebo><link name="base"/><joint name="ghost" type="ball"/></gazebo>',
            '<ros2_control name="r"><joint name="j"/></ros2_control>',
            '<drake:joint xmlns:drake="d" name="bush"/>',
            '<material name="red"/><sensor name="s"><origin xyz="a"/></sensor>',
            link("base"),
            link("tip"),
            joint("j", "base", "tip", '<drake:x xmlns:drake="d"/>'),
        )
    )
    assert found.joint_names == ["j"]


def test_only_the_origin_of_the_inertial_counts() -> None:
    inside = (
        '<visual><origin xyz="9 9 9" rpy="1 1 1"/></visual>'
        '<inertial><mass value="2"/><origin xyz="0 0 1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
        '<collision><origin xyz="oops"/></collision>'
    )
    assert_allclose(read(body(inside)).joints[0].inertia.h, [0, 0, 2])


@pytest.mark.parametrize(
    ("written", "unit"),
    [
        ("0 0 -1", (0, 0, -1)),
        ("0 3 0", (0, 1, 0)),
        ("1 1 0", (math.sqrt(0.5), math.sqrt(0.5), 0)),
        ("0 -1e-3 1e-3", (0, -math.sqrt(0.5), math.sqrt(0.5))),
    ],
)
def test_axis_is_normalised(written: str, unit: tuple[float, ...]) -> None:
    assert_allclose(read(arm(f'<axis xyz="{written}"/>')).joints[0].axis, unit, atol=1e-15)


def test_a_fixed_joint_needs_no_axis() -> None:
    text = robot(*PAIR, joint("j", "base", "tip", '<axis xyz="0 0 0"/>', kind="fixed"))
    assert read(text).joints[0].kind is JointKind.FIXED


def test_rpy_is_about_fixed_axes() -> None:
    R = read(arm('<origin rpy="0.3 -0.5 1.1"/>')).joints[0].placement.rotation
    c, s = np.cos([0.3, -0.5, 1.1]), np.sin([0.3, -0.5, 1.1])
    Rx = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
    Ry = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    Rz = np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
    assert_allclose(R, Rz @ Ry @ Rx, atol=1e-15)


def test_quaternion_of_urdf_1_1() -> None:
    text = arm('<origin quat_xyzw="0 0 2 2"/>').replace("<robot", '<robot version="1.1"')
    assert_allclose(
        read(text).joints[0].placement.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15
    )


def test_inertial_rpy_turns_the_inertia() -> None:
    quarter = f'<origin xyz="0 0 1" rpy="0 0 {math.pi / 2}"/>'
    turned = moments(1, 2, 3).replace("<mass", quarter + "<mass")
    found = read(body(turned)).joints[0].inertia
    assert_allclose(found.J, np.diag([2 + 1, 1 + 1, 3]), atol=1e-15)  # + m z² about the origin
    assert_allclose(found.h, [0, 0, 1])


def test_kinds() -> None:
    for written, kind in {
        "continuous": JointKind.REVOLUTE,
        "prismatic": JointKind.PRISMATIC,
        "floating": JointKind.FLOATING,
        "planar": JointKind.PLANAR,
        "fixed": JointKind.FIXED,
    }.items():
        found = read(robot(*PAIR, joint("j", "base", "tip", kind=written))).joints[0]
        assert found.kind is kind


def test_limits() -> None:
    full = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'
    found = read(arm(full)).joints[0].limits
    assert (found.lower, found.upper, found.velocity, found.effort) == (-1, 2, 3, 4)
    text = robot(*PAIR, joint("j", "base", "tip", full, kind="continuous"))
    found = read(text).joints[0].limits
    assert (found.lower, found.upper, found.velocity) == (-math.inf, math.inf, 3)


FINGERS = robot(
    *map(link, ("palm", "a", "b", "c")),
    joint("j1", "palm", "a", '<mimic joint="j3" multiplier="2" offset="0.5"/>'),
    joint("j2", "a", "b", '<mimic joint="j1" multiplier="-3" offset="1"/>'),
    joint("j3", "b", "c"),
)


def test_mimic_chain_folds_into_its_free_master() -> None:
    found = read(FINGERS)
    assert found.joint_names == ["j3"]
    first, second = (found.joints[i].mimic for i in (0, 1))
    assert first is not None
    assert second is not None
    assert (first.joint, first.multiplier, first.offset) == (2, 2, 0.5)
    assert (second.joint, second.multiplier, second.offset) == (2, -6, -3 * 0.5 + 1)
    assert found.v_slices[1] == slice(0, 1)


def test_independent_mimic_is_ignored_even_where_wrong() -> None:
    assert read(FINGERS, mimic="independent").joint_names == ["j1", "j2", "j3"]
    assert read(arm(MIMIC.format("nobody")), mimic="independent").nv == 1


def test_floating_base() -> None:
    found = read(arm(""), base="floating")
    root = found.joints[0]
    assert (root.name, root.kind, root.parent, root.body) == (
        "root_joint", JointKind.FLOATING, -1, "base",
    )  # fmt: skip
    assert root.inertia.mass == 1
    assert found.base_inertia.is_zero
    assert (found.nq, found.nv) == (8, 7)
    assert found.joints[1].parent == 0
    shifted = read(FINGERS, base="floating")
    mimic = shifted.joints[2].mimic
    assert mimic is not None
    assert shifted.joints[mimic.joint].name == "j3"


def test_floating_base_refuses_its_own_name() -> None:
    text = robot(*PAIR, joint("root_joint", "base", "tip"))
    with pytest.raises(RobotError, match=r"^arm.urdf:4: .*rename it"):
        read(text, base="floating")
    assert read(text).joint_names == ["root_joint"]


CONTROLLED = (
    '<ros2_control name="c"><joint name="j"><param name="mimic">k</param></joint></ros2_control>'
)
PLUGIN = "<gazebo><plugin><joint>k</joint><mimicJoint>j</mimicJoint></plugin></gazebo>"


@pytest.mark.parametrize(
    ("text", "line", "fragment"),
    [
        (arm(""), 4, "has no <limit>"),
        (arm('<limit effort="1" velocity="1"/>'), 4, "lower = upper = 0; taken as unlimited"),
        (arm('<limit lower="1" upper="-1"/>'), 4, "lower 1 above upper -1; taken as unlimited"),
        (arm('<limit upper="1" effort="-9"/>'), 4, "effort is negative (-9); taken as none"),
        (
            robot(link("tip"), joint("j", "world", "tip")),
            3,
            'link "world" is not in the file; taken as its root, without mass',
        ),
        (
            arm('<limit lower="-180" upper="170" velocity="98"/>'),
            4,
            'joint "j": lower -180, upper 170, velocity 98: more than 2 turns; in degrees?',
        ),
        (arm('<limit upper="90"/>'), 4, 'joint "j": upper 90: more than 2 turns; in degrees?'),
        (
            robot(*PAIR, joint("j", "base", "tip"), CONTROLLED),
            5,
            'joint "j": follows another for a controller or a simulator alone',
        ),
        (
            robot(*PAIR, joint("j", "base", "tip"), PLUGIN),
            5,
            'joint "j": follows another for a controller or a simulator alone',
        ),
        (arm('<origin rpy="0 90 0"/>'), 4, "rpy: more than a turn; in degrees?"),
        (body(BODY.replace("<mass", '<origin rpy="180 0 0"/><mass')), 4, "in degrees?"),
        (robot(*PAIR, joint("j", "base", "tip"), "<include file='x'/>"), 5, "<include> not read"),
        (robot(*PAIR, joint("j", "base", "tip"), "<xi:include/>"), 5, "<xi:include> not read"),
        (robot(*PAIR, joint("j", "base", "tip"), "<chain/>"), 5, "<chain> in <robot>: not read"),
        (arm("<motor/>"), 4, "<motor> in <joint>: not read"),
        (body("<mass value='3'/>"), 4, "<mass> in <link>: not read"),
        (body(moments(1, 1, 9)), 4, "exceeds the sum of the others"),
        (body(moments(1, 1, 1).replace('"1"', '"0"', 1)), 4, "mass 0"),
        (
            body(moments(1, 1, 1, xy=1.5).replace("<mass", '<origin xyz="0 0 2"/><mass')),
            4,
            "negative about the centre of mass",
        ),
        (robot(*PAIR[:1], link("tip", ""), joint("j", "base", "tip")), 3, "M⁻¹ do not"),
        (arm('<limit upper="1"/><mimic joint="k" multiplier="0"/>'), 4, "never moves"),
    ],
)
def test_suspicious_input_is_noted(text: str, line: int, fragment: str) -> None:
    if "mimic" in text:
        text = text.replace("</robot>", link("c") + joint("k", "base", "c") + "</robot>")
    notes: list[str] = []
    read(text, notes=notes)
    assert any(n.startswith(f"{FILE}:{line}: ") and fragment in n for n in notes), notes


@pytest.mark.parametrize(
    "inside",
    [
        '<limit lower="-1" upper="1" velocity="1" effort="1"/>',
        '<limit lower="-12.56" upper="12.56" velocity="inf" effort="INF"/>',
        '<limit lower="-10" upper="10" velocity="1" effort="1"/>',  # as published robots have it
        '<limit lower="-1e16" upper="1e16" velocity="1" effort="1"/>',
        '<limit lower="-inf" upper=".inf" velocity="1"/><origin rpy="-6.2832 3.14159 0"/>',
        '<limit lower="-1" upper="1"/><safety_controller/><tool:x/>',
    ],
)
def test_nothing_to_note(inside: str) -> None:
    notes: list[str] = []
    read(arm(inside), notes=notes)
    assert notes == []


def test_drake_s_mimic_is_a_mimic() -> None:
    found = read(FINGERS.replace("<mimic", "<drake:mimic"))
    assert [j.mimic for j in found.joints] == [j.mimic for j in read(FINGERS).joints]


def test_limits_that_are_none_leave_a_joint_free() -> None:
    for inside in ('lower="1" upper="-1"', 'lower="-inf" upper="inf"', 'effort="-1" velocity="-1"'):
        limits = read(arm(f"<limit {inside}/>")).joints[0].limits
        ends = (limits.lower, limits.upper, limits.speed, limits.effort)
        assert ends == (-np.inf, np.inf, np.inf, np.inf)


@pytest.mark.parametrize(
    ("said", "velocity", "speed"),
    [
        ('velocity="99.9"', 99.9, 99.9),
        ('velocity="100"', 100, np.inf),
        ('velocity="50000"', 50000, np.inf),
        ('velocity="0"', 0, np.inf),
        ('velocity="-1"', -1, np.inf),
        ("", np.inf, np.inf),
        ('velocity="inf"', np.inf, np.inf),
        ('velocity="0" rbdgen:unsaid="velocity"', np.inf, np.inf),
    ],
)
def test_a_velocity_that_no_motor_has_bounds_nothing(
    said: str, velocity: float, speed: float
) -> None:
    limits = read(arm(f'<limit lower="-1" upper="1" effort="1" {said}/>')).joints[0].limits
    assert (limits.velocity, limits.speed) == (velocity, speed)


def test_a_world_that_is_not_written_is_the_root() -> None:
    found = read(robot(link("tip"), joint("j", "world", "tip")))
    assert (found.base_body, found.nv, found.base_inertia.is_zero) == ("world", 1, True)
    written = read(robot(link("world"), link("tip"), joint("j", "world", "tip")))
    assert written.base_inertia.mass == 1


GAZEBO = (
    '<gazebo><joint name="rod" type="revolute"><parent>tip</parent><child>base</child></joint>'
    "</gazebo>"
)
LOOPS = {
    "SDF's joint": (GAZEBO, '<joint name="rod">'),
    "loop_joint": ('<loop_joint name="rod"><link1 link="tip"/></loop_joint>', "<loop_joint"),
    "URDF+'s loop": ('<loop name="rod"/>', "<loop"),
    "URDF+'s coupling": ('<coupling name="rod"/>', "<coupling"),
    "Drake's": ('<drake:ball_constraint name="rod"/>', "<drake:ball_constraint"),
    "MuJoCo's": ('<mujoco><equality><connect name="rod"/></equality></mujoco>', "<connect"),
}


@pytest.mark.parametrize("kind", LOOPS)
def test_a_loop_is_refused_unless_it_is_left_open(kind: str) -> None:
    element, label = LOOPS[kind]
    text = robot(*PAIR, joint("j", "base", "tip"), element)
    with pytest.raises(RobotError, match=f"^{FILE}:5: {label}.*another robot's; --open-loops"):
        read(text)
    notes: list[str] = []
    assert read(text, open_loops=True, notes=notes).nv == 1
    assert any(n.startswith(f"{FILE}:5: {label}") and "left out, as asked" in n for n in notes)


def test_a_loop_of_two_parents_is_cut_at_the_second_joint() -> None:
    text = robot(
        *PAIR, link("c"), joint("a", "base", "tip"), joint("b", "tip", "c"), joint("d", "base", "c")
    )
    notes: list[str] = []
    assert read(text, open_loops=True, notes=notes).joint_names == ["a", "b"]
    assert any(n.startswith(f"{FILE}:7: ") and "two parents" in n for n in notes)


def test_long_chain_needs_no_recursion(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 3000
    monkeypatch.setattr("rbdgen.robot.urdf.MOST_JOINTS", n)
    monkeypatch.setattr("rbdgen.robot.urdf.MOST_MOVING", n)
    text = robot(
        *(link(f"l{i}") for i in range(n + 1)),
        *(joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in reversed(range(n))),
    )
    assert read(text).depth == n


def test_long_names() -> None:
    """Names of files are made of them."""
    with pytest.raises(RobotError, match="a name of 5000 characters; shorten it to 150"):
        parse_urdf(f'<robot name="{"a" * 5000}"><link name="base"/></robot>')
    assert parse_urdf(f'<robot name="{"a" * 150}"><link name="base"/></robot>').name == "a" * 150
