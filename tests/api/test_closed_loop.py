"""Controllers in the loop: Verilog beside float64 on MuJoCo's robot, refusals, the plant."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api, golden
from rbdgen.api import closed_loop
from rbdgen.api.closed_loop import Hardware, eight, follow
from rbdgen.api.plant import Disturbance, Plant
from rbdgen.cli.main import main
from rbdgen.design.loading import filed, load
from rbdgen.draw.loop_chart import loop_chart
from rbdgen.robot.model import RobotError
from rbdgen.robot.xml_lines import read_bytes

pytestmark = pytest.mark.rtl


@pytest.fixture(scope="module")
def law(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("law") / "D"
    api.generate("pendulum", place, controller="computed-torque", ii=4)
    return place


def test_hardware_drives_a_robot(law: Path) -> None:
    """It follows its path, and stays beside the loop in float64; a load and a push move it."""
    alone = api.loop(law, rate=500, seconds=0.4)
    pushed = api.loop(law, rate=500, seconds=0.4, load=1.0, push=20.0, noise=(1e-5, 1e-3), late=1)
    assert alone.facts.ticks == 200 and alone.facts.overflows == 0
    assert alone.facts.cycles == (30, 30)
    assert alone.facts.off is not None and pushed.facts.off is not None
    assert alone.facts.apart < 1e-4 and alone.facts.off < 1e-4
    assert pushed.facts.apart < 1e-4
    assert pushed.facts.off > 3 * alone.facts.off
    assert alone["ticks"] == 200 and "every bit equal" in alone.as_text()
    text = (law / "loop.svg").read_text()
    assert "shoulder" in text and text.count("<path") > 8


def test_a_bit_that_differs_is_seen(law: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flipped(self: Hardware, state: Any) -> Any:
        tau = Hardware.__call__(self, state)
        self._results[-1] = self._results[-1] ^ np.eye(1, len(self._results[-1]), 1, int)[0]
        return tau

    wrong = type("Wrong", (Hardware,), {"__call__": flipped})
    monkeypatch.setattr(closed_loop, "Hardware", wrong)
    with pytest.raises(api.Mismatch, match="tick 0: the hardware's bits"):
        api.loop(law, rate=500, seconds=0.01)


def test_command_and_refusals(
    law: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["loop", str(law), "--rate", "500Hz", "--seconds", "0.02"]) == 0
    assert "10 ticks at 500 Hz" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["loop", str(law), "--noise", "1e-5"])
    assert "two numbers from 0 on" in capsys.readouterr().err
    assert main(["loop", str(law), "--drop", "5ms"]) != 0
    assert "commands are of a controller with ticks" in capsys.readouterr().err
    api.generate("pendulum", tmp_path / "id", functions="id", ii=4)
    assert main(["loop", str(tmp_path / "id")]) != 0
    assert "--controller computed-torque" in capsys.readouterr().err


def test_a_state_without_room_ends_the_loop() -> None:
    """The time is said, and which word."""
    design, robot = load("pendulum", functions="computed-torque")
    plant = _plant(robot)

    def law(_: Any) -> np.ndarray:
        raise api.InputError("qd[0] of state 0 is 99")

    with pytest.raises(api.InputError, match=r"loop at 0\.0000 s: qd\[0\]"):
        follow(law, plant, eight(design, robot, 1.0), 10, 1e-3)


def test_the_plant_is_the_robot() -> None:
    """A millisecond of MuJoCo is a millisecond of golden forward dynamics."""
    design, robot = load("iiwa14", functions="computed-torque")
    plant = _plant(robot, "iiwa14")
    q, qd, _ = eight(design, robot, 1.0)(0.3)
    tau = np.linspace(-3, 3, robot.nv)
    plant.start(q, qd)
    plant.drive(tau, 0.0)
    qdd = golden.aba(robot, q[None], qd[None], tau[None])[0]
    _, faster = plant.read()
    np.testing.assert_allclose((faster - qd) / 1e-3, qdd, rtol=0.05, atol=0.05)


def test_robots_that_mujoco_has_otherwise(tmp_path: Path) -> None:
    urdf = read_bytes(filed("pendulum").robot)
    _, robot = load("pendulum")
    with pytest.raises(api.InputError, match="MuJoCo's model has other joints: elbow"):
        Plant(urdf.replace(b"elbow", b"knee"), robot, 1e-3, Disturbance())
    with pytest.raises((api.InputError, RobotError), match="MuJoCo refuses"):
        Plant(urdf.replace(b"<inertia ", b"<nothing "), robot, 1e-3, Disturbance())


def test_the_legend_of_many_joints_has_lines() -> None:
    """None of its entries is beyond the page."""
    names = [f"left_leg_joint_{k}" for k in range(24)]
    still = np.zeros((5, len(names)))
    text = loop_chart(names, 1e-3, still, still, still)
    places = re.findall(r'<text x="([0-9.]+)" y="([0-9.]+)"[^>]*>left_leg_joint_\d+<', text)
    assert len(places) == 24 and max(float(x) for x, _ in places) < 650
    assert len({y for _, y in places}) > 3


def _plant(robot: Any, name: str = "pendulum") -> Plant:
    return Plant(read_bytes(filed(name).robot), robot, 1e-3, Disturbance())
