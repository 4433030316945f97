"""Designs that take M⁻¹ of a state nearby: every bit of hardware, the same flag from all models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.robot.model import RobotError
from rbdgen_host.driver import Dynamics, FarError, FarWarning
from tests.support.coordinates import worst_of

NEAR: dict[str, Any] = {"formulation": "logarithmic", "inverse": "near"}
DFD: dict[str, Any] = NEAR | {"functions": ("dfd", "minv")}
FD: dict[str, Any] = NEAR | {"functions": ("fd", "minv")}


@pytest.mark.slow
def test_every_bit(tmp_path: Path) -> None:
    """Of states nearby, and of some farther off, which the hardware says."""
    place = api.generate("pendulum", tmp_path / "design", nearby=0.05, ii=1, **DFD)
    report = api.simulate(place, 300)
    assert report["bit_exact"] is True
    assert report["overflows"] == 0
    assert worst_of(report.facts.coordinates)["dqdd_dq"] < 2e-3
    (note,) = [note for note in place.manifest["notes"] if note.startswith("inverse: near")]
    assert "far is 1 where √tr E² > 0.125, else at most 0.00024 of M⁻¹ is left out" in note
    assert "up to 0.05 rad or m off" in note


@pytest.mark.parametrize("model", ["float", "fixed"])
def test_models(model: str) -> None:
    choices = FD | {"nearby": 0.05}
    states = dict(api.states("pendulum", 200, 1, **choices))
    states["Minv"] = states["Minv"] * np.linspace(0.75, 1.0, 200)[:, None, None]
    golden = api.evaluate("pendulum", states, **choices)
    found = api.evaluate("pendulum", states, model, **choices)
    far = golden["far"] == 1
    assert 0 < far.sum() < 200
    if model != "fixed":
        assert (found["far"] == golden["far"]).all()
    else:
        assert ((found["far"] == 1) | found["overflow"].any(axis=1))[far].all()
        far |= found["overflow"].any(axis=1)
    error = np.abs(found["Minv"] - golden["Minv"])[~far].max()
    assert error <= 1e-3 * np.abs(golden["Minv"]).max()


def test_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    states = api.states("pendulum", 20, 1, **DFD)
    q, v, tau, X = (states[name] for name in ("q", "qd", "tau", "Minv"))
    golden = Dynamics("pendulum", "golden", functions=("dfd", "minv", "fd"))
    twice = X * np.where(np.arange(20) == 7, 2, 1)[:, None, None]
    own = Dynamics("pendulum", "golden", **NEAR, functions=("id", "dfd", "minv"))
    found = own.computeABADerivatives(q, v, tau, Minv=X)
    for ours, true in zip(found, golden.computeABADerivatives(q, v, tau), strict=True):
        assert (ours == true).all()
    own = Dynamics("pendulum", "cpp", **FD)
    qdd = golden.aba(q, v, tau)
    assert np.abs(own.aba(q, v, tau, Minv=X) - qdd).max() <= 1e-6 * np.abs(qdd).max()
    Minv = own.computeMinverse(q, Minv=X)
    assert np.abs(Minv - golden.computeMinverse(q)).max() <= 1e-6 * np.abs(Minv).max()
    with pytest.warns(FarWarning, match="1 of 20 states' Minv was not near, the first is 7"):
        own.computeMinverse(q, Minv=twice)
    own.on_overflow = "raise"
    with pytest.raises(FarError):
        own.computeMinverse(q, Minv=twice)
    own.on_overflow = "ignore"
    ticket = own.submit("computeMinverse", q, twice)
    ticket.result()
    assert np.flatnonzero(ticket.far).tolist() == [7]
    with pytest.raises(api.InputError, match="takes q, v, tau, Minv: 4 arrays, not 3"):
        own.aba(q, v, tau)
    with pytest.raises(RobotError, match="near is not for the accelerator"):
        Dynamics("pendulum", "integer", **FD)
