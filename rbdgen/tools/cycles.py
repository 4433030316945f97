"""A Verilated design cycle by cycle: words of its input ports in, of its output ports out."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..system.quoting import Progress
from ..system.templates import data_folder
from .verilate import library, member

Rows = NDArray[np.uint32]  # (cycles, words): 32 bits each, the lowest of a port first
WORD = 32


class CycleSession:
    """A design since its reset, with ports ``clk`` and ``rst``.

    ``inputs``, ``outputs``: ports and their bits, in the order of their words in a row.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        top: str,
        inputs: Mapping[str, int],
        outputs: Mapping[str, int],
        seed: int = 0,
        progress: Progress = lambda _: None,
    ) -> None:
        """Verilate ``top``, or take it from the cache; SimulationError."""
        self.inputs, self.outputs = _places(inputs), _places(outputs)
        harness = _harness(inputs, outputs)
        calls = ctypes.CDLL(str(library(sources, top, harness, progress=progress).resolve()))
        calls.rbdgen_cycles_open.argtypes = [ctypes.c_uint64]
        calls.rbdgen_cycles_open.restype = ctypes.c_void_p
        calls.rbdgen_cycles_close.argtypes = [ctypes.c_void_p]
        calls.rbdgen_cycles_close.restype = None
        calls.rbdgen_cycles_run.argtypes = [
            ctypes.c_void_p,
            ctypes.c_uint64,
            *2 * [ctypes.c_void_p],
        ]
        calls.rbdgen_cycles_run.restype = None
        self._calls, self._design = calls, calls.rbdgen_cycles_open(seed)
        self.close = weakref.finalize(self, calls.rbdgen_cycles_close, self._design)

    def rows(self, cycles: int) -> Rows:
        """Rows in which all inputs are zero."""
        return np.zeros((cycles, _width(self.inputs)), np.uint32)

    def run(self, rows: Rows) -> Rows:
        """Go on for as many cycles as there are rows; the outputs before each edge."""
        given = np.ascontiguousarray(rows, np.uint32)
        found = np.zeros((len(given), _width(self.outputs)), np.uint32)
        self._calls.rbdgen_cycles_run(
            self._design, len(given), given.ctypes.data, found.ctypes.data
        )
        return found


def packed(words: Iterable[tuple[int, int]]) -> NDArray[np.uint32]:
    """Words (value, bits), the first in the lowest bits, as a port has them."""
    whole = at = 0
    for value, bits in words:
        whole |= (value & ((1 << bits) - 1)) << at
        at += bits
    return np.frombuffer(whole.to_bytes(4 * _words(at), "little"), np.uint32)


def unpacked(port: NDArray[np.uint32], widths: Iterable[int]) -> list[int]:
    """Signed words of so many bits each, the first in the lowest bits of a port."""
    whole, found = int.from_bytes(port.astype("<u4").tobytes(), "little"), []
    for bits in widths:
        found.append((whole & ((1 << bits) - 1)) - ((whole >> bits - 1 & 1) << bits))
        whole >>= bits
    return found


def _words(bits: int) -> int:
    """The words that a port takes: one, two as an integer of 64 bits, or those of an array."""
    return max(1, -(-bits // WORD))


def _places(ports: Mapping[str, int]) -> dict[str, slice]:
    ends = list(accumulate((_words(bits) for bits in ports.values()), initial=0))
    return {name: slice(*ends[k : k + 2]) for k, name in enumerate(ports)}


def _width(places: Mapping[str, slice]) -> int:
    return max(own.stop for own in places.values())


def _harness(inputs: Mapping[str, int], outputs: Mapping[str, int]) -> str:
    """``templates/cycles.cpp`` for a design."""
    sides = (("IN", inputs), ("OUT", outputs))
    lines = [f"constexpr size_t {s}_WORDS = {_width(_places(own))};" for s, own in sides]
    puts = "".join(f" row = put(dut.{member(name)}, row);" for name in inputs)
    gets = "".join(f" row = get(dut.{member(name)}, row);" for name in outputs)
    lines += [
        f"void set(Vdut& dut, const uint32_t* row) {{{puts} }}",
        f"void look(const Vdut& dut, uint32_t* row) {{{gets} }}",
    ]
    text = (data_folder("templates") / "cycles.cpp").read_text("utf-8")
    return text.replace("@DESIGN@", "\n".join(lines))
