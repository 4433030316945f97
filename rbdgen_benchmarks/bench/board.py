"""Boards without a board: every word over the line, and what damage on it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rbdgen import api
from rbdgen.api.c_header import line_layouts
from rbdgen.api.design_file import DESIGN, FOLDER, compiler_digest
from rbdgen.api.folder import read_manifest
from rbdgen.api.integer_model import integer_results
from rbdgen.api.recorded_states import states as sampled
from rbdgen.api.results import Mismatch
from rbdgen.api.vectors import sampled_tasks
from rbdgen.compile.flow import compile_design
from rbdgen.design.functions import GIVES, NEEDS
from rbdgen.shell.task_packets import Response, Status
from rbdgen.system.cache import cached_result
from rbdgen.system.quoting import Progress
from rbdgen_host import driver
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.links import SIMULATED, SerialPort

from .fuzz_frames import Asked, Damage, Flood, flood
from .measurement import Rows, measurement

HERE = Path(__file__), Path(__file__).with_name("fuzz_frames.py")
DRIVER = Path(driver.__file__).parent
BOARD, BAUD = "ulx3s-85f", 6_000_000
ROBOT = "iiwa14"
FUNCTIONS = ("id", "m")
# Time-multiplexed joints: of all designs of these functions the one that is simulated fastest.
CHOICES: dict[str, Any] = {
    "functions": FUNCTIONS,
    "accelerator": True,
    "fold": "joints",
    "ii": 32,
    "target": "ecp5-85f",
}
STATES, AT_ONCE = 10_000, 1000  # of each function
DAMAGED, PART = 100_000, 10_000  # frames
OFTEN = 60.0  # of 100 frames
TASKS = 100  # different ones of each function within the limits, and as many of any words
SEED = 22
WORDS = ("robot", "states of each function", "numbers", "that differ")
FRAMES = ("robot", "frames sent", "damaged", "good tasks", "answered once", "wrong", "restarts")
LEGEND = f"""\
Over a pseudo-terminal. Its line has {BAUD // 1_000_000} Mbaud, twice a board's, so
that it takes half as long. Numbers: from the driver, beside the integer model's. Damaged: bits
turned, bursts, cut, lost and inserted bytes, frames run into one, noise between; which frames are
whole after that says the receiver in software. Wrong: an answer that is not the model's, or a
second one. Restarts: the board's reset in the midst of tasks, which may be answered or not."""


@measurement("board", "hours")
def board(place: Path, progress: Progress) -> Any:
    """iiwa 14 behind a simulated line: words that differ, damaged frames."""
    folder = place / "board" / ROBOT
    api.generate(ROBOT, folder, progress, force=True, **CHOICES)
    numbers, sent = Rows(WORDS), Rows(FRAMES)
    numbers.add([ROBOT, *_words(folder, progress)])
    print()
    sent.add([ROBOT, *_frames(folder, progress)])
    sent.close(LEGEND)
    (words,), (frames,) = numbers.to_json(), sent.to_json()
    if frames["wrong"] or frames["good tasks"] != frames["answered once"]:
        raise Mismatch(f"{ROBOT}: frames were not answered as they should be")
    if words["that differ"]:
        raise Mismatch(f"{ROBOT}: {words['that differ']} numbers differ")
    return {"words": words, "frames": frames}


def _words(folder: Path, progress: Progress) -> list[Any]:
    """States of each function, numbers compared, those that differ."""
    rows = []
    for part in range(STATES // AT_ONCE):
        say = _saying(progress, f"states {part * AT_ONCE} to {(part + 1) * AT_ONCE}")

        def compare(seed: int = SEED + part, say: Progress = say) -> list[int]:
            with api.simulated_board(BOARD, folder, say, baud=BAUD, long=True) as running:
                return _compared(folder, SerialPort(running.port, BAUD, SIMULATED), seed, say)

        rows.append(
            cached_result(folder.parent / "kept", f"words-{part}", _of(folder), compare, say)
        )
    numbers, differ = (sum(column) for column in zip(*rows, strict=True))
    return [STATES, numbers, differ]


def _compared(folder: Path, port: SerialPort, seed: int, progress: Progress) -> list[int]:
    there = Dynamics(folder, "board", port=port, on_overflow="ignore")
    here = Dynamics(folder, "integer", on_overflow="ignore")
    numbers = differ = 0
    for function in there.functions:
        taken = sampled(str(folder / DESIGN), AT_ONCE, seed, functions=(function,))
        given = [taken[name] for name in NEEDS[function]]
        expected, found = (own.submit(function, *given) for own in (here, there))
        for name in GIVES[function]:
            numbers += expected.arrays[name].size
            differ += int(np.sum(found.arrays[name] != expected.arrays[name]))
        differ += int(np.sum(found.overflow != expected.overflow))
        progress(f"{function}: {numbers} numbers, {differ} differ")
    port.close()
    return [numbers, differ]


def _frames(folder: Path, progress: Progress) -> list[Any]:
    """A row of `FRAMES`."""
    whole = Flood()
    for part in range(DAMAGED // PART):
        say = _saying(progress, f"damaged frames from {part * PART}")

        def run(part: int = part, say: Progress = say) -> list[int]:
            with api.simulated_board(BOARD, folder, say, baud=BAUD, long=True) as running:
                line = SerialPort(running.port, BAUD)
                harm = Damage(part, OFTEN)
                asked = asked_of(folder, part)
                found = flood(line, asked, PART, harm, running.restart, say)
                line.close()
                return list(vars(found).values())

        what = f"frames-{part}"
        whole += Flood(*cached_result(folder.parent / "kept", what, _of(folder), run, say))
        say(f"{whole}")
    return [whole.sent, whole.damaged, whole.good, whole.answered, whole.wrong, whole.restarts]


def asked_of(folder: Path, seed: int) -> Asked:
    """Tasks for the accelerator of a folder, as the integer model answers them."""
    manifest = read_manifest(folder).facts
    made = compile_design(str(folder / DESIGN))
    tasks, answers = [], []
    for function, words in sampled_tasks(made, TASKS, seed).items():
        own = manifest.tasks.functions[function]
        found, flags = integer_results(made, words, function)
        given = np.stack(list(words.values()), axis=1).tolist()
        right = np.stack(list(found.values()), axis=1).tolist()
        tasks += [(own.code, row) for row in given]
        answers += [
            Response(own.code, Status.OVERFLOW if flag else Status.OK, 0, tuple(row))
            for row, (flag,) in zip(right, flags, strict=True)
        ]
    return Asked(manifest.identity, line_layouts(manifest.tasks), tasks, answers)


def _of(folder: Path) -> str:
    """A key of the inputs on which the result of a part depends."""
    built = compiler_digest((*FOLDER, DRIVER, *HERE))
    return f"{(folder / 'manifest.json').read_text('utf-8')} {built} {BAUD} {OFTEN} {SEED}"


def _saying(progress: Progress, what: str) -> Progress:
    return lambda line: progress(f"{what}: {line}")
