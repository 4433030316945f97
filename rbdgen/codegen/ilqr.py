"""Differential dynamic programming of a robot as one header of C++, whose input is q̈.

With q̈ as the input a step x₊ = A x + B q̈ has constant A and B, roll-outs are sums, and efforts are
a residual of the cost: τ = ID(q, q̇, q̈), whose gradients ∂τ/∂q, ∂τ/∂q̇ and M are all that is taken
of the dynamics. There is no M⁻¹ and no forward dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..graph.graph import Graph
from ..system.templates import render
from .cpp import Fused, angles, fused_products, limit_lines
from .interface import Array, ArrayInterface, Coordinates
from .real import identifier, in_parts
from .statement_order import chunks_of, computed

INPUTS = ("q", "qd", "qdd")
# Rows of what each kernel gives, of n coordinates; of gradients those that are not always zero.
SIZES = {"inverse": lambda n: n, "pose": lambda n: 12, "place": lambda n: 12 + 6 * n}
OTHERS = ("example.cpp", "CMakeLists.txt", "README.md")  # files, all of one name
BLOCKS = ("dtau_dq", "dtau_dqd", "M")  # of D, whose columns are those of q, q̇ and q̈


@dataclass(frozen=True)
class Traced:
    """Functions as a graph over real numbers, and where its numbers stand in arrays."""

    graph: Graph
    interface: ArrayInterface


@dataclass(frozen=True)
class ToolFrame:
    """A link's frame: its ``pose``, p and R, and its ``place``, J besides."""

    frame: str
    pose: Traced
    place: Traced


@dataclass(frozen=True)
class Field:
    """Numbers of a problem or of a plan: name, shape, and what they are."""

    name: str
    shape: tuple[int, ...]
    about: str

    @property
    def flat(self) -> tuple[int, ...]:
        """The shape in C++, where limits of all kinds follow each other."""
        return (4 * self.shape[1],) if self.name in ("lower", "upper") else ()

    @property
    def array(self) -> Array:
        """The same, as a manifest has it."""
        return Array(self.name, self.shape)


@dataclass(frozen=True)
class Kernel:
    """A graph's statements: ``inputs`` and ``outputs`` are rows, a state in each column."""

    name: str
    about: str
    parts: tuple[tuple[str, ...], ...]
    slots: int
    inputs: int
    outputs: int
    operations: int


@dataclass(frozen=True)
class Place:
    """A row and a column of D; of entries of M that stand twice, the other ones, else -1."""

    row: int
    column: int
    row_too: int = -1
    column_too: int = -1


@dataclass(frozen=True)
class Prediction:
    """The sources of a controller of ``knots`` steps: ``inverse``, τ of id; ``gradients``, of did
    and m; ``about``, the robot in words; ``tool``, a frame whose pose has a cost."""

    inverse: Traced
    gradients: Traced
    coordinates: Coordinates
    name: str
    about: Mapping[str, str]
    knots: int
    tool: ToolFrame | None = None


def ilqr(own: Prediction) -> tuple[dict[str, str], dict[str, Any]]:
    """Files of a controller, and facts of it. ValueError for a name that is no identifier, and for
    a constant that is not finite.
    """
    n, knots, tool, name = own.coordinates.nv, own.knots, own.tool, own.name
    problem, plan = fields(n, knots, tool is not None)
    slopes, places = _placed(own.gradients, n)
    kernels = [
        _kernel(
            "inverse",
            "tau",
            own.inverse,
            {name: at[0].at for name, at in own.inverse.interface.outputs.items()},
            n,
        ),
        _kernel(
            "gradients",
            "dtau/dq, dtau/dqd, M",
            slopes,
            {name: k for k, name in enumerate(slopes.graph.outputs)},
            n,
        ),
    ]
    if tool:
        kernels += [
            _kernel("pose", f"p and R of {tool.frame}", tool.pose, _rows_of(tool.pose, n), n),
            _kernel("place", "the same and its Jacobian", tool.place, _rows_of(tool.place, n), n),
        ]
    values: dict[str, Any] = {
        **own.about,
        "frame": tool.frame if tool else None,
        "name": identifier(name),
        "guard": name.upper(),
        "n": n,
        "knots": knots,
        "joints": [joint.name for joint in own.coordinates.joints],
        "problem": problem,
        "plan": plan,
        "limits": limit_lines(own.coordinates),
        "kernels": kernels,
        "places": places,
        "lanes": None,
        "lanes_in": "detail",
        "in_double": 0,
    }
    files = {
        f"{name}.hpp": render("ilqr/header.hpp.jinja", **values),
        f"{name}_python.cc": render("ilqr/python.cc.jinja", **values),
        **{file: render(f"ilqr/{file}.jinja", **values) for file in OTHERS},
    }
    facts = {
        "knots": knots,
        "operations": {each.name: each.operations for each in kernels},
        "problem": [field.array.to_json() for field in problem],
        "plan": [field.array.to_json() for field in plan],
    }
    return files, facts


def fields(n: int, knots: int, tool: bool = False) -> tuple[tuple[Field, ...], tuple[Field, ...]]:
    """The numbers of a problem, and those of a plan, of n joints: of the structures in C++."""
    states = knots + 1
    kinds = "of q, qd, qdd, tau"
    problem = [
        Field("step", (), "s from a knot to the next"),
        Field("aim", (states, 2 * n), "of x = (q, qd)"),
        Field("weight", (states, 2 * n), "of (x - aim)^2"),
        Field("hold", (knots, n), "of tau"),
        Field("effort", (n,), "weights of (tau - hold)^2"),
        Field("acceleration", (n,), "weights of qdd^2"),
        Field("lower", (4, n), f"limits {kinds}"),
        Field("upper", (4, n), f"limits {kinds}"),
        Field("stiffness", (4,), f"weights of what is beyond limits {kinds}; 0: none is kept"),
    ]
    if tool:
        problem += [
            Field("p", (states, 3), "aims of the tool's origin"),
            Field("R", (states, 9), "aims of its rotation matrix, row by row"),
            Field("p_weight", (states, 3), "weights along the base's axes"),
            Field("R_weight", (states,), "weights of 2 (1 - cos) of the turn to R"),
        ]
    plan = (
        Field("q", (states, n), "states"),
        Field("qd", (states, n), "states"),
        Field("qdd", (knots, n), "inputs"),
        Field("tau", (knots, n), "ID(q, qd, qdd)"),
        Field("K", (knots, n, 2 * n), "gains of qdd on x"),
        Field("excess", (states, 4 * n), "multipliers of limits by their stiffness"),
        Field("cost", (), "that of the problem, with limits"),
    )
    return tuple(problem), plan


def _placed(gradients: Traced, n: int) -> tuple[Traced, list[Place]]:
    """The graph of D's entries alone, and the place of each of its outputs."""
    outputs, places = {}, []
    for name, node in gradients.graph.outputs.items():
        entries = gradients.interface.outputs[name]
        if entries[0].array not in BLOCKS:
            continue
        outputs[name] = node
        found = []
        for entry in entries:
            row, column = divmod(entry.at, n)
            found += [row, n * BLOCKS.index(entry.array) + column]
        places.append(Place(*found))
    return replace(gradients, graph=Graph(gradients.graph.inputs, outputs)), places


def _kernel(name: str, about: str, own: Traced, outputs: Mapping[str, int], n: int) -> Kernel:
    """The kernel of a graph; its inputs are rows of q, q̇ and q̈."""
    graph, nodes = own.graph, computed(own.graph)
    entries = {name: own.interface.inputs[name] for name in graph.inputs}
    rows = {name: n * INPUTS.index(entry.array) + entry.at for name, entry in entries.items()}
    chunks = chunks_of(nodes)
    ahead = [rows[graph.inputs[k]] for k in angles(graph)]
    writer = partial(Fused, fused_products(graph, chunks, ()))
    lines = in_parts(graph, chunks, ahead, inputs=rows, outputs=outputs, part=writer)
    rows_out = len(outputs) if name == "gradients" else SIZES[name](n)
    return Kernel(name, about, lines.parts, lines.slots, 3 * n, rows_out, len(nodes))


def _rows_of(own: Traced, n: int) -> dict[str, int]:
    """The row of each output of a tool: p, R, J one after another."""
    first = {"p": 0, "R": 3, "J": 12}
    entries = {name: places[0] for name, places in own.interface.outputs.items()}
    return {name: first[entry.array] + entry.at for name, entry in entries.items()}
