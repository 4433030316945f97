"""What a command enters is counted: a walk through three files of the test's own."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from rbdgen_benchmarks.bench.walk import Walk
from rbdgen_benchmarks.bench.walk import __name__ as module

FIRST = """
from . import second
def begin():
    second.middle()
    second.middle()
    last()
def last():
    second.other()
"""
SECOND = """
def helper():
    pass
helper()
def middle():
    from . import third
    third.end()
def other():
    return [k for k in range(2)]
"""
THIRD = """
class At:
    pass
def end():
    pass
"""
FILES = {"__init__": "", "first": FIRST, "second": SECOND, "third": THIRD}


def test_first_entries_make_hops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "walked"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    own = Walk(folder)
    sys.setprofile(own)
    import_module("walked.first").begin()
    sys.setprofile(None)
    # begin, middle, end, last, other: files 1 2 3 1 2; what an import runs is not among them
    assert [code.co_name for code in own.entered] == ["begin", "middle", "end", "last", "other"]
    assert own.counts() == {"functions": 5, "files": 3, "hops": 4, "back": 2}


def test_a_command_is_walked(tmp_path: Path) -> None:
    """From the parser to what lists robots, and modules that no function of is entered."""
    found = tmp_path / "found.json"
    subprocess.run([sys.executable, "-m", module, str(found), "robots", "--quiet"], check=True)
    counts = json.loads(found.read_text())
    assert 10 < counts["files"] < counts["modules"]
    assert counts["functions"] > counts["files"] > counts["hops"] - counts["back"] > 0
