"""An accelerator as a folder: core, shells, header, manifest, picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .. import __version__
from ..compile.accelerate import Accelerated
from ..design.limits import limits_table
from ..design.manifest import (
    AcceleratorManifest,
    BitFacts,
    Multipliers,
    Payload,
    Ports,
    RegisterFacts,
    TaskShellFacts,
)
from ..draw.accelerator import picture
from ..graph.text import to_text
from ..graph.word import spell
from ..robot.xml_lines import read_bytes
from ..rtl.accelerator import AcceleratorCore
from ..rtl.emit import CoreInstance, Emitted, emit_accelerator
from ..rtl.task_packets import FORMAT_VERSION, Function
from ..rtl.task_registers import register_table
from ..rtl.task_shell import TaskShell
from ..simulate.ports import Field
from ..tasks.routes import CODES
from ..tasks.stages import TAG, Accelerator
from .facts import accelerator_facts, chosen, given_angles
from .folder import MARK, digests, sealed
from .header import c_header
from .manifest import START
from .names import DESIGN, ROBOT, design_file, design_text, filed_notes, module_name
from .places import no_defaults

Progress = Callable[[str], None]
PICTURE = "accelerator.svg"
WIDE = 16  # words of a beat


def accelerator_files(made: Accelerated, progress: Progress) -> dict[str, str]:
    """Name → text of each file of an accelerator's folder."""
    name = module_name(made.front.robot.name, "accelerator")
    progress("Verilog")
    robot_text = read_bytes(made.design.robot).decode("utf-8", "surrogateescape")
    identity = identity_of(robot_text, design_text(made.design))
    emitted = emit_accelerator(
        made.accelerator, name, lambda core: shells_of(made, core, name, identity)
    )
    files = dict(emitted.files)
    for own, stage in made.accelerator.stages.items():
        files[f"graph_{own}.txt"] = to_text(stage.fixed)
    files[PICTURE] = picture(made.accelerator, f"{made.front.robot.name}: accelerator")
    files[ROBOT] = robot_text
    files[DESIGN] = design_file(made.design, made.front.robot)
    manifest = accelerator_manifest(made, emitted, identity)
    files[f"{name}.h"] = c_header(manifest.to_json())
    files[MARK] = sealed(replace(manifest, files=digests(files)).to_json())
    return files


def accelerator_manifest(
    made: Accelerated, emitted: Emitted[AcceleratorCore, TaskShell], identity: int
) -> AcceleratorManifest:
    """What a host or a tool must know of an accelerator; of its files nothing yet."""
    robot, accelerator, design = made.front.robot, made.accelerator, made.design
    return AcceleratorManifest(
        generator=f"rbdgen {__version__}",
        name=emitted.top,
        choices=no_defaults(made.front.design),
        robot=robot.name,
        functions=made.front.design.functions,
        joint_names=tuple(robot.joint_names),
        body_names=tuple(robot.joints[i].body for i in robot.moving),
        base=made.front.design.base,
        root=made.front.design.root,
        base_link=made.front.design.base_link,
        nq=robot.nq,
        nv=robot.nv,
        gravity=design.gravity,
        angles=given_angles(made.front.canonical, accelerator.words),
        target=design.target,
        width=design.width,
        multipliers=Multipliers(
            accelerator.multipliers, sum(unit.style == "logic" for unit in emitted.multipliers)
        ),
        ports=accelerator_ports(accelerator, emitted.core),
        limits=limits_table(made.front.design, robot),
        fitted=chosen(design),
        notes=filed_notes(design, (*made.front.notes, *made.notes)),
        accelerator=accelerator_facts(made),
        files={},
        axi={kind: _about_shell(made, shell) for kind, shell in emitted.shells.items()},
        packet_format=FORMAT_VERSION,
        identity=f"{identity:016x}",
    )


def accelerator_ports(accelerator: Accelerator, core: AcceleratorCore) -> Ports:
    """Clock, reset, the fields of tasks and of results."""
    head = [Field("function", 4, False), Field("tag", TAG, False)]
    words = (Field(word, width) for word, width in accelerator.words.items())
    results = (Field(spell("w", k), core.result_width) for k in range(core.result_words))
    return Ports(
        clock="clk",
        reset="rst",
        start=START,
        input=Payload((*head, *words)),
        output=Payload((*head, Field("overflow", 1, False), *results)),
    )


def identity_of(*texts: str) -> int:
    """64 bits that tell robots and designs apart, in the registers of the shell."""
    (digest,) = digests({"": "\0".join(texts)}).values()
    return int(digest[:16], 16)


def shells_of(
    made: Accelerated, core: AcceleratorCore, name: str, identity: int
) -> dict[str, TaskShell]:
    """The core behind AXI: with words of 32 bits, and with beats of ``WIDE`` words."""
    accelerator = made.accelerator
    functions = {
        CODES[f]: Function(f, len(accelerator.formats[f]), len(accelerator.results[f]))
        for f in accelerator.functions
    }
    return {
        kind: TaskShell(CoreInstance(core, name), functions, identity=identity, lanes=lanes)
        for kind, lanes in (("words", 1), ("wide", WIDE))
    }


def _about_shell(made: Accelerated, shell: TaskShell) -> TaskShellFacts:
    accelerator = made.accelerator
    return TaskShellFacts(
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
                tuple(BitFacts(bit.name, bit.position) for bit in register.bits),
            )
            for register in register_table(shell.packets.functions)
        ),
    )
