"""The climb: it finds known maxima, and makes the steps that NumPy makes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rbdgen.compile.flow import front_end
from rbdgen.compile.words import sample_inputs
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op
from rbdgen.system.compiler import NoCompiler
from rbdgen.words import ascent
from rbdgen.words.ascent import Climb, CoordinateKind, Domain, Job, ascend, cones
from rbdgen.words.value_range import library
from tests.words.ascent_numpy import _kept, in_numpy, turned

TURN = (-math.pi, math.pi)


def domain_of(limits: dict[str, tuple[float, float]], **of: object) -> Domain:
    rng = np.random.default_rng(1)
    samples = {name: rng.uniform(*ends, 50) for name, ends in limits.items()}
    return Domain(limits, samples=samples, **of)  # type: ignore[arg-type]


def value_at(graph: Graph, node: Node, states: dict[str, np.ndarray]) -> np.ndarray:
    return evaluate(Graph(graph.inputs, {"y": node}), states)["y"]


def test_sines_of_turns() -> None:
    turns = np.concatenate([np.linspace(-3, 3, 4801), np.array([0.125, -0.125, 1e6 + 0.3])])
    sine, cosine = turned(turns)
    np.testing.assert_allclose(sine, np.sin(math.tau * turns), atol=1e-9)
    np.testing.assert_allclose(cosine, np.cos(math.tau * turns), atol=1e-9)
    near = np.abs(turns) <= 3
    np.testing.assert_allclose(sine[near], np.sin(math.tau * turns[near]), atol=5e-14)


def test_known_maxima() -> None:
    b = Builder()
    q, p, v, x = (b.input(name) for name in ("q", "p", "v", "x"))
    wave = b.sin(q) * 3.0 + b.cos(q) * 4.0  # 5, wherever the samples are
    linear = v * 2.0 - x  # at two corners
    clipped = b.sin(p)  # at its limit: 0.4 rad
    least = x * x + 0.5
    graph = Graph(("q", "p", "v", "x"), dict(enumerate_names(wave, linear, clipped, least)))
    domain = domain_of(
        {"q": TURN, "p": (-0.1, 0.4), "v": (-1, 2), "x": (-3, 1)},
        turns=frozenset("q"),
        angles=frozenset("p"),
    )
    whole, copies = domain.over(graph)
    nodes = [copies[n] for n in (wave, linear, clipped)]
    found = ascend(whole, domain, nodes, [copies[least]], steps=100, seed=0)
    at = [value_at(whole, n, found) for n in (*nodes, copies[least])]
    assert abs(at[0][0]) == pytest.approx(5, rel=1e-4)
    assert at[1][1] == 7
    assert at[2][2] == pytest.approx(math.sin(0.4))
    assert at[3][3] == pytest.approx(0.5, abs=1e-3)


def enumerate_names(*nodes: Node) -> list[tuple[str, Node]]:
    return [(f"y[{k}]", node) for k, node in enumerate(nodes)]


def test_unit_vectors_stay_so() -> None:
    b = Builder()
    names = ("a", "b", "c", "d")
    a, c = b.input("a"), b.input("c")
    domain = domain_of(dict.fromkeys(names, (-1.0, 1.0)), vectors=(names,))
    y = a * 3.0 + c * 4.0
    graph, copies = domain.over(Graph(names, {"y": y}))
    found = ascend(graph, domain, [copies[y]], steps=100, seed=0)
    assert sum(float(v[0]) ** 2 for v in found.values()) == pytest.approx(1)
    assert abs(value_at(graph, copies[y], found)[0]) == pytest.approx(5, rel=1e-3)


def all_operations() -> tuple[Graph, Domain]:
    b = Builder()
    q, p, v, w = (b.input(name) for name in ("q", "p", "v", "w"))
    vector = [b.input(name) for name in ("s", "c")]
    positive = b.cos(p) * 0.5 + 1.7
    scaled = b.scale(v * b.sin(q, 1.0), b.exponent(positive)) * b.mantissa(positive)
    chosen = b.select(b.sin(q) + 0.1, v * v - w, b.cos(q) * w)
    chosen = chosen + b.saturate(v * w, 0.9)
    y = -(scaled + chosen) * vector[0] + b.recip(positive) * vector[1]
    names = ("q", "p", "v", "w", "s", "c")
    domain = domain_of(
        {"q": TURN, "p": (-1, 2), "v": (-2, 3), "w": (-1, 1), "s": (-1, 1), "c": (-1, 1)},
        turns=frozenset("q"),
        angles=frozenset("p"),
        vectors=(("s", "c"),),
    )
    graph, _ = domain.over(Graph(names, {"y": y, "x": -scaled}))
    used = {node.op for node in graph.nodes}
    assert used == set(Op) - {Op.PARAMETER}  # of hardware alone
    return graph, domain


def of_robot(robot: str, function: str, base: str = "fixed") -> tuple[Graph, Domain]:
    front = front_end(robot, functions=(function,), base=base)
    domain = sample_inputs(front).domain
    assert domain is not None
    return domain.over(front.graph)[0], domain


@pytest.mark.parametrize(("patience", "ways"), [(7, 8), (100, 8), (7, 2), (9, 1)])
@pytest.mark.parametrize(
    "case",
    [
        all_operations,
        lambda: of_robot("gantry", "fd"),
        lambda: of_robot("pendulum", "did", "floating"),
    ],
)
def test_the_steps_are_those_of_numpy(case: object, patience: int, ways: int) -> None:
    graph, domain = case()  # type: ignore[operator]
    climb = Climb.of(graph, domain)
    moving = [i for i, n in enumerate(graph.nodes) if n.op not in (Op.INPUT, Op.CONST)][-40:]
    starts = np.stack([domain.samples[name][: len(moving)] for name in domain.names], axis=1)
    job = Job(
        np.array(moving, np.int32),
        np.arange(len(moving), dtype=np.int32) % 3 // 2,
        np.ascontiguousarray(starts),
        40,
        patience,
        12,
        ways,
    )
    best, states = ascent._compiled(library("ascent.cpp"), climb)(job)
    same_best, same_states = in_numpy(climb, job)
    np.testing.assert_array_equal(best, same_best)
    np.testing.assert_array_equal(states, same_states)


def test_the_search_asks_for_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says so in a line, as all that needs one does."""
    graph, domain = all_operations()
    library.cache_clear()
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(NoCompiler, match=r"^no C\+\+ compiler no-such-compiler, which \$CXX"):
        ascend(graph, domain, [graph.nodes[-1]], steps=3, seed=2)


def test_a_gradient_that_was_zero_before_is_no_warning() -> None:
    with np.errstate(all="raise"):
        kept = _kept(
            np.array([CoordinateKind.TURN], np.int32), [np.zeros(2)], [np.array([1e9, 0.0])]
        )
    np.testing.assert_array_equal(kept, [1.0, 0.0])


def test_cones_are_counted() -> None:
    graph, _ = all_operations()
    nodes = [n for n in graph.nodes if n.op is Op.MUL]

    def size(node: Node) -> int:
        return len({node}.union(*({a, *below(a)} for a in node.args)))

    def below(node: Node) -> set[Node]:
        return set().union(*({a, *below(a)} for a in node.args))

    assert cones(graph, nodes) == sum(size(n) for n in nodes)
