"""A robot's functions as a folder of Verilog, RTLIL, manifest and diagram."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..compile.flow import compile_core, front_end
from ..design.loading import load, refuse_unknown
from ..draw.picture import picture
from ..graph.text import to_text
from ..robot.xml_lines import read_bytes
from ..rtl.emit import emit
from .accelerator import generate_accelerator
from .folder import MARK, sealed, write_folder
from .manifest import manifest
from .names import DESIGN, ROBOT, design_file, design_name
from .places import check_design_place, default_place
from .results import Generated

Progress = Callable[[str], None]
DIAGRAM, GRAPH = "pipeline.svg", "graph.txt"


def generate(
    robot: str,
    output: str | Path | None = None,
    progress: Progress = lambda _: None,
    force: bool = False,
    **choices: Any,
) -> Generated:
    """Compile ``robot`` and write the design's folder; returns where it is.

    The folder (``build/NAME`` unless ``output`` says) stands for itself: it holds the robot and
    the design that it was made from. The same input gives the same bytes. A folder of another
    robot or of other choices is replaced only with ``force``, and none that rbdgen did not make:
    OutputError before any work.
    """
    refuse_unknown(choices, generate)
    design, loaded = load(robot, **choices)
    default = default_place(robot, loaded.name, design, choices)
    place = Path(output) if output is not None else default
    check_design_place(place, loaded.name, design, force)
    if design.accelerator:
        return Generated(generate_accelerator(robot, place, progress, choices))
    progress(f"reading {robot}")
    front = front_end(robot, progress, **choices)
    core = compile_core(front, progress)
    for note in (*front.notes, *core.notes):
        progress(f"note: {note}")
    name = design_name(front.robot.name, front.design)
    progress("Verilog")
    made = emit(core.plan, name)
    files = dict(made.files)
    title = f"{front.robot.name}: {', '.join(front.design.functions)}"
    files[DIAGRAM] = picture(core.plan, title, front.canonical)
    files[GRAPH] = to_text(core.fixed)
    files[ROBOT] = read_bytes(front.design.robot).decode("utf-8", "surrogateescape")
    files[DESIGN] = design_file(core.front.design, front.robot)
    files[MARK] = sealed(manifest(core, made, files).to_json())
    write_folder(place, files)
    return Generated(place)
