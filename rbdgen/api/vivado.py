"""A folder as an IP for Vivado, in block designs, and alone. None of it was run by us."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..design.target import find_target
from ..rtl.core import FIRST, WORD, WRITE
from ..shell.emit import LONG, Port, verilog_file
from ..system.quoting import Progress
from ..system.templates import render
from .folder import OutputError, UsageError, checked_manifest, text_of, write_file
from .fusesoc import shell_ports
from .output_paths import check_place

FOLDER = "vivado"
NOTE = "generated, not run by us: no Vivado was here to run these in"
# Prefix of the shell's ports → the interface, and how Vivado calls its kind.
INTERFACES = {
    "s_axis_": ("S_AXIS", "axis"),
    "m_axis_": ("M_AXIS", "axis"),
    "s_axil_": ("S_AXI", "aximm"),
}
# Ports beside them that a core may have; those that come in are 0 where nothing is connected.
BESIDE = ("framing_error", WORD, WRITE, FIRST)
# Family of a target → what Vivado calls the families that its design is for.
FAMILIES = {
    "xc7": ("zynq", "artix7", "kintex7", "virtex7", "spartan7"),
    "xcup": (
        *("zynquplus", "kintexuplus", "virtexuplus", "virtexuplusHBM", "artixuplus"),
        "zynquplusRFSOC",
    ),
}
# A part of each, in Vivado's words: the target's, of a package and a speed grade.
PARTS = {"xc7": "xc7k325tffg900-2", "xcup": "xcvu9p-flga2104-2L-e"}
PERIOD = {"xc7": 5.0, "xcup": 3.0}  # ns, that the design alone is asked for where nobody says
LEAST, MOST = 1.0, 1000.0  # MHz, that may be asked for
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
    interrupt: str
    family: str
    template: str = "package/block_design.tcl.jinja"


@dataclass(frozen=True)
class Card:
    """A card of PCI Express.

    ``clock``: pins of the reference clock; ``reset``: the pin of PERST#, and its standard;
    ``frequency``: of the core, MHz.
    """

    name: str
    file: str
    part: str
    preset: str
    clock: tuple[str, str]
    reset: tuple[str, str]
    frequency: int = 150
    family: str = "xcup"
    template: str = "package/card_design.tcl.jinja"


BOARDS: tuple[ZynqBoard | Card, ...] = (
    ZynqBoard(
        name="PYNQ-Z2",
        file="pynq_z2",
        family="xc7",
        part="xc7z020clg400-1",
        preset="*:pynq-z2:*",
        processor="processing_system7",
        automation='make_external "FIXED_IO, DDR"',
        settings="CONFIG.PCW_USE_S_AXI_HP0 1 CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ 100 "
        "CONFIG.PCW_USE_FABRIC_INTERRUPT 1 CONFIG.PCW_IRQ_F2P_INTR 1",
        master="M_AXI_GP0",
        slave="S_AXI_HP0",
        clock="FCLK_CLK0",
        reset="FCLK_RESET0_N",
        clocked="ps/M_AXI_GP0_ACLK ps/S_AXI_HP0_ACLK",
        interrupt="IRQ_F2P",
    ),
    ZynqBoard(
        name="KV260",
        file="kv260",
        family="xcup",
        part="xck26-sfvc784-2LV-c",
        preset="*:kv260_som:*",
        processor="zynq_ultra_ps_e",
        automation="",
        settings="CONFIG.PSU__USE__M_AXI_GP0 1 CONFIG.PSU__USE__M_AXI_GP1 0 "
        "CONFIG.PSU__USE__M_AXI_GP2 0 CONFIG.PSU__USE__S_AXI_GP2 1 "
        "CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ 100 CONFIG.PSU__USE__IRQ0 1",
        master="M_AXI_HPM0_FPD",
        slave="S_AXI_HP0_FPD",
        clock="pl_clk0",
        reset="pl_resetn0",
        clocked="ps/maxihpm0_fpd_aclk ps/saxihp0_fpd_aclk",
        interrupt="pl_ps_irq0",
    ),
    Card(
        name="VCU118",
        file="vcu118",
        part="xcvu9p-flga2104-2L-e",
        preset="*:vcu118:*",
        clock=("AC9", "AC8"),
        reset=("AM17", "LVCMOS18"),
    ),
    Card(
        name="Alveo U50",
        file="u50",
        part="xcu50-fsvh2104-2-e",
        preset="*:au50:*",
        clock=("AB9", "AB8"),
        reset=("AW27", "LVCMOS18"),
    ),
    Card(
        name="Alveo U250",
        file="u250",
        part="xcu250-figd2104-2L-e",
        preset="*:au250:*",
        clock=("AM11", "AM10"),
        reset=("BD21", "LVCMOS12"),
    ),
)


def boards_of(family: str) -> list[ZynqBoard | Card]:
    """The boards with a part of a target's family; of one that is not AMD's, all."""
    return [board for board in BOARDS if board.family == family or family not in FAMILIES]


def package_vivado(
    folder: str | Path,
    progress: Progress = lambda _: None,
    trust: bool = False,
    frequency: float | None = None,
) -> tuple[Path, list[str]]:
    """Write FOLDER/vivado: the design as IP, and a project for each board of the part's family.

    ``package_ip.tcl`` packages ``NAME_ip.v``, ``ooc.tcl`` builds the design alone, and there is a
    block design in Tcl for each board. ``NAME.mk`` runs them. ``NAME_linux.h`` calls the design
    from Linux, on the board or on the card's host. ``frequency``: MHz that ``ooc.tcl`` asks
    for, by default those of `PERIOD`, as a note says.

    Returns the folder and notes. Raises OutputError for a folder that is no design or has changed,
    unless ``trust``, and UsageError for a frequency that is none.
    """
    if frequency is not None and not LEAST <= frequency <= MOST:
        raise UsageError(f"frequency: MHz from {LEAST:g} to {MOST:g}, not {frequency:g}")
    place = Path(folder)
    needed = ("{name}.v", "{name}_axi_words.v")
    entry = checked_manifest(place, trust, progress, needed)
    name, out = entry.name, place / FOLDER
    check_place(out / f"{name}_ip.v")
    out.mkdir(exist_ok=True)
    ports = shell_ports(text_of(place, f"{name}_axi_words.v"), f"{name}_axi_words")
    family = find_target(entry.target).family
    notes = [NOTE]
    if family not in FAMILIES:
        notes.append(
            f"made for {entry.target}, whose multipliers are registered as an ECP5's are: "
            f"--target {' or '.join(FAMILIES)} fits AMD's"
        )
    kind, boards = family if family in FAMILIES else "xcup", boards_of(family)
    period = round(1e3 / frequency, 3) if frequency else PERIOD[kind]
    if not frequency:
        notes.append(f"ooc.tcl asks for {1e3 / period:.0f} MHz; --frequency for another clock")
    made_for = [family] if family in FAMILIES else list(FAMILIES)
    files = {
        f"{name}_ip.v": ip_text(name, ports),
        "package_ip.tcl": render(
            "package/package_ip.tcl.jinja",
            name=name,
            version=".".join(entry.generator.split()[-1].split(".")[:2]),
            part=boards[0].part,
            sources=[f"../{name}.v", f"../{name}_axi_words.v", f"{name}_ip.v"],
            families=" ".join(f"{own} Production" for key in made_for for own in FAMILIES[key]),
            idle=[port.name for port in ports if port.taken and port.name in BESIDE],
        ),
        "ooc.tcl": render(
            "package/ooc.tcl.jinja",
            name=name,
            part=PARTS[kind],
            period=period,
            sources=[f"../{name}.v"],
        ),
        f"{name}.mk": render("package/vivado.mk.jinja", name=name, boards=boards),
    }
    for ending in ("h", "c"):
        text = render(f"package/linux.{ending}.jinja", name=name, NAME=name.upper())
        files[f"{name}_linux.{ending}"] = text
    for board in boards:
        file = f"{board.file}.tcl"
        if isinstance(board, Card):
            files[f"{board.file}.xdc"] = render("package/card.xdc.jinja", board=board)
        files[file] = render(
            board.template,
            name=name,
            file=file,
            board=board,
            registers=not entry.is_core,
        )
    for file, text in files.items():
        write_file(out / file, text)
    return out, notes


def ip_text(name: str, ports: list[Port]) -> str:
    """Verilog of ``NAME_ip``: the shell with ``aclk``, ``aresetn`` and Vivado's attributes."""
    links = [port for port in ports if port.name not in ("clk", "rst")]
    busses = ":".join(
        bus
        for prefix, (bus, _) in INTERFACES.items()
        if any(port.name.startswith(prefix) for port in links)
    )
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
    return verilog_file(text, (LONG,))


def _port(port: Port) -> dict[str, object]:
    """A port of an interface, or beside them; OutputError for one that is not known."""
    shown: dict[str, object] = {
        "name": port.name,
        "way": "input" if port.taken else "output",
        "range": f"[{port.width - 1}:0] " if port.width > 1 else "",
        "attributes": [],
    }
    if port.name in BESIDE:
        return shown
    for prefix, (bus, kind) in INTERFACES.items():
        if port.name.startswith(prefix):
            signal = port.name.removeprefix(prefix).upper()
            attributes = [(INFO, f"xilinx.com:interface:{kind}:1.0 {bus} {signal}")]
            if kind == "aximm" and signal == "AWADDR":
                attributes.append((PARAMETER, f"PROTOCOL AXI4LITE, ADDR_WIDTH {port.width}"))
            return {**shown, "attributes": attributes}
    raise OutputError(f"port {port.name} of the shell belongs to no interface that is known")
