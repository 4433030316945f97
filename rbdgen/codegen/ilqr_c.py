"""The controller of `codegen.ilqr` in C99, one state at a time, in double or in float."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..graph.graph import Graph
from ..system.templates import render
from .c_file import DoublePart, FloatPart, split_functions
from .cpp import limit_lines
from .ilqr import BLOCKS, INPUTS, Field, Prediction, Traced, fields
from .interface import ArrayEntry
from .real import identifier, in_parts
from .statement_order import chunks_of, computed

BYTES = {"double": 8, "float": 4}
# Of a search: the part of the cost below which nothing is gained, and how well limits are kept.
TOLERANCE = {"double": ("1e-9", "1e-4"), "float": ("1e-5", "1e-3")}


@dataclass(frozen=True)
class CKernel:
    """A function of one state: the ``texts`` of those that it calls, and its own ``lines``.

    ``slots``: numbers that they pass on; ``unread``: arguments that none reads.
    """

    name: str
    about: str
    arguments: str
    texts: Sequence[str]
    lines: Sequence[str]
    unread: Sequence[str]
    slots: int
    operations: int


def ilqr_c(made: Prediction, real: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Files of a controller, and facts of it, as `ilqr`; ``real``: the type of all numbers, double
    or float."""
    n, knots, tool, name = made.coordinates.nv, made.knots, made.tool, made.name
    problem, plan = fields(n, knots, tool is not None)
    own = _own(n, knots)
    row = 3 * n + 1

    def place(entry: ArrayEntry) -> ArrayEntry:
        """Where an entry of a gradient is in rows of dτ by q, q̇, nothing and q̈."""
        j, k = divmod(entry.at, n)
        block = BLOCKS.index(entry.array)
        return ArrayEntry("D", j * row + block * n + (block == BLOCKS.index("M")) + k)

    of_gradients = {
        own: [
            place(entry) for entry in made.gradients.interface.outputs[own] if entry.array in BLOCKS
        ]
        for own in made.gradients.graph.outputs
    }
    kernels = [
        _kernel("inverse", "tau", made.inverse, INPUTS, made.inverse.interface.outputs, real),
        _kernel("gradients", "dtau/dq, dtau/dqd, M", made.gradients, INPUTS, of_gradients, real),
    ]
    if tool:
        for called, said, traced in (
            ("pose", f"p and R of {tool.frame}", tool.pose),
            ("place", "the same and its Jacobian, of zeros where it stands", tool.place),
        ):
            kernels.append(_kernel(called, said, traced, ("q",), traced.interface.outputs, real))
    numbers = sum(math.prod(field.shape) for field in (*problem, *plan, *own))
    size = BYTES[real] * (numbers + 1)  # and a flag
    tolerance, slack = TOLERANCE[real]
    values: dict[str, Any] = {
        **made.about,
        "frame": tool.frame if tool else None,
        "name": identifier(name),
        "n": n,
        "knots": knots,
        "joints": [joint.name for joint in made.coordinates.joints],
        "problem": problem,
        "plan": plan,
        "own": own,
        "limits": limit_lines(made.coordinates, "R(INFINITY)", "R({!r})".format),
        "kernels": kernels,
        "real": real,
        "bytes": size,
        "kilobytes": round(size / 1000),
        "tolerance": tolerance,
        "slack": slack,
    }
    files = {
        f"{name}.h": render("ilqr_c/header.h.jinja", **values),
        f"{name}.c": render("ilqr_c/source.c.jinja", **values),
        "example.c": render("ilqr_c/example.c.jinja", **values),
        "README.md": render("ilqr_c/README.md.jinja", **values),
        "CMakeLists.txt": render(
            "c/CMakeLists.txt.jinja", name=name, headers=[f"{name}.h"], tests={name: []}, math=True
        ),
    }
    facts = {
        "real": real,
        "knots": knots,
        "bytes": size,
        "operations": {own.name: own.operations for own in kernels},
        "problem": [own.array.to_json() for own in problem],
        "plan": [own.array.to_json() for own in plan],
    }
    return files, facts


def _own(n: int, knots: int) -> tuple[Field, ...]:
    """The solver's own numbers: a roll-out, and rows by (q, q̇, 1) and by (q, q̇, 1, u)."""
    state = 2 * n + 1
    return (
        Field("q", (knots + 1, n), "a roll-out"),
        Field("qd", (knots + 1, n), ""),
        Field("qdd", (knots, n), ""),
        Field("tau", (knots, n), ""),
        Field("gains", (knots, n, state), "of u = step qdd on (q, qd, 1)"),
        Field("value", (2 * n, state), "of a state at a knot, with its slope"),
        Field("pivots", (n, state + n), "of the elimination"),
        Field("scaled", (n, state + n), ""),
        Field("weighted", (n, state + n), ""),
    )


def _kernel(
    name: str,
    about: str,
    own: Traced,
    takes: Sequence[str],
    outputs: Mapping[str, Sequence[ArrayEntry]],
    real: str,
) -> CKernel:
    """The kernel of a graph, or of those of its outputs that have a place."""
    whole = own.graph
    graph = Graph(whole.inputs, {own: node for own, node in whole.outputs.items() if outputs[own]})
    nodes = computed(graph)
    entries = [own.interface.inputs[name] for name in graph.inputs]
    gives = [list(outputs[name]) for name in graph.outputs]
    writer = partial(DoublePart if real == "double" else FloatPart, entries, gives)
    lines = in_parts(graph, chunks_of(nodes), part=writer)
    arrays = dict.fromkeys(takes, "const real *")
    written = dict.fromkeys(entry.array for given in gives for entry in given)
    arrays |= dict.fromkeys(written, "real *")
    texts, calls = split_functions(lines.parts, arrays, name, "real")
    read = {entry.array for entry in entries} | {*written}
    return CKernel(
        name,
        about,
        ", ".join(f"{kind}{array}" for array, kind in arrays.items()),
        texts,
        calls,
        [array for array in arrays if array not in read],
        lines.slots,
        len(nodes),
    )
