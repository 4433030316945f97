"""Errors of the parallel formulations on long chains, in float64 and float32."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.golden import aba, rnea
from rbdgen.robot.model import Array
from rbdgen.system.quoting import Progress

from .measurement import Row, measurement

SIZES = (2, 8, 16, 32, 64, 128, 256)
STATES = 64
DTYPES = ("float64", "float32")

HEAD = ("links", "function", "method", *DTYPES)


@measurement("scans", "half an hour", HEAD)
def scans(place: Path, progress: Progress) -> Iterator[Row]:
    """Errors of `rbdgen_host.parallel` on 2 to 256 links, worst of 64 states, beside ABA's."""
    # imported here, since only this measurement needs JAX
    from rbdgen_host.parallel import FORWARD, INVERSE, Dynamics
    from rbdgen_host.parallel.chains import random_chain
    from rbdgen_host.parallel.jax_installed import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_disable_most_optimizations", True)  # no times are taken here
    for n in SIZES:
        robot, rng = random_chain(n, seed=n), np.random.default_rng(n)
        q = rng.uniform(-3, 3, (STATES, n))
        qd, qdd = rng.uniform(-1, 1, (2, STATES, n))
        tau = rnea(robot, q, qd, qdd)
        yield [n, "fd", "golden ABA", worst(aba(robot, q, qd, tau), qdd), ""]
        dynamics = [Dynamics(robot, dtype=dtype) for dtype in DTYPES]
        for method in INVERSE:
            progress(f"{n} links, id {method}")
            found = [worst(d.inverse_dynamics(q, qd, qdd, method), tau) for d in dynamics]
            yield [n, "id", method, *found]
        for method in FORWARD:
            progress(f"{n} links, fd {method}")
            found = [worst(d.forward_dynamics(q, qd, tau, method), qdd) for d in dynamics]
            yield [n, "fd", method, *found]


def worst(found: Any, expected: Array) -> str:
    """The largest error of any state, relative to the state's largest entry."""
    error = np.abs(np.asarray(found, np.float64) - expected).max(1)
    return f"{(error / np.abs(expected).max(1)).max():.1e}"
