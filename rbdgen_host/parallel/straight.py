"""The compiler's graphs of a robot's functions, as operations of JAX: an array for each scalar."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from rbdgen.api.program_folder import interface_of
from rbdgen.codegen.interface import ArrayInterface
from rbdgen.compile.flow import front_of
from rbdgen.design.design import Design, of_functions
from rbdgen.design.functions import GIVES, NEEDS
from rbdgen.graph.evaluate import FLOAT, in_order
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Node, Op
from rbdgen.robot.model import Robot

from .algebra import Array
from .jax_installed import jnp

GRAPH = "graph"  # the method that these are
TRACED = ("id", "m", "fd", "pose", "twist", "jac", "com", "jcom")
# numbers have the type of the arrays that they meet
REAL: Mapping[Op, Callable[..., Any]] = FLOAT | {
    Op.CONST: lambda node: float(node.value),
    Op.SIN: lambda node, a: jnp.sin(a * (math.tau / node.value)),
    Op.COS: lambda node, a: jnp.cos(a * (math.tau / node.value)),
    Op.SELECT: lambda node, c, a, b: jnp.where(c < 0, a, b),
}


class Straight:
    """A design's functions as the graphs that programs are made of, each node computed by JAX.

    What a robot's zeros and constants make needless is not computed. Compiling takes longer the
    more operations there are. Arrays have any leading axes.
    """

    def __init__(self, design: Design, robot: Robot) -> None:
        self._design, self._robot = design, robot
        self._graph = cache(self._traced)

    def __call__(self, functions: tuple[str, ...], arrays: Mapping[str, Array]) -> dict[str, Array]:
        """The results of ``functions`` at the same states, as `Native` has them; RobotError."""
        graph, interface = self._graph(functions, "f_ext" in arrays)
        q = arrays["q"]
        leading, dtype = q.shape[:-1], q.dtype
        rows = {
            own.name: jnp.moveaxis(arrays[own.name].reshape(*leading, own.size), -1, 0)
            for own in interface.takes
        }

        def compute(node: Node, *operands: Any) -> Any:
            if node.op is Op.INPUT:
                own = interface.inputs[node.name]
                return rows[own.array][own.at]
            return REAL[node.op](node, *operands)

        found = in_order(graph, compute)
        zero = jnp.zeros(leading, dtype)
        entries = {own.name: [zero] * own.size for own in interface.gives}
        for name, value in found.items():
            for own in interface.outputs[name]:
                entries[own.array][own.at] = jnp.broadcast_to(value, leading).astype(dtype)
        return {
            own.name: jnp.stack(entries[own.name], -1).reshape(*leading, *own.shape)
            for own in interface.gives
        }

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions `TRACED`, whose derivatives are JAX's own: of id and fd it finds them in
        less time than the graphs of did and dfd take."""
        return {name: partial(called, self, name) for name in TRACED}

    def _traced(self, functions: tuple[str, ...], forced: bool) -> tuple[Graph, ArrayInterface]:
        own = replace(
            of_functions(self._design, functions), external_forces=forced_links(self._robot, forced)
        )
        front = front_of(own, self._robot, in_floats=True)
        return front.graph, interface_of(front)


def called(
    compute: Callable[[tuple[str, ...], Mapping[str, Array]], Mapping[str, Array]],
    function: str,
    *x: Array,
) -> Any:
    """The results of one function, a tuple if they are several, at x: its arrays, and f_ext."""
    found = compute((function,), dict(zip((*NEEDS[function], "f_ext"), x, strict=False)))
    results = tuple(found[name] for name in GIVES[function])
    return results if len(results) > 1 else results[0]


def forced_links(robot: Robot, forced: bool) -> tuple[str, ...]:
    """The links that f_ext has forces on: all that move, or none."""
    return tuple(robot.joints[i].body for i in robot.moving) if forced else ()
