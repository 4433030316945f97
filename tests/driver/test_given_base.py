"""An accelerator of a robot whose base moves as it is told: joints' rows and columns alone."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api import InputError, generate, read_manifest, simulate
from rbdgen.compile.samples import sample_states
from rbdgen.design.functions import WHOLE
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError
from rbdgen_host.driver import Dynamics
from tests.support.c_header import TAG, header, library, pointer
from tests.support.driver_designs import several

NAME, JOINTS = "pendulum", 2
CHOICES: dict[str, Any] = {
    "functions": WHOLE,
    "base": "floating",
    "root": "given",
    "ii": 2,
    "target": "xcup",
}
CALLS = {
    "rnea": ("q", "qd", "qdd"),
    "aba": ("q", "qd", "tau", "qdd"),
    "crba": ("q",),
    "computeMinverse": ("q",),
    "computeRNEADerivatives": ("q", "qd", "qdd"),
    "computeABADerivatives": ("q", "qd", "tau", "qdd"),
    "computeABADerivativesFromMinverse": ("q", "qd", "qdd", "Minv"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(NAME, tmp_path_factory.mktemp("given") / NAME, accelerator=True, **CHOICES)


@pytest.fixture(scope="module")
def integer(made: Path) -> Dynamics:
    return Dynamics(made, on_overflow="raise")


def states(n: int) -> dict[str, np.ndarray]:
    design, robot = load(NAME, accelerator=True, **CHOICES)
    return dict(sample_states(design, robot, n, 3))


@pytest.mark.parametrize("call", CALLS)
def test_integer_is_nearly_golden(integer: Dynamics, call: str) -> None:
    state = states(200)
    arrays = [state[name] for name in CALLS[call]]
    found = integer.submit(call, *arrays).result()
    expected = Dynamics(NAME, "golden", **CHOICES).submit(call, *arrays).result()
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    for ours, reference in zip(several(found), several(expected), strict=True):
        assert ours.shape == reference.shape
        assert ours.shape[-1] == JOINTS
        error = np.sqrt(np.mean((ours - reference) ** 2) / np.mean(reference**2))
        # accelerations are what large torques leave over
        assert error < (5e-3 if call == "aba" else 1e-3)


def test_forward_dynamics_reads_the_bases_acceleration(integer: Dynamics) -> None:
    """And nothing of the joints' own, which it gives."""
    state = states(50)
    q, v, tau, a = (state[name] for name in ("q", "qd", "tau", "qdd"))
    other = a.copy()
    other[:, 6:] = 99.0
    found = integer.aba(q, v, tau, a=other)
    np.testing.assert_array_equal(found, integer.aba(q, v, tau, a=a))
    np.testing.assert_allclose(found, a[:, 6:], atol=0.2)
    _, robot = load(NAME, base="floating")
    np.testing.assert_allclose(golden.joint_aba(robot, q, v, a, tau), a[:, 6:], atol=1e-9)
    with pytest.raises(InputError, match="aba takes q, v, tau, a: 4 arrays, not 3"):
        integer.aba(q, v, tau)


@pytest.mark.slow
def test_every_bit_of_the_hardware(tmp_path: Path) -> None:
    functions = ("id", "fd")
    choices = CHOICES | {"functions": functions, "ii": 4}
    made = generate(NAME, tmp_path / NAME, accelerator=True, **choices)
    found = simulate(made, 200)
    assert set(found["functions"]) == set(functions)


def test_the_c_header_leaves_the_base_out(made: Path, integer: Dynamics, tmp_path: Path) -> None:
    program = library(tmp_path, read_manifest(made), {"fd": ["qdd"], "dfd": ["qdd"]})
    state = {name: np.ascontiguousarray(array[0]) for name, array in states(1).items()}
    coder = integer._backend.coder
    assert coder is not None
    for function, takes in (("fd", "aba"), ("difd", "computeABADerivativesFromMinverse")):
        arrays = [state[name] for name in CALLS[takes]]
        ticket = integer.submit(function, *arrays)
        operands = coder.tasks.functions[function].inputs
        words = np.array([ticket._batches[0].values[i.word][0] for i in operands])
        packet = np.zeros(1 + len(words), np.uint32)
        encode = getattr(program, f"encode_{function}")
        assert encode(*map(pointer, arrays), TAG, pointer(packet)) == 0
        np.testing.assert_array_equal(packet, [header(function), *(words & 0xFFFFFFFF)])
    outputs = coder.tasks.functions["m"].outputs
    assert [word.name for word in outputs] == ["M[6,6]", "M[7,6]", "M[7,7]"]
    answer = np.array([header("m"), *range(1, 4)], np.uint32)
    tag, found = ctypes.c_uint16(), np.full((JOINTS, JOINTS), np.nan)
    assert program.decode_m(pointer(answer), ctypes.byref(tag), pointer(found)) == 0
    expected = [math.ldexp(k, -word.fraction) for k, word in enumerate(outputs, 1)]
    np.testing.assert_array_equal(found, [[expected[0], expected[1]], [expected[1], expected[2]]])


def test_a_rollout_would_have_to_move_the_base() -> None:
    with pytest.raises(RobotError, match="rollouts are for joints that turn or slide"):
        Dynamics(NAME, "integer", **{**CHOICES, "functions": ("rk4",)})
