"""The papers one after another: what is printed of each, and what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.design.choices import PAPERS
from rbdgen.system.quoting import Progress

from .report import Reproduction

CLOSED = "004"

# Function of each, in the file that has the paper's name: two need JAX, the others do without.
OURS = {
    "000": "prefix_sums",
    "001": "forward_dynamics",
    "002": "dadu",
    "003": "lathrop",
    "004": "plancher",
}
CLOSED_REPORT = "closed_report", "closed"  # file and function


def reproduce(
    papers: Sequence[str], place: Path, full: bool, closed: bool, progress: Progress
) -> dict[str, Any]:
    """Each paper's tables beside ours, printed as they come; paper → its numbers.

    ``papers``: by number or by name; numbers name what is written.
    ``full``: sizes that take longer than minutes, too. ``closed``: of 004 the controller that is
    closed over an arm, in place of the rest. Pictures and numbers are written to ``place``.
    InputError for what is not installed, and for ``closed`` of other papers.
    """
    number = {own.name: number for number, own in PAPERS.items()}
    papers = [number.get(paper, paper) for paper in papers]
    if closed:
        if others := [paper for paper in papers if paper != CLOSED]:
            raise api.InputError(f"closed: {others[0]} has no controller; write: {CLOSED} --closed")
        papers = [f"{CLOSED}-closed"]
    numbers = {}
    for paper in dict.fromkeys(papers):
        api.check_place(place / f"{paper}.json")
    for paper in dict.fromkeys(papers):
        print(f"\n== {paper}: {PAPERS[paper.removesuffix('-closed')].title}\n", flush=True)
        found = _function(paper)(full, place, progress)
        for name, svg in found.pictures.items():
            api.write_file(place / name, svg)
        numbers[paper] = dict(found.numbers)
        api.write_file(place / f"{paper}.json", json.dumps(numbers[paper], indent=2) + "\n")
        files = "\n".join(str(place / name) for name in (*found.pictures, f"{paper}.json"))
        print(f"{found.text}\n\n{files}", flush=True)
    return numbers


def _function(paper: str) -> Callable[[bool, Path, Progress], Reproduction]:
    file, name = (PAPERS[paper].name, OURS[paper]) if paper in PAPERS else CLOSED_REPORT
    found: Callable[[bool, Path, Progress], Reproduction] = getattr(
        import_module(f".{file}", __package__), name
    )
    return found
