"""The coefficients of ``rbdgen.design.energy``, from designs whose netlists are simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.api.compilation import recompiled
from rbdgen.api.folder import write_file
from rbdgen.compile.accelerator_area import accelerator_features
from rbdgen.design import energy
from rbdgen.design.energy import BUSY, IDLE
from rbdgen.design.least_squares import Sample
from rbdgen.schedule.energy import TERMS, cells_of, terms
from rbdgen.schedule.features import NAMES as FEATURES
from rbdgen.system.quoting import Progress
from rbdgen.system.records import Record
from rbdgen.tools.energy import Range

from .clocks import DESIGNS as PLACED
from .clocks import LARGE, Choices, as_text, lines, page, recorded, slug, words
from .measurement import Rows, measurement

# Of the clocks' designs the cores, whatever part they are placed on, and others. The family alone
# counts, so all are mapped for its largest part.
DESIGNS: tuple[tuple[str, Choices], ...] = tuple(
    (robot, {**choices, "target": LARGE})
    for robot, choices in (
        *(own for own in PLACED if not own[1].get("accelerator")),
        ("pendulum", {"functions": "g", "ii": 2}),
        ("pendulum", {"functions": "fd", "ii": 1}),
        ("gantry", {"ii": 1}),
        ("iiwa14", {"ii": 5, "fold": "none"}),
        ("iiwa14", {"ii": 1, "fit": False}),
    )
)
STATES = 300
HEAD = ("design", "LUTs and FFs", "interval", "nJ, low", "nJ", "nJ, high", "idle, of busy")


@dataclass(frozen=True)
class CountedDesign(Record):
    """A design whose toggles were counted: the ``robot``, and the words of `rbdgen generate`.

    ``features`` of its plan, without those that are 0; ``interval``: cycles from task to task;
    ``nj`` of a result, and ``idle`` in as many cycles without a task, by `rbdgen energy`.
    """

    robot: str
    design: str
    features: Mapping[str, int]
    interval: float
    cells: int
    flip_flops: int
    nj: Range
    idle: Range

    @property
    def counts(self) -> dict[str, int]:
        """All features."""
        return {name: self.features.get(name, 0) for name in FEATURES}

    @property
    def row(self) -> list[Any]:
        """The entries of ``HEAD``."""
        share = self.idle.central / self.nj.central
        nj = (f"{value:.3g}" for value in (self.nj.low, self.nj.central, self.nj.high))
        return [self.design, self.cells, self.interval, *nj, f"{share:.0%}"]


@measurement("energies", "an hour")
def energies(place: Path, progress: Progress) -> Any:
    """nJ of a result before mapping: netlists of designs simulated, and two models fitted to them.

    What it returns is the table that ``rbdgen/design/energy.json`` holds, which is also written to
    PLACE/energies/energy.json. Designs that it has already are not simulated again, nor those of a
    run that was stopped.
    """
    folder = place / "energies"
    kept = folder / "counted.json"
    before = map(CountedDesign.from_json, recorded(_shipped(), kept))
    known = {one.design: one for one in before}
    rows = Rows(HEAD)
    for robot, choices in DESIGNS:
        said = words(robot, choices)
        if said not in known:
            known[said] = _counted(robot, said, choices, folder / slug(said, 0), progress)
            write_file(kept, lines(known.values()))
        rows.add(known[said].row)
    rows.close()
    found = fitted_to(list(known.values()))
    write_file(folder / energy.TABLE.name, page(found))
    return found


def fitted_to(designs: Sequence[CountedDesign]) -> dict[str, Any]:
    """The table of the models, printed."""
    models = {}
    for model in (BUSY, IDLE):
        values = [one.nj if model == BUSY else one.idle for one in designs]
        samples = [
            Sample(one.robot, terms(one.counts, one.interval), own.central)
            for one, own in zip(designs, values, strict=True)
        ]
        ranges = [(own.low / own.central, own.high / own.central) for own in values]
        models[model] = energy.fit(samples, ranges, TERMS[model])
    cells = [cells_of(one.counts) for one in designs]
    print(f"\n{as_text(models, 'nJ')}", flush=True)
    for model, own in models.items():
        least, most = energy.extent(own)
        print(f"{model}: printed as {least:.2f} to {most:.2f} times that", flush=True)
    return {
        "cells": [min(cells), max(cells)],
        "models": models,
        "designs": [one.to_json() for one in designs],
    }


def _counted(
    robot: str, said: str, choices: Choices, folder: Path, progress: Progress
) -> CountedDesign:
    """Generate, map and simulate a design."""
    progress(f"{said}: generate, map and simulate")
    api.generate(robot, folder, progress, force=True, **choices)
    found = api.energy(folder, STATES, progress=progress).facts
    made = recompiled(folder, progress)
    counts = accelerator_features(made.accelerator)
    return CountedDesign(
        robot=robot,
        design=said,
        features={name: count for name, count in counts.items() if count},
        interval=found.interval,
        cells=found.cells,
        flip_flops=found.flip_flops,
        nj=found.nj,
        idle=found.idle,
    )


def _shipped() -> Sequence[Any]:
    """The designs of the table that ships; none before there is one."""
    found: Sequence[Any] = energy.fitted()["designs"] if energy.TABLE.exists() else ()
    return found
