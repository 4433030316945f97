"""A differential test of all exits: designs drawn at random must say the same everywhere.

``python -m tests.differential --designs N --seed S [--only K]`` draws designs and compares

* over real numbers the golden model, the graph, and the C++ as it is compiled;
* in words the integer model with the golden one, within what the notes say, and in every bit the
  integer model in NumPy, the C, the C++ for high-level synthesis, and the Verilog.

With registers all of that is done of another robot of the model, too. A design may be refused, in
one line. A line for each design says its choices, what was checked or refused, and the processor
time that took. The exit status is 1 after any difference.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rbdgen import golden
from rbdgen.api.compilation import Compilation, front_again
from rbdgen.api.evaluation import as_arrays
from rbdgen.api.facts import port_facts
from rbdgen.api.folder import InputError, read_manifest
from rbdgen.api.integer_model import build_core, integer_results, ports_of, word_program
from rbdgen.api.native_programs import compiled
from rbdgen.api.programs import c
from rbdgen.api.reference import golden_model
from rbdgen.api.stimulus import Traffic, inputs_of, scaled_states
from rbdgen.api.vectors import sampled_tasks, sampled_words
from rbdgen.codegen.c_integers import WordError
from rbdgen.compile.flow import Front
from rbdgen.compile.front import of_bodies
from rbdgen.compile.product import Product
from rbdgen.compile.samples import sample_states
from rbdgen.design.arrays import given_coordinates
from rbdgen.design.coordinates import CoordinateError, coordinate_errors
from rbdgen.design.design import Design, canonical_of, has_registers
from rbdgen.design.functions import ROLLOUTS
from rbdgen.dynamics.interface import from_columns, to_columns
from rbdgen.graph.accuracy import SCALES
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import parameter_words
from rbdgen.graph.word import not_registers
from rbdgen.robot.model import Robot, RobotError
from rbdgen.shell.emit import emit
from rbdgen.tasks.model import in_visits
from rbdgen.tools.verilate import build
from rbdgen.words.program_ranges import evaluate_program
from rbdgen.words.ranges import RangeError
from rbdgen.words.wordlength import PrecisionError
from rbdgen_benchmarks.compare.integer_errors import integer_errors
from tests.durations import spent
from tests.support.another_robot import any_of_model
from tests.support.cores import Batch, check, check_on_time
from tests.support.drawn_designs import Drawn, drawn
from tests.support.task_programs import compiled as compiled_tasks
from tests.support.task_programs import differ

Array = NDArray[np.float64]
EXITS = ("graph", "cpp", "integers", "c", "hls", "verilog")
REFUSALS = (RobotError, InputError, RangeError, PrecisionError, WordError)  # of what was asked for
STATES, SAMPLES = 60, 200  # in real numbers; in words
EXACT = 1e-9  # in real numbers, of an array's largest entry
LEAST = 1e-3  # an array that is smaller, by the largest one, may be rounding alone
ROUNDING = 1e4 * np.finfo(np.float64).eps  # of what M divides, by the condition number of M
NEAR = 1e-3  # of M⁻¹ from that of a state nearby
DIVIDING = {
    "Minv",
    "qdd",
    "dqdd_dq",
    "dqdd_dqd",
    "qdd_c",
    "lambda_c",
    "Lambda",
    "q_next",
    "qd_next",
}
LARGEST_ERROR = 0.01  # relative RMS of a coordinate at the limits, if no more is expected
SLACK = 4.0  # of an error in other states than those in which it was expected


class Different(AssertionError):
    """Two exits differ."""


@dataclass
class Outcome:
    """What became of a design: exits that agree, lines of refusals by exit, a difference if any.

    ``overflows``: the states within the limits that overflow, as a note of the design says.
    """

    design: str = ""
    checked: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    difference: str = ""
    overflows: int = 0

    def __str__(self) -> str:
        parts = [self.design, " ".join(self.checked)]
        parts += [f"{self.overflows} states overflow, as noted"] * bool(self.overflows)
        parts += [f"refused {what}: {line}" for what, line in self.refused.items()]
        return "; ".join(part for part in (*parts, self.difference) if part)


def examine(seed: int, number: int, folder: Path) -> Outcome:
    """Design ``number`` of a ``seed``, through all exits; files are written to the folder."""
    outcome = Outcome()
    try:
        design = drawn(seed, number, folder)
        outcome.design = str(design)
        for line in design.left_out.values():
            one_line(line)
        through_all_exits(design, number, folder, outcome)
    except REFUSALS as error:
        outcome.refused["design"] = one_line(str(error))
    except Exception:  # whatever it is, it is the difference that is looked for
        outcome.difference = f"DIFFERENT: {traceback.format_exc(limit=-3)}"
    return outcome


def one_line(said: str) -> str:
    """A refusal as it is; Different unless it is a line of words."""
    if "\n" in said or len(said.split()) < 3:
        raise Different(f"a refusal is one line that says what is wrong, not {said!r}")
    return said


def through_all_exits(design: Drawn, seed: int, folder: Path, outcome: Outcome) -> None:
    """Note in ``outcome`` what agrees and what is refused; Different, Mismatch, AssertionError."""
    notes: list[str] = []
    made = Compilation(str(design.file), notes.append, design.choices)
    in_reals(made.front, seed, outcome)
    product = made.product
    variants = [product]
    if other := other_robot(product.front, seed):
        variants.append(of_robot(product, other))
    if product.is_core:
        in_words(variants, seed, folder, outcome)
    else:
        in_tasks(made, variants, seed, folder, outcome)


def other_robot(front: Front, seed: int) -> Robot | None:
    """Another one of the model that registers hold, if they do; None where it has no numbers."""
    if front.parameters is None:
        return None
    return any_of_model(front.robot, front.design.tolerance, np.random.default_rng(seed))


def of_robot(product: Product, robot: Robot) -> Product:
    """The same hardware with another robot's words in its registers."""
    front = product.front
    assert front.parameters is not None
    canonical = canonical_of(front.design, of_bodies(front.design))(robot)
    words = parameter_words(product.graphs, front.parameters.of(canonical))
    return replace(product, held=words, front=replace(front, robot=robot, canonical=canonical))


def in_reals(front: Front, seed: int, outcome: Outcome) -> None:
    """The golden model, the graph, and C++."""
    design, other = front.design, other_robot(front, seed)
    robots = [front.robot, *([other] if other else [])]
    asked = []
    for robot in robots:
        canonical = front.canonical
        if front.parameters is not None:
            canonical = canonical_of(design, of_bodies(design))(robot)
        state = sample_states(design, canonical, STATES, seed)
        asked.append((robot, canonical, state))
        for function, found in of_graph(front, canonical, state):
            compare("graph", replace(design, functions=function, mix=None), robot, state, found)
    outcome.checked.append("graph")
    if design.accelerator:
        return
    program = compiled(design, front.robot, "cpp", lambda _: None, has_registers(design))
    in_floats = front_again(program.folder, read_manifest(program.folder)) if other else front
    for robot, _, state in asked:
        if in_floats.parameters is not None:
            rewritten = canonical_of(in_floats.design, of_bodies(in_floats.design))(robot)
            program.library.hold([*in_floats.parameters.of(rewritten).values()])
        compare("cpp", design, robot, state, program(state))
    outcome.checked.append("cpp")


def of_graph(
    front: Front, canonical: Robot, state: Mapping[str, Array]
) -> Iterator[tuple[tuple[str, ...], dict[str, Array]]]:
    """Functions and the arrays (N, …) that the graph gives for a ``canonical`` robot."""
    design, n = front.design, len(state["q"])
    columns = to_columns(canonical, not_registers(front.graph.inputs), state)
    if front.parameters is not None:
        own = front.parameters.of(canonical)
        columns |= {name: np.full(n, value) for name, value in own.items()}
    if not design.accelerator:
        yield design.functions, as_arrays(front, evaluate(front.graph, columns), n)
        return
    given = given_coordinates(design, front.robot)
    for function in design.functions:
        if function not in ROLLOUTS:
            (task,) = in_visits(front.graph, [function], given)
            results = evaluate_program(task, front.graph, columns)
            yield (function,), from_columns(results, front.robot.nv, given)


def compare(
    who: str, design: Design, robot: Robot, state: Mapping[str, Array], found: Mapping[str, Array]
) -> None:
    """Different where arrays (N, …) are not those of the golden model."""
    expected = golden_model(design, robot, state)
    near = design.inverse == "near"
    among = expected["far"] == 0 if near else np.ones(len(state["q"]), np.bool_)
    dividing = max(EXACT, ROUNDING * float(np.linalg.cond(golden.crba(robot, state["q"])).max()))
    whole = max(float(np.abs(expected[name]).max(initial=0.0)) for name in found)
    for name, values in found.items():
        right = expected[name]
        if values.shape != right.shape or not np.isfinite(values).all():
            raise Different(f"{who}: {name} is {values.shape}, golden {right.shape}; or not finite")
        within = EXACT if name not in DIVIDING else NEAR if near else dividing
        size = max(float(np.abs(right).max(initial=0.0)), LEAST * whole, EXACT)
        off = float(np.abs(values - right)[among].max(initial=0.0)) / size
        if off > within:
            raise Different(f"{who}: {name} is {off:.2g} off golden, not {within:.2g}")


def in_words(cores: list[Product], seed: int, folder: Path, outcome: Outcome) -> None:
    """A core's integers, C, C++ for high-level synthesis and Verilog, with each robot's words."""
    asked = []
    for core in cores:
        run = integer_errors(core, SAMPLES, seed)
        judge(cores[0], run.coordinates, run.overflows)
        outcome.overflows += run.overflows
        sampled = sampled_words(core, SAMPLES, seed)
        words = {name: sampled[name] for name in core.fixed.inputs}
        outputs, flags = integer_results(core, words)
        asked.append((core, words, outputs, flags))
    outcome.checked.append("integers")
    for language in ("c", "hls"):
        try:
            for core, words, outputs, flags in asked:
                found, raised = word_program(core, language, lambda _: None)(words)
                for name, right in outputs.items():
                    np.testing.assert_array_equal(found[name], right, f"{language}: {name}")
                np.testing.assert_array_equal(raised, flags, f"{language}: flags")
            outcome.checked.append(language)
        except REFUSALS as error:
            outcome.refused[language] = one_line(str(error))
    model, names = build_core(cores[0], folder, "differential")
    for core, words, outputs, flags in asked:
        tasks = np.stack([words[name] for name in core.fixed.inputs], axis=1)
        expected = Batch(tasks, np.stack([outputs[name] for name in names], axis=1), flags)
        held = [int(word) for word in core.held.values()]
        run_at_once = model.run(tasks, seed=seed, held=held)
        check(run_at_once, expected)
        check_on_time(run_at_once, core)
        check(model.run(tasks, stall_in=0.3, stall_out=0.4, seed=seed, held=held), expected)
    outcome.checked.append("verilog")


def in_tasks(
    made: Compilation, accelerators: list[Product], seed: int, folder: Path, outcome: Outcome
) -> None:
    """The same of an accelerator, whose programs are in C alone; without registers, there."""
    first = accelerators[0]
    asked = []
    for own in accelerators:
        state = scaled_states(own, SAMPLES, seed)
        inside = Traffic(own, inputs_of(own, state))
        asked += [inside, Traffic(own, sampled_tasks(own, SAMPLES, seed))]
        for function in first.accelerator.functions:
            found = inside.accuracy(function, state)
            errors = coordinate_errors(own.design, own.front.canonical, found, function)
            overflows = int(inside.expected[function][1].sum())
            judge(first, errors, overflows)
            outcome.overflows += overflows
    outcome.checked.append("integers")
    if not has_registers(first.design):
        for name, text in c(made).items():
            (folder / name).write_text(text)
        example = compiled_tasks(folder, folder)
        for function in first.accelerator.functions:
            said = differ(folder, example, function)
            if not said.endswith(" 0 words and flags differ\n"):
                raise Different(f"c: {function}: {said}")
        outcome.checked.append("c")
    emitted = emit(first.accelerator, "differential")
    (file := folder / "differential.v").write_text(emitted.files["differential.v"])
    ports = ports_of(port_facts(first))
    model = build([file], "differential", ports=ports)
    for traffic in asked:
        mixed = traffic.mixed(SAMPLES, seed)
        traffic.run(model, mixed)
        traffic.run(model, mixed, stall_in=0.3, stall_out=0.4, seed=seed)
    outcome.checked.append("verilog")


def judge(made: Product, errors: Sequence[CoordinateError], overflows: int) -> None:
    """Different where words are off by more than what is expected of ``made``, or overflow though
    no note says it."""
    promised = LARGEST_ERROR if made.design.error is None else 1.5 * made.design.error
    expected = {own.name: own for own in made.expected}
    for own in errors:
        for scale in SCALES:
            known = expected[own.name].relative(scale) if own.name in expected else 0.0
            most = max(promised * scale.times, SLACK * known)
            if not own.relative(scale) <= most:
                off = f"{own.relative(scale):.2g} off {scale.name}, not {most:.2g}"
                raise Different(f"integers: {own.name} is {off}")
    if overflows and not any("overflow in" in note for note in made.notes):
        raise Different(f"integers: {overflows} of {SAMPLES} states within the limits overflow")


def main(arguments: list[str] | None = None) -> int:
    """The command; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--designs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this one alone, of those that the seed has")
    own = parser.parse_args(arguments)
    numbers = range(own.designs) if own.only is None else [own.only]
    outcomes = []
    for number in numbers:
        start = spent()
        with tempfile.TemporaryDirectory(prefix="rbdgen-") as folder:
            outcome = examine(own.seed, number, Path(folder))
        outcomes.append(outcome)
        print(f"{number} ({spent() - start:.1f} s) {outcome}", flush=True)
        if outcome.difference:
            print(f"  again: python -m tests.differential --seed {own.seed} --only {number}")
    print(summary(outcomes))
    return int(any(outcome.difference for outcome in outcomes))


def summary(outcomes: list[Outcome]) -> str:
    """How many designs were checked, refused and different, and the same by exit."""
    refused = Counter(what for outcome in outcomes for what in outcome.refused)
    checked = Counter(what for outcome in outcomes for what in outcome.checked)
    different = sum(bool(outcome.difference) for outcome in outcomes)
    by_exit = ", ".join(f"{name} {checked[name]} ({refused[name]} refused)" for name in EXITS)
    return (
        f"{len(outcomes)} designs: {refused['design']} refused, {different} different; "
        f"checked: {by_exit}"
    )


if __name__ == "__main__":
    sys.exit(main())
