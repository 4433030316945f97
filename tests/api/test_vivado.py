"""IPs for Vivado, of which nothing is run here but the Verilog and, with its commands taken down,
the Tcl."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rbdgen.api import generate
from rbdgen.api.folder import OutputError, UsageError
from rbdgen.api.fusesoc import package_fusesoc, shell_ports
from rbdgen.api.vivado import (
    BESIDE,
    BOARDS,
    NOTE,
    Card,
    ZynqBoard,
    boards_of,
    ip_text,
    package_vivado,
)
from rbdgen.cli.main import main
from rbdgen.shell.emit import Port
from tests.support.icarus import binary
from tests.support.lint import check_lint

NAMES = {"accelerator": "pendulum_xc7_ii2_accelerator_id_m", "core": "pendulum_registers_xcup_id"}
FAMILY = {"accelerator": "xc7", "core": "xcup"}
AXI = {"S_AXIS": "axis", "M_AXIS": "axis", "S_AXI": "aximm"}
COMMANDS = (
    "create_project",
    "add_files",
    "set_property",
    "update_compile_order",
    "ipx::create_xgui_files",
    "ipx::package_project",
    "ipx::update_checksums",
    "ipx::check_integrity",
    "ipx::save_core",
    "close_project",
    "update_ip_catalog",
    "create_bd_design",
    "apply_bd_automation",
    "connect_bd_intf_net",
    "connect_bd_net",
    "assign_bd_address",
    "validate_bd_design",
    "save_bd_design",
    "launch_runs",
    "wait_on_run",
    "read_verilog",
    "read_xdc",
    "synth_design",
    "opt_design",
    "place_design",
    "phys_opt_design",
    "route_design",
    "report_utilization",
    "report_timing_summary",
    "get_timing_paths",
    "ipx::get_ports",
    "make_bd_intf_pins_external",
    "make_bd_pins_external",
)


@pytest.fixture(scope="module", params=NAMES)
def design(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("vivado") / str(request.param)
    if request.param == "core":
        generate("pendulum", place, target="xcup", parameters="registers")
    else:
        generate("pendulum", place, accelerator=True, functions=("id", "m"), ii=2, target="xc7")
    out, (note, _) = package_vivado(place)
    assert (out, note) == (place / "vivado", NOTE)
    return place


def name_of(design: Path) -> str:
    return NAMES[design.name]


def links_of(design: Path) -> set[str]:
    """The interfaces: registers on AXI4-Lite are an accelerator's alone."""
    return {bus for bus in AXI if design.name == "accelerator" or bus != "S_AXI"}


def recorded(script: Path, presets: str = "", slack: str = "100%") -> list[tuple[str, ...]]:
    """The commands of Vivado that a script gives; what they would answer are names."""
    tkinter = pytest.importorskip("tkinter", reason="no Tcl: apt-get install python3-tk")
    tcl, said = tkinter.Tcl(), []

    def answers(command: str, answer: str = "", last: bool = False) -> None:
        def call(*words: str) -> str:
            said.append((command, *words))
            return words[-1] if last else answer

        tcl.createcommand(command, call)

    for command in COMMANDS:
        answers(command)
    for command in ("get_bd_cells", "get_bd_pins", "get_bd_intf_pins", "create_bd_cell"):
        answers(command, last=True)
    answers("get_board_parts", presets)
    answers("get_property", slack)
    answers("make_wrapper", "design_1_wrapper.v")
    for command in ("current_fileset", "current_project", "get_runs", "get_files"):
        answers(command, command)
    answers("ipx::current_core", "core")
    # two versions, of which the newest is the last one by number
    tcl.eval(
        r"proc get_ipdefs {all filter pattern} { regexp {=~ (.*):\*} $pattern _ ip;"
        ' return [list "$ip:10.0" "$ip:9.1"] }'
    )
    tcl.eval(f"source {{{script}}}")
    return said


def made_for(design: Path, kind: type) -> list[Any]:
    return [own for own in boards_of(FAMILY[design.name]) if isinstance(own, kind)]


@pytest.mark.parametrize("preset", ["", "vendor:board:1.0"])
def test_block_designs(preset: str, design: Path) -> None:
    for board in made_for(design, ZynqBoard):
        said = recorded(design / "vivado" / f"{board.file}.tcl", preset)
        check_design(said, design, preset)
        nets = [words[1:] for words in said if words[0] == "connect_bd_net"]
        ends = {pin for words in said if words[0] == "connect_bd_intf_net" for pin in words[1:]}
        assert {"dma/M_AXI_MM2S", "dma/M_AXI_S2MM", "dma/S_AXI_LITE"} <= ends
        assert {"dma/mm2s_introut", "dma/s2mm_introut"} < {start for start, _ in nets}


def check_design(said: list[tuple[str, ...]], design: Path, preset: str) -> None:
    core = f"rbdgen:user:{name_of(design)}_ip:10.0"
    assert ("create_bd_cell", "-type", "ip", "-vlnv", core, "core") in said
    assert not any(re.search(r"20\d\d\.\d", " ".join(words)) for words in said)  # Vivado's versions
    assert (("set_property", "board_part", preset, "current_project") in said) == bool(preset)
    links = [words[1:] for words in said if words[0] == "connect_bd_intf_net"]
    nets = [words[1:] for words in said if words[0] == "connect_bd_net"]
    ends = Counter(pin for link in links for pin in link)
    ends += Counter(to for _, to in nets)
    assert set(ends.values()) == {1}  # no pin twice
    wanted = {f"core/{bus}" for bus in links_of(design)} | {"core/aclk", "core/aresetn"}
    assert wanted == {pin for pin in ends if pin.startswith("core/")}
    cells = {words[-1] for words in said if words[0] == "create_bd_cell"} | {"ps"}
    assert {pin.split("/")[0] for pin in [*ends, *(start for start, _ in nets)]} <= cells
    assert said[-1] == ("get_property", "PROGRESS", "get_runs")


def test_cards(design: Path) -> None:
    """Streams of PCI Express; without board files, which have its pins, there is no design."""
    for card in made_for(design, Card):
        script = design / "vivado" / f"{card.file}.tcl"
        check_design(said := recorded(script, "vendor:card:1.0"), design, "vendor:card:1.0")
        outside = {words[2] for words in said if words[0].endswith("_external")}
        xdc = script.with_suffix(".xdc").read_text()
        ports = set(re.findall(r"get_ports (\w+?)(?:_clk_[pn])?\]", xdc))
        assert ports == outside - {"pcie_link"}
        assert all(pin in xdc.split() for pin in (*card.clock, *card.reset))
        with pytest.raises(Exception, match=f"no board file of {card.name}"):
            recorded(script)


def test_what_is_made_of_a_target() -> None:
    """A board has a part of the target's family; a target of others serves every board."""
    assert [board.file for board in boards_of("xc7")] == ["pynq_z2"]
    assert [board.file for board in boards_of("xcup")] == ["kv260", "vcu118", "u50", "u250"]
    assert boards_of("ecp5") == list(BOARDS)


def test_the_ip_is_packaged_of_files_that_are_there(design: Path) -> None:
    said = recorded(design / "vivado" / "package_ip.tcl")
    tkinter = pytest.importorskip("tkinter", reason="no Tcl: apt-get install python3-tk")
    (files,) = [tkinter.Tcl().splitlist(words[1]) for words in said if words[0] == "add_files"]
    assert len(files) == 3
    assert all(Path(file).is_file() for file in files)
    assert ("set_property", "top", f"{name_of(design)}_ip", "current_fileset") in said
    (own,) = [words[2] for words in said if words[:2] == ("set_property", "supported_families")]
    assert ("zynq Production" in own) == (FAMILY[design.name] == "xc7")
    assert ("virtexuplusHBM Production" in own) == (FAMILY[design.name] == "xcup")


def test_every_port_of_the_shell_is_in_an_interface(design: Path) -> None:
    name = name_of(design)
    shell = shell_ports((design / f"{name}_axi_words.v").read_text(), f"{name}_axi_words")
    text = (design / "vivado" / f"{name}_ip.v").read_text()
    for port in shell:
        if port.name not in ("clk", "rst"):
            assert text.count(f".{port.name}({port.name})") == 1
    infos = re.findall(r'X_INTERFACE_INFO = "xilinx.com:interface:(\w+):1.0 (\w+) (\w+)"', text)
    beside = [port.name for port in shell if port.name in BESIDE]
    assert beside == (sorted(BESIDE) if design.name == "core" else [])
    assert len(set(infos)) == len(infos) == len(shell) - 2 - len(beside)
    assert {(bus, kind) for kind, bus, _ in infos} == {(bus, AXI[bus]) for bus in links_of(design)}
    busses = re.search(r"ASSOCIATED_BUSIF (\S+),", text)
    assert busses and set(busses[1].split(":")) == links_of(design)
    with pytest.raises(OutputError, match="port other of the shell belongs to no interface"):
        ip_text("own", [Port("other", 1, True)])


@pytest.mark.rtl
def test_the_ip_computes(design: Path, tmp_path: Path) -> None:
    """The test bench of the FuseSoC core with the IP in the shell's place: every bit."""
    name = name_of(design)
    binary("iverilog")
    package_fusesoc(design)
    text = (design / "fusesoc" / f"{name}_tb.sv").read_text()
    shell = f"{name}_axi_words dut (\n        .clk(clk), .rst(rst),"
    assert shell in text
    bench = tmp_path / "bench.sv"
    bench.write_text(text.replace(shell, f"{name}_ip dut (\n        .aclk(clk), .aresetn(!rst),"))
    sources = [f"{name}.v", f"{name}_axi_words.v", f"vivado/{name}_ip.v"]
    command = ["iverilog", "-g2012", "-o", str(tmp_path / "bench"), "-s", f"{name}_tb", str(bench)]
    subprocess.run([*command, *(str(design / own) for own in sources)], check=True)
    done = subprocess.run(
        ["vvp", str(tmp_path / "bench")],
        cwd=design / "fusesoc",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "PASS: 64 tasks, every bit equal" in done.stdout


@pytest.mark.rtl
def test_lint(design: Path, subtests: pytest.Subtests) -> None:
    name = name_of(design)
    sources = [f"{name}.v", f"{name}_axi_words.v", f"vivado/{name}_ip.v"]
    check_lint(subtests, [design / source for source in sources], f"{name}_ip")


def test_the_design_alone(design: Path) -> None:
    """Reports of a part and a period, which may be asked for."""
    script = design / "vivado" / "ooc.tcl"
    said = recorded(script, slack="0.5")
    (files,) = [words[1] for words in said if words[0] == "read_verilog"]
    assert Path(files).samefile(design / f"{name_of(design)}.v")
    xc7 = FAMILY[design.name] == "xc7"
    part, period = ("xc7k325tffg900-2", 5.0) if xc7 else ("xcvu9p-flga2104-2L-e", 3.0)
    options = ("-top", name_of(design), "-part", part, "-mode", "out_of_context")
    assert ("synth_design", *options) in said
    constraint = design / "vivado" / "ooc" / "clock.xdc"
    assert constraint.read_text() == f"create_clock -name clk -period {period} [get_ports clk]\n"
    assert ("read_xdc", "-mode", "out_of_context", str(constraint)) in said
    asked = constraint.with_name("asked.tcl")
    asked.write_text(f"set argv {{some-part 2.5}}\nsource {{{script}}}\n")
    said = recorded(asked, slack="0.5")
    assert ("synth_design", *options[:3], "some-part", *options[4:]) in said
    assert "-period 2.5 " in constraint.read_text()


def test_a_frequency_may_be_asked_for(design: Path, tmp_path: Path) -> None:
    own = shutil.copytree(design, tmp_path / "own")
    _, notes = package_vivado(own)
    assert any(re.match(r"ooc.tcl asks for (200|333) MHz; --frequency ", note) for note in notes)
    _, notes = package_vivado(own, frequency=240.0)
    assert not any("ooc.tcl" in note for note in notes)
    assert "set period 4.167\n" in (own / "vivado" / "ooc.tcl").read_text()
    with pytest.raises(UsageError, match=r"^frequency: MHz from 1 to 1000, not 0.5$"):
        package_vivado(own, frequency=0.5)
    assert main(["package", "fusesoc", str(own), "--frequency", "200"]) == 2


def test_make_runs_scripts_that_are_there(design: Path) -> None:
    folder = design / "vivado"
    command = ["make", "-n", "-C", str(folder), "-f", f"{name_of(design)}.mk"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    scripts = re.findall(r"-source (\S+)", done.stdout)
    boards = boards_of(FAMILY[design.name])
    assert scripts == ["ooc.tcl", "package_ip.tcl", *(f"{board.file}.tcl" for board in boards)]
    assert all((folder / script).is_file() for script in scripts)


def test_designs_of_other_families_are_noted(tmp_path: Path) -> None:
    generate("pendulum", tmp_path / "core")
    _, notes = package_vivado(tmp_path / "core")
    assert "made for ecp5-85f" in notes[1] and "--target xc7 or xcup" in notes[1]


def test_help_names_every_board(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["package", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert all(board.name in text for board in BOARDS)
