"""Whose the words of an interface are, and in which unit."""

from __future__ import annotations

import pytest

from rbdgen.compile.flow import front_end
from rbdgen.design.coordinates import Meanings, unit_of
from rbdgen.design.functions import GIVES, NEEDS
from rbdgen.graph.word import SHAPES, spell

ARM = {
    "q[1]": ("elbow", "rad"),
    "qd[0]": ("shoulder", "rad/s"),
    "tau[1]": ("elbow", "N·m"),
    "M[1,0]": ("elbow, shoulder", "N·m·s²/rad"),
    "Minv[1,1]": ("elbow", "rad/(N·m·s²)"),
    "dtau_dq[0,1]": ("shoulder, elbow", "N·m/rad"),
    "dqdd_dqd[0,0]": ("shoulder", "1/s"),
    "d2tau_dq_dqd[0,0,1]": ("shoulder, elbow", "N·m·s/rad²"),
    "A[3,0]": ("elbow, shoulder", "1/s"),
    "B[0,1]": ("shoulder, elbow", "rad/(N·m)"),
    "sin[1]": ("elbow", "1"),
    "p[0,2]": ("lower_rod", "m"),
    "J[0,2,1]": ("lower_rod, elbow", "m/rad"),
    "J[0,3,1]": ("lower_rod, elbow", "1"),
    "drift[0,5]": ("lower_rod", "rad/s²"),
    "lambda_c[0,1]": ("lower_rod", "N"),
    "R[0,1,1]": ("lower_rod", "1"),
    "f_ext[0].ny": ("upper_rod", "N·m"),
    "payload[4]": ("lower_rod", "kg·m²"),
    "Jcom[2,0]": ("shoulder", "m/rad"),
    "hg[5]": ("", "N·m·s"),
    "kinetic": ("", "J"),
    "Lambda[5,0]": ("lower_rod", "N·s²"),
    "subcom[0,1]": ("lower_rod", "m"),
    "Y[1,10]": ("elbow, lower_rod", "N·m/kg"),
    "Y[0,14]": ("shoulder, lower_rod", "N/(kg·m)"),
    "Yb[0,0]": ("shoulder, upper_rod", "N/kg"),
    "unread[3]": ("", ""),
}
QUADRUPED = {
    "q[2]": ("root_joint", "m"),
    "q[3]": ("root_joint", "1"),
    "qd[2]": ("root_joint", "m/s"),
    "qdd[5]": ("root_joint", "rad/s²"),
    "M[5,0]": ("root_joint", "N·s²"),
    "tau[0]": ("root_joint", "N"),
}


@pytest.fixture(scope="module")
def arm() -> Meanings:
    choices = {"functions": ("id", "pose"), "frames": ("lower_rod",), "payload": "lower_rod"}
    front = front_end("pendulum", **choices, external_forces=("upper_rod", "lower_rod"))
    return Meanings(front.canonical, front.design)


@pytest.mark.parametrize("name", ARM)
def test_an_arm(name: str, arm: Meanings) -> None:
    assert arm.of(name) == ARM[name]


def test_a_floating_base() -> None:
    front = front_end("hyq", base="floating", functions=("m",))
    own = Meanings(front.canonical, front.design)
    assert {name: own.of(name) for name in QUADRUPED} == QUADRUPED


def test_every_function_has_units(arm: Meanings) -> None:
    for kinds in (*GIVES.values(), *NEEDS.values()):
        for kind in kinds:
            name = spell(kind, *(0 for _ in SHAPES.get(kind, (0, 0))))
            assert arm.of(name)[1], name


def test_units_are_quotients() -> None:
    assert unit_of(("effort", "acceleration"), ["angular", "linear"]) == "N·s²"
    assert unit_of(("velocity", "velocity"), ["linear", "linear"]) == "1"
    assert unit_of(("effort", "position", "position"), ["angular"] * 3) == "N·m/rad²"
