"""xacro, standard input, and names of robot_descriptions become the robots that they stand for."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pinocchio as pin
import pytest

from rbdgen.api.design_file import design_text
from rbdgen.cli.main import main
from rbdgen.design.loading import load, locate
from rbdgen.robot.model import NotFound, RobotError
from rbdgen.robot.sources import as_urdf, described, received, root_tag
from rbdgen.system.templates import data_folder
from rbdgen_benchmarks.bench.same_robot import assert_same_robot
from tests.support.mjcf_texts import ARM
from tests.support.urdf_files import read_urdf

LINK = """<xacro:macro name="body" params="name mass">
  <link name="${name}"><inertial><origin xyz="0.1 0 ${mass / 10}"/><mass value="${mass}"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
</xacro:macro>"""
ARM_XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <!-- where it came from -->
  <xacro:include filename="{}body.xacro"/>
  <xacro:arg name="joints" default="2"/>
  <xacro:property name="n" value="$(arg joints)"/>
  <xacro:body name="l0" mass="1"/>
  <xacro:macro name="chain" params="i">
    <xacro:body name="l${{i}}" mass="${{i + 0.5}}"/>
    <joint name="j${{i}}" type="continuous"><parent link="l${{i - 1}}"/><child link="l${{i}}"/>
      <origin xyz="0 0 ${{0.2 * i}}" rpy="${{pi / 2}} 0 0"/><axis xyz="0 0 1"/></joint>
    <xacro:if value="${{i &lt; n}}"><xacro:chain i="${{i + 1}}"/></xacro:if>
  </xacro:macro>
  <xacro:chain i="1"/>
</robot>"""
HEAD = '<robot name="body" xmlns:xacro="http://www.ros.org/wiki/xacro">'


@pytest.fixture
def xacro_file(tmp_path: Path) -> Path:
    """A chain of two joints, whose bodies stand in another file."""
    pytest.importorskip("xacro", reason="xacro is not installed")
    (tmp_path / "body.xacro").write_text(f"{HEAD}{LINK}</robot>")
    file = tmp_path / "arm.urdf.xacro"
    file.write_text(ARM_XACRO.format(""))
    return file


def test_xacro_is_expanded(xacro_file: Path) -> None:
    notes: list[str] = []
    design, robot = load(xacro_file, notes=notes)
    assert robot.joint_names == ["j1", "j2"]
    assert robot.joints[1].inertia.mass == 2.5
    assert_same_robot(robot, pin.buildModelFromUrdf(design.robot))
    assert notes[0].startswith("arm.urdf.xacro: expanded by xacro ")
    # the same file gives the same bytes wherever it lies
    other = xacro_file.parent / "elsewhere"
    other.mkdir()
    for file in list(xacro_file.parent.glob("*.xacro")):
        shutil.copy(file, other)
    assert Path(load(other / xacro_file.name)[0].robot).samefile(design.robot)


def test_packages_of_xacro_are_found(xacro_file: Path) -> None:
    """By xacrodoc, in the folders around the file."""
    pytest.importorskip("xacrodoc", reason="xacrodoc is not installed")
    package = xacro_file.parent / "arm_description"
    (package / "urdf").mkdir(parents=True)
    text = '<package format="2"><name>arm_description</name><version>0.0.1</version></package>'
    (package / "package.xml").write_text(text)
    shutil.copy(xacro_file.parent / "body.xacro", package)
    found = package / "urdf" / "arm.urdf.xacro"
    found.write_text(ARM_XACRO.format("$(find arm_description)/"))
    assert load(found)[1].joint_names == ["j1", "j2"]


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<link name="${no}"/>', "xacro cannot expand it: name 'no' is not defined"),
        ("<xacro:body/>", "xacro cannot expand it: unknown macro name: xacro:body"),
        ('<link name="a"/><link name="a"/>', "a link of that name is on line"),
        (
            '<xacro:arg name="tool" default="1"/><link name="$(arg name)"/>',
            r'needs the argument "name": --xacro name:=VALUE; it declares tool \(now 1\)',
        ),
    ],
)
def test_xacro_is_refused_in_one_line(inside: str, message: str, tmp_path: Path) -> None:
    pytest.importorskip("xacro", reason="xacro is not installed")
    (tmp_path / "arm.xacro").write_text(f"{HEAD}{inside}</robot>")
    with pytest.raises(RobotError, match=message) as refused:
        load(tmp_path / "arm.xacro")
    assert "\n" not in str(refused.value)


def test_arguments_of_xacro_are_given(
    xacro_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the command line, in Python and in a design file; what was made of them has them too."""
    notes: list[str] = []
    design, robot = load(xacro_file, xacro={"joints": 3}, notes=notes)
    assert (robot.nv, load(xacro_file)[1].nv) == (3, 2)
    assert notes[0].endswith(", with joints:=3")
    (tmp_path / "arm.yaml").write_text(f"robot: {xacro_file.name}\nxacro: {{joints: 4}}\n")
    assert load(tmp_path / "arm.yaml")[1].nv == 4
    assert load(tmp_path / "arm.yaml", xacro=["joints:=5"])[1].nv == 5
    assert main(["topology", str(xacro_file), "--xacro", "joints:=3", "--json"]) == 0
    assert '"j3"' in capsys.readouterr().out
    # a folder has the robot that was made with them
    text = design_text(design)
    (tmp_path / "robot.urdf").write_bytes(Path(design.robot).read_bytes())
    (tmp_path / "design.yaml").write_text(text)
    assert "xacro:\n  joints: '3'\n" in text
    assert load(tmp_path / "design.yaml")[1].nv == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"joint": "3"}, 'arm.urdf.xacro: has no argument "joint"; did you mean "joints"?'),
        (["joints=3"], 'xacro: NAME:=VALUE, not "joints=3"'),
        ({"joints": "many"}, "xacro cannot expand it"),
    ],
)
def test_arguments_that_a_file_has_not_are_refused(
    given: object, message: str, xacro_file: Path
) -> None:
    with pytest.raises(RobotError, match=re.escape(message)):
        load(xacro_file, xacro=given)


def test_arguments_are_for_xacro_alone() -> None:
    with pytest.raises(RobotError, match=r"pendulum\.urdf: is not xacro .*takes no argument a"):
        load(data_folder("robots") / "pendulum.urdf", xacro={"a": 1})


MACROS = '<xacro:macro name="arm" params="p"><link name="${p}base"/></xacro:macro>'


def test_a_file_of_macros_alone_says_who_calls_them(tmp_path: Path) -> None:
    pytest.importorskip("xacro", reason="xacro is not installed")
    file = tmp_path / "arm.xacro"
    file.write_text(f"{HEAD}{MACROS}</robot>".replace(' name="body"', ""))
    with pytest.raises(RobotError, match=r"macros alone \(arm\); give the file that calls them"):
        load(file)
    (tmp_path / "all.xacro").write_text(f'{HEAD}<xacro:arm p="a"/></robot>')
    with pytest.raises(RobotError, match=r"macros alone \(arm\); .*all\.xacro calls one"):
        load(file)


def test_a_file_that_includes_itself(tmp_path: Path) -> None:
    file = tmp_path / "loop.urdf.xacro"
    file.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="loop.urdf.xacro"/></robot>'
    )
    with pytest.raises(RobotError, match="a file includes itself, or a macro calls itself"):
        load(str(file))


def test_a_fault_after_expansion_is_of_the_xacro_file(tmp_path: Path) -> None:
    """By its name, not that of a file that nobody wrote; by its line, unless a macro made it."""
    pytest.importorskip("xacro", reason="xacro is not installed")
    file = tmp_path / "arm.xacro"
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
    inside = f'<link name="a"/>{joint}<axis xyz="0 0 0"/></joint><link name="b"/>'
    file.write_text(f"{HEAD}\n{inside}</robot>")
    with pytest.raises(RobotError, match=r'arm.xacro:2: <axis> of <joint name="j">: ') as refused:
        load(file)
    body = inside.replace('"j"', '"${n}"')
    made = f'<xacro:macro name="m" params="n">{body}</xacro:macro>'
    file.write_text(f'{HEAD}{made}<xacro:m n="j"/></robot>')
    with pytest.raises(RobotError, match=r'as a URDF:8: <axis> of <joint name="j">: '):
        load(file)
    assert str(refused.value).startswith(str(file))
    notes: list[str] = []
    file.write_text(f"{HEAD}\n{inside.replace('0 0 0', '0 0 1')}</robot>")
    load(file, notes=notes)
    assert any(n.startswith('arm.xacro:2: <joint name="j">: has no <limit>') for n in notes)


def test_packages_are_looked_for_where_the_message_says(
    xacro_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xacrodoc", reason="xacrodoc is not installed")
    xacro_file.write_text(ARM_XACRO.format("$(find parts_of_arms)/"))
    with pytest.raises(RobotError, match=r'package "parts_of_arms".*ROS_PACKAGE_PATH=FOLDER'):
        load(xacro_file)
    package = xacro_file.parent / "elsewhere" / "parts_of_arms"
    package.mkdir(parents=True)
    named = "<package><name>parts_of_arms</name><version>0.0.1</version></package>"
    (package / "package.xml").write_text(named)
    shutil.copy(xacro_file.parent / "body.xacro", package)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(package.parent))
    assert load(xacro_file)[1].nv == 2


def test_a_description_in_xacro_has_its_package_s_arguments(
    xacro_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it were downloaded: a module of robot_descriptions says where it is."""
    pytest.importorskip("robot_descriptions", reason="robot_descriptions is not installed")
    module = ModuleType("rizon4_description")
    vars(module).update(XACRO_PATH=str(xacro_file), XACRO_ARGS={"joints": 3})
    monkeypatch.setitem(sys.modules, "robot_descriptions.rizon4_description", module)
    assert load("rizon4_description")[1].nv == 3
    assert load("rizon4_description", xacro={"joints": 1})[1].nv == 1


def test_a_fault_of_xml_is_of_the_file_that_has_it(xacro_file: Path) -> None:
    """That xacro includes, too."""
    (xacro_file.parent / "body.xacro").write_text(f"{HEAD}\n<!-- a -- b -->{LINK}</robot>")
    with pytest.raises(RobotError, match=r"body\.xacro:2: two dashes \(--\) inside a comment"):
        load(xacro_file)
    xacro_file.write_text(f"{HEAD}\n<link></robot>")
    with pytest.raises(RobotError, match=r"arm\.urdf\.xacro:2: not well-formed XML: mismatched"):
        load(xacro_file)


def test_a_yaml_design_may_name_mjcf(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "arm.yaml").write_text("robot: arm.xml\nwidth: 20\n")
    design, robot = load(tmp_path / "arm.yaml")
    assert (design.width, robot.nv) == (20, 3)


def test_a_fault_on_standard_input_is_called_so() -> None:
    kept = received(io.BytesIO(b'<robot name="a"><link name="a"/><link name="a"/></robot>'))
    with pytest.raises(RobotError, match=r"^standard input:1: "):
        load(kept)


def test_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    urdf = (data_folder("robots") / "pendulum.urdf").read_bytes()
    kept = received(io.BytesIO(urdf))
    assert kept.read_bytes() == urdf
    done = subprocess.run(
        [sys.executable, "-m", "rbdgen", "topology", "-"],
        input=urdf,
        capture_output=True,
        check=True,
    )
    assert main(["topology", "pendulum"]) == 0
    assert done.stdout.decode() == capsys.readouterr().out
    for wrong in (b"", b" \n"):
        with pytest.raises(RobotError, match="standard input: nothing came"):
            received(io.BytesIO(wrong))


def test_mjcf_on_standard_input() -> None:
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    assert read_urdf(received(io.BytesIO(ARM.encode()))).nv == 3


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        (b"<mujoco/>", "mujoco"),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- <robot> -->\n<mujoco model="a">', "mujoco"),
        (b'<robot name="a">', "robot"),
        (b"width: 18", ""),
        (b"", ""),
    ],
)
def test_root_tag(text: bytes, tag: str) -> None:
    assert root_tag(text) == tag


def test_a_urdf_is_itself(tmp_path: Path) -> None:
    for file in (data_folder("robots") / "pendulum.urdf", tmp_path / "none.xml"):
        assert as_urdf(file) == file


def git(*words: str | Path) -> str:
    """A command of git's, in the name of nobody."""
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    done = subprocess.run(["git", *who, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def described_by(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """``code`` in a process of its own: a module that was downloaded stays in this one."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


SHOW = """
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError
try:
    print(load("double_pendulum_description")[1].joint_names)
except RobotError as error:
    print(error)
"""


def test_a_description_is_downloaded(tmp_path: Path) -> None:
    """By its package's own git, from a repository on this machine in place of the net's."""
    pytest.importorskip("robot_descriptions", reason="robot_descriptions is not installed")
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    source = tmp_path / "source"
    place = source / "robots" / "double_pendulum_description" / "urdf"
    place.mkdir(parents=True)
    shutil.copy(data_folder("robots") / "pendulum.urdf", place / "double_pendulum.urdf")
    git("init", "--quiet", "--initial-branch=main", source)
    git("-C", source, "add", ".")
    git("-C", source, "commit", "--quiet", "--message=robots")
    there = described_by(
        SHOW,
        ROBOT_DESCRIPTIONS_CACHE=str(tmp_path / "cache"),
        ROBOT_DESCRIPTION_COMMIT=git("-C", source, "rev-parse", "HEAD"),
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0=f"url.file://{source}.insteadOf",
        GIT_CONFIG_VALUE_0="https://github.com/Gepetto/example-robot-data.git",
    )
    assert there.stdout.splitlines() == ["['shoulder', 'elbow']"], there.stderr


def test_what_cannot_be_downloaded_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("robot_descriptions", reason="robot_descriptions is not installed")
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    there = described_by(
        SHOW,
        ROBOT_DESCRIPTIONS_CACHE=str(tmp_path / "cache"),
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0=f"url.file://{tmp_path}/none.insteadOf",
        GIT_CONFIG_VALUE_0="https://github.com/",
    )
    (line,) = there.stdout.splitlines()
    assert line.startswith("double_pendulum_description: robot_descriptions cannot download it: ")


def test_a_description_that_is_not_there() -> None:
    pytest.importorskip("robot_descriptions", reason="robot_descriptions is not installed")
    with pytest.raises(NotFound, match='did you mean "panda_description"'):
        described("pandda_description")
    with pytest.raises(NotFound, match="pandda_description"):
        locate("pandda_description")
