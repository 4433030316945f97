"""Integer algorithms as pipelines: hardware for the steps of ``rbdgen.graph.algorithm``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory

from ..graph.algorithm import Algorithm, Do, UnitStep, Variable
from ..schedule.units import multiple, normalising, shifting
from ..words.constant_multiply import Recipe, Sum
from .arithmetic import later

# To the product and its latency.
Multiply = Callable[[Module, Value, Value], tuple[Value, int]]


@dataclass(frozen=True)
class Timed:
    """Values that are there ``cycles`` later than what they were made of."""

    values: tuple[Value, ...]
    cycles: int


class StepPipeline:
    """Builds the steps of one algorithm in a module; a new operand may come in every cycle.

    ``multiply`` is asked for each product in turn. ``name``: what the registers of a barrel shifter
    are called after. ``cycle``: when each variable is there, inputs in cycle 0; constants are not
    in it.
    """

    def __init__(self, m: Module, multiply: Multiply | None = None, name: str = "") -> None:
        self.m, self.multiply, self.name = m, multiply, name
        self.cycle: dict[Variable, int] = {}

    def build(self, algorithm: Algorithm, **inputs: Value) -> dict[str, Value]:
        """Outputs by name, each in its cycle."""
        values = {x: inputs[name] for name, x in algorithm.inputs.items()}
        self.cycle = dict.fromkeys(values, 0)
        for step in algorithm.steps:
            cycles = {self.cycle[x] for x in step.args if x in self.cycle}
            if len(cycles) > 1 and step.do is not Do.MEET:
                raise ValueError(f"{step.do.value} of what is there in cycles {sorted(cycles)}")
            found = HARDWARE[step.do](self, step, *(values[x] for x in step.args))
            made = found if isinstance(found, Timed) else Timed((found,), 0)
            for x, value in zip(step.results, made.values, strict=True):
                assert value.shape().signed == x.signed and len(value) >= x.width, step.do.value
                values[x] = value
                if cycles:
                    self.cycle[x] = max(cycles) + made.cycles
        return {name: values[x] for name, x in algorithm.outputs.items()}


def _const(pipe: StepPipeline, step: UnitStep) -> Value:
    (to,) = step.results
    return Const(step.value) if to.signed else Const(step.value, to.width)


def _bits(pipe: StepPipeline, step: UnitStep, x: Value) -> Value:
    (to,), end = step.results, step.value + step.results[0].width
    kept = x[step.value : end]
    if end > len(x):
        kept = Cat(kept, x[-1].replicate(end - len(x)))
    return kept.as_signed() if to.signed else kept


def _join(pipe: StepPipeline, step: UnitStep, low: Value, high: Value) -> Value:
    joined = Cat(low, high)
    return joined.as_signed() if step.results[0].signed else joined


def _multiply(pipe: StepPipeline, step: UnitStep, a: Value, b: Value) -> Timed:
    assert pipe.multiply is not None
    product, latency = pipe.multiply(pipe.m, a, b)
    return Timed((product,), latency)


def _times(pipe: StepPipeline, step: UnitStep, x: Value) -> Timed:
    product, cycles = _recipe(pipe.m, multiple(step.value), x)
    return Timed((product,), cycles)


def _recipe(m: Module, recipe: Recipe, x: Value) -> tuple[Value, int]:
    """(x · recipe, cycles it takes): a register after each addition."""
    if not isinstance(recipe, Sum):
        return x, 0
    left, at_left = _recipe(m, recipe.left, x)
    right, at_right = _recipe(m, recipe.right, x)
    at = max(at_left, at_right)
    left, right = later(m, left, at - at_left), later(m, right, at - at_right)
    left, right = left << recipe.left_shift, right << recipe.right_shift
    return later(m, left + right if recipe.sign > 0 else left - right, 1), at + 1


def _negate(pipe: StepPipeline, step: UnitStep, x: Value, minus: Value) -> Value:
    # -x is ~x + 1
    return ((x ^ minus.replicate(len(x))) + minus)[: len(x)]


def _saturate(pipe: StepPipeline, step: UnitStep, x: Value) -> Value:
    if not step.args[0].signed:  # what has its first bit set is all ones behind it
        return Cat(x[:-1] | x[-1].replicate(len(x) - 1), 0).as_signed()
    # nothing that is not negative but too large has its second bit set
    large = x[-2] if step.value == 0 else x[-2] & ~x[-1]
    width = len(x) - 1
    return Mux(large, Const((1 << (width - 1)) - 1, width), x[:width]).as_signed()


def _lookup(pipe: StepPipeline, step: UnitStep, row: Value) -> Timed:
    """Address and data registers of a block RAM, then its output register."""
    assert step.table is not None
    ends = [0]
    for x in step.results:
        ends.append(ends[-1] + x.width)
    rows = [sum(int(v) << at for v, at in zip(entry, ends, strict=False)) for entry in step.table]
    memory = Memory(shape=ends[-1], depth=len(rows), init=rows, attrs={"ram_style": "block"})
    pipe.m.submodules.table = memory
    port = memory.read_port(domain="sync")
    pipe.m.d.comb += [port.addr.eq(row), port.en.eq(1)]
    data = later(pipe.m, port.data, 1)
    return Timed(tuple(data[a:b] for a, b in pairwise(ends)), 2)


def _normalise(pipe: StepPipeline, step: UnitStep, word: Value) -> Timed:
    """The last cycle's multiplexers have no register behind them."""
    x: Value = Cat(Const(0, step.results[0].width - len(word) + 1), word[:-1])
    places: Value = Const(0, 0)
    negative: Value = word[-1]
    groups = normalising(step.value)
    for cycle, steps in enumerate(groups):
        if cycle:
            x, places, negative = (later(pipe.m, v, 1) for v in (x, places, negative))
        for j in steps:
            empty = ~x[len(x) - (1 << j) :].any()
            x = Mux(empty, Cat(Const(0, 1 << j), x)[: len(x)], x)
            places = Cat(empty, places)
    return Timed((x, places, negative), len(groups) - 1)


def _shift(pipe: StepPipeline, step: UnitStep, x: Value, places: Value) -> Timed:
    """A barrel shifter, a register behind each cycle of ``shifting``."""
    groups = shifting(step.args[1].width)
    for cycle, steps in enumerate(groups, 1):
        for k, place in zip(steps, places, strict=False):
            x = Mux(place, x >> (1 << k), x)
        places = places[len(steps) :]
        x = _register(pipe.m, x, f"{pipe.name}_{cycle}")
        if len(places):
            places = _register(pipe.m, places, f"{pipe.name}_places_{cycle}")
    return Timed((x,), len(groups))


def _register(m: Module, value: Value, name: str) -> Value:
    register = Signal(value.shape(), name=name, reset_less=True)
    m.d.sync += register.eq(value)
    return register


def _stage(pipe: StepPipeline, step: UnitStep, *values: Value) -> Timed:
    return Timed(tuple(later(pipe.m, value, 1) for value in values), 1)


def _meet(pipe: StepPipeline, step: UnitStep, *values: Value) -> Timed:
    last = max(pipe.cycle[x] for x in step.args)
    pairs = zip(step.args, values, strict=True)
    return Timed(tuple(later(pipe.m, value, last - pipe.cycle[x]) for x, value in pairs), 0)


HARDWARE: dict[Do, Callable[..., Value | Timed]] = {
    Do.CONST: _const,
    Do.BITS: _bits,
    Do.JOIN: _join,
    Do.CENTRE: lambda pipe, step, x: Cat(x[:-1], ~x[-1]).as_signed(),
    Do.LEFT: lambda pipe, step, x: x << step.value,
    Do.RIGHT: lambda pipe, step, x: x >> step.value,
    Do.ADD: lambda pipe, step, a, b: a + b,
    Do.SUB: lambda pipe, step, a, b: a - b,
    Do.MUL: _multiply,
    Do.TIMES: _times,
    Do.NOT: lambda pipe, step, x: ~x,
    Do.OR: lambda pipe, step, a, b: a | b,
    Do.XOR: lambda pipe, step, a, b: a ^ b,
    Do.SELECT: lambda pipe, step, bit, one, zero: Mux(bit, one, zero),
    Do.NEGATE: _negate,
    Do.SATURATE: _saturate,
    Do.LOOKUP: _lookup,
    Do.NORMALISE: _normalise,
    Do.SHIFT: _shift,
    Do.STAGE: _stage,
    Do.MEET: _meet,
}
