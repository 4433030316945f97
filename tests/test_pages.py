"""Tutorials and short answers run as they stand: every block of a page, in its order."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from rbdgen.cli.main import main

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Page → what else it runs with: another robot, which takes less time.
IN_ORDER: dict[str, dict[str, str]] = {
    "howto": {},
    "tutorial-arm": {"iiwa14": "pendulum", "joint_7": "elbow"},
    "tutorial-board": {},
    "tutorial-mpc": {},
    "tutorial-quadruped": {},
}
SLOW = ("howto", "tutorial-arm", "tutorial-board", "tutorial-quadruped")


def test_every_tutorial_runs() -> None:
    assert {path.stem for path in DOCS.glob("tutorial-*.md")} <= IN_ORDER.keys()


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in IN_ORDER],
)
def test_blocks_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = BLOCK.findall((DOCS / f"{name}.md").read_text())
    assert blocks
    for language, code in blocks:
        for written, run in IN_ORDER[name].items():
            code = code.replace(written, run)
        if language == "python":
            exec(code, names)
            continue
        for line in code.splitlines():
            rbdgen, *words = shlex.split(line, comments=True)
            assert rbdgen == "rbdgen"
            assert main([*words, "--quiet"]) == 0, line
