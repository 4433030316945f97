"""Second derivatives: operations beside tangents of every entry, and times beside Pinocchio's."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Any

from rbdgen.api.folder import write_file
from rbdgen.api.native_programs import DTYPES, compiled
from rbdgen.compile.flow import Front, front_end
from rbdgen.compile.front import any_inputs
from rbdgen.design.loading import load
from rbdgen.draw.tables import markdown, table
from rbdgen.dynamics.motion import RobotState
from rbdgen.dynamics.tangent_space import seeds
from rbdgen.graph.derivative import differentiate
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node
from rbdgen.graph.word import indices, kind_of, spell
from rbdgen.system.quoting import Progress
from rbdgen.words.order import EXACT, run

from ..compare.pinocchio import TEMPLATED, check
from ..compare.pinocchio import command as peer
from ..compare.timing import Command, command, least, read
from .cpu import processor
from .measurement import Rows, measurement

CASES = (("iiwa14", "fixed"), ("hyq", "fixed"), ("hyq", "floating"))
FORMULATIONS = ("composite", "recursive", "logarithmic")
FEW = 256  # states of a batch that stays in the cache
COUNTS = ("", "entries", "products", "by constants", "sums")
TIMES = ("", "one state", "blocks", "rows", "float, blocks", "rows", "Pinocchio, templated")
LEGEND = (
    "ns a state, sines included: medians in CPU time, least of 5 processes in turn. Of one state\n"
    f"at a time; of {FEW} in blocks, and in rows as C has arrays, zeros too. Pinocchio's\n"
    "results were compared with the golden model's"
)


@measurement("second-derivatives", "minutes")
def second(place: Path, progress: Progress) -> Any:
    """Operations of ddid in each formulation, and ns in C++ beside Pinocchio's templates."""
    counts: dict[str, Any] = {}
    times: dict[str, Any] = {}
    rows = Rows(COUNTS)
    for robot, base in CASES:
        name = f"{robot}{' floating' * (base == 'floating')}"
        progress(f"{name}: operations")
        gradients = front_end(robot, base=base, functions=("did", "m"), fit=False)
        graphs = {"tangents of did and m": every_tangent(gradients)}
        for formulation in FORMULATIONS:
            choices: dict[str, Any] = {"functions": ("ddid",), "base": base}
            front = front_end(robot, fit=False, formulation=formulation, **choices)
            graphs[f"ddid {formulation}"] = front.graph
        for said, graph in graphs.items():
            counts[f"{name}, {said}"] = _count(graph)
            rows.add([f"{name}, {said}", *counts[f"{name}, {said}"].values()])
        times[name] = _timed(robot, base, progress)
    lines = [[name, *(f"{ns:.3g}" for ns in own.values())] for name, own in times.items()]
    about = f"{LEGEND}. {processor()}, load {os.getloadavg()[1]:.1f}."
    rows.close(f"{table(TIMES, lines)}\n\n{about}")
    text = "\n\n".join([markdown(COUNTS, rows.rows), markdown(TIMES, lines), about])
    write_file(place / "second-derivatives.md", text + "\n")
    return {"operations": counts, "ns": times}


def every_tangent(front: Front) -> Graph:
    """Tangents of the gradients and of M along all coordinates: each entry of ddid by itself.

    Entries that are equal for certain are there once.
    """
    robot, graph, builder = front.canonical, front.graph, Builder()
    q = [builder.input(spell("q", k)) for k in range(robot.nq)]
    owner = {k: i for i in robot.free for k in _coordinates(front, i)}
    along: dict[str, dict[tuple[str, int], Any]] = {
        name: {("q", k): make for k, make in own.items()}
        for name, own in seeds(robot, RobotState(q, [], []), owner).items()
    }
    along |= {spell("qd", k): {("qd", k): lambda: 1.0} for k in owner}
    made = differentiate(graph.nodes, builder, along, set(graph.nodes))
    outputs: dict[str, Node] = {}
    for (output, node), k, by in product(graph.outputs.items(), owner, ("q", "qd")):
        array = {
            ("dtau_dq", "q"): "d2tau_dq2",
            ("dtau_dqd", "q"): "d2tau_dq_dqd",
            ("dtau_dqd", "qd"): "d2tau_dqd2",
            ("M", "q"): "dM_dq",
        }.get((kind_of(output), by))
        if array is None or (by, k) not in made.tangents[node]:
            continue
        i, j = indices(output)
        same = array == "d2tau_dqd2" or (array == "d2tau_dq2" and owner[j] != owner[k])
        if not (same and j > k):
            at = (i, k, j) if array == "d2tau_dq_dqd" else (i, j, k)
            outputs[spell(array, *at)] = made.tangents[node][by, k]
    whole = Graph(graph.inputs, outputs)
    given = any_inputs(front.design, robot, whole.inputs)
    return run(EXACT, whole, given)


def _coordinates(front: Front, i: int) -> range:
    at = front.canonical.v_slices[i]
    return range(at.start, at.stop)


def _count(graph: Graph) -> dict[str, int]:
    own = graph.operations()
    count = {name: own[name] for name in ("mul", "mulc", "add")}
    return {"entries": len(set(graph.outputs.values())), **count}


def _timed(robot: str, base: str, progress: Progress) -> dict[str, float]:
    """Times by the columns of the table."""
    name = f"{robot} {base}"
    design, loaded = load(robot, base=base, functions=("ddid",))
    check(TEMPLATED, "ddid", robot, progress, base)
    commands: dict[str, Command] = {TEMPLATED: peer(TEMPLATED, "ddid", robot, progress, base)}
    for kind in DTYPES:
        own = compiled(design, loaded, kind, progress)
        commands[kind] = command(own, (FEW,), 1, progress)
    progress(f"{name}: timed")
    found = least(commands)
    double, single = (read(found[kind], (FEW,)) for kind in ("cpp", "cpp32"))
    return {
        "one": double.one,
        "blocks": double.of[FEW].blocks,
        "rows": double.of[FEW].rows,
        "float_blocks": single.of[FEW].blocks,
        "float_rows": single.of[FEW].rows,
        TEMPLATED: found[TEMPLATED][0],
    }
