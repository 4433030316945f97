"""Tasks that a board tests itself with, and what the integer model says of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..board.self_test import Vectors
from ..compile.scheduled import Accelerated
from ..design.manifest import AcceleratorManifest
from ..tasks.model import evaluate_task
from .compilation import recompiled
from .host_interface import Contract
from .vectors import sampled_tasks

Progress = Callable[[str], None]
TASKS = 32  # of all functions together, about; half of them of any words
SEED = 4


def board_vectors(
    place: Path, entry: AcceleratorManifest, progress: Progress = lambda _: None
) -> Vectors:
    """Test vectors of the accelerator in a folder, one function after another."""
    made = recompiled(place, progress)
    assert isinstance(made, Accelerated)
    contract = Contract.of(entry.accelerator)
    each = max(TASKS // len(contract.functions) // 2, 1)
    tasks: list[list[int]] = []
    responses: list[list[int]] = []
    for function, words in sampled_tasks(made, each, SEED).items():
        code = contract.functions[function].code
        found, flags = evaluate_task(made.accelerator, function, words)
        given, right = (np.stack(list(own.values()), axis=1).tolist() for own in (words, found))
        for operands, results, flag in zip(given, right, flags, strict=True):
            header = code | len(tasks) << 16
            tasks.append([header, *operands])
            responses.append([header | int(flag) << 8, *results])
    return Vectors(tasks, responses)
