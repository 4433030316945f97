"""The design of a folder compiled again, as it was when the folder was generated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..compile.product import Product, compile_design
from ..graph.text import to_text
from .folder import OutputError
from .names import DESIGN, GRAPH

Progress = Callable[[str], None]


def graph_files(product: Product) -> dict[str, str]:
    """The graphs of the hardware as text: a core's, or one of each stage."""
    named = product.graphs.items()
    return {f"graph_{name}.txt" if name else GRAPH: to_text(graph) for name, graph in named}


def recompiled(place: Path, progress: Progress = lambda _: None) -> Product:
    """OutputError if this rbdgen makes another graph of the design than the one in the folder."""
    product = compile_design(str(place / DESIGN), progress)
    for name, text in graph_files(product).items():
        try:
            there = (place / name).read_bytes()
        except OSError as error:
            raise OutputError(f"{place / name}: {error.strerror}") from None
        if there != text.encode():
            raise OutputError(f"{place}: made by another version of rbdgen; generate it again")
    return product
