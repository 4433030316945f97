"""States as words, and the words and flags that the integer model gives for them, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..codegen.c_program import Function, rows
from ..compile.core import Core
from ..compile.samples import sample_states
from ..compile.scheduled import Accelerated
from ..dynamics.interface import to_columns
from ..graph.fixed import Format, Integers
from ..graph.held import held_words
from ..tasks.model import evaluate_task
from ..tasks.routes import STEPS
from .integer_model import integer_results
from .traffic import MOST_STEPS, inputs_of, within_limits
from .vectors import SEED, STATES

WORDS, EXPECTED = "words.txt", "expected_words.txt"


def word_vectors(core: Core) -> dict[str, str]:
    """Two files: words of all inputs, a line for each state; words of all outputs, then flags.

    Half are of states within the limits; in the other half every word may be anything, so that
    flags are raised.
    """
    given = sampled_words(core, STATES, SEED)
    outputs, flags = integer_results(core, given)
    return {
        WORDS: rows(list(given.values())),
        EXPECTED: rows([*outputs.values(), *flags.T.astype(np.int64)]),
    }


def task_vectors(made: Accelerated, functions: Sequence[Function]) -> dict[str, str]:
    """The same two files for each function of an accelerator, with one flag for all outputs."""
    files = {}
    for function, given in sampled_tasks(made, STATES, SEED).items():
        outputs, flags = evaluate_task(made.accelerator, function, given)
        names = next(own for own in functions if own.short == function)
        files[names.words] = rows(list(given.values()))
        files[names.expected] = rows([*outputs.values(), flags.astype(np.int64)])
    return files


def sampled_words(core: Core, states: int, seed: int) -> dict[str, Integers]:
    """Words (2 · states,) of all inputs: of random states, then random ones."""
    front, inputs, taken = core.front, core.fixed.inputs, core.fixed.taken
    columns = to_columns(
        front.canonical, list(inputs), sample_states(front.design, front.canonical, states, seed)
    )
    known = {name: word.quantize(columns[name]) for name, word in inputs.items()}
    n = len(next(iter(known.values())))
    held = held_words({"": core.fixed}) | dict(core.held)
    known |= {name: np.full(n, word) for name, word in held.items()}
    return _with_any(known, taken, seed)


def sampled_tasks(made: Accelerated, states: int, seed: int) -> dict[str, dict[str, Integers]]:
    """Function → the same of its tasks; rollouts of a few steps."""
    known = inputs_of(made, within_limits(made, states, seed))
    formats = made.accelerator.formats
    return {function: _with_any(own, formats[function], seed) for function, own in known.items()}


def _with_any(
    known: Mapping[str, Integers], formats: Mapping[str, Format], seed: int
) -> dict[str, Integers]:
    """Words, and behind them as many that may be anything."""
    rng, found = np.random.default_rng(seed), {}
    for name, word in formats.items():
        ends = (0, MOST_STEPS) if name == STEPS else (word.lowest, word.highest)
        other = rng.integers(*ends, len(known[name]), endpoint=True)
        found[name] = np.concatenate([known[name], other])
    return found
