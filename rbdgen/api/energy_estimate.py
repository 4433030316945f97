"""The energy of a result of a generated core, estimated from the toggles of its netlist."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from ..design.manifest import HardwareManifest
from ..design.target import find_target
from ..design.wishes import Wishes
from ..system.quoting import Progress
from ..system.templates import data_folder
from ..tools.energy import (
    BOARDS,
    BUSY,
    IDLE,
    EnergyReport,
    estimate,
    measured_share,
    net_rate,
    power_verdict,
    powers_at,
)
from ..tools.model import Model, Result
from ..tools.observed_netlist import ObservedNetlist, observed
from ..tools.report import SynthesisReport as Synthesised
from ..tools.toolchain import read_netlist
from ..tools.verilate import build
from .compilation import wishes_of
from .design_file import DESIGN, ROBOT
from .evaluation import to_words
from .filed_design import filed_design
from .folder import UsageError, checked_manifest, write_file
from .integer_model import IntegerModel, ports_of
from .output_paths import check_place
from .reports import ENERGY, read_report
from .results import TextReport
from .simulation import batches, compare
from .synthesis import synthesize

RESTING = 1000  # cycles without a task
MOST_STATES = 50_000


class EnergyEstimate(TextReport[EnergyReport]):
    """The result of `energy`."""

    def headline(self) -> str:
        own = self.facts
        return f"{own.top} on {own.part}: {own.nj} nJ a result, estimated"

    def as_text(self) -> str:
        return str(self.facts)


def energy(
    folder: str | Path,
    states: int = 300,
    seed: int = 0,
    frequency: float | None = None,
    rate: float | str | None = None,
    progress: Progress = lambda _: None,
    trust: bool = False,
) -> EnergyEstimate:
    """Estimate the energy of a result of the core in ``folder``, which is for an ECP5.

    `synthesize` runs first if there is no netlist. The netlist is simulated at full rate on
    ``states`` random states within the limits, and then without tasks. All changes of all nets are
    counted, and every bit of every result is compared with the integer model. Watts are computed
    for the clock ``frequency`` [MHz], by default that of the fastest placement, if there is one.
    ``rate`` is the number of tasks a second [Hz], or a text such as "1kHz". The report is also
    written to FOLDER/energy.json.

    Raises UsageError for an accelerator, a family whose energies are not known, too few states, or
    a rate without a known clock. Raises SynthesisError for a file that is no netlist, and Mismatch
    for a bit that differs.
    """
    place = Path(folder)
    entry = checked_manifest(place, trust, progress, (DESIGN, ROBOT, "{name}.il", "{name}.v"))
    part = find_target(entry.target)
    if part.family != "ecp5":
        raise UsageError(
            f"energy: {part.name}: energies of {part.part}'s cells are not known; generate the "
            "design with --target ecp5-25f, ecp5-45f or ecp5-85f"
        )
    if not entry.is_core:
        raise UsageError("energy: of a core, one function's pipeline; leave out --accelerator")
    task = entry.tasks.functions[entry.functions[0]]
    if states * task.interval <= 2 * task.latency:
        least = int(2 * task.latency / task.interval) + 1
        raise UsageError(f"states: {states}; full rate is seen with at least {least} of them")
    if states > MOST_STATES:
        raise UsageError(f"states: {states}; at most {MOST_STATES}")
    check_place(place / ENERGY)
    file = place / f"synthesis-{entry.target}" / f"{entry.name}.json"
    source = place / f"{entry.name}.il"
    mapped = file.is_file() and file.stat().st_mtime >= source.stat().st_mtime
    tasks = wishes_of(None, rate).rate
    mhz = frequency or (_placed_clock(place, entry) if mapped else None)
    if tasks is not None and mhz is None:
        raise UsageError(
            "rate: watts need a clock: add --frequency MHZ, or place the design first, with rbdgen "
            "synthesize --place-and-route"
        )
    if not mapped:
        progress("mapping")
        synthesize(place, progress=progress, trust=trust)
    netlist = read_netlist(file, entry.name, partial(observed, name=entry.name))
    progress(f"{netlist.cells} cells, {len(netlist.kinds)} bits to watch")
    model = model_of(netlist, entry, progress)
    run, expected, flags = _run(place, entry, model, states, seed, progress)
    compare(run, expected, flags, "of the netlist")
    assert run.toggles is not None
    steps = float(np.diff(run.accept_cycle).mean())
    terms, regions, nj, idle = estimate(netlist, run.toggles, steps)
    powers, notes = powers_at(nj, idle, steps, mhz, tasks)
    wished = entry.wanted.wishes if entry.wanted else Wishes()
    wanted, missed = power_verdict(wished, nj, idle, steps, mhz)
    board, watts = BOARDS.get(part.part, (None, None))
    facts = EnergyReport(
        top=entry.name,
        target=part.name,
        part=part.part,
        states=states,
        seed=seed,
        interval=steps,
        cells=netlist.cells,
        flip_flops=sum(netlist.flip_flops.values()),
        terms=tuple(terms),
        regions=tuple(regions),
        nj=nj,
        measured=measured_share(terms),
        idle=idle,
        busy_toggles=net_rate(netlist, run.toggles.rate(BUSY)),
        idle_toggles=net_rate(netlist, run.toggles.rate(IDLE)),
        board=board,
        board_watts=watts,
        power=powers,
        notes=(
            "states are random, within the limits: what follows a motion smoothly takes less",
            "toggles are those from cycle to cycle; glitches are a factor, and so in the range",
            *notes,
        ),
        wanted=wanted,
        missed=missed,
    )
    write_file(place / ENERGY, json.dumps(facts.to_json(), indent=2) + "\n")
    return EnergyEstimate(facts)


def model_of(netlist: ObservedNetlist, entry: HardwareManifest, progress: Progress) -> Model:
    """A netlist, Verilated."""
    cells = data_folder("sim") / "ecp5"
    with tempfile.TemporaryDirectory(prefix="rbdgen-energy-") as name:
        source = Path(name) / "netlist.v"
        source.write_text(netlist.text, "utf-8")
        return build(
            [source, cells / "mult18x18d_sim.v", cells / "dp16kd_sim.v"],
            entry.name,
            ports=ports_of(entry.ports),
            observed=len(netlist.kinds),
            progress=progress,
        )


def _run(
    place: Path, entry: HardwareManifest, model: Model, states: int, seed: int, progress: Progress
) -> tuple[Result, dict[str, np.ndarray], np.ndarray]:
    """A run at full rate, then without tasks; and what the integer model gives."""
    made = filed_design(place, entry, progress)
    parts = [*batches(made, states, seed)]
    words = to_words(
        made, {name: np.concatenate([own[name] for own in parts]) for name in parts[0]}
    )
    expected, flags = IntegerModel(made, progress)(words)
    tokens = np.stack([words[name] for name in made.fixed.inputs], axis=1)
    held = [int(word) for word in made.held.values()]
    task = entry.tasks.functions[entry.functions[0]]
    settle = 2 * task.latency + int(task.interval)
    run = model.run(tokens, seed=seed, held=held, settle=settle, drain=settle + RESTING)
    return run, dict(expected), flags


def _placed_clock(place: Path, entry: HardwareManifest) -> float | None:
    """MHz of the fastest placement; None where there is none."""
    found = read_report(place, f"synthesis-{entry.target}/report.json", Synthesised)
    placed = [own.fmax for own in found.placements] if found else []
    return round(max(placed), 1) if placed else None
