"""Folders of C++ as packages of Python: what is written, refused, and installed."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from rbdgen.api import generate, package_python
from rbdgen.api.folder import OutputError

NAME = "pendulum_did_m"
PROBE = """
import importlib.util, json, sys
import numpy as np
import pendulum_did_m as own

assert importlib.util.find_spec("rbdgen") is None
q, qd, qdd = (np.ascontiguousarray(a) for a in np.split(np.loadtxt(sys.argv[1]), 3, axis=1))
found = own.compute(q, qd, qdd)
out = [np.empty_like(array) for array in found]
assert all(a is b for a, b in zip(own.compute(q, qd, qdd, out=out, threads=2), out))
moved = own.integrate(own.neutral(), qd[0], 0.1)
assert abs(own.difference(own.neutral(), moved) - 0.1 * qd[0]).max() < 1e-12
single = own.compute(*(a.astype(np.float32) for a in (q, qd, qdd)))
print(json.dumps({
    "joints": own.joint_names,
    "double": np.concatenate([a.reshape(len(q), -1) for a in out], axis=1).tolist(),
    "single": [str(a.dtype) for a in single],
    "error": max(float(abs(a - b).max()) for a, b in zip(single, found)),
    "singular": issubclass(own.Singular, np.linalg.LinAlgError),
}))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("python") / "pendulum"
    generate("pendulum", place, to="cpp", functions=("did", "m"))
    assert package_python(place) == (place / "python", [])
    return place


def test_what_is_written(place: Path) -> None:
    out = place / "python"
    project = tomllib.loads((out / "pyproject.toml").read_text())
    assert project["project"]["name"] == NAME
    assert project["project"]["dependencies"] == ["numpy>=1.25"]
    types = ast.parse((out / NAME / "__init__.pyi").read_text())
    names = [ast.unparse(own) for own in types.body if isinstance(own, ast.AnnAssign)]
    assert names[0] == ("joint_names: Final[tuple[Literal['shoulder'], Literal['elbow']]]")
    calls = [own for own in types.body if isinstance(own, ast.FunctionDef)]
    arguments = [(own.name, *(a.arg for a in own.args.posonlyargs)) for own in calls]
    assert arguments == [
        *[("compute", "q", "qd", "qdd")] * 2,
        *[("integrate", "q", "v", "dt")] * 2,
        *[("difference", "q0", "q1")] * 2,
        ("neutral",),
    ]
    module = ast.parse((out / NAME / "__init__.py").read_text())
    assert "joint_names = ('shoulder', 'elbow')" in ast.unparse(module)
    setup = (out / "setup.py").read_text()
    ast.parse(setup)
    assert "_xla" not in setup  # which needs headers of JAX's
    for source in ("_avx2.cpp", "_python.cc", ".h", ".hpp", "_kernel.inc"):
        assert f"src/{NAME}{source}" in setup
        assert (out / "src" / f"{NAME}{source}").read_bytes() == (
            (place / f"{NAME}{source}").read_bytes()
        )


def test_what_is_refused(place: Path, tmp_path: Path) -> None:
    generate("pendulum", tmp_path / "c", to="c")
    with pytest.raises(OutputError, match=r"holds c, packages .* of C\+\+: .* --to cpp"):
        package_python(tmp_path / "c")
    generate("pendulum", tmp_path / "changed", to="cpp")
    with (tmp_path / "changed" / "pendulum_id.h").open("a") as file:
        file.write("/* */")
    with pytest.raises(OutputError, match=r"pendulum_id.h: changed since it was generated"):
        package_python(tmp_path / "changed")
    assert not (tmp_path / "changed" / "python").exists()


@pytest.mark.slow
def test_installed_where_rbdgen_is_not(place: Path, tmp_path: Path) -> None:
    env = {name: own for name, own in os.environ.items() if name != "PYTHONPATH"}
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, env=env)
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    if subprocess.run([*pip, "numpy"], env=env, check=False, capture_output=True).returncode:
        pytest.skip("no index of packages: pip install numpy fails")
    subprocess.run([*pip, place / "python"], check=True, env=env)
    (tmp_path / "probe.py").write_text(PROBE)
    command = [python, tmp_path / "probe.py", place / "states.txt"]
    done = subprocess.run(command, check=True, env=env, capture_output=True, text=True)
    found = json.loads(done.stdout)
    expected = np.loadtxt(place / "expected.txt")
    np.testing.assert_allclose(found["double"], expected, rtol=0, atol=1e-10 * abs(expected).max())
    assert found["joints"] == ["shoulder", "elbow"]
    assert found["single"] == ["float32"] * 4
    assert 0 < found["error"] < 1e-3 * abs(expected).max()
    assert found["singular"]
