"""Limbs that compute the same: one of them stands for all, up to signs of what goes in and out.

A limb is a set of outputs and the inputs that they depend on; no two limbs share an input. The legs
of a quadruped on a fixed trunk are four. A mirrored limb computes the function of the first one of
inputs with other signs: a joint that turns the other way has the opposite sign in q, q̇, q̈ and τ,
an entry of M⁻¹ the product of the signs of its two joints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ..graph.evaluate import Array, evaluate
from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.visits import Program, Result, Source, Visit, scaled
from ..graph.word import kind_of, parse

SAME = 1e-9  # of an output's largest value
MOST_SIGNS = 12  # of a limb's joints: every choice of them is tried
LIMB = "limb"  # the template that the first limb is
Signed = tuple[str, float]  # a name, and ±2^k


class LimbError(ValueError):
    """Limbs that cannot take turns, and why."""


def find_limbs(graph: Graph, states: Mapping[str, Array]) -> Program:
    """Visits to the first limb of a graph, compared in ``states``, (N,) of each input.

    Outputs that are the same in every state are constants. Raises LimbError where there is one limb
    only or where one differs from the first.
    """
    parts = components(graph)
    if not parts:
        raise LimbError("no result depends on an input")
    if len(parts) == 1:
        raise LimbError(
            "there is one limb: no two groups of results depend on different inputs "
            "(on a floating base none do)"
        )
    template, *others = parts
    plus = np.ones(len(template.inputs)), np.ones(len(template.outputs))
    signs = [plus, *(_signs(template, other, states) for other in others)]
    limbs = [
        (_named(template.inputs, own.inputs, of[0]), _named(template.outputs, own.outputs, of[1]))
        for own, of in zip(parts, signs, strict=True)
    ]
    found = in_turn(template, limbs)
    outputs = {name: found.outputs.get(name, node.value) for name, node in graph.outputs.items()}
    return Program(found.templates, found.reads, outputs)


def in_turn(
    template: Graph,
    limbs: Iterable[tuple[Mapping[str, Signed], Mapping[str, Signed]]],
    called: str = LIMB,
) -> Program:
    """Visits to one template: its inputs → words of the task, its outputs → what they are called.

    An input that is not named is zero, an output that is not named is nobody's. ``called``: the
    template.
    """
    reads: dict[Visit, Mapping[str, Source]] = {}
    outputs: dict[str, Source] = {}
    for k, (read, given) in enumerate(limbs):
        visit = Visit(called, (k,))
        reads[visit] = {p: scaled(*read[p]) if p in read else 0.0 for p in template.inputs}
        outputs |= {name: scaled(Result(visit, of), by) for of, (name, by) in given.items()}
    return Program({called: template}, reads, outputs)


def _named(of: Iterable[str], own: Iterable[str], signs: Array) -> dict[str, Signed]:
    return {a: (b, int(s)) for a, b, s in zip(of, own, signs, strict=True)}


def components(graph: Graph) -> list[Graph]:
    """Outputs with the inputs that they depend on, no input in two of them; no constant outputs."""
    place = {name: k for k, name in enumerate(graph.inputs)}
    reads: dict[Node, int] = {}  # bit k: input k
    for node in graph.nodes:
        reads[node] = 1 << place[node.name] if node.op is Op.INPUT else 0
        for arg in node.args:
            reads[node] |= reads[arg]
    parts: list[tuple[int, list[str]]] = []
    for name, node in graph.outputs.items():
        inputs, names = reads[node], [name]
        if not inputs:
            continue
        shared = [part for part in parts if part[0] & inputs]
        for part in shared:
            inputs |= part[0]
            names = part[1] + names
            parts.remove(part)
        parts.append((inputs, names))
    order = {name: k for k, name in enumerate(graph.outputs)}
    for _, names in parts:
        names.sort(key=order.__getitem__)
    parts.sort(key=lambda part: order[part[1][0]])
    return [
        Graph(
            tuple(name for name in graph.inputs if inputs >> place[name] & 1),
            {name: graph.outputs[name] for name in names},
        )
        for inputs, names in parts
    ]


def _signs(template: Graph, own: Graph, states: Mapping[str, Array]) -> tuple[Array, Array]:
    """The sign of each input and of each output, the fewest of them -1."""
    _refuse_other_kinds(template, own)
    tried = np.zeros((1, len(template.inputs)))
    for group in _groups(template.inputs):
        tried = (tried[:, None] + group).reshape(-1, len(template.inputs))
        off, signs = _compare(template, own, states, tried)
        fits = off.max(axis=1) <= SAME
        if not fits.any():
            best = off[off.max(axis=1).argmin()]
            of, to = (list(graph.outputs)[best.argmax()] for graph in (own, template))
            raise LimbError(
                f"{of} and {to} differ by {best.max():.1e} of their size, whatever the signs of "
                f"the joints; limbs that take turns must agree to {SAME:.0e}"
            )
        tried, signs = tried[fits], signs[fits]
    fewest = ((tried < 0).sum(axis=1) + (signs < 0).sum(axis=1)).argmin()
    return tried[fewest], signs[fewest]


def _refuse_other_kinds(template: Graph, own: Graph) -> None:
    """LimbError unless inputs and outputs of the two are of the same kinds, in the same order."""
    for what, one, other in (
        ("results", template.outputs, own.outputs),
        ("inputs", template.inputs, own.inputs),
    ):
        if [_kind(name) for name in one] != [_kind(name) for name in other]:
            raise LimbError(
                f"the limb of {next(iter(own.outputs))} has {len(other)} {what} ("
                f"{_some(list(other))}), the limb of {next(iter(template.outputs))} has "
                f"{len(one)} ({_some(list(one))}): limbs that take turns are alike"
            )


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) < 8 else [*names[:6], "…"])


def _groups(names: tuple[str, ...]) -> Iterator[Array]:
    """(choices, inputs) of signs: of all joints together, then of one force after the other.

    What an input's group has not come to is held at zero.
    """
    forces = [k for k, name in enumerate(names) if kind_of(name) == "f_ext"]
    free = sorted({sign for k, n in enumerate(names) if k not in forces for sign in _free(n)})
    if len(free) > MOST_SIGNS:
        raise LimbError(f"the joints of a limb may have {len(free)} signs; {MOST_SIGNS} are tried")
    choices = 1 << len(free)
    sign = {of: 1.0 - 2.0 * (np.arange(choices) >> k & 1) for k, of in enumerate(free)}
    together = np.zeros((choices, len(names)))
    for k, name in enumerate(names):
        if k not in forces:
            together[:, k] = np.prod([sign[of] for of in _free(name)], axis=0)
    yield together
    for k in forces:
        yield np.array([[1.0], [-1.0]]) * np.eye(len(names))[k]


def _free(name: str) -> list[str]:
    """What has the signs whose product is the name's: ``Minv[4,3]`` → joints 4 and 3.

    The sine and the cosine of a joint that is mirrored, and offset too, have signs of their own.
    """
    word = parse(name)
    return [name] if word.kind in ("sin", "cos") else [str(k) for k in word.indices]


def _kind(name: str) -> tuple[str, str]:
    """``f_ext[3].nx`` → ("f_ext", "nx")."""
    word = parse(name)
    return word.kind, word.axis


def _compare(
    template: Graph, own: Graph, states: Mapping[str, Array], signs: Array
) -> tuple[Array, Array]:
    """How far off the template's outputs are, and their signs: (choices, outputs) each.

    ``signs``: (choices, inputs); 0 holds an input at zero, in the limb too.
    """
    held = signs[0] != 0
    columns = {name: states[name] * on for name, on in zip(own.inputs, held, strict=True)}
    wanted = np.stack(list(evaluate(own, columns).values()))  # (outputs, N)
    tried = {
        name: (sign[:, None] * column).ravel()
        for name, sign, column in zip(template.inputs, signs.T, columns.values(), strict=True)
    }
    made = np.stack([x.reshape(len(signs), -1) for x in evaluate(template, tried).values()], axis=1)
    sign = np.where((made * wanted).sum(axis=2) < 0, -1.0, 1.0)
    size = np.maximum(np.abs(wanted).max(axis=1), np.finfo(float).tiny)
    off = np.abs(made * sign[:, :, None] - wanted).max(axis=2) / size
    return off, sign
