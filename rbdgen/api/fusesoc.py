"""A generated folder as a FuseSoC core (lint, simulation, place and route), as a module for LiteX,
with DMA and an example that LiteX simulates, and under test by cocotb.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..design.facts import FunctionFacts
from ..design.manifest import HardwareManifest
from ..design.target import find_target
from ..graph.word import parse
from ..shell.emit import LONG, Off, Port, verilog_file
from ..shell.task_packets import Status
from ..shell.task_registers import ADDRESS_WIDTH
from ..system.quoting import Progress
from ..system.records import plain
from ..system.templates import render
from ..tasks.routes import UNREAD
from .c_header import packet_format
from .folder import OutputError, checked_manifest, text_of, write_file
from .output_paths import check_place
from .packets import Beats, packets_of

TASKS = 64  # of the test bench
FOLDER = "fusesoc"
PATIENCE = 100_000  # clocks without an answer, after which the test bench fails
OFF = (
    LONG,
    Off("outputs that no task needs", "PINCONNECTEMPTY", "empty-output-connection"),
    Off("Icarus Verilog warns of [TASKS]", verible="unpacked-dimensions-range-ordering"),
)
_PORT = re.compile(r"^  (input|output)(?: reg)? (?:\[(\d+):0\] )?(\w+);", re.MULTILINE)
_LINKS = ("s_axis_", "m_axis_")


def shell_ports(verilog: str, module: str) -> list[Port]:
    """The ports of a module in generated Verilog, in the order of their names."""
    found = re.search(
        rf"^module {module}\((.*?)\);.*?^endmodule", verilog, re.MULTILINE | re.DOTALL
    )
    if found is None:
        raise OutputError(f"{module}.v: has no module {module}")
    ports = [
        Port(name, int(top or 0) + 1, way == "input") for way, top, name in _PORT.findall(found[0])
    ]
    if left := set(re.findall(r"[^\s,]+", found[1])).difference(port.name for port in ports):
        raise OutputError(f"{module}.v: module {module} declares no port {min(left)}")
    return sorted(ports, key=lambda port: port.name)


def package_fusesoc(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/NAME.core, and the files that it needs into FOLDER/fusesoc.

    Its targets are ``lint`` by Verilator, ``sim``, a self-checking test bench for Icarus Verilog,
    and ``nextpnr`` for parts that nextpnr places.

    Returns the core file and notes. Raises OutputError for a folder that is no design or has
    changed, unless ``trust``.
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
        f"{name}_tb.sv": verilog_file(bench, OFF),
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
        description=_description(entry),
        tasks=TASKS,
        part=part.part if placed else "",
        flag=part.flag,
        package=part.package,
    )
    write_file(place / f"{name}.core", core)
    return place / f"{name}.core", notes


def _description(entry: HardwareManifest) -> str:
    return f"{', '.join(entry.functions)} of {entry.robot}, in fixed point"


def _class_name(name: str) -> str:
    """``arm_id`` → ``ArmId``."""
    return "".join(part.capitalize() for part in re.split("_+", name))


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


def _pins(name: str, ports: Sequence[Port]) -> str:
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
    return verilog_file(text, (LONG,))


LITEX_FOLDER = "litex"
LITEX_TASKS = 64  # of the example
NOTE = "simulated by LiteX 2024.12 in the tests; not run on a board by us"


def package_litex(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/litex: a LiteX module of the design, and SoCs that use it.

    ``NAME_litex.py`` is a module with streams, registers, and DMA with CSRs. ``NAME_sim.py``
    simulates a SoC with the tasks and answers of ``NAME_packets.json``. For an accelerator,
    ``NAME_soc.py`` and ``NAME_firmware.c`` do so with a CPU.

    Returns the folder and notes. Raises OutputError for a folder that is no design or has changed,
    unless ``trust``.
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
        "cls": _class_name(name),
        "short": "rbd",
        "description": _description(entry),
        "words_in": len(packets.tasks[0]) if entry.is_core else _words_in(entry),
        "address": ADDRESS_WIDTH,
        "registers": (own.width if own else 0) if entry.is_core else hex(1 << ADDRESS_WIDTH),
    }
    files = {
        f"{name}_litex.py": render("package/litex.py.jinja", **facts),
        f"{name}_sim.py": render("package/litex_sim.py.jinja", **facts),
        f"{name}_packets.json": json.dumps({"tasks": packets.tasks, "answers": packets.answers}),
    }
    if not entry.is_core:
        files[f"{name}_soc.py"] = render("package/litex_soc.py.jinja", **facts)
        files[f"{name}_firmware.c"] = render("package/litex_firmware.c.jinja", **facts)
    for file, text in files.items():
        write_file(out / file, text)
    return out, [NOTE]


def _words_in(entry: HardwareManifest) -> dict[int, int]:
    """Code of an accelerator's function → words of a task after its first one."""
    functions = packet_format(entry.tasks).functions
    return {code: own.words_in for code, own in sorted(functions.items())}


COCOTB_FOLDER = "cocotb"
COCOTB_NOTE = (
    "run by cocotb 2 in Icarus Verilog 11 and, of a core, in Verilator 5.048 in the tests; "
    "SIM=verilator asks for 5.036 or later"
)


def package_cocotb(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/cocotb: a driver and a test for cocotb, with a Makefile.

    ``NAME_driver.py`` takes tasks in SI units and returns results. ``test_NAME.py`` compares every
    bit with the integer model's tasks in ``NAME_vectors.json``. ``NAME_fields.json`` lists ports
    and words.

    Returns the folder and notes. Raises OutputError for a folder that is no design or has changed,
    unless ``trust``.
    """
    place = Path(folder)
    entry = checked_manifest(place, trust, progress, ("{name}.v",))
    name, out = entry.name, place / COCOTB_FOLDER
    check_place(out / f"{name}_driver.py")
    out.mkdir(exist_ok=True)
    packets, tasks = packets_of(place, entry, TASKS), entry.tasks.functions
    function, first = next(iter(tasks.items()))
    facts = {
        "core": entry.is_core,
        "name": name,
        "cls": _class_name(name),
        "description": _description(entry),
        "tasks": TASKS,
        "patience": PATIENCE,
        "example": _example("" if entry.is_core else function, first),
        "sticky": entry.ports.overflow,
        "registers": entry.ports.registers,
    }
    fields = {
        "task": plain(entry.ports.input.fields),
        "result": plain(entry.ports.output.fields),
        "functions": plain(tasks),
    }
    pairs = zip(packets.tasks, packets.answers, strict=True)
    vector = _core_vector if entry.is_core else _task_vector
    vectors = [vector(entry, task, answer) for task, answer in pairs]
    files = {
        f"{name}_driver.py": render("package/cocotb_driver.py.jinja", **facts),
        f"test_{name}.py": render("package/cocotb_test.py.jinja", **facts),
        f"{name}_fields.json": json.dumps(fields, indent=1),
        f"{name}_vectors.json": json.dumps(vectors),
        "Makefile": render("package/cocotb.mk.jinja", name=name),
    }
    for file, text in files.items():
        write_file(out / file, text)
    return out, [COCOTB_NOTE]


def _example(function: str, own: FunctionFacts) -> str:
    """The arguments of a call with 0.1 for each entry of the arrays that are lists."""
    words = [parse(field.name) for field in own.inputs]
    kinds = Counter(word.kind for word in words if len(word.indices) == 1 and not word.axis)
    kinds.pop(UNREAD, 0)
    lists = [f"{kind}={[0.1] * count}" for kind, count in kinds.items()]
    return ", ".join([f'"{function}"', *lists] if function else lists)


def _signed(beat: int) -> int:
    """A packet's word of 32 bits in two's complement."""
    return beat - (beat >> 31 << 32)


def _core_vector(entry: HardwareManifest, task: Beats, answer: Beats) -> dict[str, Any]:
    """Words by name, and the results that overflow."""
    names = entry.ports.results
    flags = answer[len(names) :]
    return {
        "task": {f.name: _signed(b) for f, b in zip(entry.ports.input.fields, task, strict=True)},
        "result": {name: _signed(answer[k]) for k, name in enumerate(names)},
        "overflow": [name for k, name in enumerate(names) if flags[k // 32] >> k % 32 & 1],
    }


def _task_vector(entry: HardwareManifest, task: Beats, answer: Beats) -> dict[str, Any]:
    """The function, its words by name, and whether a result overflows."""
    code, status = task[0] & 0xFF, Status(answer[0] >> 8 & 0xFF)
    (function, own) = next(item for item in entry.tasks.functions.items() if item[1].code == code)
    return {
        "function": function,
        "task": {f.name: _signed(b) for f, b in zip(own.inputs, task[1:], strict=True)},
        "result": {f.name: _signed(b) for f, b in zip(own.outputs, answer[1:], strict=True)},
        "overflow": status is Status.OVERFLOW,
    }
