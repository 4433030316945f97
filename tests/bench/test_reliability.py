"""Vectors that Verilog and the integer model agree on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.bench.reliability import HEAD, measured
from rbdgen.simulate.model import Model, Result


def test_every_bit_of_half_states_and_half_any_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = measured("id", tmp_path, lambda _: None, "pendulum", 400, long=False)
    found = dict(zip(HEAD, row, strict=True))
    assert found["vectors"] == 400
    assert found["words and flags"] == 400 * 2 * 2
    assert found["that differ"] == 0
    assert 0 < found["that overflow"] <= 200  # of any words alone
    assert found["cycles"] > 400 / 0.7

    run = Model.run

    def one_bit_off(model: Model, *arguments: object, **options: object) -> Result:
        result = run(model, *arguments, **options)
        result.outputs[7, 0] = np.bitwise_xor(result.outputs[7, 0], 1)
        return result

    monkeypatch.setattr(Model, "run", one_bit_off)
    row = measured("id", tmp_path, lambda _: None, "pendulum", 400, long=False)
    assert row[HEAD.index("that differ")] == 1
