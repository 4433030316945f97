"""Map a generated design to FPGA cells; place and route it, or count cells alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..design.target import PLACERS, ROUTERS, TARGETS, Target, find_target
from ..draw.floor_plan import mapped_text
from ..rtl.multiplier_cells import emit_cells
from ..rtl.multiply_add import named
from ..rtl.separate_module import with_own_names
from ..shell.emit import Emitted
from ..system.cache import cached_result
from ..system.quoting import Progress
from ..system.records import Record
from ..tools import cells as families
from ..tools import parts, yosys
from ..tools.cells import FAMILIES
from ..tools.nextpnr import Placement, made_in, place_and_route
from ..tools.report import Each, Mapped, Options, Pace, one_by_one, reached
from ..tools.report import SynthesisReport as Synthesised
from ..tools.report import synthesize as synthesize_placed
from ..tools.toolchain import YOSYS, Tool
from ..tools.yosys import synth_xilinx
from .design_file import compiler_digest
from .folder import UsageError, checked_manifest, text_of, write_file
from .output_paths import check_place
from .parallel import Executor, at_a_time, executor_of, in_parallel
from .results import TextReport

XILINX = ("xcup", "xc7")  # families that Yosys maps to; no open place and route
_MODULES = re.compile(r"^module \\(\S+)", re.MULTILINE)
MOST_RUNS = 4  # of Yosys at a time: each may take 4 GB


class Synthesis(TextReport[Synthesised | Mapped]):
    """The result of `synthesize`."""

    def headline(self) -> str:
        own = self.facts
        cells = ", ".join(f"{n} {cell}" for cell, n in list(own.cells.items())[:4])
        return f"{own.top} on {own.target}: {cells}, …"

    def as_text(self) -> str:
        return mapped_text(self.facts) if isinstance(self.facts, Mapped) else str(self.facts)


def synthesize(
    folder: str | Path,
    target: str | None = None,
    place_and_route: bool = False,
    speeds: Sequence[int] = (),
    seeds: Sequence[int] = (1,),
    frequency: float = 150.0,
    progress: Progress = lambda _: None,
    placer: str = PLACERS[0],
    router: str = ROUTERS[0],
    floorplanned: bool = True,
    trust: bool = False,
    jobs: int | None = None,
    executor: str | None = None,
    executor_options: Mapping[str, Any] | None = None,
) -> Synthesis:
    """Map the design in ``folder`` to the cells of ``target``, by default the design's part.

    Of a controller with ticks it is the module NAME_control, with the core inside. Its time is from
    a tick to the efforts, at least and at most.

    ``place_and_route`` adds the clock that nextpnr reaches for each of ``speeds`` (by default the
    slowest grade) and ``seeds``. Of several seeds the report has the median, least and best clock.
    With that clock it has µs from a task to its result and M tasks/s, of the core alone. For a
    design that was chosen for a latency or a rate, it says whether they are reached.

    Reports are written to FOLDER/synthesis-TARGET, as report.json and report.txt. On xcup and xc7
    an interrupted mapping continues from the folder's parts. ``jobs`` placements run at a time.
    With several jobs, or with an ``executor`` ("local" or "slurm", by submitit with
    ``executor_options``), they are stored in placements, and an interrupted run continues.

    Raises OutputError for a file that changed since it was generated, unless ``trust``.
    """
    if executor is not None and not place_and_route:
        raise UsageError("executor: it runs placements; say --place-and-route, with --seeds N")
    place = Path(folder)
    entry = checked_manifest(place, trust, progress, ("{name}.il", "{name}.v"))
    name, ticks = entry.name, entry.ticks
    if ticks:
        checked_manifest(place, trust, progress, (f"{ticks.top}.il",))
    top = ticks.top if ticks else name
    own_files = [place / f"{module}.il" for module in dict.fromkeys((name, top))]
    target = target or entry.target
    if place_and_route and target in XILINX:
        placed = ", ".join(name for name in TARGETS if name not in XILINX)
        raise UsageError(
            f"target: nothing places {target}, it is only mapped; leave out --place-and-route, or "
            f"choose one of {placed}"
        )
    part = find_target(target)
    for speed in speeds:
        if speed not in part.speeds:
            raise UsageError(f"speed: {speed}; {part.part} is made in {made_in(part)}")
    out = place / f"synthesis-{target}"
    check_place(out / "report.json")
    if target in XILINX:
        jobs = min(os.cpu_count() or 1, MOST_RUNS)
        cells = synth_xilinx(
            [*own_files, _multipliers(place / f"{name}_ecp5.il", name, part, out)],
            top,
            target,
            jobs=jobs,
            progress=progress,
            keep=partial(cached_result, out / "parts", "part", say=progress),
        )
        report = Mapped(top, target, cells.count, cells.modules, None, cells.levels)
        write_file(out / "report.json", json.dumps(report.to_json(), indent=2) + "\n")
        write_file(out / "report.txt", mapped_text(report) + "\n")
        return Synthesis(report)
    through = executor_of(executor, out / "jobs", executor_options)
    at_once = at_a_time(jobs, through, 1)
    each: Each = one_by_one
    if at_once > 1 or through:
        store = out.absolute() / "placements"
        each = partial(_at_once, store=store, jobs=at_once, executor=through)
    out.mkdir(parents=True, exist_ok=True)
    paces = {
        function: Pace(own.latency, own.interval, own.longest)
        for function, own in entry.tasks.functions.items()
    }
    if ticks:
        interval = max(own.interval for own in paces.values())
        paces = {"tick": Pace(ticks.delay[0], interval, ticks.delay[-1], ticks.cycles)}
    result = synthesize_placed(
        [*own_files, _multipliers(place / f"{name}_ecp5.il", name, part, out)],
        top,
        part,
        out,
        speeds=(speeds or part.speeds[:1]) if place_and_route else (),
        seeds=seeds,
        freq=frequency,
        progress=progress,
        placer=placer,
        router=router,
        floorplanned=floorplanned,
        each=each,
        paces=paces,
        wanted=entry.wanted.wishes if entry.wanted else None,
    )
    return Synthesis(result)


def _multipliers(ecp5: Path, name: str, part: Target, out: Path) -> Path:
    """A file with the design's multipliers of the cells of a part's family."""
    if part.family == "ecp5":
        return ecp5
    units = [named(module) for module in _MODULES.findall(text_of(ecp5.parent, ecp5.name))]
    file = out / f"{name}_{part.family}.il"
    there = [unit for unit in units if unit]
    for unit in there if part.family in XILINX else ():
        least = part.multiplier_latency(unit.a_width, unit.b_width, unit.style)
        if unit.style == "dsp" and unit.latency < least:  # made for wider ones
            raise UsageError(
                f"target: {part.name}: {unit.name}: a product of {least} cycles there; generate "
                f"the design with --target {part.name}"
            )
    cells = emit_cells(there, part.family)
    write_file(file, with_own_names(cells, name))
    return file


def _at_once(
    netlist: Path,
    part: Target,
    options: Sequence[Options],
    progress: Progress,
    *,
    store: Path,
    jobs: int,
    executor: Executor | None,
) -> list[Placement]:
    inputs = [(netlist.absolute(), part, dict(own), store) for own in options]

    def done(k: int, placement: Placement) -> None:
        progress(reached(placement))

    return in_parallel(_placed, inputs, jobs, done, executor, _placed_before, progress)


def _placed(netlist: Path, part: Target, options: Options, store: Path) -> Placement:
    """A placement, kept in ``store``."""

    def compute() -> dict[str, Any]:
        return place_and_route(netlist, part, **options).to_json()

    return Placement.from_json(
        cached_result(store, "placement", _all_of(netlist, part, options), compute)
    )


def _placed_before(netlist: Path, part: Target, options: Options, store: Path) -> Placement | None:
    found = cached_result(store, "placement", _all_of(netlist, part, options), None)
    return None if found is None else Placement.from_json(found)


def _all_of(netlist: Path, part: Target, options: Options) -> str:
    """All that a placement depends on."""
    digest = hashlib.sha256(netlist.read_bytes()).hexdigest()
    nextpnr = version_of(FAMILIES[part.family].nextpnr)
    return f"{digest} {part} {sorted(options.items())} {compiler_digest()} {nextpnr}"


@dataclass(frozen=True)
class MappedCells(Record):
    """Type → how many, and how long it took."""

    cells: Mapping[str, int]
    seconds: float


def mapped(
    made: Emitted[Any], family: str, place: Path, progress: Progress, by_module: bool = False
) -> MappedCells:
    """The cells of a design. ``family``: ecp5, gowin, nexus, xcup, xc7.

    ``by_module``: each module by itself on ECP5 too, for designs that are larger than any part.
    Kept in ``place``, by the RTL's text and what maps it. Raises SynthesisError.
    """
    top = made.top
    cells = with_own_names(emit_cells(made.multipliers, family), top)
    files = {f"{top}.il": made.files[f"{top}.il"], f"{top}_{family}.il": cells}
    text = "".join(files.values())

    def compute() -> Any:
        with tempfile.TemporaryDirectory(prefix="rbdgen-map-") as name:
            folder = Path(name)
            sources = [folder / name for name in files]
            for source in sources:
                source.write_text(files[source.name], "utf-8")
            found: yosys.Cells
            if family not in families.FAMILIES:
                found = yosys.synth_xilinx(sources, top, family, progress=progress)
            elif family == "ecp5" and by_module:
                found = yosys.count_ecp5(sources, top, progress=progress)
            else:
                netlist = folder / "netlist.json"
                found = yosys.synth(family, sources, top, netlist, progress=progress)
        return MappedCells(found.count, round(found.seconds, 1)).to_json()

    what = f"cells-{family}" + ("-by-module" if by_module else "")
    files_of = (yosys.__file__, parts.__file__, families.__file__)
    by = [yosys_version(), *(Path(file).read_text("utf-8") for file in files_of)]
    return MappedCells.from_json(
        cached_result(place, what, " ".join([*by, text]), compute, progress)
    )


def yosys_version() -> str:
    """The version of the package that maps; empty where it is not installed."""
    return version_of(YOSYS)


def version_of(tool: Tool) -> str:
    """The version of a tool's package; empty where it is not installed."""
    try:
        return version(tool.package.replace("_", "-"))
    except PackageNotFoundError:
        return ""
