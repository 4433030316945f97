"""The walk of one command through the files of rbdgen, as a profiler sees it.

``python -m rbdgen_benchmarks.bench.walk FILE generate pendulum …`` runs the command and writes to
FILE what it entered. It imports nothing of rbdgen itself, so that all modules are there for the
command.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from runpy import run_module
from types import CodeType, FrameType

import rbdgen

PACKAGE = rbdgen.__name__


@dataclass
class Walk:
    """Functions of a folder's files, in the order in which they are first entered.

    What runs while a module is imported is left out, and so are comprehensions and lambdas.
    """

    root: Path
    entered: dict[CodeType, None] = field(default_factory=dict)
    importing: int = 0  # modules that are being imported, one by another

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """A profile function, as ``sys.setprofile`` takes it."""
        code = frame.f_code
        if code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__":
            self.importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not self.importing and self._counts(code):
            self.entered.setdefault(code)

    def _counts(self, code: CodeType) -> bool:
        named = not code.co_name.startswith("<")
        return named and Path(code.co_filename).is_relative_to(self.root)

    def counts(self) -> dict[str, int]:
        """Functions and files entered; hops from file to file, and those to a file entered before.

        A hop is from the file of a function to that of the next one that is entered first.
        """
        files = [code.co_filename for code in self.entered]
        hops = [(a, b) for a, b in pairwise(files) if a != b]
        return {
            "functions": len(files),
            "files": len(set(files)),
            "hops": len(hops),
            "back": len(hops) - (len(set(files)) - 1),
        }


def walk(words: Sequence[str]) -> dict[str, int]:
    """The counts of a command of rbdgen, and the modules that it imports; RuntimeError."""
    own, before = Walk(Path(rbdgen.__file__).parent), sys.argv
    sys.argv = [PACKAGE, *words]
    sys.setprofile(own)
    try:
        run_module(PACKAGE, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{' '.join(sys.argv)}: exit status {end.code}") from None
    finally:
        sys.setprofile(None)
        sys.argv = before
    names = [name for name in sys.modules if name.partition(".")[0] == PACKAGE]
    return {**own.counts(), "modules": len(names)}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(walk(sys.argv[2:])), "utf-8")
