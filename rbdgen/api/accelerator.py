"""An accelerator as a folder: core, shells, header, manifest, picture."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import __version__
from ..compile.accelerate import Accelerated, accelerate
from ..draw.accelerator import picture
from ..graph.text import to_text
from ..graph.word import spell
from ..robot.xml_lines import read_bytes
from ..rtl.accelerator import AcceleratorCore
from ..rtl.emit import CoreInstance, core_files, shell_files
from ..rtl.task_packets import FORMAT_VERSION, Function
from ..rtl.task_registers import register_table
from ..rtl.task_shell import TaskShell
from ..tasks.routes import CODES
from ..tasks.stages import TAG
from .facts import accelerator_facts, chosen, given_angles, robot_facts
from .folder import MARK, sealed, write_folder
from .manifest import START
from .names import DESIGN, ROBOT, design_file, design_text, filed_notes, module_name
from .places import no_defaults

Progress = Callable[[str], None]
PICTURE = "accelerator.svg"
WIDE = 16  # words of a beat


def generate_accelerator(
    robot: str, folder: Path, progress: Progress, choices: Mapping[str, Any]
) -> Path:
    """Compile the accelerator of ``robot`` and write its ``folder``, as `generate` does."""
    from .header import c_header  # the driver reads what is written here

    made = accelerate(robot, progress, **choices)
    for note in (*made.front.notes, *made.notes):
        progress(f"note: {note}")
    name = module_name(made.front.robot.name, "accelerator")
    progress("Verilog")
    core = AcceleratorCore(made.accelerator, name)
    files = core_files(core, name)
    robot_text = read_bytes(made.design.robot).decode("utf-8", "surrogateescape")
    identity = identity_of(robot_text, design_text(made.design))
    shells = shells_of(made, core, name, identity)
    for kind, shell in shells.items():
        files |= shell_files(shell, f"{name}_axi_{kind}")
    for own, stage in made.accelerator.stages.items():
        files[f"graph_{own}.txt"] = to_text(stage.fixed)
    files[PICTURE] = picture(made.accelerator, f"{made.front.robot.name}: accelerator")
    files[ROBOT] = robot_text
    files[DESIGN] = design_file(made.design, made.front.robot)
    manifest = accelerator_manifest(made, core, name, files)
    manifest["axi"] = {kind: _about_shell(made, shell) for kind, shell in shells.items()}
    manifest["packet_format"] = FORMAT_VERSION
    manifest["identity"] = f"{identity:016x}"
    files[f"{name}.h"] = c_header(manifest)
    manifest["files"][f"{name}.h"] = _hash(files[f"{name}.h"])
    files[MARK] = sealed(manifest)
    write_folder(folder, files)
    return folder


def accelerator_manifest(
    made: Accelerated, core: AcceleratorCore, name: str, files: Mapping[str, str]
) -> dict[str, Any]:
    """What a host or a tool must know of an accelerator."""
    facts, accelerator = robot_facts(made.front), made.accelerator
    head = [_field("function", 4), _field("tag", TAG)]
    words = [_field(word, width, True) for word, width in accelerator.words.items()]
    results = [_field(spell("w", k), core.result_width, True) for k in range(core.result_words)]
    return {
        "generator": f"rbdgen {__version__}",
        "name": name,
        "choices": no_defaults(made.front.design),
        **{key: facts[key] for key in ("robot", "functions", "joint_names", "body_names")},
        **{key: facts[key] for key in ("base", "root", "base_link", "nq", "nv")},
        "gravity": list(made.design.gravity),
        "angles": given_angles(made.front.canonical, accelerator.words),
        "target": made.design.target,
        "width": made.design.width,
        "multipliers": {
            "hardware": accelerator.multipliers,
            "logic": sum(unit.style == "logic" for unit in core.multipliers),
        },
        "ports": {
            "clock": "clk",
            "reset": "rst",
            "start": START,
            "input": {"fields": head + words},
            "output": {"fields": [*head, _field("overflow", 1), *results]},
        },
        "limits": facts["limits"],
        "fitted": chosen(made.design),
        "notes": filed_notes(made.design, (*made.front.notes, *made.notes)),
        "accelerator": accelerator_facts(made),
        "files": {name: _hash(text) for name, text in files.items()},
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def identity_of(*texts: str) -> int:
    """64 bits that tell robots and designs apart, in the registers of the shell."""
    return int(_hash("\0".join(texts))[:16], 16)


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


def _about_shell(made: Accelerated, shell: TaskShell) -> dict[str, Any]:
    accelerator = made.accelerator
    return {
        "lanes": shell.packets.lanes,
        "clocks_per_task": {
            f: shell.clocks_per_task(CODES[f], accelerator.interval(f))
            for f in accelerator.functions
        },
        "registers": [
            {
                "name": register.name,
                "offset": register.offset,
                "meaning": register.meaning,
                "bits": [{"name": bit.name, "position": bit.position} for bit in register.bits],
            }
            for register in register_table(shell.packets.functions)
        ],
    }


def _field(name: str, width: int, signed: bool = False) -> dict[str, Any]:
    return {"name": name, "width": width, "signed": signed, "fraction": 0}
