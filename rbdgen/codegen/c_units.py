"""The integer algorithms as functions of C: sine and cosine, reciprocal, scaling."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..graph.algorithm import Do, Step, Variable
from .integers import (
    Term,
    cast,
    chosen,
    constant,
    last_bits,
    least,
    left,
    minus,
    negative,
    plus,
    right,
    shifted,
    times,
    type_of,
    variable,
    wrapped,
)
from .units import Function, Spec, Tables, Units

NAME = re.compile(r"[A-Za-z_]\w*")
CONSTANT = re.compile(r"const (?:struct )?\w+ (\w+) = ")


class Body:
    """Statements of a function so far, and the tables of its file."""

    def __init__(self, tables: Tables) -> None:
        self.statements: list[str] = []
        self.tables = tables

    def live(self) -> tuple[list[str], set[str]]:
        """The statements without constants that nothing reads, and all names in them.

        What a range settles, as the product with a word that is always zero, reads nothing.
        """
        kept, names = list[str](), set[str]()
        for statement in reversed(self.statements):
            made = CONSTANT.match(statement)
            if made is None or made[1] in names:
                kept.append(statement)
                names.update(NAME.findall(statement))
        return kept[::-1], names

    def let(self, name: str, value: Term) -> Term:
        """``value`` in a constant of its own, unless it is one already."""
        if value.whole:
            return value
        to = type_of(value.low, value.high)
        self.statements.append(f"const {to} {name} = {cast(value, to).text};")
        return variable(name, value.low, value.high)


def _signed(width: int) -> tuple[int, int]:
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


def _bits(body: Body, step: Step, x: Term) -> Term:
    (source,), (to,) = step.args, step.results
    kept = right(x, step.value)
    # as in ``graph.execute``: all bits of a word of its kind need no wrapping
    fits = source.signed == to.signed and source.width - step.value <= to.width
    return kept if fits and source.width < 64 else wrapped(kept, to.width, to.signed)


def _join(body: Body, step: Step, low: Term, high: Term) -> Term:
    (behind, front), (to,) = step.args, step.results
    joined = plus(left(high, behind.width), last_bits(low, behind.width))
    return joined if to.signed == front.signed else wrapped(joined, to.width, to.signed)


def _negate(body: Body, step: Step, x: Term, minus: Term) -> Term:
    (to,) = step.results
    x = body.let(f"x{len(body.statements)}", x)
    return wrapped(chosen(minus, negative(x), x, ""), to.width, to.signed)


def _saturate(body: Body, step: Step, x: Term) -> Term:
    return least(x, (1 << (step.results[0].width - 1)) - 1)


def _lookup(body: Body, step: Step, row: Term) -> tuple[Term, ...]:
    assert step.table is not None
    name, ends = body.tables.name(step.table), (step.table.min(0), step.table.max(0))
    return tuple(
        replace(variable(f"{name}[{row.text}][{k}]", int(low), int(high)), whole=False)
        for k, (low, high) in enumerate(zip(*ends, strict=True))
    )


def _normalise(body: Body, step: Step, word: Term) -> tuple[Term, ...]:
    (operand,), window = step.args, step.results[0].width
    word = body.let("word", word)
    below = last_bits(word, operand.width - 1)
    add = body.statements.append
    add(f"uint64_t x = (uint64_t){below} << {window - operand.width + 1};")
    add("int32_t places = 0;")
    for j in reversed(range(step.value)):
        add(f"if (x >> {window - (1 << j)} == 0) {{")
        add(f"    x <<= {1 << j};")
        add(f"    places += {1 << j};")
        add("}")
    x = Term("x", 0, (1 << window) - 1, "uint64_t", whole=True)
    places = variable("places", 0, (1 << step.value) - 1)
    return x, places, Term(f"{word} < 0", 0, 1, "int32_t")


C_STEPS: dict[Do, Callable[..., Term | tuple[Term, ...]]] = {
    Do.CONST: lambda body, step: constant(step.value),
    Do.BITS: _bits,
    Do.JOIN: _join,
    Do.CENTRE: lambda body, step, x: minus(x, constant(1 << (step.args[0].width - 1))),
    Do.LEFT: lambda body, step, x: left(x, step.value),
    Do.RIGHT: lambda body, step, x: right(x, step.value),
    Do.ADD: lambda body, step, a, b: plus(a, b),
    Do.SUB: lambda body, step, a, b: minus(a, b),
    Do.MUL: lambda body, step, a, b: times(a, b),
    Do.TIMES: lambda body, step, x: times(x, constant(step.value)),
    Do.NOT: lambda body, step, x: Term(f"!{x}", 0, 1, "int32_t"),
    Do.OR: lambda body, step, a, b: Term(f"{a} | {b}", 0, 1, "int32_t"),
    Do.XOR: lambda body, step, a, b: Term(f"{a} ^ {b}", 0, 1, "int32_t"),
    Do.SELECT: lambda body, step, bit, one, zero: chosen(bit, one, zero, ""),
    Do.NEGATE: _negate,
    Do.SATURATE: _saturate,
    Do.LOOKUP: _lookup,
    Do.NORMALISE: _normalise,
    Do.SHIFT: lambda body, step, x, places: shifted(x, places),
    Do.STAGE: lambda body, step, *values: values,
    Do.MEET: lambda body, step, *values: values,
}


def units(prefix: str, tables: Tables) -> Units[Spec]:
    """The units of a file in C."""
    return Units(prefix, tables, _function)


def _function(name: str, spec: Spec, widths: Sequence[int], tables: Tables) -> Function:
    algorithm = spec.algorithm
    values: dict[Variable, Term] = {}
    body, parameters = Body(tables), []
    for (own, x), width in zip(algorithm.inputs.items(), widths, strict=True):
        values[x] = variable(own, *_signed(width))
        parameters.append(f"{values[x].type} {own}")
    for step in algorithm.steps:
        found = C_STEPS[step.do](body, step, *(values[x] for x in step.args))
        terms = found if isinstance(found, tuple) else (found,)
        for x, term in zip(step.results, terms, strict=True):
            values[x] = body.let(f"v{len(body.statements)}", term)
    outputs = {own: values[x] for own, x in algorithm.outputs.items()}
    fields = "".join(f"    {type_of(t.low, t.high)} {own};\n" for own, t in outputs.items())
    for own, term in outputs.items():
        body.statements.append(f"found.{own} = {cast(term, type_of(term.low, term.high)).text};")
    lines = "".join(f"    {line}\n" for line in body.live()[0])
    text = (
        f"/* {spec!r} */\n"
        f"struct {name} {{\n{fields}}};\n\n"
        f"static struct {name} {name}({', '.join(parameters)})\n"
        f"{{\n    struct {name} found;\n{lines}    return found;\n}}"
    )
    return Function(name, text, {own: (t.low, t.high) for own, t in outputs.items()})
