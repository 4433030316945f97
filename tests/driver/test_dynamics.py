"""The driver answers as Pinocchio does, from any back end, and refuses what it cannot answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from rbdgen.design.functions import ALIASES, NEEDS, OF_FRAMES, OF_MASSES
from rbdgen.design.loading import load
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.futures import CALLS
from tests.support.driver_designs import ALL, METHODS, NAME, call, several, states

GIVEN = ("aba", "computeMinverse", "computeABADerivatives")  # of a base that moves as it is told


class Pinocchio:
    """Pinocchio's functions of one state, without model and data."""

    def __init__(self, robot: str, **choices: Any) -> None:
        design, _ = load(robot, **choices)
        free = (pin.JointModelFreeFlyer(),) if design.base == "floating" else ()
        self.model = pin.buildModelFromUrdf(design.robot, *free)

    def __getattr__(self, method: str) -> Any:
        function = getattr(pin, method)

        def answer(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            data = self.model.createData()  # the arrays found are views of it
            found = several(function(self.model, data, *arrays))
            return tuple(np.array(array) for array in found)

        return answer


@pytest.mark.parametrize("robot", ["iiwa14", "hyq"])
@pytest.mark.parametrize("method", list(METHODS)[:-1])
def test_golden_is_pinocchio(robot: str, method: str) -> None:
    choices = {"functions": ALL, "base": "floating" if robot == "hyq" else "fixed"}
    state = states(robot, 4, 1, **choices)
    found = call(Dynamics(robot, "golden", **choices), method, state)
    peer = Pinocchio(robot, **choices)
    for k in range(4):
        expected = call(peer, method, {name: array[k] for name, array in state.items()})
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            if method in ("crba", "computeMinverse"):  # some versions give the upper triangle only
                theirs = np.triu(theirs) + np.triu(theirs, 1).T
            np.testing.assert_allclose(ours[k], theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


def test_forces_are_pinocchios() -> None:
    """Force, then moment, on a link in its own frame."""
    peer = Pinocchio("iiwa14")
    state = {name: array[0] for name, array in states("iiwa14", 1, 2).items()}
    forces = np.random.default_rng(3).normal(size=(7, 6))
    carried = pin.StdVec_Force()
    carried.extend([pin.Force.Zero(), *(pin.Force(f[:3], f[3:]) for f in forces)])
    theirs = peer.rnea(state["q"], state["v"], state["a"], carried)[0]
    ours = Dynamics("iiwa14", "golden").rnea(state["q"], state["v"], state["a"], f_ext=forces)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.parametrize("method", METHODS)
def test_integer_is_nearly_golden(integer: Dynamics, golden: Dynamics, method: str) -> None:
    """Relative RMS of each array, over states within the limits, at 18 bits."""
    state = states(NAME, 200, 4)
    for ours, reference in zip(
        call(integer, method, state), call(golden, method, state), strict=True
    ):
        assert ours.shape == reference.shape
        error = np.sqrt(np.mean((ours - reference) ** 2) / np.mean(reference**2))
        assert error < 5e-4


def test_integer_of_a_floating_base() -> None:
    """Its q begins with lengths that no function reads, and a quaternion."""
    robot = str(Path(__file__).parents[1] / "robots" / "quadruped.urdf")
    choices = {"base": "floating", "functions": ("id", "m", "did"), "ii": 8, "target": "xcup"}
    state = states(robot, 50, 4, **choices)
    drivers = [Dynamics(robot, kind, **choices) for kind in ("integer", "golden")]
    for method in ("rnea", "computeRNEADerivatives"):
        for ours, reference in zip(*(call(d, method, state) for d in drivers), strict=True):
            error = np.sqrt(np.mean((ours - reference) ** 2) / np.mean(reference**2))
            assert error < 5e-4


def test_from_minverse_is_from_torques(golden: Dynamics) -> None:
    """At the acceleration that the torques give, and the M⁻¹ of the state."""
    state = states(NAME, 5, 5)
    found = call(golden, "computeABADerivativesFromMinverse", state)
    expected = call(golden, "computeABADerivatives", state)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("leading", [(), (1,), (6,), (2, 3), (0,)])
@pytest.mark.parametrize("kind", ["golden", "integer"])
def test_leading_shapes(
    kind: str, leading: tuple[int, ...], request: pytest.FixtureRequest
) -> None:
    driver: Dynamics = request.getfixturevalue(kind)
    n = int(np.prod(leading))
    flat = states(NAME, max(n, 1), 6)
    state = {k: x[:n].reshape((*leading, *x.shape[1:])) for k, x in flat.items()}
    whole = {k: x[:n] for k, x in flat.items()}
    for method in METHODS:
        for shaped, rows in zip(
            call(driver, method, state), call(driver, method, whole), strict=True
        ):
            assert shaped.shape == (*leading, *rows.shape[1:])
            np.testing.assert_array_equal(shaped.reshape(rows.shape), rows)


def test_queued_calls_run_together(golden: Dynamics) -> None:
    state = {name: array[0] for name, array in states(NAME, 1, 7).items()}
    q, v, a = state["q"], state["v"], state["a"]
    first, second = golden.submit("rnea", q, v, a), golden.submit("computeRNEADerivatives", q, v, a)
    third = golden.submit("did", q, v, a)
    assert not first.done
    assert [len(t.tags) for t in (first, second, third)] == [1, 2, 1]
    tags = [
        int(t) for ticket in (first, second, third) for t in np.ravel(list(ticket.tags.values()))
    ]
    assert tags == list(range(tags[0], tags[0] + 4))
    np.testing.assert_array_equal(second.result()[0], third.result()[1])
    assert first.done
    np.testing.assert_array_equal(first.result(), third.result()[0])
    assert golden.collect() == []
    golden.submit("crba", q)
    (found,) = golden.collect()
    np.testing.assert_array_equal(found, second.arrays["M"])


def test_golden_of_a_mix(golden: Dynamics) -> None:
    """Each function is computed alone."""
    mixed = Dynamics(NAME, "golden", functions=("id", "m"), mix="id=2,m=1")
    q = states(NAME, 3, 7)["q"]
    np.testing.assert_array_equal(mixed.crba(q), golden.crba(q))


def test_what_a_call_can_do_without() -> None:
    driver = Dynamics(NAME, "golden", functions=("did", "dfd"))
    state = states(NAME, 2, 8)
    for method in ("computeRNEADerivatives", "computeABADerivatives"):
        by_q, by_v, by_last = call(driver, method, state)
        assert by_q.shape == by_v.shape == (2, 5, 5)
        assert by_last is None


@pytest.mark.rtl
@pytest.mark.slow
def test_rtl_is_integer_in_every_bit(folder: Path, integer: Dynamics) -> None:
    """All calls together, of different numbers of states; then one alone, which takes its time."""
    rtl = Dynamics(folder, "rtl")
    tickets = {}
    for driver in (rtl, integer):
        tickets[driver] = [
            driver.submit(name, *(state[array] for array in METHODS[name]))
            for seed, name in enumerate([*METHODS, "rnea", "computeABADerivatives"])
            for state in [states(NAME, 20 + 30 * seed, 20 + seed)]
        ]
        driver.run()
    for ours, theirs in zip(*tickets.values(), strict=True):
        assert ours.tags.keys() == theirs.tags.keys()
        np.testing.assert_array_equal(ours.overflow, theirs.overflow)
        for name, array in theirs.arrays.items():
            np.testing.assert_array_equal(ours.arrays[name], array)
    assert integer.cycles is None
    assert rtl.cycles is not None
    tasks = sum(tags.size for ticket in tickets[rtl] for tags in ticket.tags.values())
    assert tasks < rtl.cycles < 3 * tasks  # of latencies up to 300; 64 are under way
    state = {name: array[0] for name, array in states(NAME, 1, 40).items()}
    ticket = rtl.submit("computeABADerivatives", state["q"], state["v"], state["tau"])
    ticket.result()
    assert rtl.cycles == ticket.latency["dfd"] > ticket.latency["minv"] > 0
    assert not rtl.submit("crba", np.zeros((0, 5))).result().size


@pytest.mark.rtl
@pytest.mark.parametrize("tasks", [1000, pytest.param(70_000, marks=pytest.mark.slow)])
def test_rtl_of_a_robot(tasks: int) -> None:
    """Without a folder; and, of 70 000 tasks, with tags that come round."""
    choices = {"functions": ("m",), "width": 12}
    state = states("pendulum", tasks, 14)
    rtl = Dynamics("pendulum", "rtl", **choices)
    found = rtl.crba(state["q"])
    np.testing.assert_array_equal(
        found, Dynamics("pendulum", "integer", **choices).crba(state["q"])
    )
    assert rtl.cycles is not None
    assert rtl.cycles > tasks


def test_every_method_is_a_call() -> None:
    of_given_bases = {f"{name}_given" for name in GIVEN}
    kinematics = {"forwardKinematics", "framesForwardKinematics", "getFrameJacobian"}
    assert {*METHODS, *NEEDS, *ALIASES, *of_given_bases, *kinematics} == set(CALLS)
    assert all(hasattr(Dynamics, name) for name in (*GIVEN, *ALIASES, *kinematics))
    assert all(hasattr(Dynamics, name) for name in ("g", "nle", *OF_FRAMES, *OF_MASSES))
