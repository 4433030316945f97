"""The design of a folder compiled again, as it was when the folder was generated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..compile.flow import front_end
from ..compile.front import Front
from ..compile.product import Product, compile_design
from ..compile.visits import with_visits
from ..graph.text import to_text
from ..system.files import read_regular
from .folder import Manifest, OutputError
from .names import DESIGN, GRAPH

LARGEST = 2**30  # bytes of a graph
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
            there = read_regular(place / name, LARGEST)
        except OSError as error:
            raise OutputError(f"{place / name}: {error.strerror}") from None
        if there != text.encode():
            raise _other(place)
    return product


def front_again(place: Path, entry: Manifest, progress: Progress = lambda _: None) -> Front:
    """The graph over real numbers of a program's folder; OutputError if this rbdgen makes one with
    other registers than the one in the folder, of which ``entry`` is the manifest."""
    front, _ = with_visits(front_end(str(place / DESIGN), progress))
    if register_numbers(front) != entry["facts"].get("parameters", []):
        raise _other(place)
    return front


def register_numbers(front: Front) -> list[dict[str, Any]]:
    """The registers of a program in real numbers, for its manifest: the values of its robot."""
    own = front.parameters.nominal if front.parameters else {}
    return [{"name": name, "real": real} for name, real in own.items()]


def _other(place: Path) -> OutputError:
    return OutputError(f"{place}: made by another version of rbdgen; generate it again")
