"""A board without a board: its Verilog behind a pseudo-terminal, or a socket of UDP.

Behind SPI the pseudo-terminal gives a byte for each that it takes, as a controller exchanges them.
"""

from __future__ import annotations

import ctypes
import os
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..system.quoting import Progress
from ..system.templates import data_folder
from ..tools.toolchain import OF_LONG_RUNS, OPTIMISATION
from ..tools.verilate import library
from .ethernet import Address

CORE = 11_000_000  # Hz of the accelerator's clock, whose edges move along those of the link's
CORE_OF_UDP = 61  # the same behind Ethernet, of 100 of the link's
RUN, STOP, RESTART = range(3)  # as the harness has them


class _Simulation(ABC):
    """A Verilated design that runs in a thread while it is open, behind what `_open` opens.

    ``harness``: the C++ around it, whose function is ``symbol``. ``long``: compiled to run for
    minutes. Raises SimulationError where it cannot be built.
    """

    port: str

    def __init__(
        self,
        sources: Sequence[Path],
        top: str,
        harness: str,
        symbol: str,
        progress: Progress,
        long: bool,
    ) -> None:
        place = data_folder("templates") / "board"
        text = "".join((place / own).read_text("utf-8") for own in ("clocked.h", harness))
        level = OF_LONG_RUNS if long else OPTIMISATION
        made = library(sources, top, text, progress=progress, optimisation=level)
        self._run = ctypes.CDLL(str(made))[symbol]
        self._run.restype = ctypes.c_uint64
        self._order = ctypes.c_int(RUN)
        self.cycles = 0

    def __enter__(self) -> Self:
        given = self._open()
        self._thread = threading.Thread(target=self._simulate, args=given, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._order.value = STOP
        self._thread.join()
        self._close()

    def wait(self) -> None:
        """Wait until somebody interrupts."""
        with suppress(KeyboardInterrupt):
            while self._thread.is_alive():
                self._thread.join(0.2)

    def restart(self) -> None:
        """Press its reset button, whatever is under way."""
        self._order.value = RESTART

    def _simulate(self, *given: Any) -> None:
        self.cycles = self._run(*given)

    @abstractmethod
    def _open(self) -> tuple[Any, ...]:
        """Open the line, set ``port``; what the harness's function is given."""

    @abstractmethod
    def _close(self) -> None:
        """Close the line."""


class _OnTerminal(_Simulation):
    """A board behind a pseudo-terminal that passes every byte on."""

    def _terminal(self) -> str:
        """Open both ends; returns the path of the one that a host opens."""
        import tty

        self._own, self._other = os.openpty()
        tty.setraw(self._other)
        return os.ttyname(self._other)

    def _close(self) -> None:
        os.close(self._own)
        os.close(self._other)


class SimulatedBoard(_OnTerminal):
    """Runs while it is open; ``port``: the path that a host opens as it would a board's.

    ``sources``: the Verilog of ``top``, a `rbdgen.shell.link.BoardLink`, whose line has ``baud`` at
    ``clock`` Hz. ``long``: compiled to run for minutes. Raises SimulationError where it cannot be
    built.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        top: str,
        clock: int,
        baud: int,
        progress: Progress = lambda _: None,
        long: bool = False,
    ) -> None:
        super().__init__(sources, top, "harness.cpp", "rbdgen_board_run", progress, long)
        self._of_line = (ctypes.c_uint64(clock), ctypes.c_uint64(baud), ctypes.c_uint64(CORE))
        self._noise = ctypes.c_uint32(0)

    def disturb(self, often: float) -> None:
        """Turn the lines over, both ways, for 1 to 64 cycles each time, so often in a cycle."""
        self._noise.value = round(often * (1 << 32))

    def _open(self) -> tuple[Any, ...]:
        self.port = self._terminal()
        orders = ctypes.byref(self._order), ctypes.byref(self._noise)
        return ctypes.c_int(self._own), *self._of_line, *orders


class SimulatedSpiBoard(_OnTerminal):
    """The same behind SPI: ``port`` is ``spi:`` and the path of a pseudo-terminal.

    ``period``: clocks of the accelerator's, of one of SPI's.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        top: str,
        period: int,
        progress: Progress = lambda _: None,
        long: bool = False,
    ) -> None:
        super().__init__(sources, top, "harness_spi.cpp", "rbdgen_board_run_spi", progress, long)
        self._period = ctypes.c_int(period)

    def _open(self) -> tuple[Any, ...]:
        self.port = f"spi:{self._terminal()}"
        return ctypes.c_int(self._own), self._period, ctypes.byref(self._order)


class SimulatedUdpBoard(_Simulation):
    """The same behind Ethernet: ``port`` is ``udp://127.0.0.1:`` and the number of a free port.

    Between the local socket and the design stands a host's network in C++, which asks the design
    for its address and checks each packet that it sends; ``wrong``: those that were none.
    """

    def __init__(
        self,
        sources: Sequence[Path],
        top: str,
        clock: int,
        address: Address,
        progress: Progress = lambda _: None,
        long: bool = False,
    ) -> None:
        super().__init__(sources, top, "harness_udp.cpp", "rbdgen_board_run_udp", progress, long)
        self._clocks = (ctypes.c_uint64(clock), ctypes.c_uint64(clock * CORE_OF_UDP // 100))
        ip = int.from_bytes(address.ip_bytes, "big")
        self._address = (ctypes.c_uint32(ip), ctypes.c_uint(address.port))
        self._wrong = ctypes.c_uint64(0)

    @property
    def wrong(self) -> int:
        """Known once the board has stopped."""
        return self._wrong.value

    def _open(self) -> tuple[Any, ...]:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = f"udp://127.0.0.1:{self._socket.getsockname()[1]}"
        orders = ctypes.byref(self._order), ctypes.byref(self._wrong)
        return ctypes.c_int(self._socket.fileno()), *self._clocks, *self._address, *orders

    def _close(self) -> None:
        self._socket.close()
