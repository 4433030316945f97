"""Folders of programs in C++ as users compile them: by their README, by CMake, by Clang."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.program_folder import interface_of
from rbdgen.compile.flow import front_end
from tests.support.library import CFLAGS, WARNINGS, Library


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
    *(("g++", f"c++{year}") for year in (11, 14, 17, 20, 23)),
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


# In place of the functions that compute: the first state and the number of states of each call.
RECORDER = """#include <mutex>
static std::mutex one_at_a_time;
static long long begins[64], counts[64];
static int calls = 0;
static const void *first = nullptr;
template <class S> long long record(long long n, const S *q)
{
    const std::lock_guard<std::mutex> own(one_at_a_time);
    begins[calls] = q - static_cast<const S *>(first);
    counts[calls++] = n;
    return 0;
}
extern "C" {
long long pendulum_id_rows_base(long long n, const double *const *takes, double *const *)
{ return record(n, takes[1]); }
long long pendulum_id_rows_f32_base(long long n, const float *const *takes, float *const *)
{ return record(n, takes[1]); }
long long pendulum_id_blocks_base(long long, const double *, double *) { return 0; }
long long pendulum_id_blocks_f32_base(long long, const float *, float *) { return 0; }
void begin(const void *at) { first = at; calls = 0; }
int recorded(long long *begin, long long *count)
{
    for (int k = 0; k < calls; ++k) {
        begin[k] = begins[k];
        count[k] = counts[k];
    }
    return calls;
}
}
"""


def test_threads_have_shares_that_are_worth_it_and_alike(tmp_path: Path) -> None:
    """A share is a million operations in double, two in float; and no more threads than CPUs."""
    made = api.generate("pendulum", tmp_path / "made", to="cpp", functions=("id",))
    operations, nv = made.manifest.program.facts["nodes"], made.manifest.program.nv
    (tmp_path / "recorder.cpp").write_text('#include "pendulum_id_internal.h"\n' + RECORDER)
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", "-DPENDULUM_ID_NATIVE"]
    sources = [made.folder / "pendulum_id.cpp", tmp_path / "recorder.cpp"]
    command = ["g++", *flags, f"-I{made.folder}", *sources, "-o", tmp_path / "recorded.so"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(tmp_path / "recorded.so"))

    def shares(threads: int, n: int, dtype: Any = np.float64) -> list[int]:
        arrays = [np.zeros(n * nv + 1, dtype) for _ in range(4)]  # q, qd, qdd, tau
        library.begin(ctypes.c_void_p(arrays[1].ctypes.data))
        call = library[f"pendulum_id_threads{'_f32' if dtype == np.float32 else ''}"]
        call(threads, ctypes.c_longlong(n), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
        begins, counts = (np.zeros(64, np.int64) for _ in range(2))
        k = library.recorded(*(ctypes.c_void_p(a.ctypes.data) for a in (begins, counts)))
        found = sorted(zip(begins[:k] // nv, counts[:k], strict=True))
        assert sum(count for _, count in found) == n
        assert all(b == sum(c for _, c in found[:i]) for i, (b, _) in enumerate(found))
        return [int(count) for _, count in found]

    least = (1 << 20) // operations
    assert shares(2, 0) == [0] and shares(8, 1) == [1]
    assert shares(8, 2 * least - 1) == [2 * least - 1]
    assert len(shares(8, 2 * least)) == len(shares(2, 100 * least)) == 2
    assert len(shares(8, 2 * least, np.float32)) == 1 and len(shares(8, 4 * least, np.float32)) == 2
    for threads, n in ((2, 3 * least + 1), (3, 10 * least + 1), (7, 50 * least + 63)):
        found = shares(threads, n)
        assert len(found) == threads and max(found) - min(found) <= 127, found
        assert all(count % 64 == 0 for count in found[:-1])
    mine = os.sched_getaffinity(0)
    try:
        assert len(shares(0, 200 * least)) == len(mine)
        os.sched_setaffinity(0, {min(mine)})
        assert len(shares(0, 200 * least)) == 1 and len(shares(3, 200 * least)) == 3
    finally:
        os.sched_setaffinity(0, mine)


def test_no_tuning_changes_the_code(tmp_path: Path) -> None:
    """A state takes the same instructions, whatever machine a folder is compiled for."""
    made = api.generate("pendulum", tmp_path / "made", to="cpp", functions=("did",)).folder
    for isa, machine in (("avx512", "sapphirerapids"), ("avx2", "znver3")):
        found = []
        for tuning in ("generic", machine):
            flags = ["-std=c++17", "-O2", f"-mtune={tuning}", "-DPENDULUM_DID_NO_FLOAT"]
            text = run("g++", *flags, "-S", made / f"pendulum_did_{isa}.cpp", "-o", "-").stdout
            (one,) = re.findall(r"^\w+3oneId\w+:\n(.*?)\.cfi_endproc", text, re.M | re.S)
            found.append(re.findall(r"^\t[a-z].*", one, re.M))
        assert found[0] == found[1] and len(found[0]) > 100


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
    # built by itself it is for one processor, and says so; to ship it is for all
    note = "compiled for this machine's processor alone"
    installed = run("cmake", "--install", build, "--prefix", tmp_path / "installed")
    assert installed.returncode == 0 and note in installed.stderr
    assert len(variants(build / "libpendulum_did_m.a")) == 1
    assert note in run("cmake", "-S", made, "-B", build).stdout
    shipped = run("cmake", "-S", made, "-B", build, "-DPENDULUM_DID_M_NATIVE=OFF")
    assert shipped.returncode == 0 and note not in shipped.stdout
    assert run("cmake", "--build", build, "--target", "pendulum_did_m").returncode == 0
    assert variants(build / "libpendulum_did_m.a") == set(CFLAGS)
    project = tmp_path / "project"
    project.mkdir()
    lines = ["cmake_minimum_required(VERSION 3.16)", "project(user LANGUAGES C CXX)"]
    (project / "CMakeLists.txt").write_text("\n".join([*lines, f'add_subdirectory("{made}" own)']))
    assert note not in run("cmake", "-S", project, "-B", tmp_path / "in project").stdout


def variants(archive: Path) -> set[str]:
    """The processors that an archive has functions of rows for."""
    symbols = run("nm", archive).stdout
    return set(re.findall(r" T \w+_rows_(?!f32)(\w+)", symbols))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("clang++") is None, reason="no clang++")
def test_clang_compiles_it_too(tmp_path: Path) -> None:
    front = front_end("gantry", functions=("fd",))
    made = Library(front.graph, tmp_path, interface_of(front), compiler="clang++")
    zeros = [np.zeros((9, *a.shape)) for a in made.interface.takes]
    code, qdd = made.rows(*zeros)
    assert code == 0 and np.isfinite(qdd).all() and qdd.any()
