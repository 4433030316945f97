"""Reports of simulations: latency, interval and error, of many states and of too few."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen import api


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("simulation") / "design"
    api.generate("pendulum", place, functions=("id",), ii=5)
    return place


@pytest.mark.parametrize("states", [1, 2, 3, 99, 100])
def test_few_states_judge_little(folder: Path, states: int) -> None:
    found = api.simulate(folder, states, seed=4)
    assert found["latency"] > 5 and found["judged"] == (states >= 100)
    assert found.get("initiation_interval") == (5 if states > 2 else None)
    few = "1 state is" if states == 1 else f"{states} states are"
    assert found["notes"] == [
        *([f"{few} too few to judge the promised error of 0.001; 100 are enough"] * (states < 100)),
        *([f"{few} too few to judge the initiation interval; 3 are enough"] * (states < 3)),
    ]
    text = found.as_text()
    assert all(f"note: {note}\n" in text for note in found["notes"])
    promise = "promised: 0.001 at the limits, 0.01 at a tenth; not contradicted by 100 states\n"
    assert (promise in text) == (states == 100)
