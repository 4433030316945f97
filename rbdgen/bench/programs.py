"""Programs of many robots, beside the golden model: every robot of example-robot-data."""

from __future__ import annotations

import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import api
from ..api.compiled import compiled
from ..api.completion import completed
from ..api.reference import golden_model
from ..compile.samples import sample_states
from ..design.loading import load
from ..draw.tables import table
from ..robot.model import RobotError

Progress = Callable[[str], None]
STATES, SEED = 16, 4
# Gradients of forward dynamics come twice: from an effort, and from M⁻¹ given.
TOGETHER = (("id", "fd", "m", "minv", "did", "dfd"), ("difd",))
# Of the largest entry; forward dynamics loses what the mass matrix's condition takes.
WITHIN = {"tau": 1e-10, "M": 1e-10, "dtau_dq": 1e-10, "dtau_dqd": 1e-10}
INVERTED = 1e-6
HEAD = ("robot", "base", "functions", "largest difference", "in", "s", "verdict")


def programs(place: Path, progress: Progress) -> Any:
    """C++ of every robot of example-robot-data, every function, both bases, beside golden."""
    rows = []
    for file in example_robots():
        for base in ("fixed", "floating"):
            for functions in TOGETHER:
                row = _row(str(file), base, functions)
                progress(" ".join(map(str, row)))
                rows.append([file.stem, base, ", ".join(functions), *row])
    print(table(HEAD, rows))
    verdicts = [row[-1] for row in rows]
    print("\n" + ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts)))
    return [dict(zip(HEAD, row, strict=True)) for row in rows]


def example_robots() -> Iterator[Path]:
    """The URDF files of the package example-robot-data; InputError where it is not installed."""
    share = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
    if not share.is_dir():
        raise api.InputError("no robots to try: pip install example-robot-data")
    yield from sorted(share.rglob("*.urdf"))


def _row(path: str, base: str, functions: tuple[str, ...]) -> tuple[Any, ...]:
    """The largest difference, of which array, the seconds it took, and what that means."""
    started = time.monotonic()
    try:
        design, robot = load(path, snap=0.0, base=base, functions=functions)
        if not robot.nv:
            return "-", "-", 0.0, "nothing moves"
        state = completed(robot, sample_states(design, robot, STATES, SEED))
        found = compiled(design, robot, "cpp", lambda _: None)(state)
        wanted = golden_model(design, robot, state)
    except RobotError as error:
        return "-", "-", round(time.monotonic() - started, 1), f"refused: {error}"[:90]
    apart = {
        name: float(np.abs(values - wanted[name]).max() / (np.abs(wanted[name]).max() or 1.0))
        for name, values in found.items()
    }
    worst = max(apart, key=lambda name: apart[name] / WITHIN.get(name, INVERTED))
    right = all(apart[name] <= WITHIN.get(name, INVERTED) for name in apart)
    took = round(time.monotonic() - started, 1)
    return f"{apart[worst]:.1e}", worst, took, "right" if right else "wrong"
