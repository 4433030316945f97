"""An accelerator's shells, ports and manifest."""

from __future__ import annotations

from ..compile.scheduled import Accelerated
from ..design.manifest import (
    AcceleratorManifest,
    BitFacts,
    Payload,
    Ports,
    RegisterFacts,
    TaskShellFacts,
)
from ..graph.held import held_formats
from ..graph.word import spell
from ..rtl.accelerator import AcceleratorCore
from ..rtl.emit import CoreInstance, Emitted
from ..rtl.task_packets import FORMAT_VERSION, Function
from ..rtl.task_registers import register_table
from ..rtl.task_shell import TaskShell
from ..simulate.ports import Field
from ..tasks.routes import CODES
from ..tasks.stages import TAG, Accelerator
from .facts import accelerator_facts
from .folder import digests
from .manifest import START, hardware, number_facts, register_ports

WIDE = 16  # words of a beat


def accelerator_manifest(
    made: Accelerated, emitted: Emitted[AcceleratorCore, TaskShell], identity: int
) -> AcceleratorManifest:
    """The manifest of an accelerator, for hosts and tools, before its files are listed."""
    tasks = accelerator_facts(made)
    return AcceleratorManifest(
        **hardware(made, emitted, tasks, made.design.width),
        ports=accelerator_ports(made.accelerator, emitted.core),
        accelerator=tasks,
        axi={kind: _about_shell(made, shell) for kind, shell in emitted.shells.items()},
        packet_format=FORMAT_VERSION,
        identity=f"{identity:016x}",
        numbers=number_facts(made.front.parameters),
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
        registers=register_ports({k: stage.fixed for k, stage in accelerator.stages.items()}),
    )


def identity_of(*texts: str) -> int:
    """64 bits that tell robots and designs apart, in the registers of the shell."""
    (digest,) = digests({"": "\0".join(texts)}).values()
    return int(digest[:16], 16)


def shells_of(
    made: Accelerated, core: AcceleratorCore, name: str, identity: int
) -> dict[str, TaskShell]:
    """The core behind AXI: with words of 32 bits, and with beats of ``WIDE`` words."""
    accelerator, held = made.accelerator, len(held_formats(made.graphs))
    functions = {
        CODES[f]: Function(f, len(accelerator.formats[f]), len(accelerator.results[f]))
        for f in accelerator.functions
    }
    return {
        kind: TaskShell(
            CoreInstance(core, name), functions, identity=identity, lanes=lanes, held=held
        )
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
            for register in register_table(shell.packets.functions, len(held_formats(made.graphs)))
        ),
    )
