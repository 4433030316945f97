"""Tasks for an accelerator, and what it must make of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile.samples import accuracy_of, sample_states
from ..design.arrays import given_coordinates
from ..design.bounds import whole_turns, within_a_turn
from ..design.checks import mix
from ..design.design import Design
from ..design.functions import ROLLOUTS
from ..dynamics.interface import clip, from_columns, to_columns
from ..graph.accuracy import REPORTED, Accuracy
from ..graph.fixed import Format
from ..graph.word import kind_of
from ..tasks.integration import STEP
from ..tasks.model import Specification
from ..tasks.routes import CODES, place
from ..tasks.stages import TAG
from ..tools.model import Model, Result
from .integer_model import IntegerModel
from .reference import golden_model
from .results import Mismatch, entries_of, portions

Integers = NDArray[np.int64]
Array = NDArray[np.float64]
LARGEST_STEP, MOST_STEPS = 4096, 4  # 2^-22 s; of the rollouts that are tried


def within_limits(
    product: Specification, states: int, seed: int, batch: int = 0, share: float = 1.0
) -> dict[str, Array]:
    """Random states that the design is for, within a share of its limits; each ``batch`` has
    others.

    τ and M⁻¹ have no limits of their own: what exceeds the range of their words, which other
    states have sized, is brought to its edge, for the hardware and the golden model alike.
    """
    robot = product.front.canonical
    state = sample_states(product.design, robot, states, [seed, batch], share=share)
    limits = {}
    for own in product.accelerator.tasks.values():
        for name, word in own.items():
            largest = float(word.real(np.array(word.highest)))
            limits[name] = -largest, largest
    clip(robot, limits, state)
    if set(product.design.functions).isdisjoint(ROLLOUTS):
        return state
    rng = np.random.default_rng([seed, 2])
    counts = rng.integers(0, LARGEST_STEP + 1, states)
    step = np.asarray(STEP.real(counts))
    return state | {
        "h": np.stack([step, step * 4 / 3], axis=1),
        "steps": rng.integers(1, MOST_STEPS + 1, (states, 1)).astype(np.float64),
    }


def scaled_states(product: Specification, states: int, seed: int) -> dict[str, Array]:
    """The same at all `REPORTED` scales, one after the other, as many as `portions` says."""
    parts = [
        within_limits(product, count, seed, k, scale.share)
        for k, (scale, count) in enumerate(zip(REPORTED, portions(states), strict=True))
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def scale_rows(states: int) -> list[slice]:
    """Rows of so many `scaled_states` at each of the `REPORTED` scales."""
    ends = np.cumsum(portions(states)).tolist()
    return [slice(first, last) for first, last in pairwise([0, *ends])]


def inputs_of(made: Specification, state: Mapping[str, Array]) -> dict[str, dict[str, Integers]]:
    """Kind of task → its inputs (N,), as words."""
    found = {}
    for function, formats in made.accelerator.tasks.items():
        known = [name for name in formats if kind_of(name) in (*state, "sin", "cos")]
        columns = to_columns(made.front.canonical, known, state)
        found[function] = {
            # a word that the function does not read may be anything
            name: word.quantize(columns.get(name, np.zeros(len(state["q"]))))
            for name, word in formats.items()
        }
    return found


@dataclass(frozen=True, eq=False)
class Traffic:
    """Tasks for an accelerator, and what it must make of them.

    ``inputs``: function → its inputs as words, of as many states for each.
    """

    made: Specification
    inputs: Mapping[str, Mapping[str, Integers]]

    @property
    def states(self) -> int:
        return len(next(iter(next(iter(self.inputs.values())).values())))

    @cached_property
    def expected(self) -> dict[str, tuple[Integers, NDArray[np.bool_]]]:
        """Function → result words (states, outputs) and flags (states,), by the integer model."""
        found, model = {}, IntegerModel(self.made)
        for function in self.made.accelerator.functions:
            results, flags = model(self.inputs[function], function)
            found[function] = np.stack(list(results.values()), axis=1), flags[:, 0]
        return found

    @cached_property
    def tasks(self) -> dict[str, Integers]:
        """Function → rows (states, 2 + words) for the input stream, without tags."""
        accelerator = self.made.accelerator
        made = {}
        for function in accelerator.functions:
            own = {place(name): column for name, column in self.inputs[function].items()}
            rows = np.zeros((self.states, 2 + len(accelerator.words)), np.int64)
            rows[:, 0] = CODES[function]
            for k, word in enumerate(accelerator.words):
                # what a function does not take may be anything
                rows[:, 2 + k] = own.get(word, -1)
            made[function] = rows
        return made

    def expect(self) -> None:
        """Compute what all runs need: once, before several threads have them."""
        _ = self.expected, self.tasks

    def mixed(self, n: int, seed: int) -> list[str]:
        """Functions in random order, as often as the design's mix says."""
        functions, share = self.made.accelerator.functions, self.made.design.mix
        shares = mix(share) if share else dict.fromkeys(functions, 1)
        each = [f for f in functions for _ in range(shares.get(f, 0))]
        return [each[k] for k in np.random.default_rng(seed).integers(0, len(each), n)]

    def _writing(self) -> dict[str, Any]:
        """Arguments of a run that first writes the registers; none if there are no registers."""
        held = [int(word) for word in self.made.held.values()]
        if not held:
            return {}
        stages = self.made.accelerator.stages.values()
        # stages take tasks in every n-th cycle after reset, in whose second the first task comes
        waits = (1 - len(held)) % lcm(*(own.takes_every for own in stages))
        return {"held": held, "waits": waits}

    def run(self, model: Model, functions: Sequence[str], **stalls: Any) -> Result:
        """One task of each of ``functions``; Mismatch for a bit, a flag or a tag that is wrong.

        The result's ``accept_cycle`` is by task, all else in the order in which results came.
        """
        tags = np.arange(len(functions)) % (1 << TAG)
        states = np.arange(len(functions)) % self.states
        rows = np.stack([self.tasks[f][k] for f, k in zip(functions, states, strict=True)])
        rows[:, 1] = tags
        run = model.run(rows, **self._writing(), **stalls)
        came = self._tasks_of(run, tags)
        for i, k in enumerate(came):
            function = functions[k]
            words, flags = self.expected[function]
            got = run.outputs[i]
            if got[0] != CODES[function]:
                raise Mismatch(f"tag {k} is of {function}, and came with function code {got[0]}")
            wrong = np.flatnonzero(got[3 : 3 + words.shape[1]] != words[states[k]])
            if wrong.size:
                output = self.made.accelerator.results[function][wrong[0]]
                raise Mismatch(
                    f"{output} of {function}, state {states[k]}: hardware {got[3 + wrong[0]]}, "
                    f"integer model {words[states[k], wrong[0]]}"
                )
            if got[2] != flags[states[k]]:
                raise Mismatch(f"the overflow flag of {function}, state {states[k]}, is {got[2]}")
        return run

    def _tasks_of(self, run: Result, tags: Integers) -> Integers:
        """The task of each result, in the order in which they came."""
        waiting: dict[int, list[int]] = {}
        for task in range(len(tags) - 1, -1, -1):
            waiting.setdefault(int(tags[task]), []).append(task)
        came = []
        for tag in run.outputs[:, 1]:
            if not waiting.get(int(tag)):
                raise Mismatch(f"a result came with tag {tag}, which no task waits for")
            came.append(waiting[int(tag)].pop())
        return np.array(came, np.int64)

    def accuracy(self, function: str, state: Mapping[str, Array]) -> Accuracy:
        """The errors of the coordinates that a function gives, in `scaled_states`."""
        found = accuracy_of(self.made.design, self.made.front.canonical)
        words, exact = self.entries_beside_golden(function, state)
        for scale, own in enumerate(scale_rows(self.states)):
            found.add(scale, *({name: x[own] for name, x in of.items()} for of in (words, exact)))
        return found

    def entries_beside_golden(
        self, function: str, state: Mapping[str, Array]
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Output of a function → its values (N,) for ``state``, and the golden model's."""
        made, arrays = self.made, self.beside_golden(function, state)
        names = made.accelerator.result_formats[function]
        return entries_of(arrays, names, made.design, made.front.robot)

    def beside_golden(
        self, function: str, state: Mapping[str, Array]
    ) -> Iterator[tuple[str, Array, Array]]:
        """Each array that a function gives for ``state``: name, values, the golden model's."""
        accelerator, robot = self.made.accelerator, self.made.front.canonical
        words, _ = self.expected[function]
        formats: dict[str, Format] = accelerator.result_formats[function]
        columns = {name: word.real(words[:, k]) for k, (name, word) in enumerate(formats.items())}
        design: Design = replace(self.made.design, functions=(function,), mix=None)
        reference = golden_model(design, self.made.front.robot, state)
        given = given_coordinates(design, self.made.front.robot)
        for name, values in from_columns(columns, robot.nv, given).items():
            if name == "q":  # an angle within ±π may come out at the other end
                around = [k for k, turns in whole_turns(design, robot).items() if turns]
                off = values[:, around] - reference[name][:, around]
                values[:, around] = reference[name][:, around] + within_a_turn(off)
            yield name, values, reference[name]
