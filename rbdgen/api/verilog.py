"""A design as hardware: Verilog, RTLIL, header, manifest, diagram and README."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from ..compile.product import Product
from ..design.manifest import HardwareManifest
from ..design.naming import design_name
from ..draw import accelerator as stages
from ..draw.picture import picture
from ..graph.word import kind_of
from ..shell.emit import emit
from ..system.named_word import NamedWord
from ..system.templates import render
from .c_header import header_of
from .compilation import Compilation, Files, closed, graph_files, sources_of
from .design_file import ROBOT, design_text
from .manifest import identity_of, manifest_of, shells_of

README = "README.md"


def verilog(made: Compilation) -> Files:
    """The files of a design's folder."""
    product = made.product
    front = product.front
    name, sources = design_name(front.robot.name, front.design), sources_of(front)
    made.progress("Verilog")
    identity = identity_of(sources[ROBOT], design_text(product.design))
    shells = partial(shells_of, made=product, identity=identity)
    emitted = emit(product.accelerator, name, shells)
    entry = manifest_of(product, emitted, identity)
    files = emitted.files | {entry.picture: picture_of(product)} | graph_files(product) | sources
    files[f"{name}.h"] = header_of(entry)
    files[README] = design_readme(entry, files)
    return closed(files, entry)


def picture_of(product: Product) -> str:
    """An SVG document."""
    robot, functions = product.front.robot.name, product.front.design.functions
    if product.is_core:
        return picture(product.plan, f"{robot}: {', '.join(functions)}", product.front.canonical)
    return stages.picture(product.accelerator, f"{robot}: accelerator")


@dataclass(frozen=True)
class WordSpan:
    """Words of an array that follow each other, from bit ``low`` to ``high``.

    ``width``, ``fraction``: such as ``18``, or of words that differ ``12 to 18``.
    """

    name: str
    count: int
    width: str
    fraction: str
    low: int
    high: int


def words_of(fields: Sequence[NamedWord]) -> list[WordSpan]:
    """The fields grouped by array, with the bits that each array takes."""
    found, low = [], 0
    for name, group in groupby(fields, key=lambda field: kind_of(field.name)):
        own = list(group)
        high = low + sum(field.width for field in own) - 1
        width, fraction = _span(f.width for f in own), _span(f.fraction for f in own)
        found.append(WordSpan(name, len(own), width, fraction, low, high))
        low = high + 1
    return found


def _span(numbers: Iterable[int]) -> str:
    own = sorted(set(numbers))
    return str(own[0]) if len(own) == 1 else f"{own[0]} to {own[-1]}"


def design_readme(entry: HardwareManifest, files: Iterable[str]) -> str:
    """The text; ``files``: the names of the folder's others."""
    functions = entry.tasks.functions.items()
    return render(
        "verilog/README.md.jinja",
        entry=entry,
        name=entry.name,
        core=entry.is_core,
        tasks=entry.tasks,
        graphs=sorted(own for own in files if own.startswith("graph")),
        given=words_of(entry.ports.input.fields),
        found=words_of(entry.ports.output.fields),
        functions={
            name: (words_of(own.inputs), words_of(own.outputs), own) for name, own in functions
        },
    )
