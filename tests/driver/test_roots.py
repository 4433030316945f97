"""A design of a base that is free has the numbers of one that is given, and of one held still."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api import generate, read_manifest, simulate
from rbdgen.compile.samples import sample_states
from rbdgen.design.loading import load
from rbdgen.graph.fixed import Format
from rbdgen.robot.model import RobotError
from rbdgen_host.driver import Dynamics
from tests.support.c_header import TAG, header, library, pointer

SWINGER = str(Path(__file__).parents[1] / "robots" / "swinger.urdf")
FUNCTIONS = ("id", "did", "m", "nle", "g")


def results(dynamics: Dynamics, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
    return [
        dynamics.rnea(q, v, a),
        *dynamics.computeRNEADerivatives(q, v, a)[:2],
        dynamics.crba(q),
        dynamics.nle(q, v),
        dynamics.g(q),
    ]


def test_joints_rows_of_a_free_base() -> None:
    """Of `id`, `did`, `m`, `nle` and `g`; held still, the base's q is neutral, its motion zero."""
    free, given, still = (
        Dynamics(SWINGER, "golden", functions=FUNCTIONS, base="floating", root=root)
        for root in ("free", "given", "ignored")
    )
    rng = np.random.default_rng(1)
    q, (v, a) = rng.normal(size=9), rng.normal(size=(2, 8))
    q[3:7] /= np.linalg.norm(q[3:7])
    rest = (
        np.concatenate([[0, 0, 0, 0, 0, 0, 1], q[7:]]),
        *(np.r_[np.zeros(6), x[6:]] for x in (v, a)),
    )
    pairs = [
        (results(free, q, v, a), results(given, q, v, a)),
        (results(free, *rest), results(still, q[7:], v[6:], a[6:])),
    ]
    for whole, joints in pairs:
        for of_all, own in zip(whole, joints, strict=True):
            rows = of_all[6:, 6:] if of_all.ndim == 2 else of_all[6:]
            np.testing.assert_allclose(rows, own, rtol=1e-12, atol=1e-12)
            assert np.abs(own).max() > 1e-3


CHOICES: dict[str, Any] = {
    "functions": ("id", "fd", "minv", "dfd"),
    "base": "floating",
    "accelerator": True,
    "ii": 8,
    "target": "xcup",
}


@pytest.fixture(scope="module")
def each(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(SWINGER, tmp_path_factory.mktemp("each") / "D", root="each", **CHOICES)


def states(n: int) -> dict[str, np.ndarray]:
    design, robot = load(SWINGER, root="each", **CHOICES)
    return dict(sample_states(design, robot, n, 5))


@pytest.mark.parametrize("backend", ["golden", pytest.param("integer", marks=pytest.mark.slow)])
def test_each_task_says_what_its_base_does(request: pytest.FixtureRequest, backend: str) -> None:
    """One design answers as one of a free base, one of a given base, and one held still."""
    if backend == "golden":
        both = Dynamics(SWINGER, backend, root="each", **CHOICES)
    else:
        both = Dynamics(request.getfixturevalue("each"), backend, on_overflow="raise")
    free, given, still = (
        Dynamics(SWINGER, "golden", root=root, **CHOICES) for root in ("free", "given", "ignored")
    )
    near = {"rtol": 1e-9, "atol": 1e-9} if backend == "golden" else {"rtol": 0.02, "atol": 0.5}
    s = states(60)
    q, v, a, tau = (s[name] for name in ("q", "qd", "qdd", "tau"))

    def alike(found: Any, expected: Any, joints: bool = True) -> None:
        for own, of in zip(found, expected, strict=True):
            rows = own[:, 6:, 6:] if own.ndim == 3 else own[:, 6:]
            np.testing.assert_allclose(rows if joints else own, of, **near)
            assert not joints or not own[:, :6].any()

    def all_of(d: Dynamics, *state: Any, **base: Any) -> list[np.ndarray]:
        inverse = d.computeMinverse(state[0], given=True) if base else d.computeMinverse(state[0])
        return [d.aba(*state, **base), inverse, *d.computeABADerivatives(*state, **base)]

    alike(all_of(both, q, v, tau), all_of(free, q, v, tau), joints=False)
    alike(all_of(both, q, v, tau, a=a), all_of(given, q, v, tau[:, 6:], a=a))
    rest = np.tile([0, 0, 0, 0, 0, 0, 1.0], (60, 1))
    q0, v0 = np.hstack([rest, q[:, 7:]]), np.hstack([np.zeros((60, 6)), v[:, 6:]])
    held = golden.rnea(still._robot, q[:, 7:], v[:, 6:], a[:, 6:])
    tau0 = np.hstack([tau[:, :6], held])  # the base's is not read
    alike(all_of(both, q0, v0, tau0, a=np.zeros_like(v0)), all_of(still, q[:, 7:], v[:, 6:], held))


@pytest.mark.slow
def test_the_c_header_has_both(each: Path, tmp_path: Path) -> None:
    """A task of a given base has its acceleration where others have its effort."""
    program = library(tmp_path, read_manifest(each), {"fd_given": ["qdd"]})
    both = Dynamics(each)
    state = {name: np.ascontiguousarray(array[0]) for name, array in states(1).items()}
    arrays = [state[name] for name in ("q", "qd", "tau", "qdd")]
    ticket = both.submit("fd_given", *arrays)
    (answer,) = both.collect()
    assert both._backend.coder is not None
    own = both._backend.coder.tasks.functions["fd_given"]
    words = np.array([ticket._batches[0].values[i.word][0] for i in own.inputs])
    packet = np.zeros(1 + len(words), np.uint32)
    assert program.encode_fd_given(*map(pointer, arrays), TAG, pointer(packet)) == 0
    np.testing.assert_array_equal(packet, [header("fd_given"), *(words & 0xFFFFFFFF)])
    assert [word.name for word in own.outputs] == ["qdd[6]", "qdd[7]"]
    back = [
        Format(w.width, w.fraction).quantize(float(x))
        for w, x in zip(own.outputs, answer[6:], strict=True)
    ]
    packed = np.array([header("fd_given"), *(int(x) & 0xFFFFFFFF for x in back)], np.uint32)
    tag, found = ctypes.c_uint16(), np.full(8, np.nan)
    assert program.decode_fd_given(pointer(packed), ctypes.byref(tag), pointer(found)) == 0
    np.testing.assert_array_equal(found, answer)


@pytest.mark.slow
@pytest.mark.rtl
def test_a_given_base_in_hardware(each: Path) -> None:
    """Every bit of a task that says that its base is given; its words are the integer model's."""
    own = simulate(each, states=20).facts.functions
    assert {"fd_given", "minv_given", "dfd_given"} < own.keys()
    assert not any(line.overflows for line in own.values())
    s = states(10)
    arrays = [s[name] for name in ("q", "qd", "tau", "qdd")]
    words = [
        Dynamics(each, backend).submit("dfd_given", *arrays).result()
        for backend in ("integer", "rtl")
    ]
    for integer, rtl in zip(*words, strict=True):
        np.testing.assert_array_equal(integer, rtl)


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ({"accelerator": False, "ii": None}, "only tasks of an accelerator select the base's role"),
        ({"factorisation": "mminvgen"}, "factorisation: mminvgen: not with root: each"),
        ({"fold": "limbs"}, "fold: limbs: not with root: each"),
        ({"base_link": "upper"}, "base_link: upper: not with root: each"),
        ({"base": "fixed"}, "root: each is for a floating base"),
        ({"root": "free", "functions": ("fd_given",)}, "fd_given needs --root each"),
    ],
)
def test_refused(choices: dict[str, Any], why: str) -> None:
    with pytest.raises(RobotError, match=why):
        load(SWINGER, **{"root": "each", **CHOICES, **choices})
