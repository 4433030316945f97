"""A command that is stopped, whenever: one line, a status that says by what, nothing left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rbdgen.system.signals import meanwhile, run_child
from tests.support.marks import slow

LONGEST = 300.0  # seconds for what takes one
WAITING = """
import os, sys, time
from pathlib import Path

def wait(own):
    Path(f"{own}").write_text(str(os.getpid()))
    os.replace(f"{own}", f"pid{own}")  # whole as soon as it is there: the other one looks for it
    while not all(Path(f"pid{k}").exists() for k in range(2)):
        time.sleep(0.01)
    os.write(2, b"here\\n")  # at once: the other one writes to the same pipe
    time.sleep(600)
"""
SLEEPING = "import sys, time\nprint('here', file=sys.stderr, flush=True)\ntime.sleep(600)\n"
COMMAND = """
import os, sys, time
from pathlib import Path
from rbdgen.cli import main as cli
from rbdgen.system import signals
from rbdgen import api
from tests.support.marks import slow

def sleeps(*_, **__):
    print("here", file=sys.stderr, flush=True)
    time.sleep(600)

def runs_a_tool(*_, **__):
    with signals.child(["sh", "-c", "sleep 600 & echo $! > pid; echo here >&2; wait"]) as process:
        process.wait()

def has_workers(*_, **__):
    from rbdgen.system.workers import in_workers
    import waiting
    in_workers(waiting.wait, [(0,), (1,)], 2)

def is_not_in_python(*_, **__):
    import ctypes
    signals.GRACE = 0.2
    lock = ctypes.create_string_buffer(64)
    print("here", file=sys.stderr, flush=True)
    for _ in range(2):  # the second waits for ever, whatever signal comes
        ctypes.CDLL(None).pthread_mutex_lock(lock)

def swallows(*_, **__):
    signals.GRACE = 2.0
    try:
        sleeps()
    except BaseException:
        sleeps()

def drops(*_, **__):
    class Dropping:
        def __del__(self):
            sleeps()
    signals.GRACE = 2.0
    Dropping()
    sleeps()

def makes_another_error_of_it(*_, **__):
    try:
        sleeps()
    except BaseException as error:
        raise OSError("no such luck") from error

def warns(*_, **__):
    import warnings
    class Unused:
        def __del__(self):
            warnings.warn("created but never used")
    unused = Unused()
    sleeps()

api.info = globals()[sys.argv[1]]
sys.argv[1:] = ["info", "pendulum"]
sys.exit(cli.main())
"""


def heed_signals() -> None:
    """As from a terminal: who runs the tests in the background may have signals ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def stopped(
    command: Sequence[str], number: int, folder: Path, at: str = "here", group: bool = False
) -> tuple[int, list[str]]:
    """Exit status, and lines on standard error but for progress, of what is stopped at a line."""
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    with subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "XDG_CACHE_HOME": str(folder)},
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if at in line:
                break
        else:
            pytest.fail(f"ended before: {lines}")
        (os.killpg if group else os.kill)(process.pid, number)
        _, said = process.communicate(timeout=LONGEST)
        until(lambda: not _runs(-process.pid))  # nobody is left in its group
    return process.returncode, [line for line in said.splitlines() if line[0] != "["]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_while_it_is_imported(number: int, tmp_path: Path) -> None:
    (tmp_path / "amaranth").mkdir()
    (tmp_path / "amaranth" / "__init__.py").write_text(SLEEPING)
    found = stopped(["-m", "rbdgen", "generate", "pendulum"], number, tmp_path)
    assert found == (128 + number, ["rbdgen: stopped"])


@pytest.mark.parametrize(
    "what",
    ["sleeps", "swallows", "drops", "makes_another_error_of_it", "warns", "is_not_in_python"],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_at_work(what: str, number: int, tmp_path: Path) -> None:
    """Where a library takes the interruption for something else, too."""
    (tmp_path / "command.py").write_text(COMMAND)
    lines = ["here"] if what in ("swallows", "drops") else []
    found = stopped(["command.py", what], number, tmp_path)
    assert found == (128 + number, [*lines, "rbdgen: stopped"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_tools_end_with_their_own_tools(number: int, tmp_path: Path) -> None:
    (tmp_path / "command.py").write_text(COMMAND)
    found = stopped(["command.py", "runs_a_tool"], number, tmp_path)
    assert found == (128 + number, ["rbdgen: stopped"])
    inner = int((tmp_path / "pid").read_text())
    until(lambda: not _runs(inner))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_workers_end(number: int, tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(WAITING)
    (tmp_path / "command.py").write_text(COMMAND)
    status, said = stopped(["command.py", "has_workers"], number, tmp_path)
    assert status == 128 + number and [line for line in said if line != "here"] == [
        "rbdgen: stopped"
    ]
    processes = [int((tmp_path / f"pid{own}").read_text()) for own in range(2)]
    until(lambda: not any(map(_runs, processes)))


@pytest.mark.parametrize("late", [0.0, 0.3])  # s until the tool begins
def test_what_goes_on_meanwhile_ends_with_the_block(late: float) -> None:
    """Its tools do, those too that begin after the block has failed."""
    ends: list[int] = []

    def work() -> None:
        time.sleep(late)
        ends.append(run_child(["sleep", "600"]).returncode)

    started = time.monotonic()
    with pytest.raises(ValueError, match="no such luck"), meanwhile(work):
        raise ValueError("no such luck")
    assert ends == [-signal.SIGKILL]
    assert time.monotonic() < started + LONGEST


def test_what_goes_on_meanwhile_has_a_result() -> None:
    with meanwhile(lambda: run_child(["echo", "here"]).stdout) as future:
        pass
    assert future.done()
    assert future.result() == "here\n"


def until(true: Callable[[], bool]) -> None:
    started = time.monotonic()
    while not true():
        assert time.monotonic() < started + LONGEST
        time.sleep(0.05)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")  # dead, but nobody has asked how
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


@pytest.mark.parametrize(
    ("command", "at", "group"),
    [
        slow(("generate gantry -o made", "ranges", False)),  # in this process alone
        ("generate gantry -o made", "Verilog", True),  # Yosys is at work
        slow(("explore pendulum --no-synthesis --jobs 2 -o made", "s]", False)),
        ("explore pendulum --no-synthesis --jobs 2 -o made", "s]", True),
    ],
)
def test_real_commands(command: str, at: str, group: bool, tmp_path: Path) -> None:
    """As by kill, and as by the key, which tells all processes of the terminal."""
    found = stopped(["-m", "rbdgen", *command.split()], signal.SIGINT, tmp_path, at, group)
    assert found == (130, ["rbdgen: stopped"])
    left = {file.name for file in tmp_path.iterdir()}
    assert left <= {"made", "rbdgen"}  # the latter is the cache
    assert not (tmp_path / "made" / "manifest.json").exists()
