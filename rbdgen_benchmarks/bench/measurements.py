"""The long measurements: each prints the numbers that README and docs/ quote.

``rbdgen bench`` lists them, ``rbdgen bench NAME …`` runs some, ``make bench`` all; ``functions``
stands for all that begin with it. Results lie in build/bench/NAME.json as well. Hours for all of
them on two cores, nearly all of it mapping, place and route.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.api.design_file import FOLDER, compiler_digest
from rbdgen.api.parallel import Executor, in_parallel
from rbdgen.draw.tables import table
from rbdgen.system.cache import cached_result
from rbdgen.system.quoting import Progress

from .latency import robots_folder
from .names import MEASUREMENTS, chosen

HERE = Path(__file__).parent


def bench(
    names: Sequence[str],
    place: Path,
    progress: Progress,
    executor: Executor | None = None,
    jobs: int = 1,
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """Run the measurements called ``names``, or "all"; name → what it found.

    With an ``executor`` each is a job of its own, ``jobs`` at a time, whose result is kept in
    PLACE/kept: what was measured by the same rbdgen is not measured again. ``only``: robots, of
    measurements that take some one after another. UnknownMeasurement for a name that is none.
    """
    own = chosen(names, only)
    results = {}
    for one in own:
        api.check_place(place / f"{one.name}.json")
    if executor:
        return _in_jobs([one.name for one in own], place.absolute(), progress, executor, jobs)
    for one in own:
        print(f"\n== {one.name}: {one.about}\n", flush=True)
        results[one.name] = one(place, progress, only)
        text = json.dumps(results[one.name], indent=2) + "\n"
        api.write_file(place / f"{one.name}.json", text)
    return results


def _in_jobs(
    names: Sequence[str], place: Path, progress: Progress, executor: Executor, jobs: int
) -> dict[str, Any]:
    def done(k: int, found: Mapping[str, Any]) -> None:
        about = MEASUREMENTS[names[k]].about
        print(f"\n== {names[k]}: {about}, {found['where']}\n\n{found['printed']}")
        api.write_file(place / f"{names[k]}.json", json.dumps(found["found"], indent=2) + "\n")

    inputs = [(name, place) for name in names]
    each = in_parallel(_measured, inputs, jobs, done, executor, _measured_before, progress)
    return {name: found["found"] for name, found in zip(names, each, strict=True)}


def _measured(name: str, place: Path) -> dict[str, Any]:
    """Where a measurement ran, what it printed, what it found; kept in PLACE/kept."""

    def compute() -> dict[str, Any]:
        with redirect_stdout(StringIO()) as printed:
            found = MEASUREMENTS[name](place / name, partial(print, file=sys.stderr, flush=True))
        where = f"on {platform.node()}"
        return {"where": where, "printed": printed.getvalue(), "found": found}

    made: dict[str, Any] = cached_result(place / "kept", f"bench-{name}", _of(name), compute)
    return made


def _measured_before(name: str, place: Path) -> dict[str, Any] | None:
    found: dict[str, Any] | None = cached_result(place / "kept", f"bench-{name}", _of(name), None)
    return found


def _of(name: str) -> str:
    given = f" {robots_folder()}" if name == "latency" else ""
    return f"{name}{given} {compiler_digest((*FOLDER, HERE))}"


def there_are() -> dict[str, dict[str, str]]:
    """Name of each measurement → ``about``: what it measures; ``takes``: how long on two cores."""
    return {name: {"about": own.about, "takes": own.takes} for name, own in MEASUREMENTS.items()}


def listed() -> str:
    """The same as text."""
    rows = [[name, own.takes, own.about] for name, own in MEASUREMENTS.items()]
    how = "rbdgen bench NAME … runs some, rbdgen bench all all but those of days: many hours"
    return f"{table(('name', 'takes about', 'what'), rows)}\n\n{how}"
