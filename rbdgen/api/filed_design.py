"""A generated folder's design read back: its robot, and the integer graphs of its hardware."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..compile.front import of_bodies
from ..compile.product import Product
from ..compile.specification import DesignedRobot, Specification
from ..design.arrays import given_coordinates
from ..design.design import canonical_of
from ..design.facts import TaskFacts
from ..design.loading import load
from ..design.manifest import HardwareManifest
from ..design.target import find_target
from ..graph.fixed import FixedGraph, Flagged, Format
from ..graph.text import TextError, fixed_from_text, is_whole
from ..schedule.partition import Piece
from ..system.quoting import Progress
from ..tasks.stage import Stage, of_limbs
from ..tasks.stages import Accelerator
from .compilation import recompiled
from .design_file import DESIGN, graph_file
from .folder import ANEW, OutputError, text_of, unlisted

GRAPHS = re.compile(r"graph(_(?P<stage>\w+))?\.txt")
Graphs = dict[str, tuple[FixedGraph, Flagged]]


def filed_design(
    place: Path, entry: HardwareManifest, progress: Progress = lambda _: None
) -> Specification:
    """The design in the folder ``place``, whose manifest is ``entry``, as its files say it.

    Nothing is compiled, but for folders of version 0.1. OutputError for a graph that is none.
    """
    graphs = filed_graphs(place, entry.files)
    if graphs is None:
        return compiled_again(place, progress)
    progress(f"reading {place}")
    return specified(place, entry.tasks, graphs)


def specified(place: Path, tasks: TaskFacts, graphs: Graphs) -> Specification:
    """The design in a folder, of these ``tasks`` and `filed_graphs`; OutputError where one is not
    listed."""
    front, own = filed_robot(place), Graphs()
    for stage in tasks.stages:
        name = stage if tasks.slots else ""
        if name not in graphs:
            raise unlisted(place, graph_file(name))
        own[stage] = graphs[name]
    given = given_coordinates(front.design, front.robot)
    return Specification(front, _accelerator(tasks, own, given))


def filed_graphs(place: Path, files: Iterable[str]) -> Graphs | None:
    """The graphs in fixed point among the ``files`` of a folder, by stage; a core's has no name.

    None for those of version 0.1, which do not say all. OutputError for a text that is no graph.
    """
    found: Graphs = {}
    for name in files:
        if match := GRAPHS.fullmatch(name):
            text = text_of(place, name)
            if not is_whole(text):
                return None
            try:
                found[match["stage"] or ""] = fixed_from_text(text)
            except TextError as error:
                raise OutputError(f"{place / name}: {error}; {ANEW}") from None
    return found


def compiled_again(place: Path, progress: Progress) -> Product:
    """The design of a folder of version 0.1, with a note; errors as those of `recompiled`."""
    progress(f"note: {place}: made by an older rbdgen, so its design is compiled again")
    return recompiled(place, progress)


def filed_robot(place: Path) -> DesignedRobot:
    """The design and the robot in a folder; RobotError."""
    design, robot = load(place / DESIGN)
    canonical = canonical_of(design, of_bodies(design))(robot)
    return DesignedRobot(design, find_target(design.target), robot, canonical)


def _accelerator(tasks: TaskFacts, graphs: Graphs, given: int) -> Accelerator:
    """The stages of these ``graphs``; ``given``: entries of v that are of a base whose motion is
    given."""
    pieces = {
        name: Piece(fixed, tasks.stages[name].reads or {}) for name, (fixed, _) in graphs.items()
    }
    limbs = of_limbs(pieces) if tasks.slots else {}
    stages = {
        name: Stage(name, piece, None, given, limbs, tasks.stages[name], graphs[name][1])
        for name, piece in pieces.items()
    }
    inputs = {own.name: Format(own.width, own.fraction) for own in tasks.inputs or ()}
    if not tasks.slots:
        ((fixed, _),) = graphs.values()
        inputs = dict(fixed.inputs)
    results = {
        name: tuple(own.name for own in function.outputs)
        for name, function in tasks.functions.items()
    }
    in_order = tasks.order == "issued"
    return Accelerator(tuple(results), stages, results, inputs, tasks.slots, in_order)
