"""Several designs of one robot in one program, each right: C, C++, CUDA, by hand and by CMake.

Two have the same arrays, so that the numbers of the one would pass for those of the other.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from rbdgen.api import generate
from rbdgen.api.folder import read_manifest
from rbdgen.codegen.nvcc import compiled
from tests.support.marks import slow
from tests.support.nvcc import needed_nvcc

DESIGNS = ({}, {"gravity": (0, 0, -1.62)}, {"base": "floating", "payload": "lower_rod"})
LANGUAGES = {"c": "c", "cpp": "cpp", "cuda": "cu"}  # and how their sources end

PROGRAM = """
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
%s
bool near(double a, double b, double error)
{
    return std::fabs(a - b) <= error * (1 + std::fabs(b));
}
// How many numbers are wrong; -1 where there are none.
template <class T, class F>
long wrong(const char *states, const char *expected, int ins, int outs, double error, F call)
{
    std::ifstream from(states), to(expected);
    T in[64], out[64], right;
    long count = 0, read = 0;
    for (;; ++read) {
        for (int k = 0; k < ins; ++k)
            if (!(from >> in[k]))
                return k || !read ? -1 : count;
        call(in, out);
        for (int k = 0; k < outs; ++k)
            count += !(to >> right) || !near(double(out[k]), double(right), error);
    }
}
int main()
{
%s
}
"""


@dataclass(frozen=True)
class Folder:
    """A generated folder, its name, its sources, and a call that compares it with its vectors."""

    place: Path
    language: str
    name: str
    call: str

    @property
    def sources(self) -> list[str]:
        """What its library is made of."""
        files = sorted(self.place.glob(f"{self.name}*.{LANGUAGES[self.language]}"))
        return [str(file) for file in files]

    @property
    def flags(self) -> list[str]:
        """The compiler's, for this language; of C++ one processor alone, which is quicker."""
        macro = f"-D{self.name.upper()}"
        own = {
            "c": ["-x", "c"],
            "cpp": [f"{macro}_NATIVE", f"{macro}_NO_FLOAT"],
            "cuda": [f"{macro}_HOST", "-x", "c++"],
        }
        return ["-O0", "-fPIC", "-I", str(self.place), *own[self.language]]


def folder_of(place: Path, language: str) -> Folder:
    entry = read_manifest(place)
    name = entry["name"]
    if language == "c":
        (function,) = entry["facts"]["functions"]
        ins, outs, flags = (len(function["inputs"]), len(function["outputs"]), function["flags"])
        body = (
            f"uint8_t over[64]; {name}(in, out, over); "
            f"for (int k = 0; k < {flags}; ++k) out[{outs} + k] = over[k];"
        )
        scalar, files, sizes = f"{name}_word", ("words", "expected_words"), (ins, outs + flags)
    else:
        interface = entry.program.interface
        places, sizes = [], []
        for way, arrays in (("in", interface.takes), ("out", interface.gives)):
            at = 0
            for array in arrays:
                places.append(f"{way} + {at}")
                at += array.size
            sizes.append(at)
        body = f"{name}(1, {', '.join(places)});"
        scalar, files = "double", ("states", "expected")
    texts = ", ".join(f'"{place}/{file}.txt"' for file in files)
    call = (
        f'    std::printf("%ld\\n", wrong<{scalar}>({texts}, {sizes[0]}, {sizes[1]}, '
        f"{0 if language == 'c' else 1e-6}, []({scalar} *in, {scalar} *out) {{ {body} }}));\n"
    )
    return Folder(place, language, name, call)


@pytest.fixture(scope="module", params=[slow(own) if own == "cuda" else own for own in LANGUAGES])
def folders(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[Folder]:
    base, language = tmp_path_factory.mktemp("designs"), request.param
    return [
        folder_of(generate("pendulum", base / str(k), to=language, **choices).folder, language)
        for k, choices in enumerate(DESIGNS)
    ]


def run(*command: object) -> str:
    """What a command prints; the test fails with what it complains of."""
    words = [*map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def program(folders: Sequence[Folder], place: Path) -> Path:
    """The source of a program that compares each with its vectors."""
    source = place / "main.cpp"
    includes = "".join(f'#include "{own.name}.h"\n' for own in folders)
    source.write_text(PROGRAM % (includes, "".join(own.call for own in folders)))
    return source


@pytest.fixture(scope="module")
def objects(
    folders: list[Folder], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[Path]]:
    """Name of a design → its compiled sources."""
    place = tmp_path_factory.mktemp("objects")
    made: dict[str, list[Path]] = {own.name: [] for own in folders}
    for own in folders:
        for source in own.sources:
            made[own.name].append(place / f"{Path(source).stem}.o")
            run("g++", *own.flags, "-c", source, "-o", made[own.name][-1])
    return made


def test_static_and_shared(
    folders: list[Folder], objects: dict[str, list[Path]], tmp_path: Path
) -> None:
    """One archive and one shared library of each; linked in either order."""
    source = program(folders, tmp_path)
    include = [word for own in folders for word in ("-I", str(own.place))]
    run("g++", "-std=c++17", "-O0", *include, "-c", source, "-o", tmp_path / "main.o")
    for own in folders:
        run("ar", "rc", tmp_path / f"lib{own.name}.a", *objects[own.name])
        run("g++", "-shared", "-o", tmp_path / f"lib{own.name}.so", *objects[own.name])
    right = "0\n" * len(folders)
    for order in (folders, folders[::-1]):
        archives = [tmp_path / f"lib{own.name}.a" for own in order]
        run("g++", "-pthread", tmp_path / "main.o", *archives, "-o", tmp_path / "static")
        assert run(tmp_path / "static") == right
        shared = [f"-l{own.name}" for own in order]
        found = ["-L", tmp_path, f"-Wl,-rpath,{tmp_path}"]
        run("g++", "-pthread", tmp_path / "main.o", *found, *shared, "-o", tmp_path / "shared")
        assert run(tmp_path / "shared") == right


def test_no_symbol_is_in_two(objects: dict[str, list[Path]]) -> None:
    found: list[str] = []
    for name, made in objects.items():
        names = run("nm", "-g", "--defined-only", *made)
        symbols = set(re.findall(r" [A-Z] (\S+)$", names, re.MULTILINE))
        assert name in symbols
        # what the standard library's headers define may be in both
        found += [symbol for symbol in symbols if not symbol.startswith(("_Z", "DW.ref"))]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("folders", ["cuda"], indirect=True)
def test_a_build_of_nvcc_has_both(folders: list[Folder], tmp_path: Path) -> None:
    """There is no GPU, and thus no result."""
    nvcc = needed_nvcc()
    made = [tmp_path / f"{own.name}.o" for own in folders[:2]]
    for own, target in zip(folders, made, strict=False):
        compiled(Path(own.sources[0]), target, "-arch=sm_90", "-c")
    include = [word for own in folders for word in ("-I", str(own.place))]
    source = program(folders[:2], tmp_path)
    run(*nvcc, "-std=c++17", *include, source, *made, "-o", tmp_path / "both")


CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(both LANGUAGES C CXX)
%s
add_executable(main main.cpp)
target_link_libraries(main %s)
"""


@pytest.mark.parametrize("folders", ["c", slow("cuda"), slow("cpp")], indirect=True)
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
def test_cmake_adds_and_installs_both(folders: list[Folder], tmp_path: Path) -> None:
    """As folders of a project, whose examples are not built, and as packages."""
    source = program(folders, tmp_path)
    targets = " ".join(f"{own.name}::{own.name}" for own in folders)
    added = "".join(f"add_subdirectory({own.place} {own.name})\n" for own in folders)
    packages = "".join(f"find_package({own.name} REQUIRED)\n" for own in folders)
    options = [f"-D{own.name.upper()}_HOST=ON" for own in folders if own.language == "cuda"]
    options += ["-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_PREFIX_PATH={tmp_path / 'installed'}"]
    for kind, lines in (("added", added), ("found", packages)):
        place = tmp_path / kind
        place.mkdir()
        (place / "CMakeLists.txt").write_text(CMAKE % (lines, targets))
        shutil.copy(source, place)
        run("cmake", "-S", place, "-B", place / "build", *options)
        run("cmake", "--build", place / "build", "--parallel", "2")
        assert run(place / "build" / "main") == "0\n" * len(folders)
        assert not [*(place / "build").rglob("example")]
        if kind == "added":
            run("cmake", "--install", place / "build", "--prefix", tmp_path / "installed")
