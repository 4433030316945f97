"""The integer algorithms as functions over integers of arbitrary width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ..graph.algorithm import Algorithm, Do, Step, Variable
from .ap import Body, Term, constant, type_of, word_range, word_type
from .real import identifier
from .units import Function, Tables, Units


class Unit(Body):
    """The statements of a unit; ``made_of``: its products. It names the tables that it reads."""

    def __init__(self, tables: Tables, made_of: str) -> None:
        super().__init__()
        self.tables, self.made_of = tables, made_of


@dataclass(frozen=True)
class MadeOf:
    """A unit by its algorithm; ``products``: dsp or fabric, whichever makes them, or empty."""

    algorithm: Algorithm
    products: str


def units(prefix: str, pragmas: Sequence[str] = ()) -> Units[MadeOf]:
    """The units of a file in C++; ``pragmas``: those in the body of each function."""
    return Units(prefix, Tables(identifier(prefix), _kind), partial(_function, pragmas))


def _kind(least: int, largest: int) -> str:
    assert least >= 0
    return "unsigned" if largest < 1 << 32 else "unsigned long long"


def _bits(unit: Unit, step: Step, x: Term) -> Term:
    (source,), (to,) = step.args, step.results
    kept = unit.right(x, step.value)
    # as in ``graph.execute``: all bits of a word of its kind need no wrapping
    fits = source.signed == to.signed and source.width - step.value <= to.width
    return kept if fits and source.width < 64 else unit.last_bits(kept, to.width, to.signed)


def _join(unit: Unit, step: Step, low: Term, high: Term) -> Term:
    (behind, front), (to,) = step.args, step.results
    below = unit.last_bits(low, behind.width, False)
    joined = unit.plus(unit.left(high, behind.width), below)
    return joined if to.signed == front.signed else unit.last_bits(joined, to.width, to.signed)


def _negate(unit: Unit, step: Step, x: Term, minus: Term) -> Term:
    (to,) = step.results
    found = unit.chosen(f"{minus.text} != 0", unit.negative(x), x)
    return unit.last_bits(found, to.width, to.signed)


def _lookup(unit: Unit, step: Step, row: Term) -> tuple[Term, ...]:
    assert step.table is not None
    found = []
    for column in step.table.T:
        name, low, high = unit.tables.name(column), int(column.min()), int(column.max())
        found.append(unit.let(f"{name}[{row.text}]", low, high))
    return tuple(found)


def _normalise(unit: Unit, step: Step, word: Term) -> tuple[Term, ...]:
    (operand,), window = step.args, step.results[0].width
    kind, highest = f"ap_uint<{window}>", (1 << window) - 1
    below = unit.last_bits(word, operand.width - 1, False)
    x = unit.let(f"{kind}({below.text}) << {window - operand.width + 1}", 0, highest, kind=kind)
    places = constant(0)
    for j in reversed(range(step.value)):
        top = unit.right(x, window - (1 << j))
        empty = unit.let(f"{top.text} == 0", 0, 1)
        moved = unit.let(f"{kind}({x.text}) << {1 << j}", 0, highest, kind=kind)
        x = unit.chosen(f"{empty.text} != 0", moved, x)
        places = unit.plus(places, unit.left(empty, j))
    return x, places, unit.let(f"{word.text} < 0", 0, 1)


def _logic(operator: str) -> Callable[..., Term]:
    return lambda unit, step, a, b: unit.let(f"{a.text} {operator} {b.text}", 0, 1)


HLS_STEPS: dict[Do, Callable[..., Term | tuple[Term, ...]]] = {
    Do.CONST: lambda unit, step: constant(step.value),
    Do.BITS: _bits,
    Do.JOIN: _join,
    Do.CENTRE: lambda unit, step, x: unit.minus(x, constant(1 << (step.args[0].width - 1))),
    Do.LEFT: lambda unit, step, x: unit.left(x, step.value),
    Do.RIGHT: lambda unit, step, x: unit.right(x, step.value),
    Do.ADD: lambda unit, step, a, b: unit.plus(a, b),
    Do.SUB: lambda unit, step, a, b: unit.minus(a, b),
    Do.MUL: lambda unit, step, a, b: unit.times(a, b, unit.made_of),
    Do.TIMES: lambda unit, step, x: unit.multiple(x, step.value),
    Do.NOT: lambda unit, step, x: unit.let(f"{x.text} == 0", 0, 1),
    Do.OR: _logic("|"),
    Do.XOR: _logic("^"),
    Do.SELECT: lambda unit, step, bit, one, zero: unit.chosen(f"{bit.text} != 0", one, zero),
    Do.NEGATE: _negate,
    Do.SATURATE: lambda unit, step, x: unit.least(x, word_range(step.results[0].width)[1]),
    Do.LOOKUP: _lookup,
    Do.NORMALISE: _normalise,
    Do.SHIFT: lambda unit, step, x, places: unit.shifted(x, places),
    Do.STAGE: lambda unit, step, *values: values,
    Do.MEET: lambda unit, step, *values: values,
}


def _function(
    pragmas: Sequence[str], name: str, spec: MadeOf, widths: Sequence[int], tables: Tables
) -> Function:
    unit, algorithm = Unit(tables, spec.products), spec.algorithm
    values: dict[Variable, Term] = {}
    taken = []
    for (own, x), width in zip(algorithm.inputs.items(), widths, strict=True):
        values[x] = Term(own, *word_range(width))
        taken.append(f"{word_type(width)} {own}")
    for step in read_steps(algorithm):
        found = HLS_STEPS[step.do](unit, step, *(values[x] for x in step.args))
        terms = found if isinstance(found, tuple) else (found,)
        values.update(zip(step.results, terms, strict=True))
    outputs = {own: values[x] for own, x in algorithm.outputs.items()}
    taken += [f"{type_of(term.low, term.high)} &{own}_out" for own, term in outputs.items()]
    lines = [*pragmas, *unit.lines, *(f"{own}_out = {term.text};" for own, term in outputs.items())]
    body = "".join(f"{line}\n" if line[0] == "#" else f"    {line}\n" for line in lines)
    text = f"static void {name}({', '.join(taken)})\n{{\n{body}}}"
    return Function(name, text, {own: (t.low, t.high) for own, t in outputs.items()})


def read_steps(algorithm: Algorithm) -> list[Step]:
    """The steps of which something is read, in order."""
    needed, kept = set(algorithm.outputs.values()), []
    for step in reversed(algorithm.steps):
        if needed.intersection(step.results):
            kept.append(step)
            needed.update(step.args)
    return kept[::-1]
