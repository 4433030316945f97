"""What the accelerator computes, in integers: the specification of its hardware."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..graph.fixed import Format, Integers, evaluate_fixed
from .routes import HOST, NOTHING, Source, place, stage_of
from .stages import Accelerator, Stage

Flags = NDArray[np.bool_]


def convert(words: Integers, of: Format, to: Format) -> tuple[Integers, Flags]:
    """Words in another format: the last bits rounded half up, saturated; and where they were."""
    shift = of.fraction - to.fraction
    words = (words + (1 << shift >> 1)) >> shift if shift > 0 else words << -shift
    clipped = np.clip(words, to.lowest, to.highest)
    return clipped, clipped != words


def evaluate_task(
    accelerator: Accelerator, function: str, words: Mapping[str, Integers]
) -> tuple[dict[str, Integers], Flags]:
    """Results (N,) of tasks, by output, and whether anything that a task visited overflowed.

    ``words``: the function's inputs (N,), in their own formats.
    """
    task = {place(field): np.asarray(values, np.int64) for field, values in words.items()}
    n = len(next(iter(task.values())))
    given: dict[str, dict[str, Integers]] = {}  # by stage
    flagged: dict[str, Flags] = {}
    for visit in accelerator.ordered(function):
        stage = accelerator.stages[stage_of(visit)]
        operands, flags = {}, np.zeros(n, np.bool_)
        sources = stage.sources(function, visit)
        for field, source in sources.items():
            operands[field], bad = _operand(accelerator, stage, field, source, task, given, n)
            flags |= bad
        for name in {source.stage for source in sources.values()} & flagged.keys():
            flags = flags | flagged[name]
        found = evaluate_fixed(stage.fixed, operands)
        for bad in found.overflowed.values():
            flags = flags | bad
        given[stage.name] = {
            name: np.broadcast_to(values, n) for name, values in found.outputs.items()
        }
        flagged[stage.name] = flags
    results = {
        name: given[accelerator.giver(function, name)][name]
        for name in accelerator.results[function]
    }
    return results, flagged[accelerator.last(function)]


def _operand(
    accelerator: Accelerator,
    stage: Stage,
    field: str,
    source: Source,
    task: Mapping[str, Integers],
    given: Mapping[str, Mapping[str, Integers]],
    n: int,
) -> tuple[Integers, Flags]:
    to = stage.fixed.inputs[field]
    if source.stage == HOST:
        return task[source.field], np.zeros(n, np.bool_)
    if source.stage == NOTHING:
        return np.zeros(n, np.int64), np.zeros(n, np.bool_)
    of = accelerator.stages[source.stage].outputs[source.field]
    return convert(given[source.stage][source.field], of, to)
