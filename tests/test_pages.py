"""What the pages show runs: tutorials and short answers as they stand, every block in its order;
blocks of the other pages on a small robot. What does not run is marked there, and listed here."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rbdgen.cli.main import main
from tests.support.mjcf_texts import ARM

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?:^    .*\n)+", re.MULTILINE)  # a list's lines follow on others
CONTINUED = re.compile(r" \\\n *")  # a command on two lines
# Page → what else it runs with: another robot, which takes less time.
IN_ORDER: dict[str, dict[str, str]] = {
    "howto": {},
    "solvers": {"-O3": "-O1"},
    "tutorial-accuracy": {"iiwa14": "pendulum"},
    "tutorial-arm": {"iiwa14": "pendulum", "joint_7": "elbow"},
    "tutorial-board": {},
    "tutorial-choice": {"iiwa14": "pendulum"},
    "tutorial-jax": {"iiwa14": "pendulum"},
    "tutorial-mpc": {},
    "tutorial-quadruped": {},
}
SLOW = (
    *("howto", "solvers", "tutorial-accuracy", "tutorial-arm", "tutorial-board"),
    *("tutorial-choice", "tutorial-jax", "tutorial-quadruped"),
)
# Of an extra that tests do without.
NEEDS = {"solvers": ("pinocchio", "crocoddyl", "casadi", "mujoco")}

# In a page's source, for what does not run: why, and the line; all that begin so before an "…".
MARK = re.compile(r"^<!-- not run, (.+?): (.+) -->$", re.MULTILINE)
NOT_RUN = {
    "other tests run it": {
        "build/solved/crocoddyl_example build/reach/robot.urdf",
        "cmake …",
        "from rbdgen_host.driver import Dynamics",
        "rbdgen board ulx3s-85f D",
        "rbdgen board ulx3s-85f D --link spi",
        "rbdgen energy build/mine …",
        "rbdgen generate iiwa14 --function osim …",
        "rbdgen board ecpix5-85f D --link udp",
        "rbdgen board ulx3s-85f build/board",
        "rbdgen synthesize build/arm",
        "rbdgen synthesize build/mine --place-and-route",
    },
    "until Ctrl-C": {"rbdgen board ulx3s-85f build/board --simulate"},
    "needs a board": {
        "from rbdgen_host.driver import Dynamics",
        "rbdgen board ulx3s-85f build/board --load",
    },
    "needs a cluster": {
        "rbdgen explore iiwa14 --function did --executor …",
        "rbdgen synthesize DIR --place-and-route --seeds 16 --executor …",
    },
    "needs a network": {
        "rbdgen info panda_description",
        'pip install ".[parallel]"',
        "pip install …",
        'pip install "rbdgen[families]"',
        'pip install "rbdgen[robots]"',
    },
    "runs these tests": {"make …", ".venv/bin/python …"},
    "takes minutes": {
        "rbdgen bench accelerators",
        "rbdgen bench control",
        "rbdgen bench kinematics",
        "rbdgen board ulx3s-25f iiwa14 …",
        "rbdgen board ulx3s-85f iiwa14 …",
        "rbdgen compare",
        "rbdgen compare iiwa14 --function did --pinocchio -o did.svg",
        "rbdgen explore hyq --function did",
        "rbdgen explore iiwa14 --function did --quick …",
        "rbdgen generate humanoid --base floating --base-link best --accelerator …",
        "rbdgen generate hyq --base floating --accelerator …",
        "rbdgen generate iiwa14 --controller computed-torque …",
        "rbdgen info humanoid …",
        "rbdgen loop build/law …",
        "rbdgen loop build/ticks …",
        "rbdgen reproduce 000 001 …",
        "rbdgen reproduce 004 --closed",
        "rbdgen simulate D",
        "rbdgen synthesize D",
        "rbdgen synthesize D --place-and-route",
        "rbdgen synthesize D --place-and-route …",
        "rbdgen synthesize E --place-and-route …",
    },
}
OTHERS = {
    path.stem: path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))
    if path.stem != "architecture"  # tests/test_docs.py runs it whole
}
# What is written → what runs, which takes less time; on every page, in this order.
SMALLER = {
    "hyq --base floating --function cfd --frames lf_foot,rh_foot": "gantry --function cfd --frames "
    "tool",
    "hyq --base floating --function fd": f"{ROOT}/tests/robots/swinger.urdf --base floating "
    "--function id",
    "--accelerator --ii 8": "--accelerator --function id --ii 8",
    "compare iiwa14 --function did": "compare iiwa14 --function did --ii 1 --no-cpu",
    "--frames link_7": "--frames lower_rod",
    "iiwa14_fast": "pendulum",
    "iiwa14": "pendulum",
    "generate hyq": "generate pendulum",
    "info ROBOT": "info pendulum",
    "generate humanoid": "generate pendulum",
}
# How a pendulum begins whose file takes the arguments that pages name.
XACRO = """<robot name="pendulum" xmlns:xacro="http://ros.org/wiki/xacro">
  <xacro:arg name="left" default="0"/>
  <xacro:arg name="tool" default="none"/>"""
PRINTED = ("formulation: ",)  # how blocks begin that show what a command prints


def test_every_tutorial_runs() -> None:
    assert {path.stem for path in DOCS.glob("tutorial-*.md")} <= IN_ORDER.keys()


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in IN_ORDER],
)
def test_blocks_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDS.get(name, ()):
        pytest.importorskip(package, reason=f"{package} is not installed: the extra solvers")
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


def indented(path: Path) -> list[list[str]]:
    """The lines of each indented block, without remarks."""
    blocks = INDENTED.findall(CONTINUED.sub(" ", FENCED.sub("", path.read_text())))
    return [[line[4:].partition("  #")[0].rstrip() for line in b.splitlines()] for b in blocks]


def runs(line: str, marks: dict[str, str]) -> bool:
    """Whether no mark of the page is of this line."""
    return not any(
        line.startswith(own.removesuffix("…")) if own.endswith("…") else line == own
        for own in marks
    )


def marks(path: Path) -> dict[str, str]:
    """Line → why it does not run."""
    return {line: why for why, line in MARK.findall(path.read_text())}


def test_what_does_not_run() -> None:
    """Every mark is of a line that is there; these are all."""
    found: dict[str, set[str]] = {}
    for path in OTHERS.values():
        lines = [line for block in indented(path) for line in block]
        for own, why in marks(path).items():
            assert not all(runs(line, {own: why}) for line in lines), f"{path.name}: {own}"
            found.setdefault(why, set()).add(own)
    assert found == NOT_RUN


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, path in OTHERS.items() if indented(path)])
def test_commands_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "robots" / "pendulum.urdf", "my_robot.urdf")
    plain = Path("my_robot.urdf").read_text()
    Path("my_robot.urdf.xacro").write_text(plain.replace('<robot name="pendulum">', XACRO))
    Path("my_robot.xml").write_text(ARM)
    for file in (ROOT / "robots").glob("gantry.*"):
        shutil.copy(file, ".")
    marked = marks(OTHERS[name])
    for block in indented(OTHERS[name]):
        first = block[0]
        if first.startswith(PRINTED) or (first.startswith("from ") and not runs(first, marked)):
            continue
        if first.startswith("from "):
            exec("\n".join(block), {})
        elif first.startswith("robot: "):
            Path("design.yaml").write_text("\n".join(block) + "\n")
            assert main(["info", "design.yaml", "--quiet"]) == 0
        else:
            for line in block:
                if runs(line, marked):
                    command(line)


def command(line: str) -> None:
    """Run a line of a shell's, of rbdgen by itself here."""
    for written, run in SMALLER.items():
        line = line.replace(written, run)
    if "|" in line:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        env = {**os.environ, "PATH": path}
        subprocess.run(line, shell=True, check=True, capture_output=True, env=env)
        return
    rbdgen, *words = shlex.split(line)
    assert rbdgen == "rbdgen", line
    over = ["--force"] if words[0] == "generate" and "-o" in words else []
    assert main([*words, *over, "--quiet"]) == 0, line
