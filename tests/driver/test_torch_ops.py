"""Compiled functions as operators of PyTorch: values, gradients, torch.compile, refusals."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api.folder import InputError
from rbdgen.design.loading import load
from rbdgen_host.driver.torch_ops import operators

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"
)


@needs_torch
def test_values_and_gradients() -> None:
    """PyTorch's own checks, of gradients by differences and of operators for torch.compile."""
    import torch

    own, robot = operators("pendulum"), load("pendulum")[1]
    state = golden.random_state(robot, 4, np.random.default_rng(1))
    q, qd, qdd = (torch.from_numpy(x).requires_grad_() for x in state)
    tau = own.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tau.detach(), golden.rnea(robot, *state), atol=1e-12)
    M = own.mass_matrix(q).detach()
    np.testing.assert_allclose(M, golden.crba(robot, state.q), atol=1e-12)
    found = own.forward_dynamics(q, qd, tau).detach()
    np.testing.assert_allclose(found, state.qdd, atol=1e-10)
    given = tau.detach().requires_grad_()
    assert torch.autograd.gradcheck(own.inverse_dynamics, (q, qd, qdd))
    assert torch.autograd.gradcheck(own.forward_dynamics, (q, qd, given))
    assert set(torch.library.opcheck(own.inverse_dynamics.default, (q, qd, qdd)).values()) == {
        "SUCCESS"
    }
    assert operators("pendulum") == own
    with pytest.raises(InputError, match=r"tensors are float32 \(2,\).*expected float64 \(…, 2\)"):
        own.mass_matrix(torch.zeros(2))


@needs_torch
def test_robots_whose_positions_are_no_velocities_are_refused() -> None:
    with pytest.raises(InputError, match="q has 19 entries for 18 velocities"):
        operators("hyq", base="floating")


def test_without_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match="pip install torch"):
        operators("pendulum")
