"""A design for all robots of a model: what its registers hold, and for which robots it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..design.arrays import reads_links
from ..design.design import Design, canonical_of
from ..graph.evaluate import evaluate, intervals_of
from ..graph.graph import Graph
from ..graph.node import Builder, Node
from ..graph.word import DEVIATION, spell
from ..passes.registers import renumbered, to_registers
from ..robot.model import Array, Robot, RobotError
from ..robot.model_parameters import ModelParameters, number_name, numbers_of
from ..words.ascent import copied
from ..words.ranges import RECIPROCALS

MOST_OFF = 0.8  # of a pivot, to first order; beyond that it may be anything
SLACK = 1e-9  # of a limit, which rounding takes
PIVOT = "pivot"  # an output that only limits are read of


@dataclass(frozen=True, eq=False)
class Parameters:
    """``numbers`` of the model, and the ``graph`` over them whose outputs the registers hold."""

    numbers: ModelParameters
    graph: Graph

    @property
    def names(self) -> tuple[str, ...]:
        """The registers, in their order."""
        return tuple(self.graph.outputs)

    def columns(self, values: Array) -> dict[str, Array]:
        """The real numbers (N,) in each register, of robots with the numbers ``values`` (N, K)."""
        own = {number_name(k): column for k, column in enumerate(values.T)}
        return evaluate(self.graph, own)

    def of_drawn(self, n: int) -> Array:
        """The real numbers in all registers (n, R), of robots of the model by turns."""
        _, values = self.numbers.drawn
        found = self.columns(values[np.arange(n) % len(values)])
        return np.hstack([np.empty((n, 0)), *(own[:, None] for own in found.values())])

    def of(self, robot: Robot) -> dict[str, float]:
        """The real number in each register, of a canonical robot; RobotError as `Numbers.of`."""
        found = self.columns(self.numbers.of(robot)[None, :])
        return {name: float(values[0]) for name, values in found.items()}

    def refuse_beyond(self, robot: str, reals: Mapping[str, float]) -> None:
        """RobotError, in the name of ``robot``, for what a register's word has no room for."""
        for name, (lower, upper) in self.limits.items():
            slack = SLACK * max(abs(lower), abs(upper))
            if not lower - slack <= reals[name] <= upper + slack:
                raise RobotError(
                    f"{robot}: {name} is {reals[name]:.6g}, beyond {lower:.6g} to {upper:.6g}, "
                    "which its word is made for; generate with a larger --tolerance"
                )

    @cached_property
    def nominal(self) -> dict[str, float]:
        """The parameter registers of the robot from which the design was generated."""
        return {k: float(v[0]) for k, v in self.columns(self.numbers.values[None, :]).items()}

    @cached_property
    def number_limits(self) -> dict[str, tuple[float, float]]:
        """The limits of each number."""
        ends = np.stack(self.numbers.box, axis=1).tolist()
        return {number_name(k): (low, high) for k, (low, high) in enumerate(ends)}

    def from_deviations(self, builder: Builder) -> tuple[dict[str, Node], dict[str, Node]]:
        """The numbers, and the registers, as nodes over what the file's parameters are off by.

        Inputs ``deviation[p]``, from -1 to 1; to first order.
        """
        numbers: dict[str, Node] = {}
        for k, (value, slopes) in enumerate(
            zip(self.numbers.values, self.numbers.slopes, strict=True)
        ):
            node = builder.const(float(value))
            for p in np.flatnonzero(slopes):
                by = builder.mul(float(slopes[p]), builder.input(spell(DEVIATION, int(p))))
                node = builder.add(node, by)
            numbers[number_name(k)] = node
        copies = copied(builder, self.graph, numbers)
        return numbers, {name: copies[node] for name, node in self.graph.outputs.items()}

    @cached_property
    def limits(self) -> dict[str, tuple[float, float]]:
        """The limits of each register.

        They come from intervals of the numbers, which ignore that several numbers belong to one
        body. A pivot's interval may therefore include zero, though no robot of the model has such a
        pivot: behind its reciprocal the limits are those of `_nearly`. RobotError where these
        include zero, too.
        """
        intervals = intervals_of(self.graph, self.number_limits)
        found = {name: intervals[node] for name, node in self.graph.outputs.items()}
        for name, ends in found.items():
            if not np.isfinite(ends).all():
                found[name] = self._nearly[name]
        return found

    @cached_property
    def _nearly(self) -> dict[str, tuple[float, float]]:
        """The limits of each register, from robots that differ in one parameter.

        To first order a pivot D is off by up to r D, r < 1 for all of them. What depends on 1 / D
        is then off by up to 1 / (1 - r) times what it is to first order.
        """
        divided = [node.args[0] for node in self.graph.nodes if node.op in RECIPROCALS]
        pivots = {spell(PIVOT, k): node for k, node in enumerate(divided)}
        whole = replace(self, graph=Graph(self.graph.inputs, self.graph.outputs | pivots))
        own, slopes = self.numbers.values[None, :], self.numbers.slopes.T
        one = whole.columns(np.concatenate([own, own + slopes, own - slopes]))
        nominal = {name: float(values[0]) for name, values in one.items()}
        reach = {
            name: float(np.abs(values[1:] - values[0]).reshape(2, -1).max(axis=0).sum())
            for name, values in one.items()
        }
        drawn = whole.columns(self.numbers.drawn[1])
        off = max((reach[name] / nominal[name] for name in pivots), default=0.0)
        if off > MOST_OFF or any(drawn[name].min() <= 0 for name in pivots):
            raise RobotError(
                f"{self.numbers.robot.name}: parameters: registers: a reciprocal of what may be "
                "zero within the tolerance; a smaller --tolerance, or --parameters constants"
            )
        return {
            name: (
                min(nominal[name] - reach[name] / (1 - off), float(drawn[name].min())),
                max(nominal[name] + reach[name] / (1 - off), float(drawn[name].max())),
            )
            for name in self.names
        }


def model_of(design: Design, robot: Robot, bodies: bool) -> ModelParameters:
    """The numbers that robots of the design's model differ in."""
    links = reads_links(design)
    return numbers_of(robot, canonical_of(design, bodies), design.tolerance, links)


def symbolic(numbers: ModelParameters, builder: Builder) -> Robot:
    """The robot with inputs of a graph in place of its numbers."""
    return numbers.with_values([builder.input(number_name(k)) for k in range(len(numbers.keys))])


def first_registers(numbers: ModelParameters, graph: Graph) -> tuple[Graph, Parameters]:
    """A traced graph over numbers as one over registers."""
    builder = Builder()
    names = [number_name(k) for k in range(len(numbers.keys))]
    own = Graph(tuple(names), {name: builder.input(name) for name in names})
    graph, makes = to_registers(graph, own)
    return graph, Parameters(numbers, makes)


def settled(graph: Graph, first: Parameters) -> tuple[Graph, Parameters]:
    """The same after passes that have put registers together: in order, each read."""
    graph, makes = renumbered(*to_registers(graph, first.graph))
    return graph, Parameters(first.numbers, makes)


def any_registers(parameters: Parameters, n: int, seed: int) -> dict[str, Array]:
    """Words (n,) of robots of no model's size."""
    rng = np.random.default_rng(seed)
    values = parameters.numbers.values
    size = np.abs(values) + np.ptp(np.stack(parameters.numbers.box), axis=0)
    return parameters.columns(values + 0.3 * size * rng.normal(size=(n, len(values))))


def note_of_registers(design: Design, parameters: Parameters) -> str:
    """A note on the robots that fit a design with registers, in one line."""
    numbers, held = len(parameters.graph.inputs), len(parameters.names)
    return (
        f"parameters: {held} words in registers, of {numbers} numbers of the robot, for every one "
        f"of its structure whose parameters are within {100 * design.tolerance:g} % of its own, "
        f"angles within {design.tolerance:g} rad; rbdgen calibrate makes another's words"
    )


def refuse_own_angles(design: Design, numbers: ModelParameters) -> None:
    """RobotError where whoever gives sines would have to know whose they are."""
    for number in numbers.table:
        if design.angles == "sincos" and number.what == "offset":
            raise RobotError(
                f'{numbers.robot.name}: angles: sincos: the angle of joint "{number.joint}" is off '
                "by what each robot has to itself; leave it out, or --parameters registers"
            )
