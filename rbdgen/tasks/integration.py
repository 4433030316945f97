"""One step of numerical integration, or a stage of one, as a fixed-point graph.

A rollout visits this after each evaluation of forward dynamics. Semi-implicit Euler::

    v += h q̈        q += h v

and the classical Runge-Kutta rule, of which a visit is one of four stages, with the weights 1, 2,
2, 1 and the points 0, ½, ½, 1::

    a += w k        x = x0 + c k, after the fourth x = x0 + (4h/3) a/8

for x = (q, v), k = (v, q̈). Effort is held over the rollout. Angles of joints that turn all the
way round stay within ±π.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from ..graph.fixed import FixedGraph, Format
from ..graph.graph import CopyingBuilder, Graph
from ..graph.node import Node, Op
from ..graph.verify import verify_fixed
from ..graph.word import spell

STATE = 30  # bits of a coordinate between steps: what a step adds is small
STEP = Format(17, 22)  # of h: up to 1/64 s, a multiple of 2^-22 s
STEP_43 = Format(18, 23)  # of 4h/3
LONGEST = 2.0**-6 * 0.75  # s
FLAG = Format(2, 0)  # -1 or 0
# What a visit is told of its turn: the weight is 2; c is h/2; the last stage of Runge-Kutta's
# rule; a step ends; Euler's rule.
FLAGS = ("middle", "half", "last", "ends", "euler")


@dataclass(frozen=True)
class Coordinate:
    """The k-th coordinate; ``q``, ``v``, ``a``: bits above the point of position and its rates."""

    k: int
    q: int
    v: int
    acceleration: Format  # as forward dynamics gives it
    turns: bool  # all the way round

    @property
    def a(self) -> int:
        return self.acceleration.width - 1 - self.acceleration.fraction


def turn_flags(phase: int, euler: bool) -> dict[str, int]:
    """The flags of a visit: ``phase`` counts the stages of a step."""
    last = not euler and phase == 3
    return {
        "middle": -(not euler and phase in (1, 2)),
        "half": -(not euler and phase < 2),
        "last": -last,
        "ends": -(euler or last),
        "euler": -euler,
    }


def integration(coordinates: list[Coordinate], width: int) -> FixedGraph:
    """The graph: a visit takes q0, v0, the sums aq, av, the velocity v, q̈, and gives the next.

    Inputs ``q0[k]``, ``v0[k]`` at the start of the step, ``v[k]`` at this stage, ``qdd[k]``,
    ``aq[k]``, ``av[k]``, ``h[0]`` = h, ``h[1]`` = 4h/3 [s], and the `FLAGS`. Outputs ``q[k]``,
    ``qd[k]`` at the next stage, and those of its inputs that it carries along.
    """
    draft = _StepDraft(width)
    for coordinate in coordinates:
        with draft.builder.region("integrate", coordinate.k):
            draft.step(coordinate)
    graph = Graph(tuple(draft.inputs), draft.outputs)
    return verify_fixed(FixedGraph(graph, draft.inputs, draft.formats, width))


@dataclass
class _StepDraft:
    width: int  # of a factor
    builder: CopyingBuilder = field(default_factory=CopyingBuilder)
    inputs: dict[str, Format] = field(default_factory=dict)
    formats: dict[Node, Format] = field(default_factory=dict)
    outputs: dict[str, Node] = field(default_factory=dict)
    given: dict[str, Node] = field(default_factory=dict)

    def step(self, own: Coordinate) -> None:
        k, q_word, v_word = (
            own.k,
            Format(STATE, STATE - 1 - own.q),
            Format(STATE, STATE - 1 - own.v),
        )
        q0, v0 = self.input(spell("q0", k), q_word), self.input(spell("v0", k), v_word)
        v, a = self.input(spell("v", k), v_word), self.input(spell("qdd", k), own.acceleration)
        # six times the largest rate takes three bits more
        sum_v = self.summed(spell("aq", k), v, replace(v_word, fraction=v_word.fraction - 3))
        wide = replace(own.acceleration, width=own.acceleration.width + 3)
        sum_a = self.summed(spell("av", k), a, wide)
        last, ends, euler = (self.input(name, FLAG) for name in ("last", "ends", "euler"))
        step = self.step_size()

        factor = Format(self.width, self.width - 1 - own.a)
        rate = self.select(last, self.shifted(sum_a, -3), a, factor)
        v1 = self.plus(v0, self.product(step, rate, own.a - 6, v_word.fraction), v_word)
        factor = Format(self.width, self.width - 1 - own.v)
        rate = self.select(last, self.shifted(sum_v, -3), v, factor)
        rate = self.select(euler, v1, rate, factor)
        q1 = self.plus(q0, self.product(step, rate, own.v - 6, q_word.fraction), q_word)
        if own.turns:
            q1 = self.within_a_turn(q1, q_word)

        zero = self.constant(0.0, FLAG)
        self.outputs[spell("q", k)], self.outputs[spell("qd", k)] = q1, v1
        self.outputs[spell("q0", k)] = self.select(ends, q1, q0, q_word)
        self.outputs[spell("v0", k)] = self.select(ends, v1, v0, v_word)
        for name, total in (("aq", sum_v), ("av", sum_a)):
            word = self.formats[total]
            self.outputs[spell(name, k)] = self.select(ends, zero, total, word)

    def summed(self, name: str, rate: Node, word: Format) -> Node:
        """The weighted sum of a step's rates so far."""
        of = self.formats[rate]
        twice = replace(of, fraction=of.fraction - 1)
        weighted = self.select(self.input("middle", FLAG), self.shifted(rate, 1), rate, twice)
        return self.plus(self.input(name, word), weighted, word)

    def step_size(self) -> Node:
        h, whole = self.input("h[0]", STEP), self.input("h[1]", STEP_43)
        part = self.select(self.input("half", FLAG), self.shifted(h, -1), h, STEP_43)
        return self.select(self.input("last", FLAG), whole, part, STEP_43)

    def within_a_turn(self, q: Node, word: Format) -> Node:
        wide = replace(word, width=word.width + 2)  # of what is not taken, too
        half, turn = self.constant(math.pi, word), self.constant(2 * math.pi, wide)
        less = self.node(Op.SUB, wide, q, turn)
        q = self.select(self.node(Op.SUB, wide, half, q), less, q, word)
        more = self.plus(q, turn, wide)
        return self.select(self.plus(q, half, wide), more, q, word)

    def product(self, a: Node, b: Node, whole: int, fraction: int) -> Node:
        """a·b, which is less than 2^whole, rounded to ``fraction`` bits."""
        return self.node(Op.MUL, Format(max(whole + fraction + 1, 2), fraction, True), a, b)

    def select(self, negative: Node, a: Node, b: Node, word: Format) -> Node:
        return self.node(Op.SELECT, word, negative, a, b)

    def plus(self, a: Node, b: Node, word: Format) -> Node:
        return self.node(Op.ADD, word, a, b)

    def shifted(self, node: Node, bits: int) -> Node:
        of = self.formats[node]
        word = replace(of, fraction=of.fraction - bits)
        return self.node(Op.MULC, word, node, value=2.0**bits)

    def constant(self, value: float, word: Format) -> Node:
        return self.node(Op.CONST, word, value=value)

    def input(self, name: str, word: Format) -> Node:
        if name not in self.given:
            self.given[name] = self.builder.input(name)
            self.inputs[name] = self.formats[self.given[name]] = word
        return self.given[name]

    def node(self, op: Op, word: Format, *args: Node, value: float = 0.0) -> Node:
        made = self.builder.node(op, *args, value=value)
        self.formats[made] = word
        return made
