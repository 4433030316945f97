"""A design as hardware: Verilog, RTLIL, header, manifest, diagram and README."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..compile.core import Core
from ..compile.product import Product
from ..compile.scheduled import Accelerated
from ..design.manifest import AcceleratorManifest, CoreManifest
from ..design.naming import design_name
from ..draw import accelerator as stages
from ..draw.picture import picture
from ..graph.word import kind_of
from ..shell.emit import emit, emit_accelerator
from ..system.named_word import NamedWord
from ..system.templates import render
from .c_header import c_header
from .compilation import Files, Made, closed, graph_files, sources_of
from .design_file import ROBOT, design_text
from .manifest import accelerator_manifest, core_manifest, identity_of, shells_of

README = "README.md"


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


def picture_of(product: Product) -> str:
    """An SVG document."""
    robot, functions = product.front.robot.name, product.front.design.functions
    if isinstance(product, Core):
        return picture(product.plan, f"{robot}: {', '.join(functions)}", product.front.canonical)
    return stages.picture(product.accelerator, f"{robot}: accelerator")


@dataclass(frozen=True)
class Words:
    """Words of an array that follow each other, from bit ``low`` to ``high``.

    ``width``, ``fraction``: such as ``18``, or of words that differ ``12 to 18``.
    """

    name: str
    count: int
    width: str
    fraction: str
    low: int
    high: int


def words_of(fields: Sequence[NamedWord]) -> list[Words]:
    """The fields grouped by array, with the bits that each array takes."""
    found, low = [], 0
    for name, group in groupby(fields, key=lambda field: kind_of(field.name)):
        own = list(group)
        high = low + sum(field.width for field in own) - 1
        width, fraction = _span(f.width for f in own), _span(f.fraction for f in own)
        found.append(Words(name, len(own), width, fraction, low, high))
        low = high + 1
    return found


def _span(numbers: Iterable[int]) -> str:
    own = sorted(set(numbers))
    return str(own[0]) if len(own) == 1 else f"{own[0]} to {own[-1]}"


def design_readme(entry: CoreManifest | AcceleratorManifest, files: Iterable[str]) -> str:
    """The text; ``files``: the names of the folder's others."""
    functions = entry.tasks.functions.items()
    return render(
        "verilog/README.md.jinja",
        entry=entry,
        name=entry.name,
        core=isinstance(entry, CoreManifest),
        tasks=entry.tasks,
        graphs=sorted(own for own in files if own.startswith("graph")),
        given=words_of(entry.ports.input.fields),
        found=words_of(entry.ports.output.fields),
        functions={
            name: (words_of(own.inputs), words_of(own.outputs), own) for name, own in functions
        },
    )
