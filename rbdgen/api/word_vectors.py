"""States as words, and the words and flags that the integer model gives for them, as text."""

from __future__ import annotations

import numpy as np

from ..codegen.c_program import rows
from ..compile.core import Core
from ..compile.samples import sample_states
from ..dynamics.interface import to_columns
from ..graph.fixed import Integers
from .evaluation import integer_results
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


def sampled_words(core: Core, states: int, seed: int) -> dict[str, Integers]:
    """Words (2 · states,) of all inputs: of random states, then random ones."""
    front, inputs = core.front, core.fixed.inputs
    columns = to_columns(
        front.canonical, list(inputs), sample_states(front.design, front.canonical, states, seed)
    )
    rng = np.random.default_rng(seed)
    return {
        name: np.concatenate(
            [word.quantize(columns[name]), rng.integers(word.lowest, word.highest + 1, states)]
        )
        for name, word in inputs.items()
    }
