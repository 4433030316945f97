"""Design files: what they may say, where complaints point, and finding shipped robots."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rbdgen.design.arrays import given_coordinates, needs
from rbdgen.design.bounds import bounds
from rbdgen.design.choices import ERROR
from rbdgen.design.design import Design, no_defaults, promising
from rbdgen.design.limits import DEFAULT_VELOCITY
from rbdgen.design.loading import load, locate, shipped_robots
from rbdgen.design.nested import MotionLimits, parse_yaml
from rbdgen.robot.model import RobotError
from rbdgen.system import templates as data

NAMES = [
    *("baxter", "gantry", "humanoid", "hyq", "iiwa14", "pendulum", "spot_arm_like", "tiago_like"),
]
JOINTS = {"baxter": 15, "gantry": 5, "humanoid": 30, "hyq": 12, "iiwa14": 7, "pendulum": 2}
JOINTS |= {"spot_arm_like": 18, "tiago_like": 10}

ARM = """<robot name="arm">
  <link name="base"/> <link name="carriage"/> <link name="hand"/>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="carriage"/></joint>
  <joint name="wrist" type="continuous"><parent link="carriage"/><child link="hand"/>
    <limit velocity="3" effort="7"/></joint>
</robot>
"""


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A function that writes arm.urdf and a design beside it, and returns the design's path."""

    def make(text: str) -> Path:
        (tmp_path / "arm.urdf").write_text(ARM)
        path = tmp_path / "arm.yaml"
        path.write_text(text)
        return path

    return make


# --- shipped robots


def test_shipped_robots() -> None:
    assert list(shipped_robots()) == sorted([*NAMES, "iiwa14_fast"])
    folder = data.data_folder("robots")
    assert {path.stem for path in folder.glob("*.urdf")} == set(NAMES)


def test_iiwa_moves_as_fast_as_its_data_sheet_says() -> None:
    own, fast = load("iiwa14")[0], load("iiwa14_fast")[0]
    degrees = [85, 85, 100, 75, 130, 135, 135]
    said = [own.joint_limits[f"joint_{k}"].velocity for k in range(1, 8)]
    assert said == pytest.approx(np.radians(degrees), abs=0.01)
    assert (fast.limits.velocity, fast.robot) == (10, own.robot)


@pytest.mark.parametrize("name", NAMES)
def test_shipped_robot_loads_anywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for spelling in (name, f"{name}.yaml", f"robots/{name}.yaml", f"robots/{name}.urdf"):
        _, robot = load(spelling)
        assert robot.name == name
        assert robot.nv == JOINTS[name]


@pytest.mark.parametrize("name", NAMES)
def test_shipped_robot_is_tidy(name: str) -> None:
    notes: list[str] = []
    design, _ = load(name, notes=notes)
    assert design.width == 18
    assert design.functions == ("id",)
    # The humanoid keeps the slips of its source; see its header.
    assert all("principal moment" in note for note in notes)
    assert name == "humanoid" or not notes
    text = Path(design.robot).read_text("utf-8")
    assert "Figures:" in text
    assert "mesh" not in text


def test_a_file_at_hand_wins_over_a_shipped_robot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "iiwa14.yaml").write_text("robot: arm.urdf\n")
    (tmp_path / "arm.urdf").write_text(ARM)
    assert load("iiwa14.yaml")[1].name == "arm"
    (tmp_path / "hyq").mkdir()  # an output folder is not a robot
    assert load("hyq")[1].name == "hyq"


def test_unknown_robot_suggests_a_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RobotError, match=r'^iiwa: no such robot; did you mean "iiwa14"\?$'):
        locate("iiwa")
    with pytest.raises(RobotError, match="baxter, gantry"):
        locate("zzz")
    with pytest.raises(RobotError, match="no such file"):
        load("robots/zzz.yaml")
    with pytest.raises(RobotError, match="is a folder"):
        load(tmp_path)


def test_data_folder_prefers_the_installed_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "rbdgen"
    monkeypatch.setattr(data, "_PACKAGE", package)
    with pytest.raises(FileNotFoundError, match="robots"):
        data.data_folder("robots")
    (tmp_path / "robots").mkdir()
    assert data.data_folder("robots") == tmp_path / "robots"
    (package / "_data" / "robots").mkdir(parents=True)
    assert data.data_folder("robots") == package / "_data" / "robots"


# --- what a design says


def test_every_key(write) -> None:  # type: ignore[no-untyped-def]
    path = write(
        """\
robot: arm.urdf
base: floating
mimic: independent
gravity: [0, 0, -1.62]
snap: 1e-4
alike: 0.01
functions: [id, did]
width: 24
target: ecp5-45f
formulation: recursive
factorisation: mminvgen
root: given
external_forces: all
limits:
  velocity: 5
  acceleration: 20
  position: [-2, 3]
  joints:
    wrist: {velocity: 8, position: [-1, 1]}
"""
    )
    design, robot = load(path)
    assert design == Design(
        robot=str(path.parent / "arm.urdf"),
        base="floating",
        mimic="independent",
        gravity=(0.0, 0.0, -1.62),
        snap=1e-4,
        alike=0.01,
        functions=("id", "did"),
        width=24,
        target="ecp5-45f",
        formulation="recursive",
        factorisation="mminvgen",
        root="given",
        limits=MotionLimits(5, 20, (-2, 3)),
        joint_limits={"wrist": MotionLimits(8, None, (-1, 1))},
        external_forces=("base", "carriage", "hand"),
    )
    assert robot.nv == 8
    assert_allclose(robot.gravity, [0, 0, -1.62])


def test_defaults_and_a_bare_urdf(write) -> None:  # type: ignore[no-untyped-def]
    path = write("robot: arm.urdf")
    design, robot = load(path)
    assert design == promising(Design(robot=str(path.parent / "arm.urdf")))
    assert design.error == ERROR
    assert load(path.parent / "arm.urdf")[0] == design
    assert robot.joint_names == ["slide", "wrist"]


@pytest.mark.parametrize(
    ("file", "choices", "width", "error"),
    [
        ("", {}, 18, ERROR),
        ("", {"width": 20}, 20, None),
        ("", {"error": 1e-4}, 18, 1e-4),
        ("", {"guard": 2}, 18, None),
        ("", {"proven": "all"}, 18, None),
        ("", {"accelerator": True}, 18, None),
        ("", {"accelerator": True, "error": 1e-4}, 18, 1e-4),
        ("width: 20", {}, 20, None),
        ("error: 1e-4", {}, 18, 1e-4),
        ("error: 1e-4", {"width": 20}, 20, None),
        ("width: 20", {"error": 1e-4}, 20, 1e-4),
    ],
)
def test_words_have_what_an_error_takes_unless_a_width_is_said(
    file: str,
    choices: dict[str, object],
    width: int,
    error: float | None,
    write: Callable[[str], Path],
) -> None:
    """Choices win over the file; no folder's name says what nobody said."""
    path = write(f"robot: arm.urdf\n{file}")
    design, _ = load(path, **choices)
    assert (design.width, design.error) == (width, error)
    said = no_defaults(design)
    assert {"width", "error"} & said.keys() == (
        set()
        if not file and {"width", "error"}.isdisjoint(choices)
        else {"width" if error is None else "error"}
    )


def test_needs_and_root_modes(write) -> None:  # type: ignore[no-untyped-def]
    path = write("robot: arm.urdf\nfunctions: [did, m]")
    for root, nv, base in (("free", 8, 0), ("given", 8, 6), ("ignored", 2, 0)):
        design, robot = load(path, base="floating", root=root)
        assert (robot.nv, given_coordinates(design, robot)) == (nv, base)
        assert needs(design) == ("q", "qd", "qdd")
        forward = load(path, base="floating", root=root, functions=("m", "dfd"))[0]
        assert needs(forward) == ("q", "qd", "tau") + (("qdd",) if root == "given" else ())
        assert needs(load(path, functions=("difd",))[0]) == ("q", "qd", "qdd", "Minv")


def test_choices_of_the_caller_win(write) -> None:  # type: ignore[no-untyped-def]
    design, robot = load(write("robot: arm.urdf\nwidth: 20"), width=16, base="floating", snap=None)
    assert (design.width, design.base, design.snap) == (16, "floating", None)
    assert robot.nv == 8
    with pytest.raises(RobotError, match=r"^width: .* from 12 to 32"):
        load("iiwa14", width=64)


@pytest.mark.parametrize(
    ("text", "line", "fragment"),
    [
        ("", 1, "is empty"),
        ("- robot", 1, "key: value"),
        ("robot: [", 1, "not YAML"),
        ("robot: arm.urdf\n\tbase: fixed", 2, "not YAML"),
        ("[" * 5000, 1, "nested too deep"),
        ("width: 18", 1, "write robot: FILE.urdf"),
        ("robot: arm.urdf\n\nwidht: 18", 3, 'unknown key "widht"; did you mean "width"?'),
        ("robot: arm.urdf\ncolour: red", 2, "the keys are robot, base"),
        ("robot: arm.urdf\nwidth: 18\nwidth: 19", 3, "stands twice"),
        ("robot: arm.urdf\nwidth: 11", 2, "from 12 to 32"),
        ("robot: arm.urdf\nwidth: 18.5", 2, "whole number"),
        ("robot: arm.urdf\nwidth: wide", 2, "expected a number"),
        ("robot: arm.urdf\nwidth: [18]", 2, "expected a number"),
        ("robot: arm.urdf\nwidth:", 2, "expected a word"),
        ("robot: arm.urdf\nsnap: 1", 2, "from 0 to 0.1"),
        ("robot: arm.urdf\nalike: 1", 2, "from 0 to less than 1"),
        ("robot: arm.urdf\nbase: fixd", 2, 'did you mean "fixed"?'),
        ("robot: arm.urdf\ngravity: [0, 0]", 2, "3 numbers"),
        ("robot: arm.urdf\ngravity: -9.81", 2, "3 numbers"),
        ("robot: arm.urdf\ngravity: [0, 0, .nan]", 2, "expected a number"),
        ("robot: arm.urdf\ngravity: {x: 1}", 2, "expected a word"),
        ("robot: arm.urdf\nfunctions: [id, ik]", 2, '"ik" is unknown'),
        ("robot: arm.urdf\nfunctions: []", 2, "at least one"),
        ("robot: arm.urdf\nfunctions: [id, id]", 2, "stands twice"),
        ("robot: arm.urdf\nformulation: compsite", 2, 'did you mean "composite"?'),
        ("robot: arm.urdf\nfactorisation: lu", 2, "one of auto, ltdl, mminvgen"),
        ("robot: arm.urdf\nbase: floating\nroot: held", 3, "one of free, given, ignored"),
        ("robot: arm.urdf\n\nroot: given", 3, "is for a floating base; write base: floating"),
        ("robot: arm.urdf\nlimits: 3", 2, "key: value"),
        ("robot: arm.urdf\nlimits:\n  speed: 3", 3, "the keys are velocity"),
        ("robot: arm.urdf\nlimits:\n  velocity: -3", 3, "above 0"),
        ("robot: arm.urdf\nlimits:\n  position: [1, 1]", 3, "below upper"),
        ("robot: arm.urdf\nlimits:\n  joints:\n    slid: {}", 4, 'did you mean "slide"?'),
        ("robot: arm.urdf\nlimits:\n  joints:\n    slide:\n      v: 1", 5, "unknown key"),
        ("robot: arm.urdf\nexternal_forces: [hnad]", 2, 'did you mean "hand"?'),
        ("width: 18\nrobot: amr.urdf", 2, 'did you mean "arm.urdf"?'),
    ],
)
def test_refused_with_file_and_line(write, text: str, line: int, fragment: str) -> None:  # type: ignore[no-untyped-def]
    path = write(text)
    with pytest.raises(RobotError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: "), message
    assert fragment in message
    assert "\n" not in message


def test_errors_of_the_urdf_point_into_the_urdf(write) -> None:  # type: ignore[no-untyped-def]
    path = write("robot: arm.urdf")
    (path.parent / "arm.urdf").write_text("<robot/>")
    with pytest.raises(RobotError, match=r"arm.urdf:1: <robot>: has no name"):
        load(path)


# --- bounds


def test_bounds_come_from_joint_then_design_then_urdf_then_default(write) -> None:  # type: ignore[no-untyped-def]
    def of(limits: str):  # type: ignore[no-untyped-def]
        design, robot = load(write(f"robot: arm.urdf\n{limits}"))
        return bounds(design, robot)

    plain = of("")
    assert_allclose(plain.q_lower, [-1, -math.pi])
    assert_allclose(plain.q_upper, [1, math.pi])
    assert_allclose(plain.qd, [DEFAULT_VELOCITY["linear"], 3])  # the wrist's from the URDF
    assert_allclose(plain.qdd, [10, 10])
    assert_allclose(plain.effort, [np.inf, np.inf])  # what the accelerations take

    every = of("limits: {velocity: 5, acceleration: 6, position: [0, 4]}")
    assert_allclose(every.qd, [5, 5])
    assert_allclose(every.qdd, [6, 6])
    assert_allclose(every.q_lower, [0, -math.pi])  # an angle keeps the whole turn

    own = of("limits: {velocity: 5, joints: {wrist: {velocity: 9, position: [-1, 2]}}}")
    assert_allclose(own.qd, [5, 9])
    assert_allclose(own.q_upper, [1, 2])


def test_bounds_of_a_slide_with_limits_and_of_a_floating_base() -> None:
    design, robot = load("gantry", base="floating")
    box = bounds(design, robot)
    assert box.q_lower.shape == (robot.nq,) == (12,)
    assert box.qd.shape == (robot.nv,) == (11,)
    assert_allclose(box.q_upper[7:10], [1.5, 0.8, 1.2])
    assert_allclose(box.q_upper[3:7], 1)


def test_bounds_of_a_robot_without_joints(tmp_path: Path) -> None:
    (tmp_path / "rock.urdf").write_text('<robot name="rock"><link name="rock"/></robot>')
    box = bounds(*load(tmp_path / "rock.urdf"))
    assert box.q_lower.shape == box.qd.shape == box.effort.shape == (0,)


@settings(derandomize=True, deadline=None, database=None, max_examples=300)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["robot: arm.urdf\n", "width: ", "18\n", "limits:\n", "  joints:\n", "[", "]", "{",
                 "}", "- ", "&a ", "*a", "!!python/name:os ", "? ", "|\n", "'", '"', "#", "\t",
                 "    slide: ", "1e400", "functions: [id]\n", "---\n", "%YAML 9\n"]
            ),
            st.text(max_size=5),
        ),
        max_size=12,
    )
)  # fmt: skip
def test_fuzzed_yaml_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "arm.urdf").write_text(ARM)
    path = folder / "fuzz.yaml"
    path.write_bytes("".join(pieces).encode("utf-8", "surrogatepass"))
    try:
        load(path)
    except RobotError as error:
        message = str(error)
    else:
        return
    assert message.startswith(f"{path}:")
    assert message.removeprefix(f"{path}:").split(":")[0].isdigit()
    assert "\n" not in message


def test_yaml_with_bytes_that_are_no_text() -> None:
    with pytest.raises(RobotError, match=r"^x.yaml:1: not YAML"):
        parse_yaml(b"robot: \xff\xfe\x00", "x.yaml")
