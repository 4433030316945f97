"""How fast and how hard joints move: who says so, and who wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.compile.samples import sample_states
from rbdgen.design.bounds import bounds
from rbdgen.design.limits import (
    Limit,
    LimitRow,
    Travel,
    known_limits,
    limits_table,
    no_limits,
    unused_limits,
)
from rbdgen.design.loading import load
from rbdgen.draw.tables import limits_text
from rbdgen.robot.model import RobotError


def said(robot: str, **choices: Any) -> dict[tuple[str, str], LimitRow]:
    design, loaded = load(robot, **choices)
    return {(row.joint, row.motion): row for row in limits_table(design, loaded)}


def test_known_limits_are_no_defaults(tmp_path: Path) -> None:
    """A limit that nobody named is infinite; efforts are the file's, positions the file's too."""
    limits = {"lift": "lower='0' upper='2' velocity='3' effort='40'", "free": "", "odd": ""}
    limits["odd"] = "lower='-1' upper='2e6' velocity='-1' effort='0'"
    joints = [("lift", "prismatic"), ("free", "continuous"), ("odd", "prismatic")]
    bodies = ["body", *limits]
    text = "".join(
        f"<link name='{name}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
        "ixz='0' iyz='0'/></inertial></link>"
        for name in bodies
    )
    text += "".join(
        f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{name}'/>"
        f"<axis xyz='0 0 1'/>{f'<limit {limits[name]}/>' if limits[name] else ''}</joint>"
        for (name, kind), parent in zip(joints, bodies, strict=False)
    )
    (tmp_path / "r.urdf").write_text(f"<robot name='r'>{text}</robot>")
    design, robot = load(
        tmp_path / "r.urdf", base="floating", velocity="root_joint=4", effort="free=7"
    )
    found, inf = known_limits(design, robot), np.inf
    assert found == {
        "position_lower": (-inf, -inf, -inf, -1, -1, -1, -1, 0, -inf, -inf),
        "position_upper": (inf, inf, inf, 1, 1, 1, 1, 2, inf, inf),
        "velocity_limit": (4,) * 6 + (3, inf, inf),
        "acceleration_limit": (inf,) * 9,
        "effort_limit": (inf,) * 6 + (40, 7, inf),
    }


def value(entry: Limit) -> tuple[float | None, str]:
    return entry.value, entry.from_


def test_who_wins() -> None:
    """Option, then the joint in the design file, then all joints there, the URDF, a default."""
    rows = said("gantry")
    mast, turn = rows["mast", "linear"], rows["wrist_turn", "angular"]
    assert value(mast.velocity) == (2.0, "design file")
    assert value(turn.velocity) == (10.0, "design file")
    assert mast.position == Travel(0.0, 1.2, "m", "URDF")
    assert turn.position.from_ == "default"
    assert value(mast.effort) == (None, "default")
    rows = said("gantry", velocity="1,wrist_turn=6")
    assert value(rows["mast", "linear"].velocity) == (1.0, "option")
    assert value(rows["wrist_turn", "angular"].velocity) == (6.0, "option")
    assert value(rows["wrist_swing", "angular"].velocity) == (1.0, "option")
    rows = said("robots/gantry.urdf")
    assert value(rows["mast", "linear"].velocity) == (1.5, "URDF")
    assert value(rows["mast", "linear"].acceleration) == (10.0, "default")


def test_a_floating_base_has_two_motions_and_no_drive() -> None:
    rows = said("pendulum", base="floating", effort=3)
    linear, angular = rows["root_joint", "linear"], rows["root_joint", "angular"]
    assert linear.velocity.unit == "m/s"
    assert angular.velocity.unit == "rad/s"
    assert linear.position.lower == -1.0
    assert angular.position.lower is None
    assert linear.effort.value is angular.effort.value is None
    assert rows["elbow", "angular"].effort.value == 3.0
    design, robot = load("pendulum", base="floating", effort=3, functions=("fd",))
    assert bounds(design, robot).effort.tolist() == [np.inf] * 6 + [3.0, 3.0]


def test_joints_with_the_same_limits_share_a_line() -> None:
    design, robot = load("pendulum")
    (line,) = limits_text(limits_table(design, robot))
    assert line == "shoulder, elbow: any angle, 10 rad/s (design file), 20 rad/s² (design file)"


@pytest.mark.parametrize(
    "velocity", [3, "3", "3.0", {"shoulder": 3, "elbow": "3"}, "shoulder=3, elbow=3", "1,elbow=3"]
)
def test_ways_to_say_it(velocity: Any) -> None:
    assert value(said("pendulum", velocity=velocity)["elbow", "angular"].velocity)[0] == 3.0


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"velocity": 0}, "velocity: must be above 0, is 0"),
        ({"velocity": "fast"}, 'velocity: expected a number, not "fast"'),
        ({"acceleration": "elbow=nan"}, "acceleration: must be finite"),
        ({"effort": "1,2"}, "effort: the number of all joints stands twice"),
        ({"effort": "elbow=1,elbow=2"}, 'effort: "elbow" stands twice'),
        ({"velocity": "elbw=1"}, 'velocity: the robot has no free joint "elbw"; did you mean'),
        ({"velocity": {"a,b": 1}}, "use limits: joints: of a file"),
    ],
)
def test_what_is_refused(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        load("pendulum", **choice)


def test_a_slip_in_a_file_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text((load("pendulum")[0].robot).join(["robot: ", "\nvelocity: elbw=3\n"]))
    with pytest.raises(RobotError, match=r"p.yaml:2: velocity: the robot has no free joint"):
        load(path)


def test_states_within_an_effort() -> None:
    """What forward dynamics takes is bounded; the states are those that it leads to."""
    design, robot = load("pendulum", functions=("fd",), effort="shoulder=4,elbow=0.5")
    state = sample_states(design, robot, 500, 3, extremes=0.5)
    box = bounds(design, robot)
    assert (np.abs(state["tau"]) <= box.effort * (1 + 1e-9)).all()
    assert (np.abs(state["tau"]).max(axis=0) > 0.99 * box.effort).all()
    assert (np.abs(state["qd"]) <= box.qd).all()
    assert (np.abs(state["qdd"]) <= box.qdd).all()
    exact = golden.aba(robot, state["q"], state["qd"], state["tau"])
    np.testing.assert_allclose(exact, state["qdd"], rtol=0, atol=1e-9)
    design, robot = load("iiwa14", functions=("fd",), effort="joint_2=1e-9")
    with pytest.raises(RobotError, match='effort: joint "joint_2": too little to hold the robot'):
        sample_states(design, robot, 50, 3)


def test_an_effort_that_bounds_nothing_is_noted() -> None:
    (note,) = unused_limits(*load("pendulum", effort=5))
    assert note.startswith("effort: bounds what forward dynamics takes; id takes none")
    assert not unused_limits(*load("pendulum", effort=5, functions=("fd",)))
    assert not unused_limits(*load("pendulum"))


def arm(*limits: str, kind: str = "revolute") -> str:
    """A URDF of a chain, a joint for each ``<limit>``; the last one is of that ``kind``."""
    lines = ['<robot name="arm"><link name="l0"/>']
    for k, limit in enumerate(limits, 1):
        own = kind if k == len(limits) else "revolute"
        lines += [
            f'<joint name="j{k}" type="{own}"><parent link="l{k - 1}"/><child link="l{k}"/>',
            f'<origin xyz="0.3 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" {limit}/>',
            f'</joint><link name="l{k}"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>',
            '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>',
        ]
    return "\n".join([*lines, "</robot>"])


@pytest.mark.parametrize("none", ["50000", "100", "1e300", "0", "-1"])
def test_a_velocity_that_says_none_is_the_default_and_noted_once(none: str, tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(arm(*[f'effort="9" velocity="{none}"'] * 4, 'effort="9" velocity="60"'))
    design, robot = load(file)
    assert bounds(design, robot).qd.tolist() == [10.0] * 4 + [60.0]
    assert no_limits(design, robot) == [
        f'velocity {float(none):g} of 4 joints ("j1", "j2", "j3" …) taken for none: 10 rad/s; '
        "--velocity says another"
    ]
    rows = {row.joint: row for row in limits_table(design, robot)}
    assert value(rows["j1"].velocity) == (10.0, "default")
    assert value(rows["j5"].velocity) == (60.0, "URDF")


def test_velocities_in_degrees_are_suspected(tmp_path: Path) -> None:
    file, asked = tmp_path / "arm.urdf", "taken for none (in degrees? URDF's are rad/s): 10 rad/s"
    for said, suspected in (("180", True), ("720", True), ("100", False), ("1000", False)):
        file.write_text(arm('velocity="10000"', f'velocity="{said}"'))
        (note,) = no_limits(*load(file))
        assert (asked in note) == suspected
    file.write_text(arm('velocity="180"', kind="prismatic"))
    assert asked not in no_limits(*load(file))[0]


def test_numbers_that_say_none_are_one_note(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(arm('velocity="1e4"', 'velocity="0"', 'velocity="1e3"', kind="prismatic"))
    (note,) = no_limits(*load(file))
    assert note.startswith('velocity 0, 1000, 10000 of 3 joints ("j1", "j2", "j3") taken for none')
    assert "none: 10 rad/s and 2 m/s;" in note


@pytest.mark.parametrize("far", ["1e16", "1001"])
def test_a_way_that_says_none_is_the_default_and_noted(far: str, tmp_path: Path) -> None:
    urdf, file = tmp_path / "arm.urdf", tmp_path / "arm.yaml"
    speed = 'velocity="1"'
    urdf.write_text(arm(speed, speed, kind="prismatic").replace('"1" v', f'"{far}" v'))
    design, robot = load(urdf)
    assert bounds(design, robot).q_upper.tolist() == [np.pi, 1.0]
    assert no_limits(design, robot) == [
        f'position -1 to {float(far):g} m of joint "j2" taken for none: -1 to 1 m; position in a '
        "design file's limits says another"
    ]
    file.write_text("robot: arm.urdf\nlimits: {joints: {j2: {position: [0, 2e3]}}}\n")
    design, robot = load(file)
    assert bounds(design, robot).q_upper.tolist() == [np.pi, 2000.0]
    assert no_limits(design, robot) == []
    urdf.write_text(urdf.read_text().replace(far, "1000"))
    design, robot = load(urdf)
    assert bounds(design, robot).q_upper.tolist() == [np.pi, 1000.0]
    assert no_limits(design, robot) == []


def test_a_velocity_that_was_chosen_is_not_replaced(tmp_path: Path) -> None:
    urdf, file = tmp_path / "arm.urdf", tmp_path / "arm.yaml"
    urdf.write_text(arm('velocity="5000"', 'velocity="5000"'))
    file.write_text("robot: arm.urdf\nlimits: {velocity: 400}\n")
    for design, robot in (load(file), load(urdf, velocity=400)):
        assert bounds(design, robot).qd.tolist() == [400.0, 400.0]
        assert no_limits(design, robot) == []
    design, robot = load(urdf, velocity="j1=400")
    assert bounds(design, robot).qd.tolist() == [400.0, 10.0]
    assert no_limits(design, robot)[0].startswith('velocity 5000 of joint "j2" taken for none')


def test_a_file_without_velocities_says_nothing_of_them(tmp_path: Path) -> None:
    """Neither where a URDF leaves them out or unlimited, nor where an MJCF is read as a URDF."""
    file = tmp_path / "arm.urdf"
    file.write_text(arm('effort="9"', 'velocity="inf"'))
    assert no_limits(*load(file)) == []
    file = tmp_path / "arm.xml"
    file.write_text(
        '<mujoco model="arm"><worldbody><body><joint axis="0 1 0" limited="true" range="-9 9"/>'
        '<geom type="sphere" size="0.1" pos="0.2 0 0"/></body></worldbody></mujoco>'
    )
    pytest.importorskip("mujoco")
    assert no_limits(*load(file)) == []
