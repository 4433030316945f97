"""The formulations as C++ for CPUs and CUDA for GPUs, in floating point, from their graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rbdgen.codegen.cpp import cpp
from rbdgen.codegen.cuda import cuda
from rbdgen.codegen.interface import Array, ArrayEntry, ArrayInterface
from rbdgen.dynamics.interface import place_of_input, places_of_output
from rbdgen.graph.graph import Graph
from rbdgen.graph.word import kind_of
from rbdgen.robot.model import Robot

from .graphs import traced


def _cpp(
    graph: Graph, interface: ArrayInterface, name: str, about: Mapping[str, str]
) -> dict[str, str]:
    return cpp(graph, interface, name, about)[0]


def _cuda(
    graph: Graph, interface: ArrayInterface, name: str, about: Mapping[str, str]
) -> dict[str, str]:
    return dict(cuda(graph, interface, name, about).files)


LANGUAGES: Mapping[
    str, Callable[[Graph, ArrayInterface, str, Mapping[str, str]], dict[str, str]]
] = {
    "cpp": _cpp,
    "cuda": _cuda,
}


def program(
    robot: Robot, function: str, method: str, language: str = "cpp", name: str = "dynamics"
) -> dict[str, str]:
    """Files by name: ``function`` of a robot by ``method``, as `traced` has them.

    ``language``: "cpp" or "cuda"; what the files have in them is that of ``generate --to``, their
    functions are called ``name``. Arrays are q (N, nq), qd, qdd, tau (N, nv), M (N, nv, nv), those
    that the function takes and gives. RobotError.
    """
    graph = traced(robot, function, method)
    about = {"robot": robot.name, "functions": f"{function} by {method}"}
    return LANGUAGES[language](graph, interface_of(robot, graph), name, about)


def interface_of(robot: Robot, graph: Graph) -> ArrayInterface:
    """Where the graph's scalars stand in the arrays of a state."""
    sizes = {"q": (robot.nq,), "M": (robot.nv, robot.nv)}
    takes = list(dict.fromkeys(kind_of(name) for name in graph.inputs))
    gives = list(dict.fromkeys(kind_of(name) for name in graph.outputs))
    inputs = {
        name: ArrayEntry(kind_of(name), place_of_input(name, robot.nv, 0)) for name in graph.inputs
    }
    outputs = {}
    for name in graph.outputs:
        kind = kind_of(name)
        places = places_of_output(name, sizes.get(kind, (robot.nv,)), 0)
        outputs[name] = tuple(ArrayEntry(kind, place) for place in places)
    return ArrayInterface(
        tuple(Array(kind, sizes.get(kind, (robot.nv,))) for kind in takes),
        tuple(Array(kind, sizes.get(kind, (robot.nv,))) for kind in gives),
        inputs,
        outputs,
    )
