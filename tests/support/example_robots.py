"""The robots of the installed example-robot-data package, asked of both models.

``python -m tests.support.example_robots`` prints the table of errors.
"""

from __future__ import annotations

import importlib.metadata
import time
from dataclasses import replace
from pathlib import Path

import pinocchio as pin

from rbdgen import golden
from rbdgen.robot.model import Drivetrain, Robot, RobotError
from rbdgen.robot.urdf import Base, MimicMode
from tests.support.comparison import Answers, check, golden_answers, random_question
from tests.support.pinocchio_models import Peer, peer_from_urdf
from tests.support.urdf_files import read_urdf

# As usual, and oblique: then no gradient vanishes because an axis is vertical.
GRAVITY = {"fixed": (0.0, 0.0, -9.81), "floating": (1.5, -2.0, -9.0)}
STATES = 3


def urdf_files() -> list[Path]:
    """Every URDF of the package that Pinocchio loads."""
    files = importlib.metadata.files("example-robot-data") or []
    paths = sorted(Path(file.locate()).resolve() for file in files if file.suffix == ".urdf")
    return [path for path in paths if _loads(path)]


def mimic_files() -> list[Path]:
    """Those with mimic joints that Pinocchio loads as such."""
    return [
        path
        for path in urdf_files()
        if "<mimic" in path.read_text(encoding="utf-8") and _loads(path, mimic=True)
    ]


def load(path: Path, base: Base, mimic: MimicMode = "independent") -> tuple[Robot, Peer]:
    """Both models, of rigid bodies: Pinocchio takes no damping, friction and rotors of a URDF."""
    robot = read_urdf(path, base=base, mimic=mimic, gravity=GRAVITY[base])
    robot = robot.with_joints([replace(j, drivetrain=Drivetrain()) for j in robot.joints])
    return robot, peer_from_urdf(path, robot, mimic=mimic == "fold")


def compare(path: Path, base: Base) -> dict[str, float]:
    """The worst error per function, after asserting that all are small."""
    robot, peer = load(path, base)
    question = random_question(robot, STATES, seed=1)
    forward = _regular(robot)
    return check(
        question,
        golden_answers(robot, question, forward),
        peer.answers(question, forward),
    )


def _regular(robot: Robot) -> bool:
    """Whether the robot has forward dynamics: some files move links without mass."""
    try:
        golden.minv(robot, golden.neutral(robot)[None])
    except RobotError:
        return False
    return True


def _loads(path: Path, mimic: bool = False) -> bool:
    try:
        pin.buildModelFromUrdf(str(path), mimic=mimic)
    except (ValueError, RuntimeError):
        return False
    return True


def main() -> None:
    """Print every robot's errors, then the worst of each function."""
    started = time.perf_counter()
    worst: dict[str, tuple[float, str]] = {}
    robots = models = without_forward = 0
    print(f"{'robot':40}{'nv':>4}", *(f"{name:>9}" for name in Answers._fields))
    for path in urdf_files():
        robots += 1
        bases: tuple[Base, ...] = ("fixed", "floating")
        for base in bases:
            models += 1
            errors = compare(path, base)
            without_forward += "minv" not in errors and "rnea" in errors
            label = f"{path.stem[:30]} {base}"
            row = [
                f"{errors[name]:9.0e}" if name in errors else "        –"
                for name in Answers._fields
            ]
            print(f"{label:40}{load(path, base)[0].nv:4}", *row)
            for name, error in errors.items():
                worst[name] = max(worst.get(name, (0.0, "")), (error, label))
    for name, (error, label) in worst.items():
        print(f"{name:9} {error:8.1e}  {label}")
    print(
        f"{robots} files, {models} models of {STATES} states, {without_forward} of them with a "
        f"singular mass matrix; {time.perf_counter() - started:.0f} s"
    )


if __name__ == "__main__":
    main()
