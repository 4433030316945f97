"""A design as a folder of hardware: Verilog, RTLIL, header, manifest, diagram and README.

The manifest describes cores and accelerators alike: ports, shells, registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..compile.product import Product, clocks_of
from ..design.facts import ChosenFacts
from ..design.manifest import (
    BitFacts,
    Fifo,
    HardwareManifest,
    Multipliers,
    NumberFacts,
    Region,
    RegisterFacts,
    ShellFacts,
)
from ..draw.clocks import clock_lines
from ..draw.picture import architecture, picture
from ..draw.protocol import protocol
from ..graph.fixed import parameter_formats
from ..schedule.difference_constraints import capacity
from ..schedule.pipelined import region_name
from ..shell.axi import Shell
from ..shell.emit import (
    CoreInstance,
    Emitted,
    Hardware,
    Port,
    emit,
    ports_of,
    shell_files,
    stream_shells,
)
from ..shell.task_packets import Status
from ..system.templates import render
from ..tasks.routes import CODES
from .c_header import header_of
from .compilation import Compilation, Files, closed, described, graph_files, sources_of
from .design_file import ROBOT, design_text
from .facts import given_angles, hardware_facts, port_facts
from .folder import digests
from .hdl_types import hdl_packages, hdl_types, registers_of
from .output_paths import design_name
from .ticks import checked_ticks, controller_top, tick_facts
from .vectors import examples_of

if TYPE_CHECKING:
    from ..compile.parameters import Parameters
    from ..shell.task_shell import TaskShell

WIDE = 16  # words of a beat
# An interface, the start of its ports' names → the name and version of Arm's definition of it.
AXI = {
    "s_axis": ("AXI4Stream", "r0p0_1"),
    "m_axis": ("AXI4Stream", "r0p0_1"),
    "s_axil": ("AXI4-Lite", "r0p0_0"),
}
ADDRESS = "s_axil_awaddr"


def manifest_of(
    product: Product, emitted: Emitted[Any], identity: int, wanted: ChosenFacts | None
) -> HardwareManifest:
    """The manifest of a design's hardware, for hosts and tools, before its files are listed."""
    facts = hardware_facts(product)
    logic = sum(unit.style == "logic" for unit in emitted.multipliers)
    own = _of_core(product, emitted) if product.is_core else _of_tasks(product, emitted)
    return HardwareManifest(
        **described(product.front, emitted.top, facts),
        angles=given_angles(product.front.canonical, {word.name for word in facts.tasks.words}),
        multipliers=Multipliers(facts.tasks.multipliers, logic),
        ports=port_facts(product),
        identity=f"{identity:016x}",
        numbers=number_facts(product.front.parameters),
        examples=examples_of(product),
        wanted=wanted,
        **own,
    )


def _of_core(core: Product, emitted: Emitted[Shell]) -> dict[str, Any]:
    """The fields that a core fills in its way: shells, what is time-multiplexed, regions."""
    plan, turns = core.plan, core.plan.turns
    return {
        "axi": {
            kind: ShellFacts(
                top=f"{emitted.top}_axi_{kind}",
                tdata_in=shell.packet_in.width,
                tdata_out=shell.packet_out.width,
                beats_in=len(shell.packet_in.beats),
                beats_out=len(shell.packet_out.beats),
                clocks_per_task=shell.clocks_per_task(
                    plan.interval, plan.takes_every, plan.resumes
                ),
            )
            for kind, shell in emitted.shells.items()
        },
        "limbs_in_turn": turns.count if turns and turns.what == "limbs" else 1,
        "joints_in_turn": bool(turns and turns.what == "joints"),
        "regions": {region_name(r): Region(at) for r, at in plan.fire.items()},
        "fifos": tuple(
            Fifo(
                from_=region_name(c.sender),
                to=region_name(c.receiver),
                words=len(c.words),
                bits=c.width,
                depth=c.depth,
                capacity=capacity(c),
            )
            for c in plan.channels
        ),
    }


def _of_tasks(made: Product, emitted: Emitted[TaskShell]) -> dict[str, Any]:
    """The fields that an accelerator fills in its way: shells, the version of packets."""
    from ..shell.task_packets import FORMAT_VERSION

    return {
        "axi": {kind: _about_shell(made, shell) for kind, shell in emitted.shells.items()},
        "packet_format": FORMAT_VERSION,
    }


def number_facts(held: Parameters | None) -> tuple[NumberFacts, ...] | None:
    """The robot's own parameters, with units and ranges; None for a design without registers."""
    if held is None:
        return None
    return tuple(
        NumberFacts(n.joint, n.what, n.unit, n.value, n.lower, n.upper) for n in held.numbers.table
    )


def identity_of(*texts: str) -> int:
    """64 bits that tell robots and designs apart, in the registers of the shell."""
    (digest,) = digests({"": "\0".join(texts)}).values()
    return int(digest[:16], 16)


def shells_of(
    core: Hardware, name: str, made: Product, identity: int
) -> dict[str, Shell | TaskShell]:
    """The design behind AXI: with words of 32 bits, and with beats of many."""
    if made.is_core:
        return {**stream_shells(core, name)}
    from ..shell.task_packets import TaskFunction
    from ..shell.task_shell import TaskShell

    accelerator, held = made.accelerator, len(parameter_formats(made.graphs))
    functions = {
        CODES[f]: TaskFunction(f, len(accelerator.formats[f]), len(accelerator.results[f]))
        for f in accelerator.functions
    }
    return {
        kind: TaskShell(
            CoreInstance(core, name), functions, identity=identity, lanes=lanes, held=held
        )
        for kind, lanes in (("words", 1), ("wide", WIDE))
    }


def _about_shell(made: Product, shell: TaskShell) -> ShellFacts:
    from ..shell.task_registers import register_table

    accelerator = made.accelerator
    return ShellFacts(
        lanes=shell.packets.lanes,
        clocks_per_task={
            f: shell.clocks_per_task(CODES[f], accelerator.interval(f))
            for f in accelerator.functions
        },
        registers=tuple(
            RegisterFacts(
                register.name,
                register.offset,
                register.meaning,
                tuple(BitFacts(bit.name, bit.position, bit.meaning) for bit in register.bits),
                register.writable,
            )
            for register in register_table(
                shell.packets.functions, len(parameter_formats(made.graphs))
            )
        ),
    )


README = "README.md"
ARCHITECTURE = "architecture.svg"
PROTOCOL = "protocol.svg"


def verilog(made: Compilation) -> Files:
    """The files of a design's folder."""
    product = made.product
    front = product.front
    name, sources = design_name(front.robot.name, front.design), sources_of(front)
    for line in clock_lines(clocks_of(product), product.front.target.name):
        made.progress(line)
    made.progress("Verilog")
    identity = identity_of(sources[ROBOT], design_text(product.design))
    shells = partial(shells_of, made=product, identity=identity)
    joints = [joint.name for joint in front.canonical.joints]
    ticks = checked_ticks(product)
    emitted = emit(product.accelerator, name, shells, joints)
    entry = manifest_of(product, emitted, identity, made.wanted)
    files = emitted.files | {entry.picture: picture_of(product)} | graph_files(product) | sources
    if product.is_core:
        files[ARCHITECTURE] = architecture_of(product)
    files[PROTOCOL] = protocol(entry)
    files |= hdl_packages(entry)
    if registers := registers_of(entry):
        from ..shell.task_registers import ADDRESS_WIDTH

        files[f"{name}.svd"] = render(
            "verilog/registers.svd.jinja",
            entry=entry,
            name=name,
            registers=registers,
            room=1 << ADDRESS_WIDTH,
        )
    axi: dict[str, Any] = {f"{name}_axi_{kind}": own for kind, own in emitted.shells.items()}
    if ticks:
        from ..shell.ticked_controller import TickedController

        entry = replace(entry, ticks=tick_facts(product, ticks, entry.ports, name))
        top = controller_top(name)
        axi[top] = TickedController(CoreInstance(emitted.core, name), ticks)
        files |= shell_files(axi[top], top)
    for module, hardware in {name: emitted.core, **axi}.items():
        files[f"{module}.xml"] = component(entry, module, ports_of(hardware))
    files[f"{name}.h"] = header_of(entry)
    files[README] = design_readme(entry, files)
    return closed(files, entry)


@dataclass(frozen=True)
class Interface:
    """An interface of a component: its definition's vendor, library, name and version, and its
    signals → the module's ports."""

    name: str
    definition: tuple[str, str, str, str]
    ports: Mapping[str, str]
    parameters: Mapping[str, str] = field(default_factory=dict)


def component(entry: HardwareManifest, module: str, ports: Sequence[Port]) -> str:
    """A module as a component of IP-XACT: its ports, clock, reset, streams, registers and files.

    IEEE 1685-2014. Vivado, which reads 2009 alone, packages its own: `package_vivado`.
    """
    own, axi = entry.ports, []
    for bus, (kind, version) in AXI.items():
        names = [port.name for port in ports if port.name.startswith(f"{bus}_")]
        signals = {name.removeprefix(f"{bus}_").upper(): name for name in names}
        if signals:
            axi.append(Interface(bus, ("amba.com", "AMBA4", kind, version), signals))
    busses = {"ASSOCIATED_BUSIF": ":".join(bus.name for bus in axi)} if axi else {}
    clock = Interface(
        own.clock,
        ("xilinx.com", "signal", "clock", "1.0"),
        {"CLK": own.clock},
        {**busses, "ASSOCIATED_RESET": own.reset},
    )
    reset = Interface(
        own.reset,
        ("xilinx.com", "signal", "reset", "1.0"),
        {"RST": own.reset},
        {"POLARITY": "ACTIVE_HIGH"},
    )
    widths = {port.name: port.width for port in ports}
    return render(
        "verilog/component.xml.jinja",
        entry=entry,
        name=module,
        interfaces=[clock, reset, *axi],
        registers=registers_of(entry) if ADDRESS in widths else (),
        room=1 << widths.get(ADDRESS, 0),
        ports=ports,
        sources=dict.fromkeys(f"{file}.v" for file in (entry.name, module)),
    )


def picture_of(product: Product) -> str:
    """An SVG document: of a core, what it computes when; of an accelerator, its stages."""
    if product.is_core:
        return picture(product.plan, _title(product), product.front.canonical)
    from ..draw import accelerator as stages

    return stages.picture(product.accelerator, f"{product.front.robot.name}: accelerator")


def architecture_of(core: Product) -> str:
    """An SVG document: a core's hardware as a block diagram."""
    return architecture(core.plan, _title(core), core.front.canonical)


def _title(core: Product) -> str:
    return f"{core.front.robot.name}: {', '.join(core.front.design.functions)}"


def design_readme(entry: HardwareManifest, files: Iterable[str]) -> str:
    """The text; ``files``: the names of the folder's others."""
    return render(
        "verilog/README.md.jinja",
        entry=entry,
        name=entry.name,
        core=entry.is_core,
        tasks=entry.tasks,
        graphs=sorted(own for own in files if own.startswith("graph")),
        types=hdl_types(entry),
        registers=registers_of(entry),
        statuses=Status,
    )
