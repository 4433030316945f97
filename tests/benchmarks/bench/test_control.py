"""The measurement of a controller's loop: an arm follows, and words follow float64."""

from __future__ import annotations

import pytest

from rbdgen.api.closed_loop import distance
from rbdgen.design.loading import load
from rbdgen_benchmarks.bench import control


@pytest.mark.slow
def test_an_arm_follows_in_words_as_in_reals(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a low rate, for a fifth of a second: apart by less than the word's own last bits make."""
    pytest.importorskip("mujoco", reason="the arm is MuJoCo's")
    monkeypatch.setattr(control, "SECONDS", 0.2)
    choices = {"functions": "computed-torque", "kp": 3600, "kd": 120, **control.LIMITS}
    laws = [make(choices, lambda _: None) for make in (control._reals, control._words)]
    exact, words = (control.loop(law, 1000) for law in laws)
    _, robot = load(control.ROBOT)
    apart, off = (
        distance(robot, control.TOOL, run.q, q)
        for run, q in ((words, exact.q), (exact, exact.wanted))
    )
    assert 0 < apart.max() < 20e-6
    assert off.max() < 5e-3
