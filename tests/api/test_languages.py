"""Designs in another language than Verilog: where they are written, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.program_folder import interface_of
from rbdgen.api.vectors import EXPECTED, STATES, VECTORS
from rbdgen.compile.flow import front_end
from rbdgen.design.choices import LANGUAGES, OF_ACCELERATORS

PROGRAMS = [language for language in LANGUAGES if language != "verilog"]


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("gantry", {"functions": ("id", "m")}),
        ("hyq", {"base": "floating", "functions": ("did",), "external_forces": ("all",)}),
        ("hyq", {"base": "floating", "root": "given", "functions": ("fd", "minv")}),
        ("iiwa14", {"functions": ("difd",)}),
    ],
    ids=["gantry", "hyq", "hyq-given", "difd"],
)
def test_vectors_are_what_the_golden_model_says(
    robot: str, choices: dict[str, Any], tmp_path: Path
) -> None:
    made = api.generate(robot, tmp_path / "made", to="cpp", **choices)
    interface = made.manifest.program.interface
    states = np.loadtxt(made / VECTORS).reshape(STATES, -1)
    expected = np.loadtxt(made / EXPECTED).reshape(STATES, -1)
    given, start = {}, 0
    for array in interface.takes:
        given[array.name] = states[:, start : start + array.size].reshape(STATES, *array.shape)
        start += array.size
    assert start == states.shape[1]
    found = api.evaluate(robot, given, "golden", **choices)
    golden = np.concatenate([found[a.name].reshape(STATES, -1) for a in interface.gives], axis=1)
    assert golden.shape == expected.shape
    # quaternions of floats are not quite of length 1, to which the golden model brings them
    near = 2.0**-23 if choices.get("base") == "floating" else 1e-9
    assert np.abs(golden - expected).max() < near * np.abs(golden).max()


def test_every_entry_has_its_place() -> None:
    front = front_end("hyq", base="floating", functions=("m", "did"))
    interface = interface_of(front)
    assert list(interface.inputs) == list(front.graph.inputs)
    assert list(interface.outputs) == list(front.graph.outputs)
    nv = front.robot.nv
    (low, high) = interface.outputs["M[7,2]"]
    assert (low.at, high.at) == (7 * nv + 2, 2 * nv + 7)
    places = [(e.array, e.at) for own in interface.outputs.values() for e in own]
    assert len(places) == len(set(places))


def test_each_language_has_its_folder(tmp_path: Path) -> None:
    found = api.generate("pendulum", tmp_path / "made", to=["verilog", "cpp"])
    assert [place.folder for place in found] == [tmp_path / "made/verilog", tmp_path / "made/cpp"]
    assert found[0].manifest.facts.name == found[1].manifest.program.name == "pendulum_id"
    assert "in cpp" in found[1].headline() and "in cpp" in found[1]._repr_html_()


def test_default_folders_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert api.generate("pendulum", to="cpp").folder == Path("build/pendulum_id_cpp")


@pytest.mark.parametrize("language", PROGRAMS)
def test_the_same_bytes_again(language: str, tmp_path: Path) -> None:
    first, second = (api.generate("pendulum", tmp_path / k, to=language) for k in "ab")
    names = sorted(file.name for file in first.folder.iterdir())
    assert names == sorted(file.name for file in second.folder.iterdir())
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_what_is_no_hardware_is_said(tmp_path: Path) -> None:
    made = api.generate("pendulum", tmp_path / "made", to="cpp")
    with pytest.raises(api.OutputError, match="holds cpp, not Verilog"):
        api.simulate(made)
    with pytest.raises(api.OutputError, match="holds cpp, not Verilog"):
        api.synthesize(made)
    with pytest.raises(api.OutputError, match="holds another design, of language cpp"):
        api.generate("pendulum", tmp_path / "made")
    api.generate("pendulum", tmp_path / "made", force=True)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    place = tmp_path / "made"
    with pytest.raises(api.UsageError, match='did you mean "cpp"'):
        api.generate("pendulum", place, to="cp")
    with pytest.raises(api.UsageError, match="at least one of verilog"):
        api.generate("pendulum", place, to=())
    for language in set(LANGUAGES) - set(OF_ACCELERATORS):
        with pytest.raises(api.UsageError, match="leave --accelerator out"):
            api.generate("pendulum", place, to=["verilog", language], accelerator=True)
    assert not place.exists()


NEAR_A_RIGHT_ANGLE = """<robot name="near"><link name="base"/>
<link name="a"><inertial><mass value="2"/><origin xyz="0.1 0.2 0.3"/>
<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/>
<origin rpy="1.5708 0 0"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" velocity="2" effort="9"/></joint></robot>"""


@pytest.mark.parametrize(
    ("to", "snap", "kept"),
    [
        (("cpp",), None, True),
        (("cuda",), None, True),
        (("cpp",), 1e-5, False),
        (("c", "cpp"), None, True),
        (("c",), None, False),
        (("c",), 0.0, True),
    ],
)
def test_angles_are_snapped_in_words_alone_unless_that_is_said(
    to: tuple[str, ...], snap: float | None, kept: bool, tmp_path: Path
) -> None:
    """1.5708 is 3.7e-6 rad from a right angle; a folder says if it is taken for one."""
    (file := tmp_path / "near.urdf").write_text(NEAR_A_RIGHT_ANGLE)
    folders = api.generate(str(file), tmp_path / "out", to=to, snap=snap, fit=False)
    assert isinstance(folders, tuple)
    manifest = (folders[-1].folder / "manifest.json").read_text()
    assert ("is taken for it" in manifest) == (not kept)


def test_what_was_chosen_is_said(tmp_path: Path) -> None:
    """Results of frames differ by what the arrays' names do not say."""
    choices = {"functions": ("jac",), "frames": ("upper_rod", "lower_rod"), "gravity": (0, 0, -1.6)}
    place = api.generate("pendulum", tmp_path, to="cpp", **choices).folder
    line = "Chosen: gravity: 0.0, 0.0, -1.6; frames: upper_rod, lower_rod; reference: "
    assert f"{line}local-world-aligned." in (place / "README.md").read_text()
    (header,) = place.glob("*_jac.h")
    assert line in header.read_text()
