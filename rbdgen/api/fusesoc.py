"""A generated folder as a FuseSoC core (lint, simulation, place and route), and as a module for
LiteX, with DMA and an example that LiteX simulates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..design.manifest import HardwareManifest
from ..design.target import find_target
from ..shell.emit import verilog_file
from ..shell.task_registers import ADDRESS_WIDTH
from ..system.quoting import Progress
from ..system.templates import render
from .c_header import packet_format
from .folder import OutputError, checked_manifest, text_of, write_file
from .output_paths import check_place
from .packets import Beats, packets_of

TASKS = 64  # of the test bench
FOLDER = "fusesoc"
PATIENCE = 100_000  # clocks without an answer, after which the test bench fails
_PORT = re.compile(r"^  (input|output) (?:\[(\d+):0\] )?(\w+);$", re.MULTILINE)
_LINKS = ("s_axis_", "m_axis_")


@dataclass(frozen=True)
class ShellPort:
    """A port of a module: its name, its bits, and whether it is an input."""

    name: str
    width: int
    taken: bool


def shell_ports(verilog: str, module: str) -> list[ShellPort]:
    """The ports of a module in generated Verilog, in the order of their names."""
    found = re.search(rf"^module {module}\(.*?^endmodule", verilog, re.MULTILINE | re.DOTALL)
    if found is None:
        raise OutputError(f"{module}.v: has no module {module}")
    ports = [
        ShellPort(name, int(top or 0) + 1, way == "input")
        for way, top, name in _PORT.findall(found[0])
    ]
    return sorted(ports, key=lambda port: port.name)


def package_fusesoc(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/NAME.core, and what it needs besides into FOLDER/fusesoc.

    Targets: ``lint`` by Verilator; ``sim``, a self-checking test bench, by Icarus Verilog;
    ``nextpnr`` for targets that nextpnr places. Returns the core file and notes on what was chosen
    or left out. OutputError for a folder that is none or was changed, unless ``trust``.
    """
    place = Path(folder)
    needed = ("{name}.v", "{name}_axi_words.v")
    entry = checked_manifest(place, trust, progress, needed)
    name = entry.name
    check_place(place / f"{name}.core")
    (place / FOLDER).mkdir(exist_ok=True)
    notes = []
    packets = packets_of(place, entry, TASKS)
    stride = max(len(answer) for answer in packets.answers)
    verilog = text_of(place, f"{name}_axi_words.v")
    ports = shell_ports(verilog, f"{name}_axi_words")
    others = [port for port in ports if not port.name.startswith(_LINKS)]
    part = find_target(entry.target)
    placed = part.family == "ecp5"
    bench = render(
        "package/bench.sv.jinja",
        name=name,
        tasks=TASKS,
        beats=sum(len(task) for task in packets.tasks),
        stride=stride,
        tagged=packets.tagged,
        patience=PATIENCE,
        idle=[port for port in others if port.name not in ("clk", "rst")],
    )
    files = {
        f"{name}_tasks.hex": _hex(packets.tasks),
        f"{name}_answers.hex": _hex(packets.answers, stride),
        f"{name}_tb.sv": verilog_file(bench, {"PINCONNECTEMPTY": "outputs that no task needs"}),
    }
    if placed:
        files[f"{name}_pins.v"] = _pins(name, ports)
        notes.append(
            "the target nextpnr lets Yosys infer the multipliers from portable Verilog, without "
            "their registers: rbdgen synthesize instantiates them, and is faster"
        )
    else:
        why = f"it is of ECP5, not of {entry.target}" if part.flag else ""
        notes.append(f"no target nextpnr: {why or f'no open tool places {entry.target}'}")
    for file, text in files.items():
        write_file(place / FOLDER / file, text)
    core = render(
        "package/fusesoc.core.jinja",
        name=name,
        version=_version(entry),
        description=f"{', '.join(entry.functions)} of {entry.robot}, in fixed point",
        tasks=TASKS,
        part=part.part if placed else "",
        flag=part.flag,
        package=part.package,
    )
    write_file(place / f"{name}.core", core)
    return place / f"{name}.core", notes


def _version(entry: HardwareManifest) -> str:
    """The generator's."""
    return entry.generator.split()[-1]


def _hex(packets: Sequence[Beats], stride: int = 0) -> str:
    """A beat a line, TLAST above the word; each packet filled up to ``stride`` beats."""
    lines = []
    for beats in packets:
        last = len(beats) - 1
        lines += [f"{(k == last) << 32 | beat:09x}" for k, beat in enumerate(beats)]
        lines += ["0" * 9] * (stride - len(beats))
    return "\n".join(lines) + "\n"


def _pins(name: str, ports: Sequence[ShellPort]) -> str:
    """The shell behind three pins."""
    taken = given = 0
    where: list[dict[str, object]] = []
    for port in ports:
        if port.name == "clk":
            where.append({"name": port.name, "of": "clk"})
        elif port.taken:
            where.append({"name": port.name, "of": "in", "at": taken, "width": port.width})
            taken += port.width
        else:
            where.append({"name": port.name, "of": "out", "at": given, "width": port.width})
            given += port.width
    text = render("package/pins.v.jinja", name=name, ports=where, taken=taken, given=given)
    return verilog_file(text)


LITEX_FOLDER = "litex"
LITEX_TASKS = 64  # of the example
NOTE = "simulated by LiteX 2024.12 in the tests; not run on a board by us"


def package_litex(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/litex: ``NAME_litex.py``, a module with streams, registers, and DMA with CSRs;
    ``NAME_sim.py``, an example that simulates a SoC; ``NAME_packets.json``, its tasks and answers.

    Returns the folder and notes. OutputError for a folder that is none or was changed, unless
    ``trust``.
    """
    place = Path(folder)
    needed = ("{name}.v", "{name}_axi_words.v")
    entry = checked_manifest(place, trust, progress, needed)
    name, out = entry.name, place / LITEX_FOLDER
    check_place(out / f"{name}_litex.py")
    out.mkdir(exist_ok=True)
    packets = packets_of(place, entry, LITEX_TASKS)
    own = entry.ports.registers
    facts = {
        "core": entry.is_core,
        "name": name,
        "cls": "".join(part.capitalize() for part in re.split("_+", name)),
        "short": "rbd",
        "description": f"{', '.join(entry.functions)} of {entry.robot}, in fixed point",
        "words_in": len(packets.tasks[0]) if entry.is_core else _words_in(entry),
        "address": ADDRESS_WIDTH,
        "registers": (own.width if own else 0) if entry.is_core else hex(1 << ADDRESS_WIDTH),
    }
    files = {
        f"{name}_litex.py": render("package/litex.py.jinja", **facts),
        f"{name}_sim.py": render("package/litex_sim.py.jinja", **facts),
        f"{name}_packets.json": json.dumps({"tasks": packets.tasks, "answers": packets.answers}),
    }
    for file, text in files.items():
        write_file(out / file, text)
    return out, [NOTE]


def _words_in(entry: HardwareManifest) -> dict[int, int]:
    """Code of an accelerator's function → words of a task after its first one."""
    functions = packet_format(entry.tasks).functions
    return {code: own.words_in for code, own in sorted(functions.items())}
