"""The accelerator in Verilator: every bit, flag and tag, whatever comes in whatever order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.compile import front, inverse_factors, joint_choice
from rbdgen.compile.product import Product
from rbdgen.compile.stage_pieces import BY_JOINTS
from rbdgen.design.functions import ON_ACCELERATORS, ROLLOUTS
from rbdgen.graph.fixed import Format
from rbdgen.shell.emit import emit
from rbdgen.tasks import stages
from rbdgen.tasks.latency import latency_of
from rbdgen.tasks.routes import CODES, STEPS
from rbdgen.tools.model import Model
from rbdgen.tools.verilate import build
from tests.support.cores import shared_folder
from tests.support.limbs import WALKER, urdf_of_cart, urdf_of_faun, urdf_of_limbs
from tests.support.made import accelerate

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

# With unit mass on a unit rod M[1,0] is the cosine itself: a stage that has nothing to do.
CART_POLE = """<robot name="cart_pole"><link name="rail"/>
<link name="cart"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="pole"><inertial><origin xyz="0 0 1"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="50" velocity="2"/></joint>
<joint name="hinge" type="continuous"><parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/>
</joint></robot>"""
SWINGER = WALKER.parent / "swinger.urdf"
CASES: dict[str, dict[str, Any]] = {
    "all": {"robot": "pendulum", "functions": ON_ACCELERATORS, "ii": 4},
    "in order": {"robot": "pendulum", "functions": ON_ACCELERATORS, "ii": 3, "order": "issued"},
    "few slots": {"robot": "pendulum", "functions": ON_ACCELERATORS, "ii": 2, "slots": 2},
    # no stage for sines; joints that turn and joints that slide
    "sines given": {"robot": "gantry", "functions": ("id", "fd", "m"), "ii": 6, "angles": "sincos"},
    "passing": {"robot": "cart_pole", "functions": ("id", "m", "fd"), "ii": 2},
    "rollouts": {"robot": "pendulum", "functions": ("rk4", "id", "dfd", "euler"), "ii": 4},
    "one": {"robot": "pendulum", "functions": ("fd",), "ii": 5},
    "limbs": {"robot": "limbs", "functions": ("id", "fd", "m", "rk4"), "ii": 6},
    # a limb's pipelines at one task a clock; stages of all limbs, as pipelines and as folds
    "limbs at once": {"robot": "limbs", "functions": ("did", "minv"), "fold": "limbs"},
    "some in turn": {"robot": "limbs", "functions": ("id", "fd"), "ii": 9, "mix": "id=8,fd=1"},
    "some": {"robot": "limbs", "functions": ("id", "fd", "dfd"), "ii": 3},
    # time-multiplexed legs on a trunk that moves: pipelines of a leg's part of RNEA, folds of the
    # others
    "hips": {"robot": "cart", "functions": ("id", "m", "fd", "minv", "dfd"), "ii": 4},
    "floating": {"robot": str(WALKER), "functions": ("id", "m"), "ii": 4, "base": "floating"},
    # arms and legs, each in a part of its own, beside each other; on a trunk with a joint; twice
    "arms and legs": {"robot": "faun", "functions": ("id", "dfd"), "ii": 8, "fold": "limbs"},
    # a product's time-multiplexed columns, in parts that are added up; in "all" they are whole
    "columns": {"robot": str(WALKER), "functions": ("dfd", "difd"), "ii": 16, "base": "floating"},
    # stages that are programs of visits to joints: an arm of one branch; rollouts; a floating base
    "joints": {"robot": "pendulum", "functions": ON_ACCELERATORS, "ii": 16, "fold": "joints"},
    "joints roll on": {"robot": "gantry", "functions": ("rk4", "m"), "ii": 24, "fold": "joints"},
    "joints float": {
        "robot": str(WALKER),
        "functions": ("id", "did", "dfd"),
        "ii": 24,
        "base": "floating",
        "fold": "joints",
    },
    "columns of the inverse": {"robot": "pendulum", "functions": ("m", "fd", "minv"), "ii": 4},
    "few columns": {"robot": "cart", "functions": ("dfd", "difd"), "ii": 6},
    # results, however few, in block RAM
    "block RAM": {"robot": "pendulum", "functions": ("id", "minv", "dfd"), "ii": 4},
    "block RAM in order": {
        "robot": "pendulum",
        "functions": ("id", "did", "m"),
        "ii": 3,
        "order": "issued",
    },
    # all that is done for a large robot: joints, columns and rows in turn, chosen beforehand
    "large": {"robot": "pendulum", "functions": ("id", "minv", "dfd"), "ii": 16},
    # a floating base that is free or given, as each task says
    "each root": {
        "robot": str(SWINGER),
        "functions": ("id", "m", "dfd", "minv"),
        "ii": 8,
        "base": "floating",
        "root": "each",
    },
    # every word as an error asks, wider than a multiplier where it must be
    "error": {"robot": "pendulum", "functions": ON_ACCELERATORS, "ii": 4, "error": 1e-6},
}


def compiled(case: str, folder: Path) -> Product:
    choices = {"target": "xcup", "accelerator": True, **CASES[case]}
    robot = choices.pop("robot")
    if robot == "cart_pole":
        (folder / "cart_pole.urdf").write_text(CART_POLE)
        robot = str(folder / "cart_pole.urdf")
    if robot == "faun":
        (folder / "faun.urdf").write_text(urdf_of_faun())
        robot = str(folder / "faun.urdf")
    if robot == "cart":
        (folder / "cart.urdf").write_text(urdf_of_cart())
        robot = str(folder / "cart.urdf")
    if robot == "limbs":
        (folder / "limbs.urdf").write_text(urdf_of_limbs([(1, 1), (-1, 1), (1, -1)]))
        robot = str(folder / "limbs.urdf")
    with pytest.MonkeyPatch.context() as patch:
        if case == "columns of the inverse":  # where they save nothing
            patch.setattr(inverse_factors, "MANY", 0)
        if case == "large":
            patch.setattr(inverse_factors, "MANY", 0)
            patch.setattr(inverse_factors, "FEWER", 10)
            patch.setattr(front, "LARGE", 1)
            patch.setattr(joint_choice, "sums_apart", lambda graph: dict.fromkeys(BY_JOINTS, 9999))
        return accelerate(robot, **choices)


def verilated(made: Product, folder: Path, name: str) -> Model:
    emitted = emit(made.accelerator, name)
    (folder / f"{name}.v").write_text(emitted.files[f"{name}.v"])
    ports = ports_of(port_facts(made))
    return build([folder / f"{name}.v"], name, ports=ports)


def any_words(rng: np.random.Generator, of: Format) -> np.ndarray:
    """200, the most negative one among them, which has no counterpart."""
    words = rng.integers(of.lowest, of.highest + 1, 200)
    words[:5] = of.lowest
    return words


@pytest.mark.parametrize("case", CASES)
def test_every_bit_of_every_function(
    case: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    if case.startswith("block RAM"):
        monkeypatch.setattr(stages, "BLOCK", 0)
    folder = shared_folder(tmp_path_factory, "accelerators")
    made = compiled(case, folder)
    model = verilated(made, folder, f"accelerator_{list(CASES).index(case)}")
    turns = {name for name, s in made.accelerator.stages.items() if s.plan and s.plan.turns}
    if case == "large":
        assert turns >= {*BY_JOINTS, "inverse", "forward"} and "product" in made.accelerator.stages
    blocks = case.startswith("block RAM")
    assert all(map(made.accelerator.in_block_ram, made.accelerator.given_fields)) == blocks
    assert blocks == bool(made.accelerator.blocks)
    rng = np.random.default_rng(7)
    inside = Traffic(made, inputs_of(made, within_limits(made, 200, 1)))
    anywhere = Traffic(
        made,
        {
            function: {
                # a few steps at most: the model takes them one by one
                n: rng.integers(0, 4, 200) if n == STEPS else any_words(rng, f)
                for n, f in formats.items()
            }
            for function, formats in made.accelerator.formats.items()
        },
    )
    assert (case in ("passing", "hips", "few columns")) == any(
        s.plan is None for s in made.accelerator.stages.values()
    )
    for function in set(made.accelerator.functions) - {*ROLLOUTS}:
        alone = inside.run(model, [function])
        assert alone.result_cycle - alone.accept_cycle == [latency_of(made.accelerator, function)]
    for traffic in (inside, anywhere):
        mixed = traffic.mixed(600, 2)
        run = traffic.run(model, mixed)
        tags, codes = run.outputs[:, 1], np.array([CODES[f] for f in mixed])
        # in order among themselves, but rollouts of another length
        for function in set(made.accelerator.functions) - {*ROLLOUTS}:
            own = tags[run.outputs[:, 0] == CODES[function]]
            np.testing.assert_array_equal(own, np.flatnonzero(codes == CODES[function]))
        assert (np.diff(tags) == 1).all() == (case.endswith("in order") or case == "one")
        for stall_in, stall_out in ((0.3, 0.4), (0.0, 0.9), (0.9, 0.0)):
            traffic.run(model, mixed, stall_in=stall_in, stall_out=stall_out, seed=3)
    assert not any(flags.any() for _, flags in inside.expected.values())
    assert any(flags.any() for _, flags in anywhere.expected.values())


def test_each_function_runs_at_its_own_rate(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Efforts alone at twice the rate of what takes the slower stages; as the manifest says."""
    folder = shared_folder(tmp_path_factory, "accelerators")
    made = compiled("all", folder)
    model = verilated(made, folder, "accelerator_0")
    traffic = Traffic(made, inputs_of(made, within_limits(made, 200, 1)))
    accelerator = made.accelerator
    assert {f: accelerator.interval(f) for f in ON_ACCELERATORS} == dict.fromkeys(
        ON_ACCELERATORS, 4
    ) | {"id": 2, "g": 2, "nle": 2}
    for function in ON_ACCELERATORS:
        run = traffic.run(model, [function] * 256)
        distances = np.diff(run.result_cycle[100:])
        assert distances.mean() == pytest.approx(accelerator.interval(function), abs=0.05)
