"""Where designs are written: names, and what is refused before any work is done."""

from __future__ import annotations

import json
import os
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from rbdgen import api
from rbdgen.api import output_paths
from rbdgen.api.output_paths import check_place, default_place, no_defaults
from rbdgen.cli.main import main
from rbdgen.design.design import Design, promising
from rbdgen.design.functions import WHOLE
from rbdgen.design.loading import load
from rbdgen.design.nested import MotionLimits
from tests.support.made import generated


@pytest.mark.parametrize(
    ("robot", "choices", "name"),
    [
        ("iiwa14", {}, "iiwa14_id"),
        ("iiwa14", {"functions": ("id",), "width": 18, "ii": None}, "iiwa14_id"),
        ("iiwa14", {"functions": ("did",), "ii": 4}, "iiwa14_did_ii4"),
        ("iiwa14", {"functions": ("did", "m"), "multipliers": 156}, "iiwa14_did_m_multipliers156"),
        ("iiwa14", {"width": 24, "target": "xcup"}, "iiwa14_id_width24_xcup"),
        ("iiwa14", {"error": 1e-4, "style": "latency", "clock": 18}, None),
        ("hyq", {"base": "floating"}, "hyq_id_floating"),
        ("hyq", {"fold": "none"}, "hyq_id_fold_none"),
        ("pendulum", {"gravity": (0, 0, -1.62)}, "pendulum_id_gravity_0_0_-1.62"),
        ("pendulum", {"external_forces": ("all",)}, "pendulum_id_external_forces_all"),
        ("pendulum", {"limits": MotionLimits(velocity=2.0)}, "pendulum_id_velocity2"),
        ("pendulum", {"accelerator": True, "functions": WHOLE}, "pendulum_accelerator"),
        ("pendulum", {"accelerator": True, "functions": ("id", "m")}, "pendulum_accelerator_id_m"),
        ("pendulum", {"joint_limits": {}}, "pendulum_id"),
    ],
)
def test_names_carry_what_differs(robot: str, choices: dict[str, Any], name: str | None) -> None:
    design, loaded = load(robot, **choices)
    found = default_place(robot, loaded.name, design, choices)
    assert found == Path("build") / (name or "iiwa14_id_error0.0001_latency_clock18")


def test_a_files_own_choices_are_not_in_the_name(tmp_path: Path) -> None:
    urdf = load("pendulum")[0].robot
    (tmp_path / "own.yaml").write_text(f"robot: {Path(urdf).resolve()}\nwidth: 20\nii: 2\n")
    design, loaded = load(tmp_path / "own.yaml", ii=3)
    place = default_place(str(tmp_path / "own.yaml"), loaded.name, design, {"ii": 3})
    assert place.name == f"{loaded.name}_id_ii3"


def test_long_names_end_in_a_digest() -> None:
    forces = {"external_forces": tuple(f"link_{k}" for k in range(40))}
    design = load("iiwa14")[0]
    names = {
        default_place("iiwa14", "iiwa14", design, forces | own).name for own in ({}, {"width": 20})
    }
    assert len(names) == 2
    assert all(len(name) == output_paths.LONGEST_NAME for name in names)


def test_no_defaults_is_what_is_no_default() -> None:
    assert no_defaults(promising(Design("any.urdf"))) == {}
    assert no_defaults(Design("any.urdf")) == {"width": 18}
    limits = MotionLimits(velocity=2.0)
    own = {"functions": ("m",), "gravity": (0, 0, 0), "joint_limits": {"j": limits}}
    design = Design("any.urdf", error=1e-4, **own)
    assert json.loads(json.dumps(no_defaults(design))) == {
        "functions": ["m"],
        "gravity": [0, 0, 0],
        "joint_limits": {"j": {"velocity": 2.0}},
        "error": 1e-4,
    }


@pytest.fixture
def no_work(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever compiles fails."""

    def work(*arguments: object, **choices: object) -> None:
        raise AssertionError("worked before the place was checked")

    monkeypatch.setattr("rbdgen.api.compilation.front_of", work)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return copytree(generated("pendulum", functions=("m",)), tmp_path / "design")


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("robot", "choices", "message"),
    [
        ("gantry", {"functions": ("m",)}, "holds another design, of robot pendulum: name another"),
        ("pendulum", {}, "functions m: name another folder with -o, or replace it with --force"),
        ("pendulum", {"functions": ("m",), "width": 20}, "width 18: name"),
        ("pendulum", {"functions": ("m",), "limits": MotionLimits(velocity=1)}, "limits"),
        ("pendulum", {"functions": ("m",), "accelerator": True}, "accelerator none: name"),
    ],
)
def test_another_design_is_not_replaced(
    made: Path, robot: str, choices: dict[str, Any], message: str
) -> None:
    before = (made / "manifest.json").read_bytes()
    with pytest.raises(api.OutputError, match=message):
        api.generate(robot, made, **choices)
    assert (made / "manifest.json").read_bytes() == before
    with pytest.raises(AssertionError, match="worked"):
        api.generate(robot, made, force=True, **choices)


def test_the_same_design_is_replaced(made: Path) -> None:
    api.generate("pendulum", made, functions=("m",))
    urdf = load("pendulum")[0].robot
    api.generate(str(made / "design.yaml"), made.parent / "copy")
    assert (made.parent / "copy" / "manifest.json").read_bytes() == (
        made / "manifest.json"
    ).read_bytes()
    api.generate(urdf, made.parent / "copy", functions=("m",), force=True)
    (made.parent / "copy" / "manifest.json").write_text("{")  # damaged: is made again
    api.generate("pendulum", made.parent / "copy", functions=("m",))
    assert api.read_manifest(made.parent / "copy")["choices"]["functions"] == ["m"]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("force", [False, True])
def test_what_rbdgen_did_not_make_is_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    """Nor a folder of something else that has a manifest.json, as others have."""
    for name, file in (("thesis", "chapter.tex"), ("extension", "manifest.json")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text('{"manifest_version": 3}')
        with pytest.raises(api.OutputError, match="exists and is no design of rbdgen's"):
            api.generate("pendulum", tmp_path / name, force=force)
        with pytest.raises(api.OutputError, match="exists and is no design of rbdgen's"):
            api.generate("pendulum", tmp_path / name / file, force=force)
        with pytest.raises(api.OutputError, match="Not a directory"):
            api.generate("pendulum", tmp_path / name / file / "inside", force=force)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(api.OutputError, match="is the folder that you are in"):
        api.generate("pendulum", ".", force=force)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("place", "message"),
    [("d" * 300, "File name too long"), ("/proc/x/y", "No such file"), ("a\0b", "null")],
)
def test_places_that_cannot_be(place: str, message: str) -> None:
    for accelerator in (False, True):
        with pytest.raises(api.OutputError, match=message):
            api.generate("pendulum", place, accelerator=accelerator)
    with pytest.raises(api.OutputError, match=message):
        api.explore("pendulum", place, synthesis=False)


def test_a_place_is_only_looked_at(tmp_path: Path) -> None:
    check_place(tmp_path / "new" / "folder", folder=True)
    check_place(tmp_path / "new" / "file.svg")
    assert not list(tmp_path.iterdir())
    with pytest.raises(api.OutputError, match="Is a directory"):
        check_place(tmp_path)


@pytest.mark.parametrize("device", ["pipe", "/dev/null"])
def test_devices_stay_devices(device: str, tmp_path: Path) -> None:
    place = tmp_path / device
    if device == "pipe":
        os.mkfifo(place)
    with pytest.raises(api.OutputError, match="a pipe or a device"):
        api.write_file(place, "text")
    assert not place.is_file()


@pytest.mark.parametrize("target", ["xcup", "xc7"])
def test_nothing_places_what_is_only_mapped(
    made: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["synthesize", str(made), "--target", target, "--place-and-route"]
    assert main(given) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"rbdgen: target: nothing places {target}, it is only mapped; leave out")
    assert not list(made.glob("synthesis-*"))


def test_designs_do_not_collide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command line makes without -o lies side by side."""
    monkeypatch.chdir(tmp_path)
    for choices in ([], ["--width", "20"], ["--function", "m", "--ii", "2"]):
        assert main(["generate", "pendulum", "--quiet", *choices]) == 0
    assert sorted(path.name for path in Path("build").iterdir()) == [
        *("pendulum_id", "pendulum_id_width20", "pendulum_m_ii2")
    ]
    os.rename("build/pendulum_id", "other")  # noqa: PTH104
    assert main(["generate", "pendulum", "-o", "other", "--width", "20"]) == 1
    assert main(["generate", "pendulum", "-o", "other", "--width", "20", "--force"]) == 0
    assert api.read_manifest(Path("other"))["width"] == 20
