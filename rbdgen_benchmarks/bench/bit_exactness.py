"""Every word and every flag of C and of C++ for HLS, beside the integer model in NumPy."""

from __future__ import annotations

import ctypes
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.api.design_file import FOLDER, compiler_digest, design_digest
from rbdgen.api.integer_model import integer_results, word_source
from rbdgen.api.results import Mismatch
from rbdgen.api.vectors import sampled_tasks, sampled_words
from rbdgen.codegen.compiled import CHUNK, Compiled, CSources, Results
from rbdgen.compile.flow import compile_design, compile_front, front_end
from rbdgen.design.functions import ROLLOUTS, WHOLE
from rbdgen.design.loading import load
from rbdgen.graph.fixed import Integers
from rbdgen.system.cache import cached_result
from rbdgen.system.compiler import FLAGS, about, build, find_compiler
from rbdgen.system.quoting import Progress
from rbdgen.tasks.c import tasks_source

from .measurement import Row, measurement

Words = Mapping[str, Integers]  # (N,) by name
ROBOTS = (("gantry", "fixed"), ("iiwa14", "fixed"), ("hyq", "floating"))
# Robot, base, functions, cycles from task to task; of a base that floats there are no rollouts.
ACCELERATORS = (
    ("iiwa14", "fixed", (*WHOLE, *ROLLOUTS), 8),
    ("hyq", "fixed", (*WHOLE, *ROLLOUTS), 8),
    ("hyq", "floating", WHOLE, 16),
)
STATES = 100_000  # within the limits; and as many of any words
SEED = 5
WORDS, RAISED = "differing words", "differing flags"
HEAD = (
    *("robot", "function", "nodes", "states", "words a state", "that overflow"),
    *(WORDS, RAISED, "compile s", "us a state"),
)
LEGEND = (
    "Beside the integer model in NumPy. Half of the states lie within the design's limits; in the\n"
    "others every input is any word. Compiled by g++ at -O1; us a state: of one core, in rows."
)


def _cases(language: str) -> list[tuple[str, str, str, str]]:
    return [(robot, base, function, language) for robot, base in ROBOTS for function in WHOLE]


def _robots() -> set[str]:
    return {robot for robot, _ in ROBOTS}


def _equal(found: list[dict[str, Any]]) -> None:
    """Mismatch where anything differs."""
    wrong = [f"{row['robot']} {row['function']}" for row in found if row[WORDS] or row[RAISED]]
    if wrong:
        raise Mismatch(f"other bits than the integer model's: {', '.join(wrong)}")


def _core(
    place: Path, progress: Progress, robot: str, base: str, function: str, language: str
) -> Iterator[Row]:
    """A row for a function of a robot, a task a clock."""
    choices = {"base": base, "functions": (function,), "ii": 1}
    name = _named(robot, base)
    say = _saying(progress, f"{name} {function}")
    (row,) = _kept(place, language, robot, choices, _of_a_core, say)
    yield [name, function, *row]


@measurement(
    "bit-exactness-c",
    "minutes",
    HEAD,
    cases=lambda: _cases("c"),
    legend=LEGEND,
    check=_equal,
    robots=_robots,
)
def exact_c(*arguments: Any) -> Iterator[Row]:
    """Every function in C: words and flags that differ from the integer model's."""
    return _core(*arguments)


@measurement(
    "bit-exactness-hls",
    "an hour",
    HEAD,
    cases=lambda: _cases("hls"),
    legend=LEGEND,
    check=_equal,
    robots=_robots,
)
def exact_hls(*arguments: Any) -> Iterator[Row]:
    """Every function in C++ for HLS: words and flags that differ from the integer model's."""
    return _core(*arguments)


@measurement(
    "bit-exactness-accelerators",
    "minutes",
    HEAD,
    cases=lambda: ACCELERATORS,
    legend=LEGEND,
    check=_equal,
    robots=lambda: {robot for robot, *_ in ACCELERATORS},
)
def exact_accelerators(
    place: Path, progress: Progress, robot: str, base: str, functions: Sequence[str], ii: int
) -> Iterator[Row]:
    """Accelerators in C, rollouts too: words and flags that differ from the integer model's."""
    name, whole = _named(robot, base), {"accelerator": True, "target": "xcup", "ii": ii}
    choices = {"base": base, "functions": tuple(functions), **whole}
    rows = _kept(place, "c", robot, choices, _of_tasks, _saying(progress, name))
    yield from ([name, *row] for row in rows)


def _kept(
    place: Path,
    language: str,
    robot: str,
    choices: Mapping[str, Any],
    compute: Callable[[str, str, Mapping[str, Any], Progress], list[list[Any]]],
    progress: Progress,
) -> list[list[Any]]:
    """The rows of a design: read, if they were computed before of the same."""
    design = design_digest(load(robot, **choices)[0])
    made = compiler_digest(FOLDER), about(find_compiler()), STATES, SEED

    def rows() -> list[list[Any]]:
        return compute(language, robot, choices, progress)

    return list(cached_result(place / "exact", language, f"{design} {made}", rows, progress))


def _of_a_core(
    language: str, robot: str, choices: Mapping[str, Any], progress: Progress
) -> list[list[Any]]:
    core = compile_front(front_end(robot, **choices), progress)
    nodes = len(core.fixed.graph.nodes)
    made, took = _compiled(*word_source(core, language), nodes, progress)
    words, expected = sampled_words(core, STATES, SEED), partial(integer_results, core)
    found = _compared(partial(made.run, ""), words, expected, progress)
    return [[nodes, *found[:-1], took, found[-1]]]


def _of_tasks(
    language: str, robot: str, choices: Mapping[str, Any], progress: Progress
) -> list[list[Any]]:
    made = compile_design(robot, progress, **choices)
    accelerator, rows = made.accelerator, []
    nodes = sum(len(stage.fixed.graph.nodes) for stage in accelerator.stages.values())
    compiled, took = _compiled(tasks_source(accelerator), FLAGS, nodes, progress)
    for function, words in sampled_tasks(made, STATES, SEED).items():
        run = partial(compiled.run, function)
        expected = partial(integer_results, made, task=function)
        found = _compared(run, words, expected, _saying(progress, function))
        rows.append([function, nodes, *found[:-1], took, found[-1]])
    return rows


def _compiled(
    source: CSources, flags: Sequence[str], nodes: int, progress: Progress
) -> tuple[Compiled, float]:
    """The functions, and the seconds that compiling them took."""
    progress(f"compiling {nodes} nodes")
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work:
        started = time.monotonic()
        library = build(source.files, Path(work), flags)
        took = time.monotonic() - started
        return Compiled(source, ctypes.CDLL(str(library))), round(took, 1)  # it stays loaded


def _compared(
    run: Callable[[Words], Results],
    words: Words,
    expected: Callable[[Words], Results],
    progress: Progress,
) -> list[Any]:
    """States, words and flags of each, states that overflow, words and flags that differ, µs."""
    n = len(next(iter(words.values())))
    raised = wrong_words = wrong_flags = outputs = 0
    took = 0.0
    for start in range(0, n, CHUNK):
        some = {name: values[start : start + CHUNK] for name, values in words.items()}
        began = time.thread_time()
        found, flags = run(some)
        took += time.thread_time() - began
        right, overflowed = expected(some)
        if list(found) != list(right) or flags.shape != overflowed.shape:
            raise Mismatch("other outputs than the integer model's")
        outputs = len(right)
        raised += int(overflowed.any(axis=1).sum())
        wrong_words += int(sum(np.sum(found[name] != right[name]) for name in right))
        wrong_flags += int(np.sum(flags != overflowed))
    progress(f"{n} states, {wrong_words} words and {wrong_flags} flags differ")
    return [n, outputs, raised, wrong_words, wrong_flags, float(f"{took / n * 1e6:.2g}")]


def _named(robot: str, base: str) -> str:
    return f"{robot}{' floating' * (base == 'floating')}"


def _saying(progress: Progress, what: str) -> Progress:
    return lambda line: progress(f"{what}: {line}")
