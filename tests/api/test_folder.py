"""Nothing of a generated folder is run or read unless it is what was generated."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.api.folder import checked_manifest, sealed
from rbdgen.robot.model import RobotError
from rbdgen_benchmarks.compare.comparison import compare
from rbdgen_host.driver import Dynamics
from tests.support.made import generated

CHANGED = "changed since it was generated; generate the design again, or --trust it as it is"
FILES = (
    "design.yaml",
    "robot.urdf",
    "graph.txt",
    "pipeline.svg",
    "architecture.svg",
    "protocol.svg",
    "pendulum_m.v",
    "pendulum_m.il",
)
MASS: dict[str, Any] = {"functions": ("m",)}
TASKS = MASS | {"accelerator": True}


@pytest.fixture
def design(tmp_path: Path) -> Path:
    return shutil.copytree(generated("pendulum", **MASS), tmp_path / "design")


def check(design: Path, trust: bool = False) -> list[str]:
    """What is said while the manifest is read."""
    said: list[str] = []
    assert checked_manifest(design, trust, said.append).name == "pendulum_m"
    return said


def test_what_was_generated_is_taken(design: Path) -> None:
    assert not check(design)
    (design / "notes.txt").write_text("whatever else lies there")
    assert not check(design)
    assert set(FILES) <= set(api.read_manifest(design)["files"])


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_checked(design: Path, name: str) -> None:
    data = (design / name).read_bytes()
    (design / name).write_bytes(data + b"\n")
    with pytest.raises(api.OutputError, match=CHANGED) as refused:
        check(design)
    assert str(refused.value).startswith(f"{design / name}: ")
    (said,) = check(design, trust=True)
    assert said == f"{design}: its files are trusted, not checked against manifest.json"
    (design / name).unlink()
    with pytest.raises(api.OutputError, match=f"{name}: No such file or directory; generate"):
        check(design)
    os.mkfifo(design / name)
    with pytest.raises(api.OutputError, match=f"{name}: a pipe or a device"):
        check(design)


@pytest.mark.parametrize(
    "run",
    [
        api.simulate,
        api.waves,
        api.synthesize,
        lambda folder: api.synthesize(folder, "xcup"),
        lambda folder: compare("pendulum", [folder], functions=("m",)),
    ],
    ids=["simulate", "waves", "synthesize", "xcup", "compare"],
)
def test_nothing_that_changed_is_run(design: Path, run: Callable[[Path], Any]) -> None:
    """A task of the simulator's that runs a program, in a file that was added to."""
    source = design / "pendulum_m.v"
    seen = design / "seen"
    text = source.read_text()
    end = text.rindex("endmodule")
    source.write_text(f'{text[:end]}initial $system("touch {seen}");\n{text[end:]}')
    with pytest.raises(api.OutputError, match=CHANGED):
        run(design)
    assert not seen.exists()


def test_no_pipe_is_waited_for(tmp_path: Path) -> None:
    """Not even in a folder that is trusted as it is."""
    shell = "pendulum_accelerator_m_axi_words.v"
    for name, run in {
        "graph_mass.txt": api.report,
        "robot.urdf": api.report,
        shell: api.package_vivado,
    }.items():
        folder = shutil.copytree(generated("pendulum", **TASKS), tmp_path / name)
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises((api.OutputError, RobotError), match=f"{name}: .*a pipe or a device"):
            run(folder, trust=True)


@pytest.mark.parametrize("backend", ["golden", "integer", "rtl"])
def test_the_driver_checks_too(tmp_path: Path, backend: str) -> None:
    folder = shutil.copytree(generated("pendulum", **TASKS), tmp_path / "accelerator")
    file = folder / "robot.urdf"
    file.write_text(file.read_text().replace("<robot", "<robot ", 1))
    with pytest.raises(api.OutputError, match=f"robot.urdf: {CHANGED}"):
        Dynamics(folder, backend)
    if backend == "golden":
        said: list[str] = []
        assert Dynamics(folder, backend, trust=True, progress=said.append).nq == 2
        assert "not checked" in said[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"files": None}, "has no digests of the design's files"),
        ({"files": {}}, "has no digests of the design's files"),
        ({"files": {"../robot.urdf": "0"}}, "'../robot.urdf' is no name of a file in the folder"),
        ({"files": {"/etc/hostname": "0"}}, "is no name of a file in the folder"),
        ({"files": {"robot.urdf": "0"}}, "does not list design.yaml, which is not read therefore"),
        ({"name": "../m"}, "has no digests"),
        ({"latency": "20"}, "manifest.json: latency: '20', which is no int; make the design again"),
        ({"ports": {}}, "manifest.json: no ports.clock; make the design again"),
    ],
)
@pytest.mark.parametrize("trust", [False, True])
def test_what_no_manifest_lists_is_not_read(
    design: Path, changes: dict[str, Any], message: str, trust: bool
) -> None:
    manifest = {**api.read_manifest(design), **changes}
    (design / "manifest.json").write_text(sealed(manifest))
    with pytest.raises(api.OutputError, match=message):
        api.simulate(design, trust=trust)


def test_a_manifest_of_an_older_version(design: Path) -> None:
    manifest = api.read_manifest(design)
    del manifest["digest"]
    (design / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(api.OutputError, match="damaged, or of an older rbdgen; make the design"):
        api.simulate(design)


@pytest.mark.parametrize("accelerator", [False, True])
def test_the_manifest_of_the_version_before(accelerator: bool, tmp_path: Path) -> None:
    """Its words had no sign, cores no identity, accelerators fewer keys, and one another name."""
    whole = api.read_manifest(generated("pendulum", **(TASKS if accelerator else MASS)))
    entry = json.loads(json.dumps(whole))
    for function in entry["tasks"]["functions"].values():
        for word in (*function["inputs"], *function["outputs"]):
            del word["signed"]
    entry["tasks"]["words"] = [
        {key: word[key] for key in ("name", "width")} for word in entry["tasks"]["words"]
    ]
    if not accelerator:
        del entry["identity"]
    else:
        entry["accelerator"] = entry.pop("tasks")
        for key in ("style", "clock", "operations"):
            del entry[key]
    (tmp_path / "manifest.json").write_text(sealed(entry))
    found = api.read_manifest(tmp_path).facts
    assert found.is_core != accelerator and found.headline == whole.facts.headline
    for key in ("tasks", "style", "clock", "ports", "axi", "picture", "numbers"):
        assert getattr(found, key) == getattr(whole.facts, key)


def test_a_nested_manifest(design: Path) -> None:
    (design / "manifest.json").write_text('{"digest":' + "[" * 100_000)
    with pytest.raises(api.OutputError, match=r"manifest\.json: damaged"):
        api.read_manifest(design)
