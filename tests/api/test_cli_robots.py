"""Commands on robots that cannot be made, or need no hardware: one line each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rbdgen.compile import flow as compiler
from tests.support.command_line import refused

XACRO = "http://www.ros.org/wiki/xacro"


@pytest.mark.parametrize(
    ("name", "text", "cure"),
    [
        ("arm.xacro", "<xacro:include filename='a'/>", "xacro arm.xacro > arm.urdf"),
        ("arm.urdf.xacro", "<xacro:arm/>", "xacro arm.urdf.xacro > arm.urdf"),
        ("arm.urdf", "<x:arm/>", "xacro arm.urdf > arm_expanded.urdf"),
        ("arm.xacro", "", "xacro arm.xacro > arm.urdf"),
        ("my arm.xacro", '<link name="${a}"/>', "xacro 'my arm.xacro' > 'my arm.urdf'"),
    ],
)
def test_xacro_where_it_is_not_installed(
    name: str,
    text: str,
    cure: str,
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    Path(name).write_text(f'<robot name="arm" xmlns:x="{XACRO}">\n{text}\n</robot>')
    line = refused(capsys, "info", name)
    assert line.startswith(f"{name}:")
    assert " is xacro" in line
    assert line.endswith(f"expand it first: {cure}")


@pytest.mark.parametrize("accelerator", [[], ["--accelerator", "--ii", "4"]])
def test_what_flies_needs_a_floating_base(
    accelerator: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = "still: no joint moves, so there is no hardware to make; "
    assert refused(capsys, "info", "still.urdf", *accelerator).endswith("does: --base floating")
    given = ["--base", "floating", "--root", "given", *accelerator]
    line = refused(capsys, "info", "still.urdf", *given)
    assert line == f"{start}its base does with --root free, not given"


HELD = """<robot name="gimbal">
  <link name="a"/>
  <joint name="outer" type="continuous">
    <parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  </joint>
  <link name="b"/>
  <joint name="tilt" type="continuous">
    <parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
  </joint>
  <link name="c"/>
  <joint name="inner" type="continuous">
    <parent link="c"/><child link="d"/><axis xyz="0 0 1"/>
  </joint>
  <link name="d"><inertial>
    <mass value="1"/><inertia ixx="0.3" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
</robot>
"""
LOCKED = """robot: gimbal.urdf
functions: [minv]
limits: {joints: {tilt: {position: [-1.0e-9, 1.0e-9]}}}
"""


def test_singular_mass_matrices_are_refused(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gimbal whose axes fall into one: at the first look, or at the last in all states."""
    Path("gimbal.urdf").write_text(HELD)
    Path("locked.yaml").write_text(LOCKED)
    assert "gimbal: singular mass matrix" in refused(capsys, "generate", "locked.yaml")
    monkeypatch.setattr(compiler, "refuse_singular", lambda design, robot: None)
    line = refused(capsys, "generate", "locked.yaml")
    assert "the reciprocal of region factor 0" in line
    assert "must be positive in all of them" in line


def test_what_is_constant_needs_no_hardware(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("wheel.urdf").write_text(
        '<robot name="wheel"><link name="a"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint><link name="b"><inertial>'
        '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link></robot>"
    )
    line = refused(capsys, "generate", "wheel.urdf", "--function", "m,minv")
    assert line == "wheel: m, minv: the same in every state, so there is no hardware to make"
