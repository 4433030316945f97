"""``NAME.hpp`` steps as Pinocchio and as the golden model, in double and in float."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType

import numpy as np
import pinocchio as pin
import pytest

from rbdgen import golden
from rbdgen.codegen.library import headers
from rbdgen.design.loading import load
from rbdgen.robot.model import JointKind, Robot
from tests.support.library import compiled_strictly
from tests.support.pinocchio_models import Peer, peer_from_urdf
from tests.support.zoo import generated

# The configuration's functions with C linkage, N states each, in double and in float.
CONFIGURATION = """
#include "zoo.hpp"
using namespace rbdgen::zoo;
#define OF(S, name) \\
extern "C" void integrate_##name(int n, const S *q, const S *v, S dt, S *to) \\
{ \\
    for (; n--; q += nq, v += nv, to += nq) { \\
        std::array<S, nq> at; \\
        std::copy(q, q + nq, at.data()); \\
        std::array<S, nv> by; \\
        std::copy(v, v + nv, by.data()); \\
        const std::array<S, nq> moved = integrate(at, by, dt); \\
        integrate(at, by, dt, at); \\
        std::copy(at.begin(), at.end(), to); \\
        if (moved != at) \\
            to[0] = S(1e9); \\
    } \\
} \\
extern "C" void difference_##name(int n, const S *q0, const S *q1, S *v) \\
{ \\
    for (; n--; q0 += nq, q1 += nq, v += nv) { \\
        std::array<S, nq> a, b; \\
        std::copy(q0, q0 + nq, a.data()); \\
        std::copy(q1, q1 + nq, b.data()); \\
        const std::array<S, nv> step = difference(a, b); \\
        std::copy(step.begin(), step.end(), v); \\
    } \\
} \\
extern "C" void neutral_##name(S *q) \\
{ \\
    const std::array<S, nq> own = neutral<S>(); \\
    std::copy(own.begin(), own.end(), q); \\
}
OF(double, float64)
OF(float, float32)
"""
STEPS = (0.0, 1e-12, 1e-5, 1e-2, 0.5, 3.0)


class Configuration:
    """The functions of ``zoo.hpp`` in one type, for batches."""

    def __init__(self, library: ctypes.CDLL, dtype: str) -> None:
        self.library, self.dtype = library, np.dtype(dtype)
        self.scalar = ctypes.c_float if self.dtype == np.float32 else ctypes.c_double

    def __call__(self, name: str, columns: int, *given: object) -> np.ndarray:
        states = max([len(own) for own in given if isinstance(own, np.ndarray)], default=1)
        found = np.empty((states, columns), self.dtype)
        numbers: list[object] = [ctypes.c_int(states)] if given else []
        keep = []
        for own in (*given, found):
            if isinstance(own, np.ndarray):
                keep.append(np.ascontiguousarray(own, self.dtype))
                numbers.append(keep[-1].ctypes.data_as(ctypes.c_void_p))
            else:
                numbers.append(self.scalar(own))
        getattr(self.library, f"{name}_{self.dtype}")(*numbers)
        return found


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp("zoo"))


@pytest.fixture(scope="module")
def library(zoo: Path) -> ctypes.CDLL:
    source = zoo.parent / "configuration.cpp"
    source.write_text("#include <algorithm>\n" + CONFIGURATION)
    target = zoo.parent / "configuration.so"
    assert not compiled_strictly(
        source, "-std=c++11", "-O1", "-shared", "-fPIC", "-I", zoo, "-o", target
    )
    return ctypes.CDLL(str(target))


@pytest.fixture(scope="module")
def peer(zoo: Path) -> Peer:
    _, robot = load(zoo / "robot.urdf", base="floating")
    return peer_from_urdf(zoo / "robot.urdf", robot)


def states(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """q, and steps from it whose rotations are of all sizes below half a turn."""
    rng = np.random.default_rng(5)
    q = golden.random_state(robot, 8 * len(STEPS), rng).q
    v = rng.uniform(-1, 1, (len(q), robot.nv))
    for i in robot.free:
        own = v[:, robot.v_slices[i]]
        if robot.joints[i].kind is JointKind.FLOATING:
            own[:, 3:] *= (np.tile(STEPS, 8) / np.linalg.norm(own[:, 3:], axis=1))[:, None]
        if robot.joints[i].kind is JointKind.PLANAR:
            own[:, 2] = np.tile(STEPS, 8)
    return q, v


@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-14), ("float32", 4e-6)])
def test_configurations_are_the_golden_models_and_pinocchios(
    library: ctypes.CDLL, peer: Peer, dtype: str, error: float
) -> None:
    robot, call = peer.robot, Configuration(library, dtype)
    assert np.array_equal(call("neutral", robot.nq)[0], golden.neutral(robot))
    assert np.array_equal(peer.position(golden.neutral(robot)), pin.neutral(peer.model))
    q, v = (own.astype(dtype).astype(float) for own in states(robot))
    moved = call("integrate", robot.nq, q, v, 0.5)
    expected = golden.integrate(robot, q, 0.5 * v)
    np.testing.assert_allclose(moved, expected, rtol=0, atol=error)
    step = call("difference", robot.nv, q, moved)
    np.testing.assert_allclose(step, golden.difference(robot, q, moved), rtol=0, atol=error)
    np.testing.assert_allclose(step, 0.5 * v, rtol=0, atol=4 * error)
    for turn, a, b, c, d in zip(STEPS * 8, q, v, moved.astype(float), step, strict=True):
        # Pinocchio's planar joints lose half of their digits near no turn
        off = 4 * error if turn == 0 or turn > 0.1 else 1e-4
        there = pin.integrate(peer.model, peer.position(a), peer.velocity(0.5 * b))
        np.testing.assert_allclose(peer.position(c), there, rtol=0, atol=off)
        back = pin.difference(peer.model, peer.position(a), peer.position(c))[peer.order]
        np.testing.assert_allclose(d, back, rtol=0, atol=off)


@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-14), ("float32", 4e-6)])
@pytest.mark.parametrize("factor", [-1.0, 0.5, -3.0])
def test_configurations_of_quaternions_of_any_length(
    library: ctypes.CDLL, peer: Peer, dtype: str, error: float, factor: float
) -> None:
    """Antipodes, half turns, and quaternions that are not quite, or not at all, of length 1."""
    robot, call = peer.robot, Configuration(library, dtype)
    q, v = (own.astype(dtype).astype(float) for own in states(robot))
    other = q.copy()
    quaternions = [
        robot.q_slices[i].start + 3
        for i in robot.free
        if robot.joints[i].kind is JointKind.FLOATING
    ]
    assert len(quaternions) == 2
    for at in quaternions:
        other[:, at : at + 4] *= factor
    assert np.abs(call("difference", robot.nv, q, other)).max() <= error
    moved = call("integrate", robot.nq, other, v, 1.0)
    np.testing.assert_allclose(moved, golden.integrate(robot, other, v), rtol=0, atol=error)
    # half a turn about x, and as far as floats go around it: there and back again
    for near in (0.0, 1e-7, -1e-7):
        half = q.copy()
        for at in quaternions:
            x, y, z, w = q[:, at : at + 4].T
            turned = np.stack([w, z, -y, -x], axis=1)
            half[:, at : at + 4] = factor * (turned + near * q[:, at : at + 4])
        step = call("difference", robot.nv, q, half)
        back = call("integrate", robot.nq, q, step, 1.0).astype(float)
        for a, b in zip(back, half, strict=True):
            for at in quaternions:
                b[at : at + 4] /= np.linalg.norm(b[at : at + 4])
            same = pin.isSameConfiguration(
                peer.model, peer.position(a), peer.position(b), 4 * error
            )
            assert same


@pytest.fixture(scope="module")
def module(zoo: Path) -> ModuleType:
    """The folder's module of Python, in double and in float."""
    target = zoo.parent / "_zoo.abi3.so"
    command = ["g++", "-O0", "-shared", "-fPIC", "-pthread", "-DZOO_NATIVE", *headers()]
    sources = [*sorted(zoo.glob("zoo*.cpp")), zoo / "zoo_python.cc"]
    subprocess.run([*command, *map(str, sources), "-o", str(target)], check=True)
    loader = ExtensionFileLoader("_zoo", str(target))
    spec = importlib.util.spec_from_loader("_zoo", loader)
    assert spec is not None
    found = importlib.util.module_from_spec(spec)
    loader.exec_module(found)
    return found


@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-14), ("float32", 4e-6)])
def test_the_module_of_python_steps_as_the_header(
    module: ModuleType, peer: Peer, dtype: str, error: float
) -> None:
    robot = peer.robot
    q, v = (own.astype(dtype) for own in states(robot))
    assert np.array_equal(module.neutral(), golden.neutral(robot))
    moved = module.integrate(q, v, 0.5)
    assert moved.dtype == dtype
    np.testing.assert_allclose(moved, golden.integrate(robot, q, 0.5 * v), rtol=0, atol=error)
    assert np.array_equal(module.integrate(q[3], v[3]), module.integrate(q, v)[3])
    grids = (own.reshape(2, 3, -1, robot.nq) for own in (q, moved))
    step = module.difference(*grids)
    assert step.shape == (2, 3, len(q) // 6, robot.nv)
    expected = golden.difference(robot, q, moved).reshape(step.shape)
    np.testing.assert_allclose(step, expected, rtol=0, atol=error)
    assert module.integrate(q[:0], v[:0]).shape == (0, robot.nq)


def test_arrays_that_do_not_fit_a_step_are_refused(module: ModuleType, peer: Peer) -> None:
    q, v = np.ones((4, peer.robot.nq)), np.ones((4, peer.robot.nv))
    for wrong in (v[:, 1:], v[:3], v[0], v.astype(np.float32), v.T.copy().T, q):
        with pytest.raises(
            ValueError, match=r"^zoo: v is .*; expected \(\.\.\., 19\), C-cont.*first$"
        ):
            module.integrate(q, wrong)
    for wrong in (v, q.astype(int)):
        with pytest.raises(ValueError, match=r"^zoo: q0 is .*; expected \(\.\.\., 22\).* float32$"):
            module.difference(wrong, q)
    for wrong in (q.tolist(), np.float64(1), None):
        with pytest.raises(
            TypeError, match=r"^zoo: q1 is <.*>; expected an array of NumPy's .*22\)$"
        ):
            module.difference(q, wrong)
    with pytest.raises(TypeError, match=r"difference: expected q0 and q1, not 1"):
        module.difference(q)
    with pytest.raises(TypeError):
        module.integrate(q, v, "1")
