"""A design as hardware: Verilog, RTLIL, header, manifest and diagram."""

from __future__ import annotations

from ..compile.core import Core
from ..compile.scheduled import Accelerated
from ..design.manifest import AcceleratorManifest, CoreManifest
from ..design.naming import design_name
from ..rtl.emit import emit, emit_accelerator
from .accelerator import accelerator_manifest, identity_of, shells_of
from .compilation import Files, Made, closed, graph_files, sources_of
from .design_readme import README, design_readme
from .header import c_header
from .manifest import core_manifest
from .names import ROBOT, design_text
from .pictures import picture_of


def verilog(made: Made) -> Files:
    """The files of a design's folder."""
    product = made.product
    front = product.front
    name, sources = design_name(front.robot.name, front.design), sources_of(front)
    made.progress("Verilog")
    entry: CoreManifest | AcceleratorManifest
    if isinstance(product, Core):
        files, entry = _core(product, name)
    else:
        files, entry = _accelerator(product, name, sources[ROBOT])
    files = files | graph_files(product) | sources
    files[f"{name}.h"] = c_header(entry.to_json())
    files[README] = design_readme(entry, files)
    return closed(files, entry)


def _core(core: Core, name: str) -> tuple[Files, CoreManifest]:
    """Hardware and diagram of a core, and its manifest."""
    emitted = emit(core.plan, name)
    files = emitted.files | {CoreManifest.PICTURE: picture_of(core)}
    return files, core_manifest(core, emitted)


def _accelerator(made: Accelerated, name: str, robot: str) -> tuple[Files, AcceleratorManifest]:
    """The same of an accelerator, whose shells can tell the ``robot``'s file and the design."""
    identity = identity_of(robot, design_text(made.design))
    emitted = emit_accelerator(
        made.accelerator, name, lambda core: shells_of(made, core, name, identity)
    )
    files = emitted.files | {AcceleratorManifest.PICTURE: picture_of(made)}
    return files, accelerator_manifest(made, emitted, identity)
