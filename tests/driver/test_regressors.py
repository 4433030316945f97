"""The calls of regressors: words, C++ and the golden model, base parameters, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdgen.api import states
from rbdgen.compile.flow import front_end
from rbdgen.design.functions import REGRESSING
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError
from rbdgen_host.driver import Dynamics

CHOICES: dict[str, Any] = {"functions": (*REGRESSING, "id"), "accelerator": False}


def test_words_and_programs_are_nearly_golden() -> None:
    given = states("pendulum", 100, functions=("id",))
    arrays = [given[name] for name in ("q", "qd", "qdd")]
    golden, integer, cpp = (
        Dynamics("pendulum", kind, **CHOICES) for kind in ("golden", "integer", "cpp")
    )
    for call, shape in (("computeJointTorqueRegressor", (2, 20)), ("base_regressor", (2, 6))):
        expected = getattr(golden, call)(*arrays)
        for back_end, within in ((integer, 2e-3), (cpp, 1e-12)):
            found = getattr(back_end, call)(*arrays)
            assert found.shape == (100, *shape)
            assert np.sqrt(((found - expected) ** 2).mean()) < within * np.sqrt(
                (expected**2).mean()
            )


def test_base_parameters_are_identified() -> None:
    """Least squares of efforts gives numbers that predict the efforts of other states."""
    arm = Dynamics("gantry", "golden", **CHOICES)
    given = states("gantry", 40, functions=("id",))
    q, v, a = (given[name] for name in ("q", "qd", "qdd"))
    known = slice(0, 20)
    rows, tau = arm.base_regressor(q, v, a), arm.rnea(q, v, a)
    rows_known = rows[known].reshape(-1, rows.shape[-1])
    assert len(arm.base_parameters) == rows.shape[-1] == np.linalg.matrix_rank(rows_known)
    found = np.linalg.lstsq(rows_known, tau[known].ravel(), rcond=None)[0]
    np.testing.assert_allclose(rows @ found, tau, rtol=0, atol=1e-9 * np.abs(tau).max())


def test_refusals_and_notes() -> None:
    with pytest.raises(RobotError, match="base_link: lf_shin: regressor is not converted to the"):
        load("hyq", base="floating", base_link="lf_shin", functions=("regressor",))
    with pytest.raises(RobotError, match="functions: regressor is no task of an accelerator"):
        load("pendulum", functions=("regressor",), accelerator=True)
    gears = {"shoulder": {"armature": 0.1, "friction": 0.2}}
    front = front_end("pendulum", functions=REGRESSING, joints=gears, fit=False)
    assert any("regressor: of rigid bodies, without columns for rotors" in n for n in front.notes)
    assert any("base_regressor: 6 base parameters determine tau" in n for n in front.notes)
