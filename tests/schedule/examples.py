"""Compiled designs that the tests of this folder share: shipped robots and random trees."""

from __future__ import annotations

from functools import cache

import numpy as np

from rbdgen.compiler import Core, Front, compile_core, front_end, trace
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.design import Design
from tests.random_robots import random_robot

SHIPPED = ["pendulum", "gantry", "iiwa14", "hyq"]
RANDOM = [f"random{seed}" for seed in range(5)]
CASES = [*SHIPPED, *RANDOM, "iiwa14-25bit", "iiwa14-25f", "iiwa14-sincos"]
CHOICES = {
    "iiwa14-25bit": {"width": 25},
    "iiwa14-25f": {"target": "ecp5-25f"},
    "iiwa14-sincos": {"angles": "sincos"},
    "iiwa14-difd": {"functions": ("difd",)},
    "hyq-floating": {"base": "floating"},
    "gantry-ltdl": {"functions": ("dfd", "minv"), "factorisation": "ltdl"},
    "gantry-mminvgen": {"functions": ("dfd",), "factorisation": "mminvgen"},
}


@cache
def compiled(case: str) -> Core:
    if case.startswith("random"):
        seed = int(case.removeprefix("random"))
        robot = random_robot(np.random.default_rng(seed), 3 + seed, branching=0.4, mimic=0.2)
        canonical = canonicalize(robot)
        design = Design(f"{case}.urdf", external_forces=(canonical.joints[-1].body,))
        return compile_core(Front(design, robot, canonical, (), trace(design, canonical)))
    return compile_core(front_end(case.partition("-")[0], **CHOICES.get(case, {})))
