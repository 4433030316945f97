"""Programs in C of an accelerator's tasks, compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

FLAGS = (
    *("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1"),
    *("-fsanitize=undefined", "-fno-sanitize-recover=undefined"),
)


def differ(folder: Path, example: str, function: str) -> str:
    """What the example says of the integer model's words and flags of a function."""
    states, expected = (folder / f"{name}_{function}.txt" for name in ("words", "expected_words"))
    command = [example, function, str(states), str(expected)]
    return subprocess.run(command, capture_output=True, text=True).stderr


def compiled(folder: Path, into: Path) -> str:
    example, sources = str(into / "example"), sorted(map(str, folder.glob("*.c")))
    subprocess.run(["gcc", *FLAGS, *sources, "-lm", "-o", example], check=True)
    return example
