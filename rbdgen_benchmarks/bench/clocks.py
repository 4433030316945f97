"""The coefficients of ``rbdgen.design.clock``, from designs that nextpnr places with some seeds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rbdgen import api
from rbdgen.api.compilation import recompiled
from rbdgen.api.exploration_loop import command
from rbdgen.api.folder import write_file
from rbdgen.api.synthesis import version_of
from rbdgen.compile.accelerator_area import accelerator_features
from rbdgen.design import clock
from rbdgen.design.clock import NETLIST, PLAN, SPEED, GradeRatio
from rbdgen.design.least_squares import FitError, Sample
from rbdgen.draw.tables import table
from rbdgen.schedule.clock import NAMES as OF_PLANS
from rbdgen.schedule.clock import terms
from rbdgen.schedule.features import NAMES
from rbdgen.system.quoting import Progress
from rbdgen.system.records import Record
from rbdgen.tools.report import SynthesisReport
from rbdgen.tools.timing import NAMES as OF_NETLISTS
from rbdgen.tools.timing import LongestPath, longest_path
from rbdgen.tools.toolchain import NEXTPNR, SynthesisError

from .measurement import Rows, measurement

SEEDS = (1, 2, 3)
SLOWEST, AT_BOTH = 6, 3  # a grade at which the first designs are placed, too
SMALL, MIDDLE, LARGE = "ecp5-25f", "ecp5-45f", "ecp5-85f"
Choices = Mapping[str, Any]
# Robot, choices; small ones first, and robots, functions and ways to share in turn.
DESIGNS: tuple[tuple[str, Choices], ...] = (
    ("pendulum", {"ii": 1}),
    ("pendulum", {"functions": "m", "ii": 1}),
    ("pendulum", {"ii": 3}),
    ("pendulum", {"functions": "did", "ii": 4}),
    ("pendulum", {"functions": "fd", "ii": 4}),
    ("pendulum", {"fold": "joints", "ii": 8}),
    ("gantry", {"functions": "m", "ii": 4}),
    ("pendulum", {"width": 24, "ii": 2}),
    ("gantry", {"ii": 4}),
    ("pendulum", {"ii": 16}),
    ("hyq", {"functions": "m", "ii": 16}),
    ("pendulum", {"functions": "did", "ii": 16}),
    ("gantry", {"ii": 2}),
    ("iiwa14", {"fold": "none", "functions": "g", "ii": 32}),
    ("pendulum", {"functions": "minv", "ii": 2}),
    ("iiwa14", {"fold": "joints", "ii": 24}),
    ("pendulum", {"functions": "did", "ii": 1}),
    ("pendulum", {"width": 12, "ii": 1}),
    ("tiago_like", {"fold": "joints", "ii": 32}),
    ("hyq", {"ii": 16}),
    ("iiwa14", {"ii": 12, "fold": "none"}),
    ("iiwa14", {"functions": "m", "ii": 32}),
    ("gantry", {"functions": "did", "ii": 16}),
    ("pendulum", {"accelerator": True, "functions": ("id", "m"), "ii": 4}),
    ("pendulum", {"functions": ("id", "m"), "ii": 2}),
    ("hyq", {"ii": 8}),
    ("gantry", {"width": 24, "ii": 8}),
    ("spot_arm_like", {"ii": 24}),
    ("iiwa14", {"ii": 5}),
    ("pendulum", {"functions": "fd", "ii": 1, "width": 20, "target": MIDDLE}),
    ("hyq", {"ii": 4, "target": LARGE}),
    ("baxter", {"ii": 16, "target": MIDDLE}),
)
HEAD = ("design", "part", "speed", "LUTs and FFs", *(f"seed {k}" for k in SEEDS), "median, MHz")


@dataclass(frozen=True)
class PlacedDesign(Record):
    """A design that was placed and routed: the ``robot``, and the words of `rbdgen generate`.

    ``clocks``: seed → MHz at a ``speed`` grade. ``features`` of its plan, without those that are 0,
    and ``cells`` of its netlist, as the compiler had them then; ``path``: the netlist's longest.
    None, and fewer seeds, of clocks that docs/measured.md has from before.
    """

    robot: str
    design: str
    target: str
    speed: int
    clocks: Mapping[str, float]
    features: Mapping[str, int]
    cells: Mapping[str, int]
    path: LongestPath | None = None

    @property
    def mhz(self) -> float:
        """The median of the seeds."""
        return median(self.clocks.values())

    @property
    def is_whole(self) -> bool:
        """Whether it was placed with all of `SEEDS`."""
        return self.clocks.keys() >= set(map(str, SEEDS))

    @property
    def samples(self) -> dict[str, Sample]:
        """The design as each of the models sees it."""
        every = {name: self.features.get(name, 0) for name in NAMES}
        of = {PLAN: terms(clock.FAMILY, every)}
        if self.path:
            of[NETLIST] = self.path.terms
        return {model: Sample(self.robot, own, 1e3 / self.mhz) for model, own in of.items()}

    @property
    def row(self) -> list[Any]:
        """The entries of ``HEAD``."""
        size = self.samples[PLAN].terms["root of cells"] ** 2
        by_seed = [self.clocks.get(str(seed)) for seed in SEEDS]
        clocks = [round(own, 1) if own else "-" for own in by_seed]
        return [self.design, self.target, self.speed, round(size), *clocks, round(self.mhz, 1)]


@measurement("clocks", "hours")
def clocks(place: Path, progress: Progress) -> Any:
    """MHz before place and route: designs placed with three seeds, and two models fitted to them.

    What it returns is the table that ``rbdgen/design/clock.json`` holds; PLACE/clocks/clock.json
    is that file. Designs that it has already are not placed again, nor those that a run that was
    stopped has placed.
    """
    folder = place / "clocks"
    kept = folder / "placed.json"
    before = map(PlacedDesign.from_json, recorded(_shipped(), kept))
    known = {(one.design, one.speed): one for one in before}
    rows = Rows(HEAD)
    wanted = [(SPEED, *own) for own in DESIGNS] + [(SLOWEST, *own) for own in DESIGNS[:AT_BOTH]]
    for speed, robot, choices in wanted:
        said = words(robot, choices)
        if (said, speed) not in known or not known[said, speed].is_whole:
            try:
                one = _placed(robot, said, choices, speed, folder / slug(said, speed), progress)
            except SynthesisError as error:
                progress(f"{said}: {error}")
                continue
            known[said, speed] = one
            write_file(kept, lines(known.values()))
        rows.add(known[said, speed].row)
    rows.close()
    found = fitted_to(list(known.values()))
    write_file(folder / clock.TABLE.name, page(found))
    return found


def words(robot: str, choices: Choices) -> str:
    """The words behind ``rbdgen generate``."""
    said = command(robot, {"target": SMALL, **choices})
    assert said is not None
    return said.removeprefix("rbdgen generate ")


def slug(said: str, speed: int) -> str:
    """The name of a design's folder."""
    return re.sub(r"[^a-z0-9]+", "-", f"{said} speed {speed}")


def _placed(
    robot: str, said: str, choices: Choices, speed: int, folder: Path, progress: Progress
) -> PlacedDesign:
    """Generate, place and route a design, but for what is in its folder already."""
    part = choices.get("target", SMALL)
    file = folder / f"synthesis-{part}" / "report.json"
    if not file.exists():
        progress(f"{said}: generate, place and route")
        api.generate(robot, folder, progress, force=True, **{"target": SMALL, **choices})
        api.synthesize(
            folder, place_and_route=True, speeds=(speed,), seeds=SEEDS, progress=progress
        )
    report = SynthesisReport.from_json(json.loads(file.read_text("utf-8")))
    counts = accelerator_features(recompiled(folder, progress).accelerator)
    return PlacedDesign(
        robot=robot,
        design=said,
        target=part,
        speed=speed,
        clocks={str(one.seed): round(one.fmax, 2) for one in report.placements},
        features={name: count for name, count in counts.items() if count},
        cells=report.cells,
        path=longest_path(file.with_name(f"{report.top}.json"), report.top),
    )


def fitted_to(designs: Sequence[PlacedDesign]) -> dict[str, Any]:
    """The table of the models, printed."""
    own = [one for one in designs if one.speed == SPEED]
    models = {
        model: clock.fit([s for one in own if (s := one.samples.get(model))], list(names))
        for model, names in {PLAN: OF_PLANS, NETLIST: OF_NETLISTS}.items()
    }
    print(f"\n{as_text(models)}", flush=True)
    return {
        "nextpnr": version_of(NEXTPNR),
        "speeds": _ratios(designs),
        "models": models,
        "designs": [one.to_json() for one in designs],
    }


def as_text(models: Mapping[str, Any], unit: str = "ns") -> str:
    """The models' coefficients and errors."""
    head = ("model", "designs", "fit", "design left out", "robot left out", "worst", "in range")
    rows, below = [], []
    for name, model in models.items():
        own = FitError.from_json(model["error"])
        shares = (own.fit, own.design, own.robot, own.worst, own.inside)
        said = ("-" if share is None else f"{share:.1%}" for share in shares)
        rows.append([name, own.designs, *said])
        each = " + ".join(f"{x:g} {unit} x {term}" for term, x in model["coefficients"].items())
        below.append(f"{name}: {unit} = {each}")
    return "\n".join([table(head, rows), "", *below])


def _ratios(designs: Sequence[PlacedDesign]) -> dict[str, Any]:
    """Speed grade → `GradeRatio` of designs placed at both; of two at least."""
    found: dict[int, list[float]] = {}
    fast = {one.design: one.mhz for one in designs if one.speed == SPEED}
    for one in designs:
        if one.speed != SPEED and one.design in fast:
            found.setdefault(one.speed, []).append(fast[one.design] / one.mhz)
    ratios = {speed: GradeRatio.of(own) for speed, own in found.items() if len(own) > 1}
    ratios[SPEED] = GradeRatio(1.0, 0.0, len(fast))
    return {str(speed): own.to_json() for speed, own in sorted(ratios.items())}


def recorded(shipped: Iterable[Any], kept: Path) -> list[Any]:
    """The designs of a table that ships, and those that an earlier run has measured, as JSON."""
    return [*shipped, *(json.loads(kept.read_text("utf-8")) if kept.exists() else [])]


def _shipped() -> Sequence[Any]:
    found: Sequence[Any] = clock.fitted()["designs"]
    return found


def page(table: Mapping[str, Any]) -> str:
    """The table as JSON, a line a design."""
    head = json.dumps({**table, "designs": []}, indent=2)
    below = ",\n".join(json.dumps(one) for one in table["designs"])
    return head.replace('"designs": []', f'"designs": [\n{below}\n]') + "\n"


def lines(designs: Iterable[Record]) -> str:
    """Designs as JSON, a line each."""
    return "[\n" + ",\n".join(json.dumps(one.to_json()) for one in designs) + "\n]\n"
