"""Sensitivities of a Runge-Kutta step at many sampling points: what taking turns hides.

The schedule of Dadu-RBD's Fig. 13, measured: four gradients for each point, each of which needs
the one before, while the other points keep the accelerator busy.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen import api
from rbdgen.api.design_file import DESIGN
from rbdgen.api.integer_model import load_core
from rbdgen.api.stimulus import Traffic, inputs_of
from rbdgen.compile.flow import compile_design
from rbdgen.compile.product import Product
from rbdgen.compile.samples import sample_states
from rbdgen.draw import svg
from rbdgen.draw.rows import Part, Row, Span
from rbdgen.draw.rows import picture as bar_rows
from rbdgen.golden import rnea
from rbdgen.system.quoting import Progress
from rbdgen.tools.model import Model
from rbdgen_host.driver import Dynamics, rk4_sensitivity

from .measurement import Row as Measured
from .measurement import measurement

Integers = NDArray[np.int64]
ROBOT = "gantry"
CHOICES: dict[str, Any] = {
    "functions": ("minv", "dfd"),
    "ii": 16,
    "target": "xcup",
    "order": "issued",
}
POINTS = (1, 4, 16, 64)
DRAWN = 16
SLOPES = 4
STEP = 0.01  # [s]
COLOURS = ("#2464b4", "#097d8f", "#1d8247", "#b15b0a")


@dataclass(frozen=True, eq=False)
class Turns:
    """When each of the four gradients of N points was accepted and had its result: (4, N).

    ``cycles``: from the first task to the last result.
    """

    accepted: Integers
    given: Integers
    cycles: int


HEAD = ("points", "cycles for A", "a point, A", "a point, A and B", "times as fast as alone")


@measurement("rk4", "minutes", HEAD)
def rk4(place: Path, progress: Progress) -> Generator[Measured, None, str]:
    """RK4 sensitivities of 1 to 64 points, interleaved, against one gradient after the other."""
    folder = place / "rk4_accelerator"
    api.generate(ROBOT, folder, progress, force=True, accelerator=True, **CHOICES)
    made = compile_design(str(folder / DESIGN), progress)
    model = load_core(folder, api.read_manifest(folder).facts, progress=progress)
    driver = Dynamics(folder, on_overflow="raise")
    first = turns(made, model, driver, 1, ("dfd",))
    latency = int(first.given[0, 0] - first.accepted[0, 0])
    for points in POINTS:
        A, both = (turns(made, model, driver, points, fs) for fs in (("dfd",), ("dfd", "minv")))
        per_point = [round(t.cycles / points, 1) for t in (A, both)]
        yield [points, A.cycles, *per_point, round(SLOPES * latency / per_point[0], 1)]
        if points == DRAWN:
            title = f"{ROBOT}: RK4 sensitivities of {points} points, four gradients each"
            api.write_file(place / "rk4.svg", picture(A, latency, title))
    interval = made.accelerator.interval("dfd")
    return (
        f"a gradient alone takes {latency} cycles, four {SLOPES * latency}; the stages allow one "
        f"every {interval}, {SLOPES * interval} a point; the host's own time is left out"
    )


def turns(
    made: Product,
    model: Model,
    driver: Dynamics,
    points: int,
    functions: Sequence[str],
    seed: int = 0,
) -> Turns:
    """Run the tasks of a step at random points: of each slope, point after point, ``functions``.

    The first of ``functions`` is dfd, which the next slope of a point needs; with dfd alone the run
    gives A of the step, with minv B too. ``driver`` says where the slopes are taken. At most as
    many tasks are under way as a slope has, so that each comes after the result that it needs.
    Every bit is compared with the integer model.

    Raises Mismatch where a bit is wrong, or a task came before what it needs.
    """
    design, robot = made.design, made.front.robot
    state = sample_states(design, robot, points, seed)
    q, v, a = (0.5 * state[name] for name in ("q", "qd", "qdd"))  # slopes are taken beside them
    tau = rnea(robot, q, v, a)
    step = rk4_sensitivity(driver, q, v, tau, STEP)
    each = len(functions)
    whole = {
        "q": np.concatenate([at for at, _ in step.states]),
        "qd": np.concatenate([at for _, at in step.states]),
        "tau": np.tile(tau, (SLOPES, 1)),
    }
    own = inputs_of(made, {name: np.repeat(array, each, axis=0) for name, array in whole.items()})
    tasks = list(functions) * (SLOPES * points)
    run = Traffic(made, own).run(model, tasks, under_way=each * points)
    accepted, given = (
        cycles[::each].reshape(SLOPES, points) for cycles in (run.accept_cycle, run.result_cycle)
    )
    if (accepted[1:] <= given[:-1]).any():
        raise api.Mismatch("a gradient was asked for before the one that it needs was there")
    return Turns(accepted, given, int(run.result_cycle[-1] - run.accept_cycle[0]))


def picture(run: Turns, latency: int, title: str) -> str:
    """An SVG document: a row for each point, a bar for each of its four gradients."""
    rows = [
        Row(
            f"point {point}",
            [
                Span(first, last, str(k + 1), f"cycles {first} to {last}", COLOURS[k], svg.PAPER)
                for k, (first, last) in enumerate(zip(accepted, given, strict=True))
            ],
        )
        for point, (accepted, given) in enumerate(
            zip(run.accepted.T.tolist(), run.given.T.tolist(), strict=True)
        )
    ]
    facts = (
        f"{run.cycles} cycles, {run.cycles / len(rows):.1f} a point; one after the other "
        f"{SLOPES} × {latency} = {SLOPES * latency} a point"
    )
    said = "from a gradient's acceptance to its result; each needs the one before"
    colours = {f"gradient {k + 1}": colour for k, colour in enumerate(COLOURS)}
    return bar_rows(title, facts, [Part(said, colours, rows)], int(run.given.max()))
