"""An accelerator's functions in C: every word and flag is that of the integer model."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from rbdgen import api
from rbdgen.design.functions import ON_ACCELERATORS, ROLLOUTS
from tests.support.task_programs import compiled, differ

SWINGER = str(Path(__file__).parents[1] / "robots" / "swinger.urdf")


def test_a_base_that_is_free_and_one_that_is_given(tmp_path: Path) -> None:
    """The stages that both share are told which it is."""
    choices = {"accelerator": True, "ii": 16, "target": "xcup", "base": "floating", "root": "each"}
    made = api.generate(SWINGER, tmp_path / "made", to="c", functions=("minv",), **choices)
    example = compiled(made.folder, tmp_path)
    for function in ("minv", "minv_given"):
        said = differ(made.folder, example, function)
        assert said.endswith("32 states, 0 words and flags differ\n"), (function, said)
    text = "".join(file.read_text() for file in made.folder.glob("*.c"))
    assert set(re.findall(r"= (-?\d+); /\* root\[0\] \*/", text)) == {"0", "-1"}


@pytest.mark.parametrize("robot", ["pendulum", pytest.param("gantry", marks=pytest.mark.slow)])
def test_every_function(robot: str, tmp_path: Path) -> None:
    functions = (*ON_ACCELERATORS, *ROLLOUTS)
    choices = {"accelerator": True, "ii": 8, "target": "xcup"}
    made = api.generate(robot, tmp_path / "made", to="c", functions=functions, **choices)
    example = compiled(made.folder, tmp_path)
    raised = {}
    for function in functions:
        said = differ(made.folder, example, function)
        assert said.endswith("32 states, 0 words and flags differ\n"), said
        raised[function] = np.loadtxt(made / f"expected_words_{function}.txt")[:, -1]
    states = str(made / f"words_{functions[0]}.txt")
    unknown = subprocess.run([example, "no", states], capture_output=True, text=True)
    assert unknown.returncode == 2 and unknown.stderr.startswith(
        'example: no function "no"; one of'
    )
    assert all(flags[:16].mean() < 0.5 for flags in raised.values())
    assert all(raised[function][16:].any() for function in ("id", "dfd", "rk4"))
