"""The URDF reader: every hazard is handled or refused where it stands."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rbdgen.robot.model import JointKind, Robot, RobotError
from rbdgen.robot.urdf import parse_urdf, read_urdf

FILE = "arm.urdf"
BODY = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "revolute") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{inside}</joint>"
    )


def robot(*lines: str) -> str:
    """A robot with one element a line: the first of ``lines`` is line 2 of the file."""
    return "\n".join(['<robot name="arm">', *lines, "</robot>"])


def arm(inside: str) -> str:
    """Base and one joint; what is ``inside`` the joint is on line 4."""
    return robot(link("base"), link("tip"), joint("j", "base", "tip", inside))


def body(inertial: str) -> str:
    """Base and one moving link; its ``inertial`` is on line 4."""
    return robot(link("base"), joint("j", "base", "tip"), link("tip", inertial))


def moments(xx: float, yy: float, zz: float, xy: float = 0.0) -> str:
    return (
        f'<inertial><mass value="1"/><inertia ixx="{xx}" ixy="{xy}" ixz="0" '
        f'iyy="{yy}" iyz="0" izz="{zz}"/></inertial>'
    )


def read(text: str | bytes, **options: object) -> Robot:
    return parse_urdf(text, file=FILE, **options)  # type: ignore[arg-type]


PAIR = (link("base"), link("tip"))
MIMIC = '<mimic joint="{}"/>'

REFUSED = {
    # what the file is
    "empty": ("", 1, "is empty"),
    "only white space": (" \n\n", 1, "is empty"),
    "not XML": ("hello", 1, "starts with <robot"),
    "yaml": ("robot: arm.urdf", 1, "starts with <robot"),
    "sdf": ('<sdf version="1.9"/>', 1, "convert it to URDF"),
    "another root": ("<html/>", 1, "the root element is not <robot>"),
    "no robot name": ("<robot/>", 1, "has no name"),
    "no links": ('<robot name="arm"/>', 1, "has no <link>"),
    "truncated": ('<robot name="arm">\n' + link("base"), 2, "inside <robot"),
    "mismatched tag": ('<robot name="arm">\n<link name="a">\n</robot>', 3, '<link name="a">'),
    "two roots of XML": (robot(link("base")) + "\n<robot/>", 4, "junk after document"),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><robot/>', 1, "UTF-8"),
    "latin-1 bytes": (robot(link("base"), "<!-- \xe9 -->").encode("latin-1"), 3, "UTF-8"),
    "NUL byte": (robot(link("ba\0se")), 2, "not well-formed"),
    "entity bomb": (
        '<!DOCTYPE r [\n<!ENTITY a "ha">\n<!ENTITY b "&a;&a;">]>\n<robot name="&b;"/>',
        2,
        "entities are not expanded",
    ),
    "external DTD": ('\n<!DOCTYPE r SYSTEM "http://x/y.dtd"><robot/>', 2, "external DTD"),
    "too deep": (robot("<a>" * 200 + "</a>" * 200), 2, "elements deep"),
    "xacro element": (
        robot(link("base"), '<xacro:arm xmlns:xacro="x" name="l"/>'),
        3,
        "is xacro; expand it first: xacro ",
    ),
    "xacro number": (arm('<origin xyz="0 0 ${len}"/>'), 4, "is xacro; expand it first: xacro "),
    "xacro name": (robot(link("${side}_arm")), 2, "is xacro; expand it first: xacro "),
    # names and the tree
    "empty link name": (robot('<link name=" "/>'), 2, "name is empty"),
    "line break in a name": (robot('<link name="a&#10;b"/>'), 2, "line break or control"),
    "no link name": (robot("<link/>"), 2, "has no name"),
    "misspelt name": (robot('<link nmae="a"/>'), 2, 'is "nmae" a slip for it?'),
    "no joint name": (robot(*PAIR, '<joint type="fixed"/>'), 4, "has no name"),
    "duplicate link": (robot(link("a"), link("a")), 3, "on line 2"),
    "duplicate joint": (
        robot(*PAIR, link("c"), joint("j", "base", "tip"), joint("j", "base", "c")),
        6,
        "on line 5",
    ),
    "unknown parent": (
        robot(link("upper"), link("tip"), joint("elbow", "uper", "tip")),
        4,
        'parent link "uper" does not exist; did you mean "upper"?',
    ),
    "unknown child": (robot(*PAIR, joint("j", "base", "x")), 4, 'child link "x" does not exist'),
    "no parent": (robot(*PAIR, '<joint name="j" type="fixed"/>'), 4, "has no <parent>"),
    "parent without link": (
        robot(*PAIR, '<joint name="j" type="fixed"><parent/></joint>'),
        4,
        "<parent> of <joint",
    ),
    "two parents": (
        robot(*PAIR, link("c"), joint("a", "base", "tip"), joint("b", "tip", "c"),
              joint("d", "base", "c")),
        7,
        "has two parents",
    ),
    "two roots": (robot(link("base"), link("stray")), 3, "a second root"),
    "loop": (robot(*PAIR, joint("a", "base", "tip"), joint("b", "tip", "base")), 1, "loop"),
    "own parent": (robot(link("a"), joint("j", "a", "a")), 1, "loop"),
    "loop beside the tree": (
        robot(link("root"), *PAIR, joint("a", "base", "tip"), joint("b", "tip", "base")),
        5,
        '"tip" -> "base" -> "tip" form a loop',
    ),
    # numbers
    "two of three": (arm('<origin xyz="0 1"/>'), 4, 'xyz needs 3 numbers, has 2: "0 1"'),
    "four of three": (arm('<axis xyz="0 0 1 0"/>'), 4, "xyz needs 3 numbers, has 4"),
    "commas": (arm('<origin xyz="0,0,1"/>'), 4, "separate them by spaces"),
    "decimal comma": (arm('<origin xyz="0 0 0,5"/>'), 4, "write a decimal point"),
    "word": (arm('<origin rpy="0 0 pi"/>'), 4, '"pi" is not a number'),
    "underscore": (arm('<origin xyz="0 0 1_0"/>'), 4, "is not a number"),
    "hexadecimal": (arm('<origin xyz="0 0 0x10"/>'), 4, "is not a number"),
    "foreign digits": (arm('<origin xyz="0 0 \u0661"/>'), 4, "is not a number"),
    "nan": (arm('<origin xyz="0 0 nan"/>'), 4, "must be finite"),
    "infinite": (arm('<axis xyz="0 0 -inf"/>'), 4, "must be finite"),
    "overflow": (arm('<origin xyz="0 0 1e999"/>'), 4, "no physical size"),
    "empty number": (body('<inertial><mass value=""/></inertial>'), 4, "value is empty"),
    # elements and attributes
    "unknown attribute": (arm('<origin xzy="0 0 1"/>'), 4, 'did you mean "xyz"?'),
    "misspelt upper": (arm('<limit lower="-1" uper="1"/>'), 4, 'did you mean "upper"?'),
    "misspelt velocity": (
        arm('<limit lower="-1" upper="1" effort="9" velocty="1"/>'), 4, 'did you mean "velocity"?'
    ),
    "misspelt beside what it is": (
        arm('<limit lower="-1" upper="1" effort="9" velocity="1" Upper="2"/>'),
        4,
        'did you mean "upper"?',
    ),
    "attribute that may be a limit": (
        arm('<limit lower="-1" upper="1" effort="9" top_rate="1"/>'), 4, "it has lower, upper"
    ),
    "misspelt damping": (arm('<dynamics dampng="1"/>'), 4, 'did you mean "damping"?'),
    "no number of damping": (arm('<dynamics damping="much"/>'), 4, 'damping: "much" is not'),
    "negative friction": (arm('<dynamics friction="-1"/>'), 4, "friction is negative"),
    "two dynamics": (arm("<dynamics/><dynamics/>"), 4, "a second <dynamics>"),
    "misspelt dynamics": (arm('<dynamic damping="1"/>'), 4, 'did you mean "dynamics"?'),
    "misspelt multiplier": (
        arm('<mimic joint="k" multipler="2"/>'), 4, 'did you mean "multiplier"?'
    ),
    "misspelt element": (arm('<limits lower="0"/>'), 4, 'did you mean "limit"?'),
    "capital element": (robot('<Link name="a"/>'), 2, 'did you mean "link"?'),
    "two origins": (arm("<origin/><origin/>"), 4, "a second <origin>"),
    "rpy and quaternion": (arm('<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'), 4, "has both"),
    "quaternion in URDF 1.0": (arm('<origin quat_xyzw="0 0 0 1"/>'), 4, 'version="1.1"'),
    # joints
    "no type": (robot(*PAIR, '<joint name="j"/>'), 4, "has no type"),
    "unknown type": (
        robot(*PAIR, joint("j", "base", "tip", kind="revolut")),
        4,
        'did you mean "revolute"?',
    ),
    "unlike type": (
        robot(*PAIR, joint("j", "base", "tip", kind="ball")),
        4,
        "a type is one of revolute, continuous, prismatic, fixed, floating, planar",
    ),
    "zero axis": (arm('<axis xyz="0 0 0"/>'), 4, "has no direction"),
    "axis without xyz": (arm("<axis/>"), 4, "has no xyz"),
    "limit that is no number": (arm('<limit upper="1" velocity="nan"/>'), 4, "must be finite"),
    # inertia
    "negative mass": (body('<inertial><mass value="-1"/></inertial>'), 4, "mass is negative"),
    "no mass": (body("<inertial/>"), 4, "has no <mass>"),
    "mass without value": (body("<inertial><mass/></inertial>"), 4, "has no value"),
    "negative moment": (body(moments(-1, 1, 1)), 4, "not positive definite"),
    "products too large": (body(moments(1, 1, 1, xy=2)), 4, "not positive definite"),
    "no inertia": (body('<inertial><mass value="1"/></inertial>'), 4, "has no <inertia>"),
    "no ixx": (body(BODY.replace('ixx="1"', "")), 4, 'has no ixx; write ixx="..."'),
    "no products": (body(BODY.replace('ixy="0"', "")), 4, 'has no ixy; write ixy="0"'),
    "misspelt product": (body(BODY.replace("ixz", "izx")), 4, 'did you mean "ixz"?'),
    "misspelt inertial": (
        body(BODY.replace("inertial", "inertal")), 4, 'did you mean "inertial"?'
    ),
    # mimic
    "mimics nobody": (arm(MIMIC.format("k")), 4, 'joint "k" does not exist'),
    "mimic without joint": (arm("<mimic/>"), 4, "has no joint"),
    "mimics itself": (arm(MIMIC.format("j")), 4, "cycle"),
    "mimic cycle": (
        robot(*PAIR, link("c"), joint("a", "base", "tip", MIMIC.format("b")),
              joint("b", "tip", "c", MIMIC.format("a"))),
        5,
        "cycle",
    ),
    "mimics a fixed joint": (
        robot(*PAIR, link("c"), joint("a", "base", "tip", kind="fixed"),
              joint("b", "tip", "c", MIMIC.format("a"))),
        6,
        'joint "a" is fixed',
    ),
    "floating mimic": (
        robot(*PAIR, joint("j", "base", "tip", MIMIC.format("j"), kind="floating")),
        4,
        "a floating joint cannot mimic",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_line_with_file_line_and_cure(case: str) -> None:
    text, line, fragment = REFUSED[case]
    with pytest.raises(RobotError) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith(f"{FILE}:{line}: "), message
    assert fragment in message
    assert "\n" not in message
    assert caught.value.__cause__ is None


def test_line_is_that_of_the_element_not_of_the_joint() -> None:
    text = robot(
        *PAIR,
        '<joint name="j" type="revolute">',
        '  <parent link="base"/>',
        '  <child link="tip"/>',
        '  <axis xyz="0 0"/>',
        "</joint>",
    )
    with pytest.raises(RobotError, match=r'^arm.urdf:7: <axis> of <joint name="j">: xyz needs 3'):
        read(text)


def test_hostile_name_cannot_break_the_line() -> None:
    with pytest.raises(RobotError) as caught:
        read(robot(f'<link name="a&#10;b{"x" * 500}"/>' * 2))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("make", "fragment"),
    [
        (lambda folder: folder / "arm.urdf", "no such file"),
        (lambda folder: folder, "is a folder"),
        (lambda folder: "nul\0byte", "cannot be read"),
    ],
)
def test_unreadable_path(tmp_path: Path, make, fragment: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(RobotError, match=fragment):
        read_urdf(make(tmp_path))


def test_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(robot(link("base")))
    with pytest.raises(RobotError, match=r'did you mean "robot.urdf"\?'):
        read_urdf(tmp_path / "robto.urdf")


def test_huge_file(tmp_path: Path) -> None:
    with (tmp_path / "mesh.urdf").open("wb") as stream:
        stream.truncate(2**30)  # sparse: takes no room
    with pytest.raises(RobotError, match="larger than 16 MiB"):
        read_urdf(tmp_path / "mesh.urdf")


@pytest.mark.parametrize(
    "options",
    [{"base": "flying"}, {"mimic": "yes"}, {"gravity": (0, 0)}, {"gravity": (0, 0, math.nan)}],
)
def test_wrong_option(options: dict[str, object]) -> None:
    with pytest.raises(RobotError, match=next(iter(options))):
        read(robot(link("base")), **options)


# --- handled


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


# --- mimic and base


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


# --- notes


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


@pytest.mark.parametrize(
    ("comment", "line"),
    [
        ("<!-- old: -- was longer --\n<link/> -->", 3),
        ("<!--\n\n--- a rule ---\n-->", 5),
        ("<!-- right -->\n<!-- ends in a dash --->", 4),
        ("<!-- a -->\n<!-- <!-- -->\n<link", None),
    ],
)
def test_dashes_in_a_comment_are_called_so(comment: str, line: int | None) -> None:
    with pytest.raises(RobotError) as caught:
        read(robot(link("base"), comment))
    if line:
        assert str(caught.value).startswith(f"{FILE}:{line}: two dashes (--) inside a comment")
    assert "\n" not in str(caught.value)


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


@pytest.mark.parametrize(
    ("joints", "kind", "message"),
    [
        (2000, "revolute", "2000 joints that move; there may be 400"),
        (10_000, "fixed", "10000 joints; there may be 2000"),
    ],
)
def test_huge_robots(joints: int, kind: str, message: str) -> None:
    star = "".join(
        f'<joint name="j{k}" type="{kind}"><parent link="base"/><child link="l{k}"/></joint>'
        f'<link name="l{k}"/>'
        for k in range(joints)
    )
    with pytest.raises(RobotError, match=message):
        parse_urdf(f'<robot name="star"><link name="base"/>{star}</robot>')


@pytest.mark.parametrize("place", ["pipe", "/dev/zero", "a\0b"])
def test_what_is_no_file(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(RobotError, match="cannot be read: a p"):
        read_urdf(place)
