"""How long `rbdgen_host.parallel` and Pinocchio take for random chains, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from rbdgen.api.results import Mismatch
from rbdgen.golden import rnea
from rbdgen.robot.model import Array, Robot, skew
from rbdgen.system.quoting import Progress
from rbdgen_host.parallel import Dynamics
from rbdgen_host.parallel.chains import random_chain
from rbdgen_host.parallel.jax_installed import jax

SECONDS = 0.2  # of repetitions, of which the least counts
LEAST = 3
AGREE = 1e-5  # relative, of float64: CFA's of long chains is the largest
FEW = 64  # states that Pinocchio is timed with, one after another
PINOCCHIO = {"id": "Pinocchio rnea", "fd": "Pinocchio aba"}


@dataclass(frozen=True)
class Time:
    """µs of one call for ``groups`` states of a chain of ``links``."""

    function: str
    method: str
    links: int
    groups: int
    us: float


def devices() -> list[str]:
    """JAX's kinds of device here, the CPU last; it is told to have float64."""
    jax.config.update("jax_enable_x64", True)
    kinds = dict.fromkeys(device.platform for device in jax.devices())
    return [*(kind for kind in kinds if kind != "cpu"), "cpu"]


def about_devices(kinds: Sequence[str]) -> str:
    gpu = [kind for kind in kinds if kind != "cpu"]
    where = f"on {gpu[0]} ({jax.devices(gpu[0])[0].device_kind})" if gpu else "no GPU here"
    return f"JAX {jax.__version__}, float64, on the CPU; {where}."


def measured(
    function: str,
    methods: Iterable[str],
    sizes: Sequence[tuple[int, int]],
    device: str,
    progress: Progress,
) -> list[Time]:
    """Each method for (links, groups): jitted, arrays on the device, the least of several calls.

    Every result is compared with the golden model's; Mismatch where it is another.
    """
    found = []
    for links, groups in sizes:
        robot = random_chain(links)
        q, qd, qdd, tau = _states(robot, groups)
        given, expected = ((q, qd, qdd), tau) if function == "id" else ((q, qd, tau), qdd)
        dynamics = Dynamics(robot)
        call: Callable[..., Any] = (
            dynamics.inverse_dynamics if function == "id" else dynamics.forward_dynamics
        )
        with jax.default_device(jax.devices(device)[0]):
            arrays = [jax.device_put(x) for x in given]
            for method in methods:
                progress(f"{function} {method}, {links} links, {groups} states, {device}")
                compiled = jax.jit(partial(call, method=method))
                result = np.asarray(compiled(*arrays))
                if not np.abs(result - expected).max() <= AGREE * np.abs(expected).max():
                    raise Mismatch(f"{function} {method} of {links} links is not the golden one's")
                us = least(partial(_run, compiled, arrays))
                found.append(Time(function, method, links, groups, us))
    return found


def _run(compiled: Callable[..., Any], arrays: Sequence[Any]) -> None:
    compiled(*arrays).block_until_ready()


def pinocchio_times(function: str, links: Sequence[int], progress: Progress) -> list[Time]:
    """The times of one state, called from Python; none where Pinocchio is not installed."""
    try:
        pin = import_module("pinocchio")
    except ModuleNotFoundError:
        progress("Pinocchio is not installed: pip install pin")
        return []
    found = []
    for n in links:
        robot = random_chain(n)
        q, qd, qdd, tau = _states(robot, FEW)
        model = _model(pin, robot)
        run, last = (pin.rnea, qdd) if function == "id" else (pin.aba, tau)
        states = list(zip(q, qd, last, strict=True))
        us = least(partial(_each, run, model, model.createData(), states)) / FEW
        found.append(Time(function, PINOCCHIO[function], n, 1, us))
    return found


def _each(run: Callable[..., Any], model: Any, data: Any, states: Sequence[Any]) -> None:
    for state in states:
        run(model, data, *state)


def least(run: Callable[[], object]) -> float:
    """µs of a call."""
    run()
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(times) < LEAST or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e6 * min(times)


def crossover(times: Sequence[Time], slow: str, fast: str) -> str:
    """The numbers of links between which ``fast`` begins to be faster than ``slow``."""
    of = {(t.method, t.links): t.us for t in times}
    links = sorted({n for _, n in of})
    faster = [n for n in links if of[fast, n] < of[slow, n]]
    begins = [n for k, n in enumerate(links) if n in faster and set(links[k:]) <= set(faster)]
    if not begins:
        return f"{fast} never beats {slow} to {links[-1]} links"
    first = links.index(begins[0])
    if first == 0:
        return f"{fast} beats {slow} from {links[0]} links on, the fewest measured"
    return f"{fast} beats {slow} between {links[first - 1]} and {begins[0]} links"


def series(times: Sequence[Time], along: str) -> dict[str, list[tuple[float, float]]]:
    """Method → (links or groups, µs)."""
    found: dict[str, list[tuple[float, float]]] = {}
    for t in times:
        found.setdefault(t.method, []).append((getattr(t, along), t.us))
    return found


def _states(robot: Robot, n: int) -> tuple[Array, Array, Array, Array]:
    rng = np.random.default_rng(n)
    q = rng.uniform(-3, 3, (n, robot.nq))
    qd, qdd = rng.uniform(-1, 1, (2, n, robot.nv))
    return q, qd, qdd, rnea(robot, q, qd, qdd)


def _model(pin: Any, robot: Robot) -> Any:
    """Pinocchio's of a chain of joints about z."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    for joint in robot.joints:
        place = pin.SE3(joint.placement.rotation, joint.placement.translation)
        index = model.addJoint(joint.parent + 1, pin.JointModelRZ(), place, joint.name)
        mass, com = joint.inertia.mass, joint.inertia.h / joint.inertia.mass
        about = joint.inertia.J + mass * skew(com) @ skew(com)
        body = pin.Inertia(mass, com, np.array(about))
        model.appendBodyToJoint(index, body, pin.SE3.Identity())
    return model
