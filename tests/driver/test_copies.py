"""Drivers in other processes: forked, spawned, pickled and copied."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from rbdgen.api import InputError, generate
from rbdgen.system.templates import data_folder
from rbdgen_host.driver import Dynamics, DynamicsWarning
from tests.support.marks import slow

STATES = np.random.default_rng(1).uniform(-0.5, 0.5, (3, 5000, 2))
FEW = STATES[:, :3]
PATIENCE = 120  # s, on a machine that has much else to do
BACKENDS = ("golden", "cpp", "cpp32", "cuda-on-cpu", "integer")


def tau(driver: Dynamics) -> np.ndarray:
    return driver.rnea(*STATES)


def in_a_child(driver: Dynamics, way: str) -> np.ndarray:
    """``tau`` of the driver in another process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context(way)) as pool:
        return pool.submit(tau, driver).result(PATIENCE)


def test_a_child_is_forked_after_threads_were_at_work() -> None:
    """With threads of its own, by a driver that it was born with."""
    driver = Dynamics("pendulum", "cpp", threads=2)
    expected = tau(driver)
    here, there = multiprocessing.Pipe()

    def work() -> None:
        there.send(tau(driver))

    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    try:
        assert here.poll(PATIENCE), "the child hangs"
        np.testing.assert_array_equal(here.recv(), expected)
    finally:
        child.kill()
        child.join()


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_a_driver_is_sent_to_another_process(way: str) -> None:
    driver = Dynamics("pendulum", threads=2)
    np.testing.assert_array_equal(in_a_child(driver, way), tau(driver))


@pytest.mark.parametrize("backend", [slow(b) if b == "cpp32" else b for b in BACKENDS])
def test_copies_answer_as_their_original(backend: str) -> None:
    driver = Dynamics("pendulum", backend, functions=("id", "m"), velocity=3, on_overflow="raise")
    expected = driver.rnea(*FEW), driver.crba(FEW[0])
    for own in (
        pickle.loads(pickle.dumps(driver)),
        copy.deepcopy(driver),
        copy.copy(driver),
    ):
        assert (repr(own), own.notes, own.on_overflow) == (repr(driver), driver.notes, "raise")
        for ours, theirs in zip((own.rnea(*FEW), own.crba(FEW[0])), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_copy_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is made, and whatever has been set."""
    monkeypatch.chdir(tmp_path)
    generate("pendulum", "made", fit=False, payload="lower_rod")
    driver = Dynamics("made")
    driver.set_payload(0.5, com=(0, 0, -0.1))
    monkeypatch.chdir("/")
    own = pickle.loads(pickle.dumps(driver))
    own.set_payload()
    assert (own.rnea(*FEW) != driver.rnea(*FEW)).any()  # which has its payload still
    own = copy.deepcopy(driver)
    np.testing.assert_array_equal(own.rnea(*FEW), driver.rnea(*FEW))


def test_a_copy_has_the_parameters_that_were_set(tmp_path: Path) -> None:
    other = tmp_path / "other.urdf"
    text = (data_folder("robots") / "pendulum.urdf").read_text()
    other.write_text(text.replace('mass value="1"', 'mass value="1.02"'))
    driver = Dynamics("pendulum", parameters="registers", accelerator=False)
    before = driver.rnea(*FEW)
    driver.set_parameters(other)
    found = pickle.loads(pickle.dumps(driver)).rnea(*FEW)
    np.testing.assert_array_equal(found, driver.rnea(*FEW))
    assert (found != before).any()


def test_a_copy_is_silent_about_what_was_warned_of() -> None:
    with pytest.warns(DynamicsWarning, match="gravity"):
        driver = Dynamics("pendulum", "golden", gravity=(0.0, 0.0, -1.62))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = pickle.loads(pickle.dumps(driver))
    assert own.notes == driver.notes


def test_a_robot_that_changed_is_not_copied(tmp_path: Path) -> None:
    robot = tmp_path / "arm.urdf"
    text = (data_folder("robots") / "pendulum.urdf").read_text()
    robot.write_text(text)
    packed = pickle.dumps(Dynamics(robot, "golden"))
    robot.write_text(text.replace('mass value="1"', 'mass value="2"'))
    with pytest.raises(InputError, match=r"arm\.urdf: has changed since the driver"):
        pickle.loads(packed)


def test_tasks_that_wait_are_not_copied() -> None:
    driver = Dynamics("pendulum", "golden")
    ticket = driver.submit("rnea", *FEW)
    with pytest.raises(InputError, match="copy: tasks wait to be collected; collect them first"):
        pickle.dumps(driver)
    found = ticket.result()
    again = pickle.loads(pickle.dumps(ticket))
    np.testing.assert_array_equal(again.result(), found)
