"""A wheel built from the tree works away from the tree; the citation is in order."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).parent.parent
DATA = ("robots", "sim", "templates")
STATE = ("q", "qd", "qdd")

PROBE = """
import json, importlib.resources, importlib.metadata, rbdgen
data = importlib.resources.files("rbdgen") / "_data"
print(json.dumps({
    "package": rbdgen.__file__,
    "version": importlib.metadata.version("rbdgen"),
    "typed": (importlib.resources.files("rbdgen") / "py.typed").is_file(),
    "data": {room.name: sorted(entry.name for entry in room.iterdir()) for room in data.iterdir()},
}))
"""


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    """Standard output of a command; its standard error is in the failure."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without a network from a copy of the tree, so that the tree stays clean."""
    here = tmp_path_factory.mktemp("wheel")
    copy = here / "tree"
    skip = shutil.ignore_patterns(".git", ".venv", "build", "dist", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, copy, ignore=skip)
    pip = (sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--quiet")
    run(*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", here, copy, cwd=here)
    (built,) = here.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The folder into which the wheel is installed; its dependencies stay where they are."""
    target = wheel.parent / "installed"
    pip = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet")
    run(*pip, "--no-deps", "--no-index", "--target", target, wheel, cwd=wheel.parent)
    return target


def test_wheel_holds_every_file_of_the_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for room in DATA:
        ours = [path for path in (ROOT / room).rglob("*") if path.is_file()]
        ours = [path for path in ours if "__pycache__" not in path.parts]
        assert ours, f"{room}/ is empty"
        for path in ours:
            assert f"rbdgen/_data/{path.relative_to(ROOT)}" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    places = ("rbdgen/", "rbdgen_host/", "rbdgen_benchmarks/", "rbdgen-")
    assert all(name.startswith(places) for name in names)
    assert not any("__pycache__" in name for name in names)


def test_package_is_found_away_from_the_tree(installed: Path, tmp_path: Path) -> None:
    said = json.loads(run(sys.executable, "-c", PROBE, cwd=tmp_path, PYTHONPATH=str(installed)))
    assert Path(said["package"]).is_relative_to(installed)
    assert said["version"] == "0.1.0"
    assert said["typed"]
    for room in DATA:
        assert said["data"][room]


def test_command_line_works_away_from_the_tree(installed: Path, tmp_path: Path) -> None:
    def rbdgen(*arguments: str | Path) -> str:
        command = (sys.executable, "-m", "rbdgen", *arguments)
        return run(*command, cwd=tmp_path, PYTHONPATH=str(installed))

    robots = installed / "rbdgen" / "_data" / "robots"
    assert "generate" in rbdgen("--help")
    assert "area-model" in rbdgen("bench")
    assert json.loads(rbdgen("info", robots / "iiwa14.yaml", "--json"))["nv"] == 7
    shutil.copy(robots / "pendulum.urdf", tmp_path)
    rbdgen("generate", "pendulum.urdf", "--function", "id", "-o", "out")
    assert (tmp_path / "out" / "manifest.json").is_file()
    # The Verilated model needs the harness from templates/.
    rng = np.random.default_rng(1)
    np.savez(tmp_path / "states.npz", **{name: rng.uniform(-1, 1, (8, 2)) for name in STATE})
    flags = ("--function", "id", "--input", "states.npz")
    for model in ("fixed", "rtl"):
        rbdgen("evaluate", "pendulum.urdf", *flags, "--model", model, "--output", f"{model}.npz")
    fixed, rtl = (np.load(tmp_path / f"{model}.npz")["tau"] for model in ("fixed", "rtl"))
    np.testing.assert_array_equal(fixed, rtl)


def test_citation_names_the_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["license"] == "BSD-2-Clause"
    assert len(citation["references"]) == 5
    for paper in citation["references"]:
        assert paper["title"]
        assert paper["year"]
        assert all(author["family-names"] for author in paper["authors"])
