"""How much of rbdgen a command enters: files, modules, and hops from file to file."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.system.quoting import Progress
from rbdgen.system.signals import run_child

from . import walk
from .measurement import Row, measurement

CASES = (
    ("generate", "pendulum"),
    ("generate", "pendulum", "--to", "cpp"),
    ("generate", "pendulum", "--accelerator", "--function", "id,m", "--ii", "4"),
)
HEAD = ("command", "functions", "files", "modules imported", "hops", "back", "share")
LEGEND = (
    "Functions and files that are entered after import, by sys.setprofile. Hops: from the file of\n"
    "a function to that of the next one that is entered first; back: to a file entered before."
)


@measurement("entry", "minutes", HEAD, cases=lambda: [(own,) for own in CASES], legend=LEGEND)
def entry(place: Path, progress: Progress, words: tuple[str, ...]) -> Iterator[Row]:
    """Files, modules and hops between files that generate enters, for a pendulum."""
    yield [f"rbdgen {' '.join(words)}", *_counts(words, progress)]


def _counts(words: tuple[str, ...], progress: Progress) -> list[Any]:
    """The counts of a command, which is run twice: what is compiled once is in the cache then."""
    progress(" ".join(words))
    with tempfile.TemporaryDirectory(prefix="rbdgen-") as work:
        found = Path(work) / "found.json"
        folder = ("-o", str(Path(work) / "made"), "--quiet")
        environment = os.environ | {"XDG_CACHE_HOME": str(Path(work) / "cache")}
        for _ in range(2):
            command = [sys.executable, "-m", walk.__name__, str(found), *words, *folder]
            done = run_child(command, env=environment)
            if done.returncode:
                raise api.InputError((done.stderr.strip().splitlines() or ["no reason given"])[-1])
        own = json.loads(found.read_text("utf-8"))
    counts = [own[key] for key in ("functions", "files", "modules", "hops", "back")]
    return [*counts, f"{own['back'] / own['hops']:.0%}"]
