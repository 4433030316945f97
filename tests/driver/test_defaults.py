"""The back end of those who name none; notes, and a warning of each that changes results."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from rbdgen.api import generate
from rbdgen.system.templates import data_folder
from rbdgen_host.driver import Dynamics, DynamicsWarning

PLAIN = (
    (data_folder("robots") / "pendulum.urdf")
    .read_text()
    .replace("continuous", "revolute")
    .replace("<limit ", '<limit lower="-3" upper="3" ')
)
FRICTION = '<dynamics damping="0.5" friction="0.3"/></joint>'
SPRING = '<dynamics spring_stiffness="3"/></joint>'
STATE = ([0.3, -0.2], [0.5, 0.1], [1.0, -2.0])


def arm(folder: Path, inside: str) -> str:
    """A double pendulum whose joints have so much more in them."""
    file = folder / "arm.urdf"
    file.write_text(PLAIN.replace("</joint>", inside))
    return str(file)


def test_cpp_answers_unless_said() -> None:
    driver = Dynamics("pendulum")
    assert driver.backend == "cpp"
    exact = Dynamics("pendulum", "golden").rnea(*STATE)
    np.testing.assert_allclose(driver.rnea(*STATE), exact, rtol=1e-12)


@pytest.mark.parametrize("lacking", ["no-such-compiler", "Python.h"])
def test_golden_answers_where_there_is_no_compiler(
    lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said, and threads that only C++ has are no reason to refuse."""
    if lacking == "Python.h":
        monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": "/nowhere"})
    else:
        monkeypatch.setenv("CXX", lacking)
    with pytest.warns(DynamicsWarning, match=f"golden answers in place of cpp, .*{lacking}"):
        driver = Dynamics("pendulum", threads=2)
    assert driver.backend == "golden"
    assert any("golden answers in place of cpp" in note for note in driver.notes)


def test_a_folder_with_hardware_answers_with_its_bits(tmp_path: Path) -> None:
    folder = generate("pendulum", tmp_path / "made", fit=False)
    assert Dynamics(folder).backend == "integer"


@pytest.mark.parametrize("backend", ["golden", "cpp", "integer"])
def test_friction_is_warned_of_once_and_can_be_left_out(tmp_path: Path, backend: str) -> None:
    """Pinocchio reads it and does not add it to τ: without it the two are equal."""
    robot = arm(tmp_path, FRICTION)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        driver = Dynamics(robot, backend)
        driver.rnea(*STATE)
    assert [own.category for own in found] == [DynamicsWarning] * 2
    for what, warned in zip(("damping", "friction"), found, strict=True):
        said = str(warned.message).removeprefix("pendulum: ")
        assert said.startswith(f'{what} of 2 joints ("shoulder", "elbow")')
        assert said in driver.notes
        assert warned.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", DynamicsWarning)
        without = Dynamics(robot, backend, friction=False)
    model = pin.buildModelFromUrdf(robot)
    theirs = pin.rnea(model, model.createData(), *map(np.array, STATE))
    near = 1e-3 if backend == "integer" else 1e-9
    np.testing.assert_allclose(without.rnea(*STATE), theirs, rtol=near)
    assert (np.abs(driver.rnea(*STATE) - theirs) > 0.04).all()


def test_springs_gravity_and_short_words_are_warned_of(tmp_path: Path) -> None:
    with pytest.warns(DynamicsWarning, match="spring_stiffness of .*joints have no springs"):
        Dynamics(arm(tmp_path, SPRING), "golden")
    with pytest.warns(DynamicsWarning, match=r"gravity: 0 0 -1.62 m/s², not 0 0 -9.81"):
        Dynamics("pendulum", "golden", gravity=(0.0, 0.0, -1.62))
    with pytest.warns(DynamicsWarning, match=r'12 bits leave qdd\[1\] \("elbow"\) off by 1'):
        Dynamics("pendulum", "integer", functions=("dfd",), width=12, fit=False, accelerator=False)
    with warnings.catch_warnings():  # a note, and no more
        warnings.simplefilter("error", DynamicsWarning)
        (note,) = Dynamics("pendulum", "integer", width=12, fit=False, accelerator=False).notes
    assert note.startswith('width: 12 bits leave tau[0] ("shoulder") off by 2.9e-03 at the limits')


def test_snapped_axes_are_warned_of_in_words(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(PLAIN.replace('xyz="0 0 -0.5"', 'xyz="0 0 -0.5" rpy="0.000004 0 0"'))
    with pytest.warns(DynamicsWarning, match="rad from a multiple of 90° and is taken for it"):
        Dynamics(file, "integer")


def test_choices_of_hardware_are_a_note_where_there_is_none() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", DynamicsWarning)
        driver = Dynamics("pendulum", ii=4, target="xcup", accelerator=False)
    (note,) = driver.notes
    assert note == "ii, target: of hardware; cpp computes in floating point without"
    assert not any("of hardware" in note for note in Dynamics("pendulum", "integer", ii=4).notes)


def test_arguments_without_effect_are_a_note() -> None:
    """Floating point has no words that could be too short, and a robot's file no digests."""
    driver = Dynamics("pendulum", "golden", on_overflow="raise", outside="saturate", trust=True)
    assert [note.partition(" is for ")[0] for note in driver.notes] == [
        "on_overflow: raise",
        "outside: saturate",
        "trust: True",
    ]
    near = {"functions": ("fd",), "formulation": "logarithmic", "inverse": "near"}
    driver = Dynamics("pendulum", "golden", on_overflow="raise", accelerator=False, **near)
    assert not any(note.startswith("on_overflow") for note in driver.notes)
