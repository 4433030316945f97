"""What a host or a tool must know of a design: the manifest."""

from __future__ import annotations

import hashlib
from typing import Any

from .. import __version__
from ..compile.flow import Core
from ..rtl.core import Core as Hardware
from ..rtl.emit import Emitted
from ..schedule.fabric import capacity
from ..schedule.pipelined import region_name
from .facts import chosen, formats, given_angles, robot_facts
from .names import filed_notes
from .places import no_defaults

# What brings a design up; either does, alone.
START = (
    "rst high for one rising edge of clk; none is needed where registers begin with their initial "
    "values, as in FPGAs and simulators"
)


def manifest(core: Core, made: Emitted, files: dict[str, str]) -> dict[str, Any]:
    """What a host or a tool must know of the design."""
    plan, front, turns = core.plan, core.front, core.plan.turns
    facts = robot_facts(front)
    words = formats(core)
    return {
        "generator": f"rbdgen {__version__}",
        "name": made.top,
        "robot": facts["robot"],
        "functions": list(front.design.functions),
        "choices": no_defaults(front.design),
        "joint_names": facts["joint_names"],
        "body_names": facts["body_names"],
        "base": front.design.base,
        "root": front.design.root,
        "base_link": front.design.base_link,
        "nq": facts["nq"],
        "nv": facts["nv"],
        "gravity": list(front.design.gravity),
        "angles": given_angles(front.canonical, core.fixed.inputs),
        "target": front.design.target,
        "width": core.fixed.width,
        "style": front.design.style,
        "clock": front.design.clock,
        "limbs_in_turn": turns.count if turns and turns.what == "limbs" else 1,
        "joints_in_turn": bool(turns and turns.what == "joints"),
        "latency": plan.latency,
        "initiation_interval": plan.interval,
        "multipliers": {
            "hardware": plan.multipliers,
            "logic": sum(unit.style == "logic" for unit in made.multipliers),
        },
        "operations": facts["operations"],
        "rewrites": facts["rewrites"],
        "limits": facts["limits"],
        "fitted": chosen(front.design),
        "notes": filed_notes(front.design, (*front.notes, *core.notes)),
        "ports": core_ports(core, made.core),
        "formats": words,
        "axi": {
            kind: {
                "top": f"{made.top}_axi_{kind}",
                "tdata_in": shell.packet_in.width,
                "tdata_out": shell.packet_out.width,
                "beats_in": len(shell.packet_in.beats),
                "beats_out": len(shell.packet_out.beats),
                "clocks_per_task": shell.clocks_per_task(plan.interval, plan.takes_every),
            }
            for kind, shell in made.shells.items()
        },
        "regions": {region_name(r): {"fires": at} for r, at in plan.fire.items()},
        "fifos": [
            {
                "from": region_name(c.sender),
                "to": region_name(c.receiver),
                "words": len(c.words),
                "bits": c.width,
                "depth": c.depth,
                "capacity": capacity(c),
            }
            for c in plan.channels
        ],
        "files": {
            n: hashlib.sha256(t.encode("utf-8", "surrogateescape")).hexdigest()
            for n, t in files.items()
        },
    }


def core_ports(core: Core, hardware: Hardware) -> dict[str, Any]:
    """Of the hardware of a core: clock, reset, the fields of both streams, the flags."""
    words, flags = formats(core), hardware.flags
    given, found = (
        [{"name": n, "signed": True, **words[way][n]} for n in names]
        for way, names in (("input", hardware.inputs), ("output", hardware.outputs))
    )
    found += [{"name": f, "width": 1, "signed": False, "fraction": 0} for f in flags.values()]
    return {
        "clock": "clk",
        "reset": "rst",
        "start": START,
        "input": {"fields": given},
        "output": {"fields": found},
        "overflow": {"sticky": "overflow", "clear": "clear", "bits": list(flags)},
    }
