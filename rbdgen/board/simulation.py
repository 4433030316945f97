"""A board without a board: its Verilog behind a pseudo-terminal, bit by bit."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from ..simulate.toolchain import Progress
from ..simulate.verilate import library
from ..system.data import data_folder

CORE = 40_000_000  # Hz of the accelerator's clock: any that is no multiple of the link's


class SimulatedBoard:
    """Runs while it is open; ``port``: the path that a host opens as it would a board's.

    ``sources``: the Verilog of ``top``, a `rbdgen.board.link.BoardLink`, whose line has ``baud`` at
    ``clock`` Hz. Raises SimulationError where it cannot be built.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        top: str,
        clock: int,
        baud: int,
        progress: Progress = lambda _: None,
    ) -> None:
        harness = (data_folder("templates") / "board" / "harness.cpp").read_text()
        made = library(sources, top, harness, progress=progress)
        self._run = ctypes.CDLL(str(made)).rbdgen_board_run
        self._run.restype = ctypes.c_uint64
        self._of_line = (ctypes.c_uint64(clock), ctypes.c_uint64(baud), ctypes.c_uint64(CORE))
        self._stop = ctypes.c_int(0)
        self.cycles = 0

    def __enter__(self) -> Self:
        import tty

        self._own, self._other = os.openpty()
        tty.setraw(self._other)
        self.port = os.ttyname(self._other)
        self._thread = threading.Thread(target=self._simulate, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.value = 1
        self._thread.join()
        os.close(self._own)
        os.close(self._other)

    def wait(self) -> None:
        """Until somebody interrupts."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.2)
        except KeyboardInterrupt:
            pass

    def _simulate(self) -> None:
        self.cycles = self._run(ctypes.c_int(self._own), *self._of_line, ctypes.byref(self._stop))
