"""Mutation score of the arithmetic core: do its tests see a change of one thing?

    make mutants        # or: .venv/bin/python tests/mutants.py [JOBS]; an hour or two

mutmut changes one operator, number or argument at a time, and runs the tests that call the changed
function in a forked process (its files and tests: [tool.mutmut] of pyproject.toml). What is made
when a module is imported has no change there, such as tables of functions by `Op`. So what seems
to survive has all tests once more, in a process of its own. What was found is kept in mutants/ and
in mutants/verdicts.json: a second run goes on. Caches of compiled models are its own, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "mutants"
VERDICTS = PLACE / "verdicts.json"
KILLED, SURVIVED = "killed", "survived"
MINUTES = 10  # after which the tests of a change hang: it is seen
CAUGHT = "killed", "timeout", "caught by type check"  # of mutmut's words
OWN = {**os.environ, "XDG_CACHE_HOME": str(PLACE / "cache")}


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    mutmut = str(Path(sys.executable).parent / "mutmut")
    subprocess.run([mutmut, "run", "--max-children", str(jobs)], cwd=ROOT, env=OWN, check=True)
    said = subprocess.run(
        [mutmut, "results", "--all", "true"], cwd=ROOT, env=OWN, check=True, capture_output=True
    )
    first = dict(_verdicts(said.stdout.decode()))
    kept = json.loads(VERDICTS.read_text()) if VERDICTS.is_file() else {}
    left = [name for name, verdict in first.items() if verdict not in CAUGHT and name not in kept]
    with ThreadPoolExecutor(jobs) as several:
        for name, verdict in zip(left, several.map(_alone, left), strict=True):
            kept[name] = verdict
            VERDICTS.write_text(json.dumps(kept, indent=1))
            print(f"{verdict}: {name}", file=sys.stderr)
    _report({name: KILLED if v in CAUGHT else kept[name] for name, v in first.items()}, mutmut)


def _verdicts(said: str) -> Iterator[tuple[str, str]]:
    for line in said.splitlines():
        name, separator, verdict = line.strip().partition(": ")
        if separator:
            yield name, verdict


def _alone(name: str) -> str:
    """Whether the tests see the change in a process of their own."""
    choices = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mutmut"]
    tests = choices["pytest_add_cli_args_test_selection"]
    command = [sys.executable, "-m", "pytest", "-q", "-x", *choices["pytest_add_cli_args"], *tests]
    environment = {**OWN, "MUTANT_UNDER_TEST": name, "PYTHONPATH": str(PLACE)}
    try:
        done = subprocess.run(
            command, cwd=PLACE, env=environment, capture_output=True, timeout=60 * MINUTES
        )
    except subprocess.TimeoutExpired:
        return KILLED
    return KILLED if done.returncode else SURVIVED


def _report(verdicts: Mapping[str, str], mutmut: str) -> None:
    """The score of each module, and what survives."""
    modules: dict[str, list[str]] = {}
    for name, verdict in verdicts.items():
        modules.setdefault(name.partition(".x")[0], []).append(verdict)
    for module, found in [*sorted(modules.items()), ("all", list(verdicts.values()))]:
        killed = found.count(KILLED)
        print(f"{module:32} {killed:5} of {len(found):5} {100 * killed / len(found):6.1f} %")
    for name in (name for name, verdict in verdicts.items() if verdict == SURVIVED):
        shown = subprocess.run([mutmut, "show", name], cwd=ROOT, env=OWN, capture_output=True)
        lines = shown.stdout.decode().splitlines()
        print(name, *(one for one in lines if one[:1] in "+-" and one[:3] not in ("+++", "---")))


if __name__ == "__main__":
    main()
