"""The shells of a generated accelerator around its core, from the files as they are written."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api import generate, read_manifest
from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.compile.product import Product
from rbdgen.design.functions import WHOLE
from rbdgen.shell.task_packets import PacketFormat, Response, Status
from rbdgen.tasks.latency import latency_of
from rbdgen.tasks.routes import CODES, ROLLOUTS, STEPS
from sim.runner import build_sources, run
from tests.support.made import accelerate
from tests.support.packets import packet_format, task_scenario

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

TASKS = 50
FLOODS = ([0, 0, 0], [15], [1 << 8])  # too short, of no function, with an option


def scenario(made: Product, manifest: dict[str, Any], kind: str) -> dict[str, Any]:
    """Tasks of random states, and of words from anywhere, which overflow."""
    rng, random_words = random.Random(3), np.random.default_rng(4)
    inside = inputs_of(made, within_limits(made, TASKS, 5))
    anywhere = {
        function: {
            # a few steps at most: the model takes them one by one
            name: random_words.integers(word.lowest, word.highest, TASKS)
            if name != STEPS
            else random_words.integers(0, 4, TASKS)
            for name, word in formats.items()
        }
        for function, formats in made.accelerator.formats.items()
    }
    axi = manifest["axi"][kind]
    packets, functions = packet_format(manifest, axi["lanes"]), made.accelerator.functions
    tags = rng.sample(range(1 << 16), TASKS + 400)
    tasks, answers = [], []
    for k, tag in enumerate(tags[:TASKS]):
        function, source = rng.choice(functions), rng.choice((inside, inside, anywhere))
        task, answer = exchange(packets, Traffic(made, source), function, k, tag)
        tasks.append(task)
        answers.append(answer)
    assert {packets.decode_response(answer).status for answer in answers} == {0, 1}

    rates, clocks = [], axi["clocks_per_task"]
    for function in set(functions) - ROLLOUTS.keys():
        task, answer = exchange(packets, Traffic(made, inside), function, 0, 0)
        rates.append({"packet": task, "answer": answer, "clocks": clocks[function]})
    accelerator = made.accelerator
    longest = max(
        latency_of(accelerator, f) * (4 if f in ROLLOUTS else 1) for f in accelerator.functions
    )
    identity = int(manifest["identity"], 16)
    return task_scenario(packets, identity, tasks, answers, tags[TASKS:], rng) | {
        "floods": [
            {"packet": beats, "answer": packets.refuse(beats), "clocks": len(beats), "latency": 3}
            for beats in FLOODS
        ],
        "rates": rates,
        # a task that takes longest behind as many as there are slots
        "drain": 200 + 2 * longest,
    }


def exchange(
    packets: PacketFormat, traffic: Traffic, function: str, state: int, tag: int
) -> tuple[list[int], list[int]]:
    """A task and its answer, as the integer model has it."""
    code = CODES[function]
    words = [int(column[state]) for column in traffic.inputs[function].values()]
    results, flags = traffic.expected[function]
    status = Status.OVERFLOW if flags[state] else Status.OK
    response = Response(code, status, tag, tuple(map(int, results[state])))
    return packets.encode_task(code, tag, words), packets.encode_response(response)


@pytest.mark.parametrize(("kind", "functions"), [("words", WHOLE), ("wide", ("id", "rk4", "dfd"))])
def test_on_the_bench(kind: str, functions: tuple[str, ...], tmp_path: Path) -> None:
    choices = {"functions": functions, "ii": 4, "target": "xcup", "accelerator": True}
    folder = generate("pendulum", tmp_path / "made", **choices)
    manifest = read_manifest(folder)
    name = manifest["name"]
    top, built = f"{name}_axi_{kind}", tmp_path / "built"
    build_sources([folder / f"{name}.v", folder / f"{top}.v"], built, name=top)
    stimulus = scenario(accelerate("pendulum", **choices), manifest, kind)
    assert run("sim.task_bench", stimulus, built, name=top) == 6
