"""The loops at the head of docs/programs.md, in C++, by CMake and in Python, print what it says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pinocchio as pin
import pytest

from rbdgen.cli.main import main
from tests.support.library import compiled_strictly

PAGE = (Path(__file__).parent.parent / "docs" / "programs.md").read_text()
PRINTED = re.findall(r"^Both print `(.*)`\.$", PAGE, re.MULTILINE)
EIGEN = Path(pin.__file__).parents[4] / "include" / "eigen3"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the page tells to write and to generate there."""
    monkeypatch.chdir(tmp_path)
    (generate,) = re.findall(r"^    (rbdgen generate .* -o swing)$", PAGE, re.MULTILINE)
    assert main([*shlex.split(generate)[1:], "--quiet"]) == 0
    Path("loop.cpp").write_text(blocks("cpp")[0])
    Path("CMakeLists.txt").write_text(blocks("cmake")[0])
    return tmp_path


def test_the_loop_in_python_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    exec(blocks("python")[0], {})
    assert capsys.readouterr().out.splitlines() == PRINTED


def test_the_loop_in_cpp_prints_what_the_page_says(project: Path) -> None:
    assert not compiled_strictly(project / "loop.cpp", "-std=c++11", "-Iswing", "-c")
    sources = sorted(project.glob("swing/swing*.cpp"))
    own = ["g++", "-pthread", "-DSWING_NATIVE", "-DSWING_NO_FLOAT"]
    subprocess.run([*own, *sources, "loop.o", "-o", "loop"], check=True)
    done = subprocess.run(["./loop"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == PRINTED


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_the_project_of_cmake_prints_what_the_page_says(project: Path) -> None:
    """In C++11, which the folder leaves as it is."""
    (line,) = re.findall(r"^    (cmake .* && build/loop)$", PAGE, re.MULTILINE)
    line = line.replace("cmake -B build", "cmake -B build -DCMAKE_CXX_STANDARD=11", 1)
    environment = {**os.environ, "VERBOSE": "1"}
    done = subprocess.run(
        line, shell=True, capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.splitlines()[-1:] == PRINTED
    assert re.search(r"-std=gnu\+\+11 .*/loop\.cpp$", done.stdout, re.MULTILINE)


@pytest.mark.skipif(not EIGEN.is_dir(), reason="no Eigen beside Pinocchio")
def test_the_function_over_eigen_compiles(tmp_path: Path) -> None:
    text = blocks("cpp")[1]
    (generate,) = re.findall(r"// (rbdgen generate .*)$", text, re.MULTILINE)
    assert main([*shlex.split(generate)[1:], "-o", str(tmp_path / "arm"), "--quiet"]) == 0
    (tmp_path / "kinetic.cpp").write_text("// It has no declaration.\n" + text)
    options = ["-std=c++11", "-fsyntax-only", "-I", tmp_path / "arm", "-isystem", EIGEN]
    assert not compiled_strictly(tmp_path / "kinetic.cpp", *options)
