"""Packets that are no tasks: a shell's answers are counted, and a wrong one is seen."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from rbdgen.api.results import Mismatch
from rbdgen.shell.task_packets import PacketFormat, Status, TaskFunction
from rbdgen.tools.model import Model, Result
from rbdgen_benchmarks.bench import fuzz_packets


def test_what_is_sent_is_no_task() -> None:
    of = PacketFormat({0: TaskFunction("id", 3, 2), 2: TaskFunction("m", 1, 3)}, (18, 18, 18))
    rng = Random(0)
    said = Counter(of.judge_task(fuzz_packets.no_task(of, rng)) for _ in range(2000))
    assert set(said) == {status for status in Status if status.is_error}
    assert min(said.values()) > 100


def test_packets_of_a_link() -> None:
    beats = np.array([[5, 0], [6, 1], [7, 1], [8, 0]])
    assert fuzz_packets.packets_in(beats) == [(5, 6), (7,), (8,)]


@pytest.mark.slow
@pytest.mark.rtl
def test_every_packet_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_packets, "MALFORMED", 2000)
    (found,) = fuzz_packets.malformed(tmp_path, lambda _: None)
    assert found["malformed"] == 2000
    assert found["tasks"] > 100
    assert found["answers"] == found["malformed"] + found["tasks"]
    assert not found["wrong answers"]
    run = Model.run

    def one_bit_off(model: Model, *arguments: object, **options: object) -> Result:
        result = run(model, *arguments, **options)
        result.outputs[7, 0] ^= 1 << 20
        return result

    monkeypatch.setattr(Model, "run", one_bit_off)
    with pytest.raises(Mismatch, match=r"wrong answers: 1$"):
        fuzz_packets.malformed(tmp_path / "again", lambda _: None)
