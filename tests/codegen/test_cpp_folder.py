"""Folders of programs in C++ as users compile them: by their README, by CMake, by Clang."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.program_folder import interface_of
from rbdgen.compile.flow import front_end
from tests.support.library import WARNINGS, Library


def run(*command: str | Path, **options: Any) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.mark.slow
def test_the_folder_compiles_as_its_readme_says(tmp_path: Path) -> None:
    made = api.generate("pendulum", tmp_path / "made", to="cpp", functions=("fd",)).folder
    sources = [str(file) for file in sorted(made.glob("*.cpp"))]
    readme = (made / "README.md").read_text()
    assert f"g++ -O3 -c {sources[0].rpartition('/')[2][:-4]}*.cpp" in readme
    # as C; the rest is C++
    subprocess.run(
        ["gcc", "-std=c99", *WARNINGS, "-c", made / "example.c", "-o", made / "example.o"],
        check=True,
    )
    checked = ["-O1", "-g", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
    command = ["g++", *checked, *WARNINGS, *sources, made / "example.o", "-o", made / "example"]
    subprocess.run(command, check=True)
    for options in ([], ["--float"]):
        for n in (1, 8, 16):
            files = {}
            for name in ("states", "expected"):
                files[name] = tmp_path / f"{name}.txt"
                lines = (made / f"{name}.txt").read_text().splitlines()[-n:]
                files[name].write_text("\n".join(lines))
            found = run(made / "example", *options, "--check", files["expected"], files["states"])
            assert found.returncode == 0 and f"{n} states" in found.stdout, found.stderr
    printed = run(made / "example", made / "states.txt").stdout
    np.testing.assert_allclose(
        [float(word) for word in printed.split()],
        [float(word) for word in (made / "expected.txt").read_text().split()],
        rtol=1e-8,
        atol=1e-10,
    )
    (made / "wrong.txt").write_text("1 " * len(printed.split()))
    assert run(made / "example", "--check", made / "wrong.txt", made / "states.txt").returncode == 1
    assert run(made / "example", made / "no such file").returncode == 2


HEADER_STANDARDS = [
    ("gcc", "c99"),
    *(("g++", f"c++{year}") for year in (11, 14, 17, 20)),
]


def test_the_header_compiles_without_warnings_in_old_and_new_standards(tmp_path: Path) -> None:
    made = api.generate("pendulum", tmp_path / "made", to="cpp", functions=("id",)).folder
    conversions = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Werror"]
    text = '#include "pendulum_id.h"\nint size(void);\n'
    text += "int size(void) { return pendulum_id_inputs * pendulum_id_states; }\n"
    for compiler, standard in HEADER_STANDARDS:
        source = tmp_path / f"user.{'c' if compiler == 'gcc' else 'cpp'}"
        source.write_text(text)
        options = [f"-std={standard}", *conversions, f"-I{made}", "-fsyntax-only"]
        found = run(compiler, *options, source)
        assert found.returncode == 0, f"{standard}: {found.stderr}"


def test_what_is_of_hardware_is_said_to_have_no_effect(tmp_path: Path) -> None:
    said: list[str] = []
    made = api.generate("pendulum", tmp_path / "made", said.append, to="cpp", ii=4, width=16)
    (note,) = made.manifest.program.notes
    assert note == "cpp has neither words nor hardware: no effect of width, ii"
    assert f"note: {note}" in said
    assert not api.generate("pendulum", tmp_path / "plain", to="cpp").manifest.program.notes


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_cmake_builds_and_tests_it(tmp_path: Path) -> None:
    made = api.generate("pendulum", tmp_path / "made", to="cpp", functions=("did", "m")).folder
    build = tmp_path / "build"
    for command in (
        ["cmake", "-S", made, "-B", build],
        ["cmake", "--build", build],
        ["ctest", "--test-dir", build, "--output-on-failure"],
    ):
        found = run(*command)
        assert found.returncode == 0, found.stdout + found.stderr
    assert "100% tests passed" in found.stdout
    assert (build / "libpendulum_did_m_casadi.so").is_file()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("clang++") is None, reason="no clang++")
def test_clang_compiles_it_too(tmp_path: Path) -> None:
    front = front_end("gantry", functions=("fd",))
    made = Library(front.graph, tmp_path, interface_of(front), compiler="clang++")
    zeros = [np.zeros((9, *a.shape)) for a in made.interface.takes]
    code, qdd = made.rows(*zeros)
    assert code == 0 and np.isfinite(qdd).all() and qdd.any()
