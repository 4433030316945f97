"""Lathrop, Parallelism in Manipulator Dynamics (Int. J. Robotics Research 4(2), 1985)."""

from __future__ import annotations

from collections import Counter
from math import ceil, log2
from pathlib import Path
from typing import Any

from rbdgen.draw.chart import colours_of
from rbdgen.draw.rows import Part, Row, Span, picture
from rbdgen.draw.svg import PAPER
from rbdgen.draw.tables import table
from rbdgen.dynamics.lathrop import ONE, LinkState, Outward, linear, logarithmic
from rbdgen.dynamics.networks import levels
from rbdgen.dynamics.scalars import FloatScalars
from rbdgen.dynamics.spatial import ZERO, Scalars, add
from rbdgen.dynamics.steps import Inline
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder
from rbdgen.graph.verify import verify
from rbdgen.graph.word import spell
from rbdgen.system.quoting import Progress
from rbdgen_host.parallel.chains import random_chain
from rbdgen_host.parallel.depth import depth
from rbdgen_host.parallel.graphs import traced

from .report import Reproduction
from .timetable import Timetable, When

JOINTS = 6  # of the paper's columns
SIZES = (1, 2, 4, 6, 7, 8, 16, 32, 127)
# Table 1, n = 6: multiplications and additions of the formulations that Lathrop compares with.
OTHERS = {
    "Uicker/Kahn": (66271, 51548),
    "Waters": (7051, 5652),
    "Hollerbach, 4 × 4": (4388, 3586),
    "Hollerbach, 3 × 3": (2195, 1719),
    "Luh, Walker, Paul": (852, 738),
    "Horn, Raibert, by table look-up": (468, 264),
    "Luh, Lin, scheduled": (323, 280),
}
VARIABLES = ("ω", "ω̇", "p̈", "r̈", "F", "N", "f", "n")  # Table 4's
# Table 6, of each node, and of systolic machines for six joints.
PROCESSORS = {
    "linear, outward": (22, 132),
    "linear, inward": (8, 48),
    "logarithmic, outward": (36, 468),
    "logarithmic, inward": (13, 169),
}


def lathrop(full: bool, place: Path, progress: Progress) -> Reproduction:
    """Tables 1, 4 and 6 from traced graphs and timetables; Table 4 drawn."""
    sizes = (*SIZES, 64, 128) if full else SIZES
    counts = []
    for n in sizes:
        progress(f"{n} joints")
        counts.append(_counted(n))
    six = next(own for own in counts if own["n"] == JOINTS)
    text = [
        _table_1(six),
        _growth(counts),
        _table_4(),
        _table_6(),
        _inconsistencies(),
        _about(),
    ]
    numbers = {
        "table 1": six,
        "growth": counts,
        "table 6": _processors(),
        "beat": list(_beat()),
    }
    pictures = {
        "003-table-4.svg": _timetable_picture(JOINTS),
        "003-figure-4.svg": _timetable_picture(4, ("ω", "ω̇")),
    }
    return Reproduction("\n\n".join(text), numbers, pictures)


def general_chain(builder: Builder, n: int) -> list[LinkState]:
    """Links whose every parameter is an input, as Lathrop counts: nothing is known of them."""

    def vector(name: str) -> list[Any]:
        return [builder.input(spell(name, k)) for k in range(3)]

    links = []
    for i in range(n):
        J = [
            [builder.input(spell(f"J{i}", min(a, b), max(a, b))) for b in range(3)]
            for a in range(3)
        ]
        A = [vector(f"A{i}_{row}") for row in range(3)]
        p, r, mass = vector(f"p{i}"), vector(f"r{i}"), builder.input(f"m{i}")
        rate, change = (builder.input(spell(kind, i)) for kind in ("qd", "qdd"))
        links.append(LinkState(A, p, r, add(p, r), mass, J, rate, change))
    return links


def graph_of(form: str, n: int) -> Graph:
    """Inverse dynamics of a general chain, "linear" or "logarithmic", as scalar operations."""
    b = Builder()
    links = general_chain(b, n)
    run, ops, a = Inline(FloatScalars()), Scalars(), [b.input(spell("a", k)) for k in range(3)]
    if form == "linear":
        tau = linear(run, ops, links, a).tau
    else:  # on a base that moves
        w, alpha = ([b.input(spell(name, k)) for k in range(3)] for name in ("w", "al"))
        base = Outward(ONE, w, alpha, ZERO, ZERO, ZERO, a)
        tau = logarithmic(run, ops, links, ZERO, ONE, base)
    outputs = {spell("tau", i): b.lift(x) for i, x in enumerate(tau)}
    names = [node.name for node in Graph((), outputs).nodes if node.name]
    return verify(Graph(tuple(dict.fromkeys(names)), outputs))


def timetable(form: str, n: int) -> tuple[Timetable, When, When]:
    """Every vector operation; when the first link's moment is there, and its τ."""
    now, ops = When(), Timetable()
    links = [LinkState(now, now, now, now, now, now, now, now) for _ in range(n)]
    if form == "linear":
        found = linear(ops, ops, links, now)
        return ops, found.first_moment, found.tau[0]
    base = Outward(now, now, now, now, now, now, now)
    tau = logarithmic(ops, ops, links, now, now, base)
    first = tau[0]
    last = max(tau, key=lambda when: (when.flops, when))
    return ops, When(first.multiplications - 1, first.additions - 2), last


def _counted(n: int) -> dict[str, Any]:
    own: dict[str, Any] = {"n": n}
    L = ceil(log2(n + 1))
    own["paper"] = {
        "linear": [2 * n + 3, 6 * n + 7],
        "logarithmic": [2 * L + 5, 6 * L + 10],
    }
    for form in ("linear", "logarithmic"):
        graph = graph_of(form, n)
        found = depth(graph)
        _, moment, tau = timetable(form, n)
        own[form] = {
            "moment": list(moment),
            "tau": list(tau),
            "graph": [found.multiplications, found.additions],
            "flops": found.operations,
            "operations": graph.operations(),
        }
    axes = depth(traced(random_chain(n), "id", "axes"))
    own["axes"] = {"graph": [axes.multiplications, axes.additions], "flops": axes.operations}
    return own


def _table_1(six: dict[str, Any]) -> str:
    rows: list[list[Any]] = [
        [name, "operations", *numbers, "", "", ""] for name, numbers in OTHERS.items()
    ]
    for form in ("linear", "logarithmic"):
        own = six[form]
        tau = f"{own['tau'][0]} + {own['tau'][1]}"
        graph = f"{own['graph'][0]}, {own['graph'][1]}"
        rows.append([f"Lathrop {form}", "time", *six["paper"][form], tau, graph, own["flops"]])
    beat = _beat()
    rows.append(["Lathrop systolic, a further set", "time", 1, 3, f"{beat[0]} + {beat[1]}", "", 4])
    axes = six["axes"]
    graph = f"{axes['graph'][0]}, {axes['graph'][1]}"
    rows.append(["rbdgen, along the base's axes", "time", "", "", "", graph, axes["flops"]])
    head = (
        "Table 1, n = 6",
        "counts",
        "multiplications",
        "additions",
        "ours: timetable, to τ₁",
        "ours: graph, longest in each",
        "flops",
    )
    return table(head, rows)


def _growth(counts: list[dict[str, Any]]) -> str:
    rows = []
    for own in counts:
        for form in ("linear", "logarithmic"):
            found = own[form]
            paper = own["paper"][form]
            rows.append(
                [
                    own["n"],
                    form,
                    f"{paper[0]} + {paper[1]}",
                    sum(paper),
                    f"{found['moment'][0]} + {found['moment'][1]}",
                    f"{found['graph'][0]}, {found['graph'][1]}",
                    found["flops"],
                    found["operations"]["mul"],
                ]
            )
    head = ("n", "form", "paper", "flops", "timetable: n₁ there", "graph", "flops", "products")
    return table(head, rows)


def _table_4() -> str:
    """Operations of a link, in order, and what follows what by how much."""
    ops, _, _ = timetable("linear", JOINTS)
    middle = [v for v in ops.steps if v.link == 2]
    rows = []
    for variable in VARIABLES:
        own = sorted((v for v in middle if v.variable == variable), key=lambda v: v.start)
        spelt = ", ".join(v.operation.upper() for v in own)
        rows.append([variable, len(own), spelt, own[0].start, own[-1].end])
    head = ("Table 4, link 3 of 6", "processors", "operations as they begin", "from", "to, flops")
    ends = {
        variable: [
            max((v.end for v in ops.steps if (v.variable, v.link) == (variable, i)), default=0)
            for i in range(JOINTS)
        ]
        for variable in ("ω", "ω̇", "p̈", "f", "n")
    }
    behind = {
        f"{late} after {early}": ends[late][at] - ends[early][at]
        for late, early, at in (("ω̇", "ω", 3), ("p̈", "ω", 3), ("n", "f", 2))
    }
    stagger = ", ".join(f"{name} by {flops}" for name, flops in behind.items())
    return f"{table(head, rows)}\n\nStagger in flops: {stagger}; the paper: 3, 7 and 3."


def _beat() -> tuple[int, int]:
    """Multiplications and additions from a link to the next, once all are under way."""
    (longer, shorter) = (timetable("linear", n)[1] for n in (9, 8))
    rise = (
        longer.multiplications - shorter.multiplications,
        longer.additions - shorter.additions,
    )
    return rise[0] // 2, rise[1] // 2  # out and back


def _processors() -> dict[str, dict[str, int]]:
    """Vector operations of each node, and of a systolic machine for six joints."""
    ops, _, _ = timetable("linear", JOINTS)
    inward = ("f", "n")
    middle = Counter(v.variable in inward for v in ops.steps if v.link == 2 and v.variable != "τ")
    logarithmic_ops, _, _ = timetable("logarithmic", JOINTS)
    of = Counter(v.variable for v in logarithmic_ops.steps)
    glues = sum(map(len, levels("sklansky", JOINTS + 1)))
    glues_back = sum(map(len, levels("sklansky", JOINTS)))
    out = of["glue"] // glues + (of["r̈"] + of["F"] + of["N"]) // JOINTS
    back = of["glue back"] // glues_back + of["inward leaf"] // JOINTS
    nodes = {
        "linear, outward": (middle[False], JOINTS),
        "linear, inward": (middle[True], JOINTS),
        "logarithmic, outward": (out, 2 * JOINTS + 1),
        "logarithmic, inward": (back, 2 * JOINTS + 1),
    }
    return {name: {"node": own, "systolic": own * many} for name, (own, many) in nodes.items()}


def _table_6() -> str:
    rows = []
    for name, own in _processors().items():
        node, systolic = PROCESSORS[name]
        rows.append([name, node, own["node"], systolic, own["systolic"]])
    head = ("Table 6, processors", "a node", "ours", "systolic, n = 6", "ours")
    machine = PROCESSORS["linear, outward"][1] + PROCESSORS["linear, inward"][1]
    return (
        f"{table(head, rows)}\n\nThe linear systolic machine has {machine} matrix-vector "
        f"processors of six multipliers each: {6 * machine} multipliers. With one processor for "
        "each operation none is used twice, so that a set follows another by the beat: "
        f"{_beat()[0]} multiplication and {_beat()[1]} additions, 4 flops."
    )


def _inconsistencies() -> str:
    _, moment, tau = timetable("linear", JOINTS)
    n = JOINTS
    return (
        "Inconsistent in the paper:\n"
        f"1. Equation (1) and Table 1 give the linear form {2 * n + 3} + {6 * n + 7} at n = 6, "
        f"equation (5) {2 * n + 5} + {6 * n + 9}. By Table 4 the first link's moment is there at "
        f"{moment.multiplications} + {moment.additions}, its torque, one dot product later, at "
        f"{tau.multiplications} + {tau.additions}: Table 1 is right up to that product.\n"
        "2. Table 5 and (A8) print 2S + Q in p̈; the derivation gives 2(S + Q). Chains that only "
        "turn have Q = 0 and do not show it."
    )


def _about() -> str:
    return (
        "Measured: operations of our own text of Tables 2 and 5, once as a timetable of vector "
        "operations (a processor for each; 1 multiplication = 1 addition = 1 flop), once as a "
        "graph of scalars, every parameter an input, sums in the order in which terms arrive.\n"
        "The paper's: the formulas and Tables 1, 4 and 6; the operation counts of the others, as "
        "printed.\n"
        "What differs: the graph of the linear form is shorter than the paper's time, since it "
        "begins at rest and adds terms as they arrive, where the timetable keeps the order of "
        "Table 4; that of the logarithmic form begins at a moving base, as Figure 5 does. Both "
        "end with τ's dot product, which the paper's times leave out. Longest paths in "
        "multiplications and in additions need not be one path: flops are of the longest of all."
    )


def _timetable_picture(n: int, only: tuple[str, ...] = ()) -> str:
    ops, _, _ = timetable("linear", n)
    shown = [v for v in ops.steps if v.variable in (only or VARIABLES)]
    colours = colours_of(v.variable for v in shown)
    rows = []
    for i in range(n):
        own = [v for v in shown if v.link == i]
        there = {v.variable for v in own}
        for k, variable in enumerate(name for name in colours if name in there):
            spans = [
                Span(
                    v.start,
                    v.end,
                    "",
                    f"{v.operation.upper()} of {variable}, link {i + 1}: {v.start} to {v.end}",
                    colours[variable],
                    PAPER,
                )
                for v in own
                if v.variable == variable
            ]
            rows.append(Row("" if k else f"link {i + 1}", spans))
    title = f"Lathrop's linear form, {n} joints: what is computed when"
    part = Part("time in flops; a line for each variable of a link", colours, rows)
    return picture(title, f"{len(shown)} operations", [part], max(v.end for v in shown))
