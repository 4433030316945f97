"""Stopping rbdgen stops the tools that it runs."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rbdgen.tools.toolchain import SynthesisError, Tool, run_tool

WAITING = """
import os, time
from pathlib import Path
from rbdgen.tools.toolchain import Tool, run_tool

def wait(arguments):
    Path("new").write_text(str(os.getpid()))
    os.replace("new", "pid")
    time.sleep(600)

def work(folder):
    run_tool(Tool("Waiting", "waiting", "wait"), [], Path(folder))
"""
COMMAND = """
import sys
from rbdgen.cli import main as cli
from rbdgen import api
from rbdgen.api.parallel import in_parallel
from waiting import work

def info(*_, **__):
    in_parallel(work, [("one",), ("two",)], int(sys.argv[1]), print)

if __name__ == "__main__":
    api.info = info
    sys.exit(cli.main(["info", "pendulum"]))
"""
LONGEST = 300.0  # seconds for what takes one


def _until(path: Path) -> int:
    started = time.monotonic()
    while not path.exists():
        assert time.monotonic() < started + LONGEST, f"no {path}"
        time.sleep(0.05)
    return int(path.read_text())


def _ends(process: int) -> bool:
    started = time.monotonic()
    while time.monotonic() < started + LONGEST:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_terminated_leaves_no_tool(tmp_path: Path, jobs: int) -> None:
    (tmp_path / "waiting.py").write_text(WAITING)
    (tmp_path / "command.py").write_text(COMMAND)
    folders = [tmp_path / name for name in ("one", "two")][:jobs]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    with subprocess.Popen(
        [sys.executable, "command.py", str(jobs)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stderr=subprocess.PIPE,
        text=True,
    ) as command:
        tools = [_until(folder / "pid") for folder in folders]
        command.terminate()
        assert command.communicate(timeout=LONGEST)[1] == "rbdgen: stopped\n"
    assert command.returncode == 143
    assert all(_ends(tool) for tool in tools)


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ("ERROR: no such module", "ERROR: no such module"),
        (
            "7. Executing ABC pass",
            'exit status 3 without an error, after "7. Executing ABC pass"; as',
        ),
        ("", "exit status 3 without an error; as WebAssembly it has 4 GB of memory"),
    ],
)
def test_a_tool_that_fails_says_why(
    says: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing.py").write_text(
        f"def run(arguments):\n    print({says!r}, '\\n')\n    return 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(SynthesisError) as raised:
        run_tool(Tool("Failing", "failing", "run"), [], tmp_path)
    assert str(raised.value).startswith(f"Failing: {reason}")
