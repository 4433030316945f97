"""The C header of rollouts: their step and their number of steps."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api import generate, read_manifest
from rbdgen.shell.task_packets import Response, Status
from rbdgen_host.driver import Dynamics, c_header
from tests.support.c_header import TAG, library, pointer, response_words, rows
from tests.support.driver_designs import states
from tests.support.packets import packet_format


@pytest.fixture(scope="module")
def rolling(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dynamics, dict[str, Any]]:
    choices: dict[str, Any] = {"functions": ("difd", "euler", "rk4"), "ii": 4, "target": "xcup"}
    folder = generate(
        "pendulum", tmp_path_factory.mktemp("rolling") / "made", accelerator=True, **choices
    )
    manifest = read_manifest(folder)
    # as of any other folder
    assert (folder / f"{manifest['name']}.h").read_text() == c_header(manifest)
    return Dynamics(folder), manifest


def test_rollouts_come_with_numbers(
    rolling: tuple[Dynamics, dict[str, Any]], tmp_path: Path
) -> None:
    driver, manifest = rolling
    program, packets = library(tmp_path, manifest, {}), packet_format(manifest)
    assert driver._backend.coder is not None
    for state in rows(states("pendulum", 5, 6)):
        takes = [state[name] for name in ("q", "v", "tau")]
        for rule, h, steps in (("euler", 0.0117, 3), ("rk4", 1e-3, 2), ("rk4", 3e-7, 1)):
            facts = driver._backend.coder.tasks.functions[rule]
            ticket = driver.submit(rule, *takes, h, steps)
            words = [int(ticket._batches[0].values[i.word][0]) for i in facts.inputs]
            packet = np.zeros(1 + len(words), np.uint32)
            encode = getattr(program, f"encode_{rule}")
            given = (*map(pointer, takes), ctypes.c_double(h), steps, TAG, pointer(packet))
            assert encode(*given) == 0
            np.testing.assert_array_equal(packet, packets.encode_task(facts.code, TAG, words))

            results = response_words(ticket.arrays, facts)
            response = Response(facts.code, Status.OVERFLOW, TAG, results)
            answer = np.array(packets.encode_response(response), np.uint32)
            tag, q, v = ctypes.c_uint16(), np.zeros(2), np.zeros(2)
            decode = getattr(program, f"decode_{rule}")
            assert decode(*map(pointer, (answer,)), ctypes.byref(tag), pointer(q), pointer(v)) == 1
            np.testing.assert_array_equal(q, ticket.arrays["q"])
            np.testing.assert_array_equal(v, ticket.arrays["qd"])


def test_words_of_rollouts_are_not_read_by_what_comes_after_them(
    rolling: tuple[Dynamics, dict[str, Any]], tmp_path: Path
) -> None:
    """M⁻¹ stands behind them in a task."""
    driver, manifest = rolling
    program, packets = library(tmp_path, manifest, {}), packet_format(manifest)
    assert driver._backend.coder is not None
    facts = driver._backend.coder.tasks.functions["difd"]
    for state in rows(states("pendulum", 3, 6)):
        takes = [state[name] for name in ("q", "v", "a", "Minv")]
        values = driver.submit("difd", *takes)._batches[0].values
        words = [int(values[i.word][0]) for i in facts.inputs]
        packet = np.zeros(1 + len(words), np.uint32)
        assert program.encode_difd(*map(pointer, takes), TAG, pointer(packet)) == 0
        np.testing.assert_array_equal(packet, packets.encode_task(facts.code, TAG, words))


@pytest.mark.parametrize(
    ("h", "steps", "outside", "words"),
    [
        (0.75 / 64, 65535, 0, [65535, 49152, 2**17 - 1]),
        (0.012, 1, 1, [1, 49152, 2**17 - 1]),
        (math.inf, 1, 1, [1, 49152, 2**17 - 1]),
        (0.0, 1, 1, [1, 0, 0]),
        (-0.001, 1, 1, [1, 0, 0]),
        (math.nan, 0, 2, [0, 0, 0]),
        (1e-7, 1, 1, None),
    ],
)
def test_steps_that_there_are_not(
    rolling: tuple[Dynamics, dict[str, Any]],
    tmp_path: Path,
    h: float,
    steps: int,
    outside: int,
    words: list[int] | None,
) -> None:
    """Too long, not positive, none: saturated and counted."""
    program = library(tmp_path, rolling[1], {})
    zero, packet = np.zeros(2), np.zeros(10, np.uint32)
    arrays = (pointer(zero),) * 3
    assert program.encode_rk4(*arrays, ctypes.c_double(h), steps, 0, pointer(packet)) == outside
    if words is not None:
        assert packet[7:].tolist() == words
