"""Compiled designs that the tests of this folder share: shipped robots and random trees."""

from __future__ import annotations

from functools import cache

import numpy as np

from rbdgen.compile.flow import Front, compile_front, front_end
from rbdgen.compile.front import trace
from rbdgen.compile.product import Product
from rbdgen.design.design import Design
from rbdgen.design.target import find_target
from rbdgen.graph.fixed import FixedGraph
from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Op
from rbdgen.graph.verify import verify
from rbdgen.robot.canonical import canonicalize
from tests.support.random_robots import random_robot
from tests.support.small_cores import in_fixed_point

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
def compiled(case: str) -> Product:
    if case.startswith("random"):
        seed = int(case.removeprefix("random"))
        robot = random_robot(np.random.default_rng(seed), 3 + seed, branching=0.4, mimic=0.2)
        canonical = canonicalize(robot)
        design = Design(f"{case}.urdf", external_forces=(canonical.joints[-1].body,), fit=False)
        part = find_target(design.target)
        return compile_front(Front(design, part, robot, canonical, trace(design, canonical)))
    return compile_front(front_end(case.partition("-")[0], fit=False, **CHOICES.get(case, {})))


def random_graph(seed: int, operations: int = 40) -> FixedGraph:
    """Sums, differences, products, selections, sines and a reciprocal of four inputs."""
    rng = np.random.default_rng(seed)
    builder = Builder()
    with builder.region("forward", 0):
        inputs = [builder.input(name) for name in "abcd"]
        made = [*inputs, builder.sin(inputs[0], 1.0), builder.recip(builder.add(inputs[1], 4.0))]
        for _ in range(operations):
            x, y, z = (made[k] for k in rng.integers(max(len(made) - 9, 0), len(made), 3))
            some = (builder.add, builder.sub, builder.mul)[rng.integers(3)](x, y)
            made.append(builder.select(z, some, x) if rng.random() < 0.2 else some)
            if made[-1].op is Op.MUL:  # so that products of products stay small
                made[-1] = builder.mul(0.25, made[-1])
        outputs = {f"y{k}": node for k, node in enumerate(made[-4:]) if node.op is not Op.CONST}
    states = {name: rng.uniform(-1, 1, 500) for name in "abcd"}
    return in_fixed_point(verify(Graph(tuple("abcd"), outputs)), states, 18)
