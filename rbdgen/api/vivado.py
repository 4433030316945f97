"""An accelerator's folder as an IP for Vivado, and block designs around it. None was run by us."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..shell.emit import verilog_file
from ..system.quoting import Progress
from ..system.templates import render
from .folder import OutputError, checked_accelerator, text_of, write_file
from .fusesoc import ShellPort, shell_ports
from .output_paths import check_place

FOLDER = "vivado"
NOTE = "generated, not run by us: no Vivado was here to run these in"
# Prefix of the shell's ports → the interface, and how Vivado calls its kind.
INTERFACES = {
    "s_axis_": ("S_AXIS", "axis"),
    "m_axis_": ("M_AXIS", "axis"),
    "s_axil_": ("S_AXI", "aximm"),
}
INFO, PARAMETER = "X_INTERFACE_INFO", "X_INTERFACE_PARAMETER"


@dataclass(frozen=True)
class ZynqBoard:
    """A board, and the names of its processor's ports and settings in Vivado.

    ``preset``: pattern of its board files; ``automation``: what the processor's rule is told;
    ``clocked``: the processor's own pins that take the clock.
    """

    name: str
    file: str
    part: str
    preset: str
    processor: str
    automation: str
    settings: str
    master: str
    slave: str
    clock: str
    reset: str
    clocked: str


BOARDS = (
    ZynqBoard(
        name="PYNQ-Z2",
        file="pynq_z2",
        part="xc7z020clg400-1",
        preset="*:pynq-z2:*",
        processor="processing_system7",
        automation='make_external "FIXED_IO, DDR"',
        settings="CONFIG.PCW_USE_S_AXI_HP0 1 CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ 100",
        master="M_AXI_GP0",
        slave="S_AXI_HP0",
        clock="FCLK_CLK0",
        reset="FCLK_RESET0_N",
        clocked="ps/M_AXI_GP0_ACLK ps/S_AXI_HP0_ACLK",
    ),
    ZynqBoard(
        name="KV260",
        file="kv260",
        part="xck26-sfvc784-2LV-c",
        preset="*:kv260_som:*",
        processor="zynq_ultra_ps_e",
        automation="",
        settings="CONFIG.PSU__USE__M_AXI_GP0 1 CONFIG.PSU__USE__M_AXI_GP1 0 "
        "CONFIG.PSU__USE__M_AXI_GP2 0 CONFIG.PSU__USE__S_AXI_GP2 1 "
        "CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ 100",
        master="M_AXI_HPM0_FPD",
        slave="S_AXI_HP0_FPD",
        clock="pl_clk0",
        reset="pl_resetn0",
        clocked="ps/maxihpm0_fpd_aclk ps/saxihp0_fpd_aclk",
    ),
)


def package_vivado(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/vivado: ``NAME_ip.v``, ``package_ip.tcl``, and for each board the Tcl of a
    block design with an AXI DMA.

    Returns the folder and notes. OutputError for a folder that is no accelerator, or was changed,
    unless ``trust``.
    """
    place = Path(folder)
    needed = ("{name}.v", "{name}_axi_words.v")
    entry = checked_accelerator(place, trust, progress, needed, "IPs are made of")
    name, out = entry.name, place / FOLDER
    check_place(out / f"{name}_ip.v")
    out.mkdir(exist_ok=True)
    ports = shell_ports(text_of(place, f"{name}_axi_words.v"), f"{name}_axi_words")
    files = {
        f"{name}_ip.v": ip_text(name, ports),
        "package_ip.tcl": render(
            "package/package_ip.tcl.jinja",
            name=name,
            version=".".join(entry.generator.split()[-1].split(".")[:2]),
            part=BOARDS[0].part,
            sources=[f"../{name}.v", f"../{name}_axi_words.v", f"{name}_ip.v"],
        ),
    }
    for board in BOARDS:
        file = f"{board.file}.tcl"
        files[file] = render("package/block_design.tcl.jinja", name=name, file=file, board=board)
    for file, text in files.items():
        write_file(out / file, text)
    return out, [NOTE]


def ip_text(name: str, ports: list[ShellPort]) -> str:
    """Verilog of ``NAME_ip``: the shell with ``aclk``, ``aresetn`` and Vivado's attributes."""
    links = [port for port in ports if port.name not in ("clk", "rst")]
    busses = ":".join(bus for bus, _ in INTERFACES.values())
    clock = {
        "name": "aclk",
        "way": "input",
        "range": "",
        "attributes": [
            (INFO, "xilinx.com:signal:clock:1.0 aclk CLK"),
            (PARAMETER, f"ASSOCIATED_BUSIF {busses}, ASSOCIATED_RESET aresetn"),
        ],
    }
    reset = {
        "name": "aresetn",
        "way": "input",
        "range": "",
        "attributes": [
            (INFO, "xilinx.com:signal:reset:1.0 aresetn RST"),
            (PARAMETER, "POLARITY ACTIVE_LOW"),
        ],
    }
    text = render(
        "package/ip.v.jinja",
        name=name,
        ports=[clock, reset, *(_port(port) for port in links)],
        inner=[port.name for port in links],
    )
    return verilog_file(text)


def _port(port: ShellPort) -> dict[str, object]:
    """A port of an interface; OutputError for one that belongs to none."""
    for prefix, (bus, kind) in INTERFACES.items():
        if port.name.startswith(prefix):
            signal = port.name.removeprefix(prefix).upper()
            attributes = [(INFO, f"xilinx.com:interface:{kind}:1.0 {bus} {signal}")]
            if kind == "aximm" and signal == "AWADDR":
                attributes.append((PARAMETER, f"PROTOCOL AXI4LITE, ADDR_WIDTH {port.width}"))
            return {
                "name": port.name,
                "way": "input" if port.taken else "output",
                "range": f"[{port.width - 1}:0] " if port.width > 1 else "",
                "attributes": attributes,
            }
    raise OutputError(f"port {port.name} of the shell belongs to no interface that is known")
