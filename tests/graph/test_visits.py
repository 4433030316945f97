"""Programs of visits: what settles to a constant, what is left out, what stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op, Scalar
from rbdgen.graph.text import from_text, to_text
from rbdgen.graph.visits import Program, Scaled, Source, Visit, VisitResult, once, settle, then

Word = Callable[[str], Scalar]
Template = Callable[[Word], dict[str, Scalar]]
Reads = dict[Visit, dict[str, Source]]


def settled(templates: Mapping[str, Template], reads: Reads, outputs: dict[str, Source]) -> Program:
    """``settle`` with templates that are functions of words, known ones and inputs."""

    def trace(name: str, known: Mapping[str, float]) -> Graph:
        builder, inputs = Builder(), list[str]()

        def word(port: str) -> Scalar:
            if port in known:
                return known[port]
            if port not in inputs:
                inputs.append(port)
            return builder.input(port)

        results = {key: builder.lift(value) for key, value in templates[name](word).items()}
        return Graph(tuple(inputs), results)

    return settle(trace, reads, outputs)


def step(k: int) -> Visit:
    return Visit("step", (k,))


def motion(word: Word) -> dict[str, Scalar]:
    """A link in a chain: ``x`` goes on from zero, ``y`` is what the task says."""
    return {"x": word("a") * word("x"), "y": word("a") * word("q") + word("x")}


def chain(start: Source, last: int = 3) -> Reads:
    """A visit reads ``x`` of the one before it."""
    return {
        step(k): {
            "a": float(k + 2),
            "q": f"q[{k}]",
            "x": VisitResult(step(k - 1), "x") if k else start,
        }
        for k in range(last)
    }


def test_zeros_that_go_round_in_a_circle_are_constants() -> None:
    """``x`` is made of itself; only that it begins as zero says that it stays so."""
    outputs: dict[str, Source] = {f"z[{k}]": VisitResult(step(k), "y") for k in range(3)}
    program = settled({"step": motion}, chain(0.0), outputs)
    (graph,) = program.templates.values()
    assert sorted(graph.inputs) == ["a", "q"]
    assert list(graph.outputs) == ["y"]
    assert all(node.op in (Op.INPUT, Op.MUL) for node in graph.nodes)


@pytest.mark.parametrize("start", [1.0, "s"])
def test_what_does_not_begin_as_zero_goes_round(start: Source) -> None:
    program = settled({"step": motion}, chain(start), {"z": VisitResult(step(2), "y")})
    assert set(program.templates["step"].inputs) == {"a", "q", "x"}
    assert set(program.templates["step"].outputs) == {"x", "y"}
    assert list(program.reads) == [step(0), step(1), step(2)]
    assert program.reads[step(0)]["x"] == start
    assert program.reads[step(2)]["x"] == VisitResult(step(1), "x")


def test_a_circle_of_two_templates() -> None:
    there, back = Visit("there", (0,)), Visit("back", (0,))
    later = Visit("there", (1,))
    templates: dict[str, Template] = {
        "there": lambda word: {"x": word("x") * 3.0, "y": word("x") + word("q")},
        "back": lambda word: {"x": word("x") * word("q")},
    }
    reads: Reads = {
        there: {"x": 0.0, "q": "q[0]"},
        back: {"x": VisitResult(there, "x"), "q": "q[1]"},
        later: {"x": VisitResult(back, "x"), "q": "q[2]"},
    }
    program = settled(templates, reads, {"z": VisitResult(later, "y")})
    assert to_text(program.templates["there"]) == to_text(
        settled(
            {"there": templates["there"]}, {later: {"x": 0.0, "q": "q[2]"}}, program.outputs
        ).templates["there"]
    )
    assert program.reads == {later: {"q": "q[2]"}}


def test_a_constant_is_one_number_in_all_visits() -> None:
    """The same 2.0 becomes part of the template; 3.0 and 4.0 stay an input."""

    def scaled(word: Word) -> dict[str, Scalar]:
        return {"y": word("same") * word("own") * word("q")}

    reads: Reads = {
        Visit("scaled", (k,)): {"same": 2.0, "own": 3.0 + k, "q": f"q[{k}]"} for k in range(2)
    }
    outputs: dict[str, Source] = {f"z[{k}]": VisitResult(v, "y") for k, v in enumerate(reads)}
    program = settled({"scaled": scaled}, reads, outputs)
    assert sorted(program.templates["scaled"].inputs) == ["own", "q"]
    assert [program.reads[v]["own"] for v in reads] == [3.0, 4.0]
    assert any(n.op is Op.MULC and n.value == 2.0 for n in program.templates["scaled"].nodes)
    assert dict(program.outputs) == outputs


def test_what_follows_from_constants_is_one() -> None:
    """From template to template, to an output at last."""
    templates: dict[str, Template] = {
        "first": lambda word: {"y": word("c") + 1.0},
        "second": lambda word: {"k": word("y") * 2.0, "v": word("y") * word("q")},
    }
    reads: Reads = {
        Visit("first", ()): {"c": 4.0},
        Visit("second", ()): {"y": VisitResult(Visit("first", ()), "y"), "q": "q"},
    }
    outputs: dict[str, Source] = {of: VisitResult(Visit("second", ()), of) for of in "kv"}
    program = settled(templates, reads, outputs)
    assert program.outputs["k"] == 10.0
    assert program.outputs["v"] == outputs["v"]
    assert list(program.templates) == ["second"]
    assert program.reads == {Visit("second", ()): {"q": "q"}}


def test_what_nobody_reads_is_left_out() -> None:
    """Outputs, the inputs that only they need, visits, and a template without any."""
    templates: dict[str, Template] = {
        "wide": lambda word: {"y": word("p") * 3.0, "idle": word("r") * word("s")},
        "idle": lambda word: {"y": word("x") * 2.0},
    }
    first, second = Visit("wide", (0,)), Visit("wide", (1,))
    reads: Reads = {
        first: {"p": "p[0]", "r": "r", "s": "s"},
        second: {"p": "p[1]", "r": "r", "s": "s"},
        Visit("idle", (0,)): {"x": VisitResult(first, "idle")},
    }
    program = settled(templates, reads, {"z": VisitResult(first, "y")})
    assert list(program.templates) == ["wide"]
    assert program.templates["wide"].inputs == ("p",)
    assert list(program.templates["wide"].outputs) == ["y"]
    assert program.reads == {first: {"p": "p[0]"}}
    assert program.of("wide") == [first]
    assert program.of("idle") == []


def test_visits_that_are_left_out_make_nothing_vary() -> None:
    """Two offsets, one of them in a visit that nobody asks for: the other is a constant."""

    def shifted(word: Word) -> dict[str, Scalar]:
        return {"y": word("q") + word("offset"), "x": word("q") * word("x")}

    reads: Reads = {
        Visit("shifted", (k,)): {"q": f"q[{k}]", "offset": 0.5 * k, "x": 1.0 + k} for k in range(2)
    }
    program = settled({"shifted": shifted}, reads, {"z": VisitResult(Visit("shifted", (1,)), "y")})
    assert program.reads == {Visit("shifted", (1,)): {"q": "q[1]"}}
    assert program.templates["shifted"].inputs == ("q",)


def test_a_program_may_be_all_constants() -> None:
    templates: dict[str, Template] = {"only": lambda word: {"y": word("c") * 2.0}}
    only = Visit("only", ())
    program = settled(templates, {only: {"c": 1.5}}, {"z": VisitResult(only, "y")})
    assert not program.templates
    assert not program.reads
    assert program.outputs == {"z": 3.0}


def test_one_program_after_another() -> None:
    """The second reads what the first gives, times both factors; but the task's own of the task."""
    first = once("first", from_text("input a\n%0 = input a\n%1 = add %0 %0\noutput y = %1"))
    second = once(
        "second",
        from_text("input y\ninput a\n%0 = input y\n%1 = input a\n%2 = mul %0 %1\noutput z = %2"),
    )
    given = VisitResult(Visit("first", ()), "y")
    turned = replace(first, outputs={"y": Scaled(given, -2.0), "a": given})
    visit = Visit("second", ())
    reads = dict(second.reads) | {visit: {"y": Scaled("y", -0.5), "a": "a"}}
    both = then(turned, replace(second, reads=reads), task=["a"])
    assert both.reads[visit] == {"y": given, "a": "a"}
    assert both.read(visit) == {"a": ("a", 1.0)}
    assert list(both.templates) == ["first", "second"]
    assert both.given(Visit("first", ())) == {"y": ("a", 1.0)}
    assert then(turned, second, task=()).reads[visit] == {"y": Scaled(given, -2.0), "a": given}


def test_multiples_settle_like_what_they_are_of() -> None:
    """A constant times ±2^k is one, and what is read times ±2^k is not left out."""

    def source(word: Word) -> dict[str, Scalar]:
        return {"x": word("a") * word("a"), "y": word("q") + 1.0}

    def reader(word: Word) -> dict[str, Scalar]:
        return {"z": word("x") * word("y")}

    one, two = Visit("source", ()), Visit("reader", ())
    reads: Reads = {
        one: {"a": 3.0, "q": "q"},
        two: {"x": Scaled(VisitResult(one, "x"), -2.0), "y": Scaled(VisitResult(one, "y"), 0.5)},
    }
    program = settled({"source": source, "reader": reader}, reads, {"z": VisitResult(two, "z")})
    assert program.reads[two] == {"y": Scaled(VisitResult(one, "y"), 0.5)}
    assert evaluate(program.templates["reader"], {"y": 2.0}) == {"z": -36.0}
