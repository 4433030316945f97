"""An accelerator's functions in C: every word and flag is that of the integer model."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from rbdgen import api
from rbdgen.design.choices import ON_ACCELERATORS, ROLLOUTS

FLAGS = (
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1"),
    *("-fsanitize=undefined", "-fno-sanitize-recover=undefined"),
)


@pytest.mark.parametrize("robot", ["pendulum", pytest.param("gantry", marks=pytest.mark.slow)])
def test_every_function(robot: str, tmp_path: Path) -> None:
    functions = (*ON_ACCELERATORS, *ROLLOUTS)
    choices = {"accelerator": True, "ii": 8, "target": "xcup"}
    made = api.generate(robot, tmp_path / "made", to="c", functions=functions, **choices)
    example, sources = str(tmp_path / "example"), sorted(map(str, made.folder.glob("*.c")))
    subprocess.run(["gcc", *FLAGS, *sources, "-lm", "-o", example], check=True)
    raised = {}
    for function in functions:
        expected = made / f"expected_words_{function}.txt"
        command = [example, function, str(made / f"words_{function}.txt"), str(expected)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.stderr.endswith("32 states, 0 words and flags differ\n"), done.stderr
        assert done.returncode == 0
        raised[function] = np.loadtxt(expected)[:, -1]
    unknown = subprocess.run([example, "no", command[2]], capture_output=True, text=True)
    assert unknown.returncode == 2 and unknown.stderr.startswith(
        'example: no function "no"; one of'
    )
    assert all(flags[:16].mean() < 0.5 for flags in raised.values())
    assert all(raised[function][16:].any() for function in ("id", "dfd", "rk4"))
