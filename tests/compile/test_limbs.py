"""One limb stands for all: over real numbers, in words, and where it must not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbdgen.cli.main import main
from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import Front, compile_front, front_end
from rbdgen.compile.front import trace
from rbdgen.compile.limbs.split import find_limbs
from rbdgen.compile.product import Product
from rbdgen.design.design import Design
from rbdgen.dynamics.interface import random_inputs
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.fixed import Format, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.visits import LIMB, Program
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import Robot, RobotError
from rbdgen.robot.urdf import parse_urdf
from rbdgen.schedule.limbs import LimbPlan
from rbdgen.words.input_domain import InputDomain
from rbdgen.words.program_ranges import ProgramDomain
from tests.support.cores import any_words, core_of
from tests.support.limbs import WALKER, robot_of_limbs, urdf_of_cart, urdf_of_hexapod
from tests.support.trees import mirrored, robot_of, subtree

FUNCTIONS = ("id", "fd", "m", "minv", "did", "dfd", "difd")
QUADRUPED = WALKER.with_name("quadruped.urdf")
LEGS = ("lf", "rf", "lh", "rh")
CHOICES: list[dict[str, Any]] = [{"functions": (f,)} for f in FUNCTIONS]
CHOICES += [
    {"functions": ("did", "m", "minv")},
    {"functions": ("id",), "external_forces": ("all",)},
    {"functions": ("dfd",), "angles": "sincos"},
    {"functions": ("did",), "formulation": "recursive"},
    {"functions": ("minv",), "factorisation": "mminvgen"},
    {"functions": ("pose", "twist", "jac"), "frames": tuple(f"{k}_foot" for k in LEGS)},
]


def names(choices: dict[str, Any]) -> str:
    return "-".join(str(x) for value in choices.values() for x in np.atleast_1d(value))


@pytest.mark.parametrize("choices", CHOICES, ids=names)
def test_the_template_is_every_leg_of_hyq(choices: dict[str, Any]) -> None:
    front = front_end("hyq", fold="limbs", **choices)
    limbs, graph = FixedFunctions(front).limbs, front.graph
    states = random_inputs(front.canonical, graph.inputs, 100, 11)
    wanted = evaluate(graph, states)
    assert len(limbs.reads) == 4
    template = limbs.templates[LIMB]
    assert all(limbs.read(limb).keys() == set(template.inputs) for limb in limbs.reads)
    found: set[str] = set()
    for limb in limbs.reads:
        own = {name: sign * states[whole] for name, (whole, sign) in limbs.read(limb).items()}
        for name, values in evaluate(template, own).items():
            whole, sign = limbs.given(limb)[name]
            size = np.abs(wanted[whole]).max()
            np.testing.assert_allclose(sign * values, wanted[whole], rtol=0, atol=1e-12 * size)
            found.add(whole)
    # what is left is the same in every state
    assert all(np.ptp(wanted[name]) == 0 for name in graph.outputs.keys() - found)
    count, whole = template.operations(), graph.operations()
    assert all(4 * count[op] == whole[op] for op in ("mul", "sincos", "recip"))


FINGERS = """<link name="{k}"><inertial><origin xyz="0.01 {y} -0.1"/><mass value="1.3"/>
<inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{k}" type="revolute"><parent link="{on}"/><child link="{k}"/>
<origin xyz="0.1 {at} 0"/><axis xyz="0 0 {axis}"/>{mimic}
<limit lower="-1" upper="1" velocity="3" effort="9"/></joint>"""


def test_fingers_that_follow_another_of_their_limb() -> None:
    """Two grippers, each the other's image, whose second finger mimics the first."""
    parts = ['<link name="base"/>']
    for side, s in (("left", 1), ("right", -1)):
        of = {"y": 0.02 * s, "at": 0.3 * s, "axis": s}
        parts.append(FINGERS.format(k=side, on="base", mimic="", **of))
        tips = {"a": "", "b": f'<mimic joint="{side}_a" multiplier="-1.5"/>'}
        parts += [
            FINGERS.format(k=f"{side}_{tip}", on=side, mimic=mimic, **of)
            for tip, mimic in tips.items()
        ]
    robot = parse_urdf(f'<robot name="hands">{"".join(parts)}</robot>'.encode())
    front = core_of(robot, functions=("id", "m"), fold="limbs").front
    limbs_compute(FixedFunctions(front).limbs, front.graph, front.canonical)


@pytest.mark.parametrize(
    ("robot", "count", "choices"),
    [
        (QUADRUPED.read_text(), 4, {"functions": ("id", "g")}),  # single joints, turned apart
        (urdf_of_cart(), 2, {"functions": ("g",)}),  # along the rail there is no weight
        (urdf_of_cart(), 2, {"functions": ("m",)}),  # a leg's own inertia is constant
        (urdf_of_hexapod(), 6, {"functions": ("fd",), "angles": "sincos"}),
        (urdf_of_hexapod(), 6, {"functions": ("id",), "external_forces": ("all",)}),
    ],
)
def test_limbs_that_are_not_legs_of_hyq(
    robot: str, count: int, choices: dict[str, Any], tmp_path: Path
) -> None:
    place = tmp_path / "robot.urdf"
    place.write_text(robot)
    front = front_end(str(place), fold="limbs", **choices)
    limbs_compute(FixedFunctions(front).limbs, front.graph, front.canonical, count)


def limbs_compute(limbs: Program, graph: Graph, robot: Robot, count: int = 2) -> None:
    """Whatever the whole does: so many limbs, and all that varies."""
    states = random_inputs(robot, graph.inputs, 50, 3)
    wanted = evaluate(graph, states)
    assert len(limbs.reads) == count
    found = {name for name, source in limbs.outputs.items() if isinstance(source, float)}
    for limb in limbs.reads:
        own = {name: sign * states[whole] for name, (whole, sign) in limbs.read(limb).items()}
        for name, values in evaluate(limbs.templates[LIMB], own).items():
            whole, sign = limbs.given(limb)[name]
            size = np.abs(wanted[whole]).max()
            np.testing.assert_allclose(sign * values, wanted[whole], rtol=0, atol=1e-10 * size)
            found.add(whole)
    assert found == wanted.keys()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("functions", "angles"), [(("id", "m"), "on-chip"), (("fd",), "sincos")], ids=["id", "fd"]
)
@pytest.mark.parametrize("seed", range(0, 24, 6))
def test_any_limb_and_its_image(
    seed: int, functions: tuple[str, ...], angles: str, turned: bool
) -> None:
    """Trees of any joints, seen through signs that keep what is vertical, or turned about it.

    About a vertical axis, which oblique trees do not have, sines that come in would be of angles
    from another zero.
    """
    plain = 0.0 if turned and angles == "sincos" else None
    own, signs = subtree(seed, plain=plain), [1.0 - 2.0 * (seed // 6 >> k & 1) for k in (0, 1)]
    through = np.diag([*signs, 1.0])
    if turned:
        through = through @ Rotation.from_euler("z", seed + 0.3).as_matrix()
    robot = canonicalize(robot_of([own, mirrored(own, through, "other_", len(own))]))
    graph = trace(Design("", functions=functions, angles=angles), robot)
    states = random_inputs(robot, graph.inputs, 16, 7)
    limbs_compute(find_limbs(graph, robot, states), graph, robot)


def test_signs_are_those_of_the_joints() -> None:
    senses = [(1, 1), (-1, 1), (1, -1), (-1, -1)]
    front = core_of(robot_of_limbs(senses), functions=("id",), fold="limbs").front
    limbs = FixedFunctions(front).limbs
    for limb, (hip, shin) in zip(limbs.reads, senses, strict=True):
        read, given = limbs.read(limb), limbs.given(limb)
        for of in ("q", "qd", "qdd"):
            assert (read[f"{of}[0]"][1], read[f"{of}[1]"][1]) == (hip, shin)
        assert (given["tau[0]"][1], given["tau[1]"][1]) == (hip, shin)


def test_given_is_what_any_limb_may_be() -> None:
    front = core_of(robot_of_limbs([(1, 1), (1, -1)]), functions=("id",), fold="limbs").front
    samples = {name: np.array([1.0, 2.0]) + k for k, name in enumerate(front.graph.inputs)}
    limits = dict.fromkeys(front.graph.inputs, (-1.0, 1.0))
    limits |= {"q[1]": (-0.1, 0.4), "q[3]": (-0.5, 0.2)}
    related = frozenset({"q[0]", "q[2]"})
    given = ProgramDomain(
        FixedFunctions(front).limbs, InputDomain(limits, samples, samples, related)
    ).of(LIMB)
    assert given.limits["q[1]"] == (-0.2, 0.5)
    assert given.related == {"q[0]"}
    q = list(front.graph.inputs).index
    first, second = samples["q[1]"], -samples["q[3]"]
    assert q("q[3]") - q("q[1]") == 2
    np.testing.assert_array_equal(given.samples["q[1]"], [first[0], second[0], first[1], second[1]])


@pytest.mark.parametrize(
    ("robot", "choices", "says"),
    [
        ("iiwa14", {}, "iiwa14: fold: limbs: there is one limb"),
        ("hyq", {"base": "floating"}, "hyq: fold: limbs: there is one limb"),
        ("baxter", {}, "after joints head_pan, right_s0, left_s0 come joints of several kinds, or"),
    ],
)
def test_refused(robot: str, choices: dict[str, Any], says: str) -> None:
    with pytest.raises(RobotError, match=says):
        compile_front(front_end(robot, fold="limbs", **choices))


@pytest.mark.parametrize(("apart", "off"), [(1e-3, "5.7e-05"), (1e-7, "5.7e-09")])
def test_refused_where_a_limb_differs(apart: float, off: str) -> None:
    """The result is named, and how far it is off."""
    robot = robot_of_limbs([(1, 1), (-1, 1), (1, 1)], [1.3, 1.3, 1.3 + apart])
    says = rf"tau\[0\], of joint hip0, differs from the same of another limb by {off} of its size; "
    with pytest.raises(RobotError, match=says):
        core_of(robot, functions=("id",), fold="limbs")


def test_refused_on_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    place = tmp_path / "design"
    assert main(["generate", "baxter", "--fold", "limbs", "-o", str(place)]) == 1
    assert "rbdgen: baxter: fold: limbs: after joints" in capsys.readouterr().err.splitlines()[-1]
    assert not place.exists()


def by_limbs(core: Product, words: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], set[str]]:
    """The template in words, limb by limb; and the outputs of limbs in which anything overflowed.

    Mirrored words are negated here as the docstring says, the lowest one becomes the highest.
    """
    assert isinstance(core.plan, LimbPlan)
    limbs, template = core.plan.program.real, core.plan.fixed

    def mirrored(column: np.ndarray, word: Format, sign: int) -> np.ndarray:
        return np.where(column == word.lowest, word.highest, -column) if sign < 0 else column

    outputs: dict[str, np.ndarray] = {}
    flagged: set[str] = set()
    for limb in limbs.reads:
        own = {
            name: mirrored(words[whole], template.inputs[name], sign)
            for name, (whole, sign) in limbs.read(limb).items()
        }
        found = evaluate_fixed(template, own)
        for name, (whole, sign) in limbs.given(limb).items():
            word = template.formats[template.graph.outputs[name]]
            outputs[whole] = mirrored(found.outputs[name], word, sign)
            flagged |= {whole} if found.overflowed else set()
    return outputs, flagged


@pytest.fixture(scope="module", params=["did", "minv"])
def front(request: pytest.FixtureRequest) -> Front:
    return front_end("hyq", functions=(request.param,), fold="limbs")


def test_the_whole_robot_in_words(front: Front) -> None:
    """Its graph computes what the template does for each limb, the most negative words included."""
    core = compile_front(front)
    batch = any_words(core, 2000, 3)
    words = dict(zip(core.fixed.inputs, batch.tasks.T, strict=True))
    lowest = [(words[name] == word.lowest).any() for name, word in core.fixed.inputs.items()]
    assert all(lowest)
    wanted, flagged = by_limbs(core, words)
    for name, column, flags in zip(
        core.fixed.graph.outputs, batch.results.T, batch.flags.T, strict=True
    ):
        if name in wanted:
            np.testing.assert_array_equal(column, wanted[name])
        else:
            assert np.ptp(column) == 0
            assert not flags.any()
    assert {n for n, f in zip(core.fixed.graph.outputs, batch.flags.T, strict=True) if f.any()} <= (
        flagged
    )


def test_the_most_negative_word_is_mirrored_without_overflow() -> None:
    """A slide at its word's end: the mirrored one at the other end, less a last bit."""
    core = core_of(robot_of_limbs([(1, 1), (1, -1)]), functions=("id",), fold="limbs")
    inputs = core.fixed.inputs
    word = inputs["q[1]"]
    assert inputs["q[3]"] == word
    words = {name: np.zeros(2, np.int64) for name in inputs}
    words["q[1]"] = np.array([word.highest, 0])
    words["q[3]"] = np.array([word.lowest, 0])
    found = evaluate_fixed(core.fixed, words)
    assert (found.outputs["tau[2]"] == found.outputs["tau[0]"]).all()
    flags = core.plan.flagged(found.overflowed, 2)
    np.testing.assert_array_equal(flags[:, :2], flags[:, 2:])
    saturated = {n for n in core.fixed.graph.nodes if core.fixed.formats[n].saturates}
    assert core.fixed.graph.outputs["tau[3]"] in saturated
    assert not saturated & set(found.overflowed)
    assert not any(core.fixed.overflowing(node) for node in saturated)


def test_within_an_error() -> None:
    core = compile_front(front_end("hyq", error=1e-4, fold="limbs"))
    assert core.plan.interval == 4
    assert core.fixed.inputs["qd[0]"] == core.fixed.inputs["qd[9]"]
