"""The papers' numbers that are ours, too; that what is drawn and printed is whole."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.cli.main import main
from rbdgen.dynamics.lathrop import ONE, LinkState, Outward, linear, logarithmic
from rbdgen.dynamics.networks import NETWORKS
from rbdgen.dynamics.scalars import FloatScalars
from rbdgen.dynamics.spatial import ZERO, Scalars, add
from rbdgen.dynamics.steps import Inline
from rbdgen.robot.model import Inertia, Joint, JointKind, Robot, Transform
from rbdgen_benchmarks.reproduce.lathrop1985 import OTHERS, PROCESSORS, timetable
from rbdgen_benchmarks.reproduce.loglog import Panel, picture
from rbdgen_benchmarks.reproduce.times import Time, crossover, measured, pinocchio_times, series


def turn_x(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def arm(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[Robot, list[LinkState]]:
    """A chain by standard Denavit-Hartenberg rows, as a robot and as Lathrop's links at a state."""
    n = len(q)
    rng = np.random.default_rng(n)
    before, joints, links = Transform(), [], []
    for i in range(n):
        alpha, a, d = rng.uniform(-3, 3), *rng.uniform(0.1, 0.4, 2)
        mass, com, B = rng.uniform(1, 3), rng.uniform(-0.1, 0.1, 3), rng.normal(size=(3, 3))
        about = 0.01 * (B @ B.T + np.eye(3))
        own = Transform(turn_x(alpha), np.array([a, 0, d]))
        body = Inertia.about_com(mass, com, about).seen_from(own)
        joints.append(Joint(f"j{i}", JointKind.REVOLUTE, i - 1, before, f"l{i}", body))
        before = own
        c, s = np.cos(q[i]), np.sin(q[i])
        A = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ own.rotation
        p, r = (own.rotation.T @ own.translation).tolist(), com.tolist()
        links.append(LinkState(A.tolist(), p, r, add(p, r), mass, about.tolist(), qd[i], qdd[i]))
    return Robot("arm", tuple(joints)), links


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_lathrops_forms_are_inverse_dynamics(n: int) -> None:
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-2, 2, (3, n))
    robot, links = arm(q, qd, qdd)
    tau = golden.rnea(robot, q[None], qd[None], qdd[None])[0]
    run, ops, up = Inline(FloatScalars()), Scalars(), [0.0, 0.0, 9.81]
    forms = {"linear": linear(run, ops, links, up).tau}
    for name in NETWORKS:
        base = Outward(ONE, ZERO, ZERO, ZERO, ZERO, ZERO, up)
        forms[f"{name}, moving"] = logarithmic(run, ops, links, ZERO, ONE, base, name)
        forms[name] = logarithmic(run, ops, links, up, ONE, network=name)
    for name, found in forms.items():
        np.testing.assert_allclose(found, tau, rtol=1e-11, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("n", [1, 2, 6, 12])
def test_table_4_is_equation_1_up_to_the_last_product(n: int) -> None:
    _, moment, tau = timetable("linear", n)
    assert tuple(moment) == (2 * n + 3, 6 * n + 5)
    assert tuple(tau) == (2 * n + 4, 6 * n + 7)


@pytest.mark.parametrize("levels", [3, 4, 5, 7])
def test_the_logarithmic_timetable_grows_as_equation_2(levels: int) -> None:
    """2 products and 6 sums for twice as many joints; τ a product and two sums after the moment."""
    _, moment, tau = timetable("logarithmic", 2**levels - 1)
    assert tuple(moment) == (2 * levels + 5, 6 * levels + 8)
    assert tuple(tau) == (2 * levels + 6, 6 * levels + 10)


def test_003(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its command, number and name once: Tables 1 and 6, the beat, pictures that are XML."""
    assert main(["reproduce", "003", "lathrop1985", "-o", str(tmp_path), "--quiet"]) == 0
    said = capsys.readouterr().out
    assert said.count("== 003") == 1
    assert "ω̇ after ω by 3, p̈ after ω by 7, n after f by 3; the paper: 3, 7 and 3" in said
    for name, (products, sums) in OTHERS.items():
        assert name in said
        assert str(products) in said
        assert str(sums) in said
    found = json.loads((tmp_path / "003.json").read_text())
    assert found["beat"] == [1, 3]
    for name, (node, systolic) in PROCESSORS.items():
        assert found["table 6"][name] == {"node": node, "systolic": systolic}
    six = found["table 1"]
    assert six["paper"] == {"linear": [15, 43], "logarithmic": [11, 28]}
    assert six["linear"]["tau"] == [16, 43]
    assert six["logarithmic"]["tau"] == [12, 28]
    largest = found["growth"][-1]
    assert (largest["n"], sum(largest["paper"]["logarithmic"])) == (127, 71)
    assert sum(largest["logarithmic"]["moment"]) == 69
    assert six["logarithmic"]["graph"][0] == 11
    assert six["logarithmic"]["flops"] <= 39 < six["linear"]["flops"]
    drawn = sorted(tmp_path.glob("*.svg"))
    assert len(drawn) == 2
    for path in drawn:
        ET.parse(path)


def test_unknown_papers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", "005"])
    assert stopped.value.code == 2
    assert "005" in capsys.readouterr().err


def test_times_are_of_right_results() -> None:
    """One method and size; and Pinocchio beside it."""
    pytest.importorskip("pinocchio")
    import jax

    jax.config.update("jax_enable_x64", True)
    (own,) = measured("id", ["axes"], [(3, 2)], "cpu", lambda _: None)
    assert (own.method, own.links, own.groups) == ("axes", 3, 2)
    assert own.us > 0
    (other,) = pinocchio_times("fd", [3], lambda _: None)
    assert other.method == "Pinocchio aba"
    assert 0 < other.us < 1000


def test_crossovers() -> None:
    def times(method: str, us: list[float]) -> list[Time]:
        return [Time("fd", method, n, 1, t) for n, t in zip((4, 8, 16), us, strict=True)]

    slow = times("slow", [1, 2, 3])
    assert crossover([*slow, *times("a", [2, 2.5, 2])], "slow", "a").endswith(
        "between 8 and 16 links"
    )
    assert "from 4 links on" in crossover([*slow, *times("a", [0.5, 1, 1])], "slow", "a")
    assert "never" in crossover([*slow, *times("a", [0.5, 1, 9])], "slow", "a")
    assert series(slow, "links") == {"slow": [(4, 1), (8, 2), (16, 3)]}


def test_curves() -> None:
    panel = Panel("ID", "links", "µs", {"a": [(1, 2.0), (10, 30.0)], "b": [(1, 5.0)]})
    page = ET.fromstring(picture("times", [panel, panel]))
    circles = [e for e in page.iter() if e.tag.endswith("circle")]
    assert len(circles) == 6
