"""A graph over real numbers as C++ for many states at once, in double and float."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.visits import Program
from ..graph.word import SYMMETRIC
from ..system.templates import render
from .interface import Array, ArrayEntry, ArrayInterface, Coordinates, rows
from .lanes import lanes
from .loops import loops
from .real import Part, Straight, flops_of, identifier, in_parts
from .solvers import casadi, crocoddyl, said
from .statement_order import (
    LONGEST,
    PART,
    chunks_of,
    columns,
    computed,
    depth_first,
    joint_by_joint,
    slots_of,
)

# A file each: its name, processors, bytes of a register, what compilers call what it needs.
ISAS = (
    ("avx512", "x86-64 with AVX-512", 64, "avx512f,avx512dq,avx512vl,avx2,fma"),
    ("avx2", "x86-64 with AVX2 and FMA", 32, "avx2,fma"),
    ("base", "any processor (SSE2, NEON)", 16, ""),
)
COLUMNS = 96  # of tables
LARGE = 16_000  # nodes, whose code and values are more than the caches next to a core hold


def cpp(
    graph: Graph,
    interface: ArrayInterface,
    name: str,
    about: Mapping[str, str],
    longest: int = LONGEST,
    part: int = PART,
    large: int = LARGE,
    program: Program | None = None,
    in_double: Collection[Node] = (),
    joints: Sequence[str] = (),
    coordinates: Coordinates | None = None,
    alone: Sequence[Program] = (),
) -> tuple[dict[str, str], dict[str, Any]]:
    """Files of a library whose functions have ``name``, and facts of it.

    ``NAME.h`` says what there is to call in C, and for ``coordinates`` of a robot ``NAME.hpp`` in
    C++. ``about``: robot and functions, in words. Graphs of more than ``longest`` nodes are split
    into functions of ``part``, and gradients computed joint by joint if functions hand on less
    then. Of those of more than ``large`` what matrices have is computed column by column.
    ``program``: visits that compute the graph, written as loops in its place. ``in_double``: nodes
    that the functions of float compute in double; loops
    have none. ``joints``: names in the order of the robot's coordinates, for solvers' models of it.
    ``alone``: programs that compute the graph; one of them computes a state alone, if lanes save
    enough (``lanes``).
    ValueError for a name that is no identifier, and for a constant that is not finite.
    """
    looped = loops(program, graph) if program else None
    nodes = computed(graph)
    is_large = looped is None and len(nodes) > max(longest, large)
    if is_large:
        nodes = depth_first(nodes, columns(graph, interface))
    elif len(nodes) > longest and not looped:
        nodes = _handing_on_less(nodes, joint_by_joint(graph, nodes, interface), part)
    ahead = [] if looped else angles(graph)
    if looped:
        lines = looped.straight
    else:
        chunks = chunks_of(nodes, longest, part)
        writer = partial(Fused, fused_products(graph, chunks, in_double))
        lines = in_parts(graph, chunks, ahead, in_double, part=writer)
    slots = lines.slots + 2 * lines.slots_double
    # a block's inputs and outputs, one row of each besides, and where all of it is
    block_bytes = 64 * (slots + len(graph.inputs) + len(graph.outputs) + 4)
    values: dict[str, object] = {
        **about,
        "name": identifier(name),
        "guard": name.upper(),
        "inputs": graph.inputs,
        "outputs": list(graph.outputs),
        "takes": interface.takes,
        "gives": interface.gives,
        **rows(interface),
    }
    facts: dict[str, Any] = {
        "code": "loops" if looped else "inlined",
        "nodes": looped.operations if looped else len(nodes),
        "parts": len(lines.parts),
        "workspace_bytes": 64 * slots,
        "stack_bytes": block_bytes,
        "flops": looped.flops if looped else flops_of(graph.nodes),
    }
    values |= facts | {"divides": lines.divides, "isas": ISAS, "calls": _calls(name)}
    beside = None if looped else lanes(alone, graph, interface, ahead)
    values |= {
        "loops": looped,
        "angle_input": ahead,
        "lanes": beside,
        "alone": None,
        "lanes_in": "",
    }
    values |= {
        "in_double": lines.in_double,
        "slots": lines.slots,
        "slots_double": lines.slots_double,
    }
    if beside:
        facts["alone"] = values["alone"] = beside.facts.to_json()
    if looped:
        facts |= looped.facts.to_json()
    values |= {"coordinates": coordinates, "symmetric": SYMMETRIC}
    values["limits"] = limit_lines(coordinates) if coordinates else {}
    models = crocoddyl(interface, name, joints, about) | casadi(interface, name, about)
    values["models"] = {file: said(file) for file in models}
    headers = [f"{name}.h", *([f"{name}.hpp"] if coordinates else [])]
    values["headers"] = [*headers, *(file for file in models if file.endswith(".hpp"))]
    files = models | {
        f"{name}.h": render("cpp/header.h.jinja", **values),
        f"{name}_internal.h": render("cpp/internal.h.jinja", **values),
        f"{name}.cpp": render("cpp/entries.cpp.jinja", **values),
        f"{name}_lanes.inc": render("cpp/lanes.inc.jinja", **values),
        f"{name}_kernel.inc": _kernel(graph, interface, lines, ahead, values),
        f"{name}_states.inc": render("cpp/states.inc.jinja", **values),
        f"{name}_python.cc": render("cpp/python.cc.jinja", **values),
        f"{name}_xla.cc": render("cpp/xla.cc.jinja", **values),
        "example.c": render("cpp/example.c.jinja", **values),
        "CMakeLists.txt": render("cpp/CMakeLists.txt.jinja", **values),
        "README.md": render("cpp/README.md.jinja", **values),
    }
    if coordinates:
        files[f"{name}.hpp"] = render("cpp/header.hpp.jinja", **values)
    for isa, what, size, features in ISAS:
        files[f"{name}_{isa}.cpp"] = render(
            "cpp/processor.cpp.jinja", isa=isa, what=what, bytes=size, features=features, **values
        )
    return files, facts


def angles(graph: Graph) -> list[int]:
    """The inputs, in radians, whose sine or cosine the graph has."""
    inputs = {name: k for k, name in enumerate(graph.inputs)}
    found = {
        inputs[node.args[0].name]
        for node in graph.nodes
        if node.op in (Op.SIN, Op.COS) and node.args[0].op is Op.INPUT and node.value == math.tau
    }
    return sorted(found)


class Fused(Part):
    """A function in which some products are parts of sums: clang fuses none across statements."""

    def __init__(self, fused: Collection[Node], *given: Any) -> None:
        super().__init__(*given)
        self._fused = fused

    def let(self, node: Node, name: str, value: str) -> str:
        """State a value; a fused product becomes an expression in the sum that reads it."""
        if node not in self._fused:
            return super().let(node, name, value)
        self._names[node] = f"({value})"
        return self._names[node]


def fused_products(
    graph: Graph, chunks: Iterable[Iterable[Node]], in_double: Collection[Node]
) -> set[Node]:
    """The products whose only reader is a sum of the same precision in the same chunk."""
    home = {node: k for k, chunk in enumerate(chunks) for node in chunk}
    found = set()
    for node, users in graph.users.items():
        if node.op in (Op.MUL, Op.MULC) and len(users) == 1 and users[0].op in (Op.ADD, Op.SUB):
            same = (node in in_double) == (users[0] in in_double)
            if same and home[node] == home[users[0]]:
                found.add(node)
    return found.difference(graph.outputs.values())


def _handing_on_less(nodes: list[Node], other: list[Node], part: int) -> list[Node]:
    """The other order if functions of ``part`` hand on a tenth fewer numbers in it."""
    of_nodes, of_other = (slots_of(chunks_of(own, 0, part))[1] for own in (nodes, other))
    return other if of_other < 0.9 * of_nodes else nodes


def _calls(name: str) -> dict[str, str]:
    """The README's text on each function."""
    return {
        f"{name}(n, …)": "n states in rows, as C and NumPy have arrays. Squares of them are turned "
        "in registers into blocks and back; one state is computed alone.",
        f"{name}_threads(threads, n, …)": "the same by up to so many threads, as many as a "
        "share of the states is worth starting one for; 0: by as many as there are CPUs.",
        f"{name}_blocks(blocks, in, out)": "blocks of 8 states (float: 16), whose scalars lie side "
        "by side, 64 bytes for each number; for who can keep states so.",
    }


def _kernel(
    graph: Graph,
    interface: ArrayInterface,
    lines: Straight,
    ahead: list[int],
    values: Mapping[str, object],
) -> str:
    """The kernel's text: tables of where inputs and outputs lie, and the statements."""
    inputs = [interface.inputs[name] for name in graph.inputs]
    outputs = [interface.outputs[name] for name in graph.outputs]
    given = {(entry.array, entry.at) for own in outputs for entry in own}
    some_zero = [
        int(any((array.name, at) not in given for at in range(array.size)))
        for array in interface.gives
    ]
    return render(
        "cpp/kernel.inc.jinja",
        some_zero=some_zero,
        chunks=lines.parts,
        table=_table,
        input_of=_of(interface.takes, [(entry,) for entry in inputs]),
        output_of=_of(interface.gives, outputs),
        input_array=_array(interface.takes, inputs),
        input_at=[entry.at for entry in inputs],
        output_array=_array(interface.gives, [own[0] for own in outputs]),
        output_at=[own[0].at for own in outputs],
        angle_of=[ahead.index(k) if k in ahead else -1 for k in range(len(inputs))],
        output_also=[own[1].at if own[1:] else -1 for own in outputs],
        **values,
    )


def _array(arrays: Iterable[Array], entries: Iterable[ArrayEntry]) -> list[int]:
    places = {array.name: k for k, array in enumerate(arrays)}
    return [places[entry.array] for entry in entries]


def _of(arrays: Iterable[Array], scalars: list[tuple[ArrayEntry, ...]]) -> list[int]:
    """The index of the scalar that each number of the arrays is; ``len(scalars)`` if none."""
    which = {entry: k for k, entries in enumerate(scalars) for entry in entries}
    return [
        which.get(ArrayEntry(array.name, at), len(scalars))
        for array in arrays
        for at in range(array.size)
    ]


def _table(name: str, numbers: list[int]) -> str:
    """A constant array of C++; of no numbers it has a zero."""
    lines = _lines(str(number) for number in numbers or [0])
    return "\n".join([f"constexpr int {name}[] = {{", *(f"    {own}" for own in lines), "};"])


def limit_lines(
    coordinates: Coordinates, infinite: str = "detail::inf", number: Callable[[float], str] = repr
) -> dict[str, list[str]]:
    """The lines of each array of limits; the word for ``infinite`` where there is none."""

    def word(value: float) -> str:
        if math.isinf(value):
            return infinite if value > 0 else f"-{infinite}"
        return number(value)

    return {limit: _lines(map(word, values)) for limit, values in coordinates.limits.items()}


def _lines(words: Iterable[str]) -> list[str]:
    """The words with a comma after each, in lines of up to `COLUMNS`."""
    lines, line = [], ""
    for word in (f"{word}," for word in words):
        if len(line) + len(word) > COLUMNS:
            lines.append(line)
            line = ""
        line += f" {word}" if line else word
    return [*lines, line]
