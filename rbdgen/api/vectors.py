"""Test vectors as text: random states, or words, and the results that are right for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..codegen.c_file import CFunction, rows
from ..codegen.interface import Array, ArrayInterface, angle_arrays
from ..compile.front import Front
from ..compile.samples import sample_states
from ..design.manifest import Example
from ..dynamics.interface import to_columns
from ..graph.evaluate import evaluate, to_float
from ..graph.fixed import Format, Integers, parameter_words
from ..graph.word import PARAMETER, spell
from ..tasks.model import Specification
from ..tasks.routes import CODES, STEPS
from .integer_model import IntegerModel, integer_results
from .stimulus import MOST_STEPS, inputs_of, within_limits

STATES, SEED = 16, 11
VECTORS, EXPECTED = "states.txt", "expected.txt"
DIGITS = 12  # of what is expected: the last of a double differ from machine to machine
WORDS, EXPECTED_WORDS = "words.txt", "expected_words.txt"


def vectors(front: Front, interface: ArrayInterface) -> dict[str, str]:
    """Two files: random states within the limits, and what the functions give there.

    A line for each state; in it all arrays, one behind another, row by row, as ``interface`` has
    them. The states are floats, so that functions of float and of double are given the same ones.
    """
    state = sample_states(front.design, front.canonical, STATES, SEED)
    state = {name: to_float(values) for name, values in state.items()}
    if front.parameters and interface.same:
        state[PARAMETER] = np.tile(list(front.parameters.nominal.values()), (STATES, 1))
    elif front.parameters:  # of as many robots of the model
        state[PARAMETER] = front.parameters.of_drawn(STATES)
    columns = to_columns(front.canonical, front.graph.inputs, state)
    state |= angle_arrays(interface, columns, STATES)
    found = evaluate(front.graph, columns)
    gives = {a.name: np.zeros((STATES, a.size)) for a in interface.gives}
    for name, values in found.items():
        for entry in interface.outputs[name]:
            gives[entry.array][:, entry.at] = values
    return {
        VECTORS: _text(state, interface.takes, 17),
        EXPECTED: _text(gives, interface.gives, DIGITS),
    }


def _text(arrays: Mapping[str, NDArray], order: Sequence[Array], digits: int) -> str:
    rows = np.concatenate([arrays[a.name].reshape(STATES, -1) for a in order], axis=1)
    return "".join(" ".join(f"{x:.{digits}g}" for x in row) + "\n" for row in rows + 0.0)


def word_vectors(core: Specification) -> dict[str, str]:
    """Two files: words of all inputs, a line for each state; words of all outputs, then flags.

    Half are of states within the limits; in the other half every word may be anything, so that
    flags are raised.
    """
    given = sampled_words(core, STATES, SEED)
    outputs, flags = integer_results(core, given)
    return {
        WORDS: rows(list(given.values())),
        EXPECTED_WORDS: rows([*outputs.values(), *flags.T.astype(np.int64)]),
    }


def task_vectors(made: Specification, functions: Sequence[CFunction]) -> dict[str, str]:
    """The same two files for each function of an accelerator, with one flag for all outputs."""
    files = {}
    for function, given in sampled_tasks(made, STATES, SEED).items():
        outputs, flags = integer_results(made, given, function)
        names = next(own for own in functions if own.short == function)
        files[names.words] = rows(list(given.values()))
        files[names.expected] = rows([*outputs.values(), *flags.T.astype(np.int64)])
    return files


def examples_of(made: Specification) -> tuple[Example, ...]:
    """An example of each kind of task, of a random state within the limits."""
    model, found = IntegerModel(made), []
    for function, given in inputs_of(made, within_limits(made, 1, SEED)).items():
        outputs, flags = model(given, function)
        task, result = (
            {name: int(word[0]) for name, word in own.items()} for own in (given, outputs)
        )
        if made.is_core:
            result |= {spell("overflow", k): int(flag) for k, flag in enumerate(flags[0])}
        else:
            head = {"function": CODES[function], "tag": 0}
            task, result = head | task, head | {"overflow": int(flags[0, 0])} | result
        functions = (function,) if function else made.design.functions
        found.append(Example(functions, task, result))
    return tuple(found)


def sampled_words(core: Specification, states: int, seed: int) -> dict[str, Integers]:
    """Words (2 · states,) of all inputs: of random states, then random ones."""
    front, inputs, taken = core.front, core.fixed.inputs, core.fixed.taken
    columns = to_columns(
        front.canonical, list(inputs), sample_states(front.design, front.canonical, states, seed)
    )
    known = {name: word.quantize(columns[name]) for name, word in inputs.items()}
    n = len(next(iter(known.values())))
    held = parameter_words({"": core.fixed}) | dict(core.held)
    known |= {name: np.full(n, word) for name, word in held.items()}
    return _with_any(known, taken, seed)


def sampled_tasks(made: Specification, states: int, seed: int) -> dict[str, dict[str, Integers]]:
    """Function → the same of its tasks; rollouts of a few steps."""
    known = inputs_of(made, within_limits(made, states, seed))
    formats = made.accelerator.tasks
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
