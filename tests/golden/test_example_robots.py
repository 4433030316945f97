"""Golden against Pinocchio on the robots of example-robot-data."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen import golden
from rbdgen.robot.urdf import Base
from tests.support.comparison import Answers, check, random_question
from tests.support.example_robots import compare, load, mimic_files, urdf_files

FILES = urdf_files()
WITHOUT_FORWARD = {"romeo", "romeo_laas_small"}  # massless links on moving joints


@pytest.mark.parametrize(
    ("path", "base"),
    [
        pytest.param(path, base, id=f"{path.stem}-{base}", marks=[pytest.mark.slow] * late)
        for k, path in enumerate(FILES)
        for base, late in (("fixed", k % 4 != 0), ("floating", k % 4 != 2))
    ],
)
def test_every_function_agrees(path: Path, base: Base) -> None:
    robot, peer = load(path, base)
    assert robot.nv == peer.model.nv
    asked = set(compare(path, base))
    if not robot.nv:
        assert asked == set()
    elif path.stem in WITHOUT_FORWARD:
        assert asked == {"rnea", "crba", "dtau_dq", "dtau_dqd"}
    else:
        assert asked == set(Answers._fields)


def test_the_robots_are_many_and_of_every_size() -> None:
    sizes = [load(path, "fixed")[0].nv for path in FILES]
    assert len(sizes) > 60
    assert (min(sizes), max(sizes)) == (0, 101)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("path", mimic_files(), ids=lambda path: path.stem)
def test_mimic_joints_follow_as_in_pinocchio(path: Path, base: Base) -> None:
    robot, peer = load(path, base, mimic="fold")
    assert robot.nv == peer.model.nv
    question = random_question(robot, 3, seed=2)
    q, qd, qdd, _, f_ext = question
    check(
        question,
        Answers(rnea=golden.rnea(robot, q, qd, qdd, f_ext), crba=golden.crba(robot, q)),
        Answers(rnea=peer.rnea(question), crba=peer.crba(question)),
    )


def test_several_robots_have_mimic_joints() -> None:
    assert len(mimic_files()) >= 5
