"""A design as hardware: Verilog, RTLIL, header, manifest and diagram."""

from __future__ import annotations

from dataclasses import replace

from ..draw.picture import picture
from ..graph.text import to_text
from ..rtl.emit import emit
from .accelerator import accelerator_files
from .folder import MARK, digests, sealed
from .header import c_header
from .made import Files, Made, sources_of
from .manifest import manifest
from .names import GRAPH, design_name

DIAGRAM = "pipeline.svg"


def verilog(made: Made) -> Files:
    """The files of an accelerator, or of a core of its own."""
    if made.design.accelerator:
        return accelerator_files(made.accelerated, made.progress)
    core = made.core
    front = core.front
    name = design_name(front.robot.name, front.design)
    made.progress("Verilog")
    emitted = emit(core.plan, name)
    files = dict(emitted.files)
    title = f"{front.robot.name}: {', '.join(front.design.functions)}"
    files[DIAGRAM] = picture(core.plan, title, front.canonical)
    files[GRAPH] = to_text(core.fixed)
    files |= sources_of(front)
    entry = manifest(core, emitted)
    files[f"{name}.h"] = c_header(entry.to_json())
    files[MARK] = sealed(replace(entry, files=digests(files)).to_json())
    return files
