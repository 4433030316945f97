"""Vectors on which a function's Verilog and its integer model agree, under random stalls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ..api.checked import checked_manifest
from ..api.digests import FOLDER, compiler_digest
from ..api.errors import STALL, Mismatch
from ..api.folder import write_file
from ..api.generation import generate
from ..api.integer_model import IntegerModel
from ..api.kept import kept
from ..api.names import DESIGN, ROBOT
from ..api.recompiled import recompiled
from ..api.rtl import load_core
from ..api.word_vectors import sampled_words
from ..compile.core import Core
from ..design.choices import WHOLE
from ..design.manifest import CoreManifest
from ..draw.tables import markdown, table

Progress = Callable[[str], None]
NAME, TARGET = "iiwa14", "xcup"
VECTORS = 1_000_000  # of a function
BATCH = 50_000
HEAD = ("function", "vectors", "that overflow", "words and flags", "that differ", "cycles", "CPU s")
LEGEND = (
    f"{NAME}, 18 bits, a task every cycle. The Verilog in Verilator, beside the integer model in "
    f"C. Half of the vectors are\nstates within the limits, the others any words. In every cycle "
    f"either side stalls with a probability of {STALL}."
)


def reliability(place: Path, progress: Progress) -> Any:
    """Every function's Verilog beside the integer model: a million vectors each, under stalls."""
    rows = []
    for function in WHOLE:

        def say(line: str, function: str = function) -> None:
            progress(f"{function}: {line}")

        made = f"{NAME} {function} {VECTORS} {BATCH} {compiler_digest(FOLDER)}"
        rows.append(
            kept(place / "kept", "reliability", made, partial(measured, function, place, say), say)
        )
    print(f"{table(HEAD, rows)}\n\n{LEGEND}")
    write_file(place / "reliability.md", f"{markdown(HEAD, rows)}\n\n{LEGEND}\n")
    found = [dict(zip(HEAD, row, strict=True)) for row in rows]
    if any(row["that differ"] for row in found):
        raise Mismatch(f"{NAME}: other bits than the integer model's")
    return found


def measured(
    function: str,
    place: Path,
    progress: Progress,
    robot: str = NAME,
    vectors: int = VECTORS,
    long: bool = True,
) -> list[Any]:
    """A row of the table."""
    folder = place / f"{robot}_{function}"
    generate(robot, folder, functions=(function,), target=TARGET, ii=1, force=True)
    entry = checked_manifest(folder, False, progress, (DESIGN, ROBOT, "{name}.v"))
    core = recompiled(folder, progress)
    assert isinstance(core, Core)
    assert isinstance(entry, CoreManifest)
    integers = IntegerModel(core, progress)
    model = load_core(folder, entry, long=long, progress=progress)
    started = process_time()
    overflows = cycles = done = compared = wrong = 0
    for seed, start in enumerate(range(0, vectors, BATCH)):
        words = sampled_words(core, min(BATCH, vectors - start) // 2, seed)
        expected, flags = integers(words)
        tasks = np.stack([words[name] for name in core.fixed.inputs], axis=1)
        run = model.run(tasks, stall_in=STALL, stall_out=STALL, seed=seed)
        due = np.stack([*expected.values(), *flags.T], axis=1)
        wrong += int(np.count_nonzero(run.outputs != due))
        compared += due.size
        overflows += int(flags.any(axis=1).sum())
        cycles, done = cycles + run.cycles, done + len(flags)
        progress(f"{done} of {vectors} vectors, {wrong} words and flags differ")
    took = f"{process_time() - started:.0f}"
    return [function, done, overflows, compared, wrong, cycles, took]
