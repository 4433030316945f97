"""What the URDF reader refuses, on one line with file, line and cure."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from rbdgen.robot.model import RobotError
from rbdgen.robot.urdf import parse_urdf
from tests.support.urdf_files import read_urdf
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
