"""A robot's functions as a folder of Verilog, RTLIL, manifest and diagram."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from .. import __version__
from ..compiler import Core, compile_core, front_end
from ..graph.text import to_text
from ..robot.choices import CHECKS
from ..robot.design import Design
from ..robot.xml_lines import read_bytes
from ..rtl.channel import capacity
from ..rtl.emit import Emitted, emit
from ..schedule.diagram import diagram
from ..schedule.fold import Fold
from ..schedule.limbs import LimbPlan
from ..schedule.occupancy import occupancy
from ..schedule.pipelined import region_name
from ..schedule.timeline import timeline
from .folder import MARK, sealed, write_folder
from .info import formats, robot_facts

Progress = Callable[[str], None]
ROBOT, DESIGN, DIAGRAM, GRAPH = "robot.urdf", "design.yaml", "pipeline.svg", "graph.txt"


def generate(
    robot: str,
    output: str | Path | None = None,
    progress: Progress = lambda _: None,
    **choices: Any,
) -> Path:
    """Compile ``robot`` and write the design's folder; returns where it is.

    The folder (``build/NAME`` unless ``output`` says) stands for itself: it holds the robot and
    the design that it was made from. The same input gives the same bytes.
    """
    progress(f"reading {robot}")
    front = front_end(robot, **choices)
    core = compile_core(front, progress)
    name = design_name(front.robot.name, front.design)
    progress("Verilog")
    made = emit(core.plan, name)
    files = dict(made.files)
    joints = front.canonical.joints
    title = f"{front.robot.name}: {', '.join(front.design.functions)}"
    plan = core.plan
    if isinstance(plan, LimbPlan):  # the picture is the first one's
        title += f", one of {len(plan.limbs)} limbs"
        joints = joints[: 1 + max(joint for _, joint in plan.fire)]
        plan = plan.template
    if isinstance(plan, Fold):
        alone = plan.interval == 1 or plan.chain is not None
        files[DIAGRAM] = (timeline if alone else occupancy)(plan, title)
    else:
        names, parents = [j.name for j in joints], [j.parent for j in joints]
        files[DIAGRAM] = diagram(plan, names, parents, title)
    files[GRAPH] = to_text(core.fixed)
    files[ROBOT] = read_bytes(front.design.robot).decode("utf-8", "surrogateescape")
    files[DESIGN] = design_text(front.design)
    files[MARK] = sealed(manifest(core, made, files))
    place = Path(output) if output is not None else Path("build") / name
    write_folder(place, files)
    return place


def design_name(robot: str, design: Design) -> str:
    """A module name for the robot and its functions: ``iiwa14_id``, ``iiwa14_did_m``."""
    name = re.sub(r"\W+", "_", robot, flags=re.ASCII).strip("_").lower() or "robot"
    return ("" if name[0].isalpha() else "r") + f"{name}_{'_'.join(design.functions)}"


def design_text(design: Design) -> str:
    """The design as YAML, beside its robot: compiling it gives the same hardware."""
    limits: dict[str, Any] = _said(vars(design.limits))
    joints = {name: _said(vars(own)) for name, own in design.joint_limits.items()}
    if joints:
        limits["joints"] = joints
    entries = {"robot": ROBOT, **_said({key: getattr(design, key) for key in CHECKS})}
    if limits:
        entries["limits"] = limits
    return yaml.safe_dump(entries, sort_keys=False)


def _said(values: dict[str, Any]) -> dict[str, Any]:
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
    return {k: v for k, v in plain.items() if v is not None}


def manifest(core: Core, made: Emitted, files: dict[str, str]) -> dict[str, Any]:
    """What a host or a tool must know of the design."""
    plan, front = core.plan, core.front
    facts = robot_facts(front)
    words = formats(core)
    flags = made.core.flags
    canonical = front.canonical
    return {
        "generator": f"rbdgen {__version__}",
        "name": made.top,
        "robot": facts["robot"],
        "functions": list(front.design.functions),
        "joint_names": facts["joint_names"],
        "body_names": facts["body_names"],
        "base": front.design.base,
        "root": front.design.root,
        "nq": facts["nq"],
        "nv": facts["nv"],
        "gravity": list(front.design.gravity),
        "angles": {
            f"sin[{i}], cos[{i}]": {
                "joint": joint.name,
                "coordinate": canonical.v_slices[i].start,
                "multiplier": joint.mimic.multiplier if joint.mimic else 1.0,
                "offset": joint.offset + (joint.mimic.offset if joint.mimic else 0.0),
            }
            for i, joint in enumerate(canonical.joints)
            if f"sin[{i}]" in core.fixed.inputs
        },
        "target": front.design.target,
        "width": core.fixed.width,
        "style": front.design.style,
        "clock": front.design.clock,
        "limbs_in_turn": len(plan.limbs) if isinstance(plan, LimbPlan) else 1,
        "latency": plan.latency,
        "initiation_interval": plan.interval,
        "multipliers": {
            "hardware": plan.multipliers,
            "logic": sum(unit.style == "logic" for unit in made.multipliers),
        },
        "operations": facts["operations"],
        "rewrites": facts["rewrites"],
        "ports": {
            "clock": "clk",
            "reset": "rst",
            "input": {
                "fields": [
                    {"name": n, "signed": True, **words["input"][n]} for n in made.core.inputs
                ]
            },
            "output": {
                "fields": [
                    {"name": n, "signed": True, **words["output"][n]} for n in made.core.outputs
                ]
                + [{"name": f, "width": 1, "signed": False, "fraction": 0} for f in flags.values()]
            },
            "overflow": {"sticky": "overflow", "clear": "clear", "bits": list(flags)},
        },
        "formats": words,
        "axi": {
            kind: {
                "top": f"{made.top}_axi_{kind}",
                "tdata_in": shell.packet_in.width,
                "tdata_out": shell.packet_out.width,
                "beats_in": len(shell.packet_in.beats),
                "beats_out": len(shell.packet_out.beats),
                "clocks_per_task": shell.clocks_per_task(plan.interval),
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
