"""An accelerator's folder as a module for LiteX, with DMA, and an example that LiteX simulates."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ..shell.task_registers import ADDRESS_WIDTH
from ..system.messages import Progress
from ..system.templates import render
from .folder import checked_accelerator, write_file
from .host_interface import packet_format
from .output_paths import check_place
from .packets import packets_of

FOLDER = "litex"
TASKS = 64  # of the example
NOTE = "simulated by LiteX 2024.12 in the tests; not run on a board by us"


def package_litex(
    folder: str | Path, progress: Progress = lambda _: None, trust: bool = False
) -> tuple[Path, list[str]]:
    """Write FOLDER/litex: ``NAME_litex.py``, a module with streams, registers, and DMA with CSRs;
    ``NAME_sim.py``, an example that simulates a SoC; ``NAME_packets.json``, its tasks and answers.

    Returns the folder and notes. OutputError for a folder that is no accelerator, or was changed,
    unless ``trust``.
    """
    place = Path(folder)
    needed = ("{name}.v", "{name}_axi_words.v")
    entry = checked_accelerator(place, trust, progress, needed, "modules for LiteX are made of")
    name, out = entry.name, place / FOLDER
    check_place(out / f"{name}_litex.py")
    out.mkdir(exist_ok=True)
    packets = packets_of(place, entry, TASKS)
    functions = packet_format(entry.tasks).functions
    facts = {
        "name": name,
        "cls": "".join(part.capitalize() for part in re.split("_+", name)),
        "short": "rbd",
        "description": f"{', '.join(entry.functions)} of {entry.robot}, in fixed point",
        "words_in": {code: own.words_in for code, own in sorted(functions.items())},
        "address": ADDRESS_WIDTH,
        "registers": hex(1 << ADDRESS_WIDTH),
    }
    files = {
        f"{name}_litex.py": render("package/litex.py.jinja", **facts),
        f"{name}_sim.py": render("package/litex_sim.py.jinja", **facts),
        f"{name}_packets.json": json.dumps({"tasks": packets.tasks, "answers": packets.answers}),
    }
    for file, text in files.items():
        write_file(out / file, text)
    return out, [NOTE]
