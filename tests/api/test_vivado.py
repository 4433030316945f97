"""IPs for Vivado, of which nothing is run here but the Verilog and, with its commands taken down,
the Tcl."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from rbdgen.api import generate
from rbdgen.api.folder import OutputError
from rbdgen.api.fusesoc import ShellPort, package_fusesoc, shell_ports
from rbdgen.api.vivado import BOARDS, INTERFACES, NOTE, ZynqBoard, ip_text, package_vivado
from tests.support.icarus import binary
from tests.support.lint import check_lint

NAME = "pendulum_xc7_ii2_accelerator_id_m"
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
    "puts",
)


@pytest.fixture(scope="module")
def accelerator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("vivado") / "accelerator"
    generate("pendulum", place, accelerator=True, functions=("id", "m"), ii=2, target="xc7")
    assert package_vivado(place) == (place / "vivado", [NOTE])
    return place


def recorded(script: Path, presets: str = "") -> list[tuple[str, ...]]:
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
    answers("get_property", "100%")
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


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.file)
@pytest.mark.parametrize("preset", ["", "vendor:board:1.0"])
def test_block_designs(board: ZynqBoard, preset: str, accelerator: Path) -> None:
    said = recorded(accelerator / "vivado" / f"{board.file}.tcl", preset)
    assert ("create_bd_cell", "-type", "ip", "-vlnv", f"rbdgen:user:{NAME}_ip:10.0", "core") in said
    assert not any(re.search(r"20\d\d\.\d", " ".join(words)) for words in said)  # Vivado's versions
    assert (("set_property", "board_part", preset, "current_project") in said) == bool(preset)
    links = [words[1:] for words in said if words[0] == "connect_bd_intf_net"]
    nets = [words[1:] for words in said if words[0] == "connect_bd_net"]
    ends = Counter(pin for link in links for pin in link)
    ends += Counter(to for _, to in nets)
    assert set(ends.values()) == {1}  # no pin twice
    wanted = {f"core/{bus}" for bus, _ in INTERFACES.values()} | {"core/aclk", "core/aresetn"}
    assert wanted == {pin for pin in ends if pin.startswith("core/")}
    assert {"dma/M_AXI_MM2S", "dma/M_AXI_S2MM", "dma/S_AXI_LITE"} <= ends.keys()
    assert said[-1] == ("get_property", "PROGRESS", "get_runs")


def test_the_ip_is_packaged_of_files_that_are_there(accelerator: Path) -> None:
    said = recorded(accelerator / "vivado" / "package_ip.tcl")
    tkinter = pytest.importorskip("tkinter", reason="no Tcl: apt-get install python3-tk")
    (files,) = [tkinter.Tcl().splitlist(words[1]) for words in said if words[0] == "add_files"]
    assert len(files) == 3
    assert all(Path(file).is_file() for file in files)
    assert ("set_property", "top", f"{NAME}_ip", "current_fileset") in said


def test_every_port_of_the_shell_is_in_an_interface(accelerator: Path) -> None:
    shell = shell_ports((accelerator / f"{NAME}_axi_words.v").read_text(), f"{NAME}_axi_words")
    text = (accelerator / "vivado" / f"{NAME}_ip.v").read_text()
    for port in shell:
        if port.name not in ("clk", "rst"):
            assert text.count(f".{port.name}({port.name})") == 1
    infos = re.findall(r'X_INTERFACE_INFO = "xilinx.com:interface:(\w+):1.0 (\w+) (\w+)"', text)
    assert len(set(infos)) == len(infos) == len(shell) - 2
    assert {(bus, kind) for kind, bus, _ in infos} == set(INTERFACES.values())
    with pytest.raises(OutputError, match="port other of the shell belongs to no interface"):
        ip_text("own", [ShellPort("other", 1, True)])


@pytest.mark.rtl
def test_the_ip_computes(accelerator: Path, tmp_path: Path) -> None:
    """The test bench of the FuseSoC core with the IP in the shell's place: every bit."""
    binary("iverilog")
    package_fusesoc(accelerator)
    text = (accelerator / "fusesoc" / f"{NAME}_tb.sv").read_text()
    shell = f"{NAME}_axi_words dut (\n        .clk(clk), .rst(rst),"
    assert shell in text
    bench = tmp_path / "bench.sv"
    bench.write_text(text.replace(shell, f"{NAME}_ip dut (\n        .aclk(clk), .aresetn(!rst),"))
    sources = [f"{NAME}.v", f"{NAME}_axi_words.v", f"vivado/{NAME}_ip.v"]
    command = ["iverilog", "-g2012", "-o", str(tmp_path / "bench"), "-s", f"{NAME}_tb", str(bench)]
    subprocess.run([*command, *(str(accelerator / own) for own in sources)], check=True)
    done = subprocess.run(
        ["vvp", str(tmp_path / "bench")],
        cwd=accelerator / "fusesoc",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "PASS: 64 tasks, every bit equal" in done.stdout


@pytest.mark.rtl
def test_lint(accelerator: Path) -> None:
    sources = [f"{NAME}.v", f"{NAME}_axi_words.v", f"vivado/{NAME}_ip.v"]
    check_lint([accelerator / source for source in sources], f"{NAME}_ip")


def test_cores_are_refused(tmp_path: Path) -> None:
    generate("pendulum", tmp_path / "core", target="xc7")
    with pytest.raises(OutputError, match="IPs are made of accelerators"):
        package_vivado(tmp_path / "core")
