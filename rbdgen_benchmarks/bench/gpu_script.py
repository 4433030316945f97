"""Programs for a machine that has nothing but a GPU, and the script that runs them there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.codegen.nvcc import NoNvcc
from rbdgen.system.quoting import Progress
from rbdgen.system.templates import data_folder

from . import gpu, grid
from .measurement import Row, measurement

ARCHITECTURE = "sm_90"
# robot, base, function, code
CASES: tuple[tuple[str, str, str, str], ...] = (
    *((robot, base, function, "inlined") for robot, base, function in gpu.CASES),
    ("baxter", "fixed", "did", "inlined"),
    ("humanoid", "floating", "id", "inlined"),
    ("iiwa14", "fixed", "did", "loops"),
    ("hyq", "floating", "did", "loops"),
    ("humanoid", "floating", "did", "loops"),
    ("humanoid", "floating", "did", "inlined"),  # last, since nvcc takes minutes
)
SCRIPT = data_folder("templates") / "bench" / "gpu_run.sh"
COLUMNS = ("case", "operations", "kernels", "moved", "room", "MB", "grid-rbd")
LEGEND = (
    "Moved: numbers of a state that kernels write for each other, and read. Room: numbers of a\n"
    "state besides its arrays. MB: of the programs. Run sh gpu-script/run.sh in this folder, or\n"
    f"copy gpu-script to a machine with a GPU of {ARCHITECTURE} and run it there."
)


@measurement(
    "gpu-script",
    "minutes",
    COLUMNS,
    cases=lambda: CASES,
    legend=LEGEND,
    robots=lambda: {robot for robot, *_ in CASES},
)
def script(
    place: Path, progress: Progress, robot: str, base: str, function: str, code: str
) -> Iterator[Row]:
    """Programs and a script that check and time CUDA on a machine with nothing but a GPU."""
    name = f"{robot}_{function}{'_loops' * (code == 'loops')}"
    folder = place / "gpu-script" / name

    def say(line: str) -> None:
        progress(f"{name}: {line}")

    choices: dict[str, Any] = {"base": base, "functions": (function,), "code": code}
    made = api.generate(robot, folder, say, to="cuda", force=True, **choices).manifest.program
    gpu.built(folder, made.name, ARCHITECTURE, say)
    beside = "-"
    if base == "fixed" and code == "inlined":
        try:
            grid.build(folder, function, made.interface, ARCHITECTURE)
            beside = "yes"
        except (grid.NoGrid, NoNvcc) as error:
            say(f"{error}")
    cases = [own.name for own in sorted(folder.parent.iterdir()) if (own / "times").is_file()]
    (folder.parent / "cases.txt").write_text("".join(f"{own}\n" for own in cases), "utf-8")
    shutil.copy(SCRIPT, folder.parent / "run.sh")
    size = sum((folder / own).stat().st_size for own in ("times", "example"))
    facts = made.facts
    operations = sum(own["operations"] for own in facts["kernels"])
    numbers = operations, len(facts["kernels"]), facts["moved"], facts["room"]
    yield [name, *numbers, round(size / 1e6, 1), beside]
