"""The waves of a few tasks in a generated design, and files by which viewers show them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ..design.manifest import HardwareManifest
from ..draw.rows import Task, timeline
from ..system.files import beside
from ..system.quoting import Progress
from ..system.records import Record
from ..system.signals import meanwhile
from ..tasks.model import Specification
from ..tools.dump import add_numbers
from ..tools.model import Model, Result
from .accelerator_simulation import tasks_of
from .design_file import DESIGN, ROBOT
from .evaluation import to_words
from .filed_design import filed_design
from .folder import checked_manifest, text_of, write_file, writing
from .integer_model import IntegerModel, load_core
from .output_paths import check_place
from .reports import TIMELINE
from .results import Report
from .simulation import batches, compare
from .stimulus import Traffic, inputs_of, within_limits
from .wave_numbers import gtkwave_layout, shown_numbers, surfer_layout

DUMP, GTKWAVE, SURFER = "simulation.vcd", "simulation.gtkw", "simulation.sucl"
TASKS = 24


@dataclass(frozen=True)
class WaveFacts(Record):
    """The files of a dump of so many ``tasks``, and the commands by which viewers show it.

    ``numbers``: words and values of datapaths in it as real numbers; ``left_out``: those whose
    signals a dump of so large a design lacks.
    """

    tasks: int
    numbers: int
    left_out: int
    files: tuple[str, ...]
    gtkwave: str
    surfer: str


class Waves(Report[WaveFacts]):
    """The result of `waves`."""

    def headline(self) -> str:
        own = self.facts
        return f"waves: {own.tasks} tasks, every bit equal; {own.numbers} real numbers"

    def as_text(self) -> str:
        own = self.facts
        lines = [self.headline(), f"files: {', '.join(own.files)}"]
        if own.left_out:
            lines.append(f"note: {own.left_out} numbers left out, whose signals are too deep")
        return "\n".join([*lines, own.gtkwave, own.surfer])


def waves(
    folder: str | Path,
    tasks: int = TASKS,
    seed: int = 0,
    progress: Progress = lambda _: None,
    trust: bool = False,
) -> Waves:
    """Run ``tasks`` random tasks through the Verilated design in ``folder``, and dump its signals.

    Writes simulation.vcd, in which q, tau and the values of datapaths are real numbers too, by
    joint. Writes layouts of GTKWave and Surfer that show these. An accelerator's tasks are of all
    its functions; timeline.svg shows them.

    Raises Mismatch for a bit that is not the integer model's; OutputError for a folder that is no
    design. Files that changed since are an OutputError too, unless ``trust`` says to run them.
    """
    place = Path(folder)
    entry = checked_manifest(place, trust, progress, (DESIGN, ROBOT, "{name}.v"))
    check_place(place / DUMP)
    with meanwhile(partial(load_core, place, entry, trace=True, progress=progress)) as loading:
        made = filed_design(place, entry, progress)
    model = loading.result()
    wanted = shown_numbers(made, entry, text_of(place, f"{entry.name}.v"))
    with writing(place / DUMP), beside(place / DUMP) as dump:
        if made.is_core:
            _core_run(made, model, tasks, seed, dump)
        else:
            traffic = Traffic(made, inputs_of(made, within_limits(made, tasks, seed)))
            traced_run(traffic, model, place, entry, tasks, seed, dump)
        with beside(place / DUMP) as whole:
            numbers = add_numbers(dump, whole, wanted)
            whole.replace(place / DUMP)
    write_file(place / GTKWAVE, gtkwave_layout(DUMP, entry.name, numbers))
    write_file(place / SURFER, surfer_layout(entry.name, numbers))
    written = (DUMP, GTKWAVE, SURFER, *(() if made.is_core else (TIMELINE,)))
    files = tuple(str(place / name) for name in written)
    return Waves(
        WaveFacts(
            tasks,
            len(numbers),
            len(wanted) - len(numbers),
            files,
            shlex.join(["gtkwave", *files[:2]]),
            shlex.join(["surfer", files[0], "--command-file", files[2]]),
        )
    )


def _core_run(core: Specification, model: Model, tasks: int, seed: int, dump: Path) -> None:
    (state,) = batches(core, tasks, seed)
    words = to_words(core, state)
    rows = np.stack([words[name] for name in core.fixed.inputs], axis=1)
    run = model.run(rows, waves=dump, held=[int(word) for word in core.held.values()])
    compare(run, *IntegerModel(core)(words), "in the waves")


def traced_run(
    traffic: Traffic,
    model: Model,
    folder: Path,
    entry: HardwareManifest,
    tasks: int,
    seed: int,
    dump: Path,
) -> tuple[list[Task], Result]:
    """Write the waves of a burst of all functions to ``dump``, and who was where as a picture."""
    accelerator = traffic.made.accelerator
    run = traffic.run(model, traffic.mixed(tasks, seed), waves=dump)
    found = tasks_of(dump, accelerator, entry.name)
    title = f"{entry.robot}: {tasks} tasks of {len(accelerator.functions)} functions"
    write_file(folder / TIMELINE, timeline(accelerator, found, title))
    return found, run
