"""Vectors on which a function's Verilog and its integer model agree, under random stalls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from rbdgen.api.design_file import DESIGN, FOLDER, ROBOT, compiler_digest
from rbdgen.api.filed_design import filed_design
from rbdgen.api.folder import checked_manifest, write_file
from rbdgen.api.generation import generate
from rbdgen.api.integer_model import IntegerModel, load_core
from rbdgen.api.results import STALL, Mismatch
from rbdgen.api.vectors import sampled_words
from rbdgen.design.functions import WHOLE
from rbdgen.draw.tables import markdown, table
from rbdgen.system.cache import cached_result
from rbdgen.system.quoting import Progress
from rbdgen.tasks.model import Specification
from rbdgen.tools.model import Model

from .measurement import DAYS, measurement

NAME, TARGET = "iiwa14_fast", "xcup"
SIZE = 1_000_000  # vectors of a function, in a round
ROUNDS = 1000
BATCH = 50_000
HEAD = ("function", "vectors", "that overflow", "words and flags", "that differ", "cycles", "CPU s")
LEGEND = (
    "18 bits, a task every cycle. The Verilog in Verilator, beside the integer model in C. Half of "
    "the\nvectors are states within the limits, the others any words. In every cycle either side "
    f"stalls with\na probability of {STALL}."
)


@measurement("reliability", "an hour")
def reliability(place: Path, progress: Progress) -> Any:
    """Every function's Verilog beside the integer model: a million vectors each, under stalls."""
    return in_rounds(place, progress, 1)


@measurement("vectors", DAYS)
def vectors(place: Path, progress: Progress) -> Any:
    """Every function's Verilog beside the integer model, as reliability: to 10⁹ vectors each."""
    return in_rounds(place, progress, ROUNDS)


def in_rounds(
    place: Path,
    progress: Progress,
    rounds: int,
    robot: str = NAME,
    size: int = SIZE,
    functions: Sequence[str] = WHOLE,
) -> Any:
    """Run rounds of ``size`` vectors of every function; the results are written after each.

    Mismatch after the round in which a word or a flag differs.
    """
    both = {name: Both(name, place / f"{robot}_{name}", robot, size) for name in functions}
    totals: dict[str, list[int]] = {}
    rows: list[list[Any]] = []
    for number in range(rounds):
        for function, own in both.items():

            def say(line: str, number: int = number, function: str = function) -> None:
                progress(f"{function}, round {number + 1} of {rounds}: {line}")

            made = f"{robot} {function} {number} {size} {BATCH} {compiler_digest(FOLDER)}"
            compute = partial(own.compared, number, say)
            found = cached_result(place / "kept", "reliability", made, compute, say)
            before = totals.get(function, [0] * len(found))
            totals[function] = [a + b for a, b in zip(before, found, strict=True)]
        rows = [[function, *own] for function, own in totals.items()]
        write_file(place / "reliability.md", f"{markdown(HEAD, rows)}\n\n{robot}, {LEGEND}\n")
        if any(row[HEAD.index("that differ")] for row in rows):
            break
    print(f"{table(HEAD, rows)}\n\n{robot}, {LEGEND}")
    found = [dict(zip(HEAD, row, strict=True)) for row in rows]
    if any(row["that differ"] for row in found):
        raise Mismatch(f"{robot}: other bits than the integer model's")
    return found


class Both:
    """A function's Verilog and its integer model, made when first they are asked for."""

    def __init__(self, function: str, folder: Path, robot: str = NAME, size: int = SIZE) -> None:
        self.function, self.folder, self.robot, self.size = function, folder, robot, size
        self._parts: tuple[Specification, IntegerModel, Model] | None = None

    def compared(self, number: int, progress: Progress) -> list[int]:
        """A row of the table but for its function: of the ``number``-th so many vectors."""
        core, integers, model = self._made(progress)
        started = process_time()
        overflows = cycles = done = compared = wrong = 0
        for batch, start in enumerate(range(0, self.size, BATCH)):
            seed = number * -(-self.size // BATCH) + batch
            words = sampled_words(core, min(BATCH, self.size - start) // 2, seed)
            expected, flags = integers(words)
            tasks = np.stack([words[name] for name in core.fixed.inputs], axis=1)
            run = model.run(tasks, stall_in=STALL, stall_out=STALL, seed=seed)
            due = np.stack([*expected.values(), *flags.T], axis=1)
            wrong += int(np.count_nonzero(run.outputs != due))
            compared += due.size
            overflows += int(flags.any(axis=1).sum())
            cycles, done = cycles + run.cycles, done + len(flags)
            progress(f"{done} of {self.size} vectors, {wrong} words and flags differ")
        return [done, overflows, compared, wrong, cycles, round(process_time() - started)]

    def _made(self, progress: Progress) -> tuple[Specification, IntegerModel, Model]:
        if self._parts is None:
            functions = (self.function,)
            generate(
                self.robot,
                self.folder,
                functions=functions,
                width=18,
                target=TARGET,
                ii=1,
                force=True,
            )
            entry = checked_manifest(self.folder, False, progress, (DESIGN, ROBOT, "{name}.v"))
            core = filed_design(self.folder, entry, progress)
            model = load_core(self.folder, entry, long=self.size >= SIZE, progress=progress)
            self._parts = core, IntegerModel(core, progress), model
        return self._parts
