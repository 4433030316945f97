"""The transport of a port, and SPI: a controller of Linux, or of a simulation."""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
import time
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from rbdgen.api.folder import InputError
from rbdgen.shell.packets import BAUD, FLAG

from .links import BUSY, PATIENCE, UDP, SerialPort, Transport, UdpPort

SPI = "spi"
HERTZ = 1_000_000  # of a controller's clock, unless the port says another
AT_ONCE = 4096  # bytes of a transfer of Linux's, as its drivers have them
POLLED = bytes([FLAG]) * 32  # what is sent where there is only something to read


def opened(port: str, patience: float = PATIENCE) -> Transport:
    """The transport of a path of a serial port, of ``udp://HOST:PORT``, or of ``spi:PATH``.

    Where a program stands in for a board, behind a pseudo-terminal or on this machine, it may be
    silent for as long as the machine has other things to do.
    """
    if port.startswith(f"{UDP}:"):
        here = urlsplit(port).hostname in ("127.0.0.1", "::1", "localhost")
        return UdpPort(port, patience, BUSY if here else None)
    if port.startswith(f"{SPI}:"):
        return SpiPort(port, patience, BUSY if is_program(port.removeprefix(f"{SPI}:")) else None)
    return SerialPort(port, BAUD, patience, BUSY if is_program(port) else None)


def is_program(path: str) -> bool:
    """Whether a program stands behind a path, in place of a board."""
    return Path(path).resolve().is_relative_to("/dev/pts")


class SpiPort:
    """SPI, whose controller this is: ``spi:/dev/spidev0.0@HZ`` of Linux, or what a simulation says.

    A byte comes for each that goes: what came while tasks went out is read next, and flags go out
    where there is only something to read. InputError where it cannot be opened, or is lost.
    """

    def __init__(
        self, port: str, patience: float = PATIENCE, endurance: float | None = None
    ) -> None:
        self.patience, self.endurance = patience, endurance
        path = port.removeprefix(f"{SPI}:")
        own = _SimulatedController if is_program(path) else _Spidev
        self._controller: _Controller = own(path)
        self._come = b""
        self._inside = False  # a frame whose end is to come

    def write(self, data: bytes) -> None:
        self._come += self._controller.exchange(data)

    def read(self, timeout: float) -> bytes:
        end = time.monotonic() + timeout
        while True:
            found = self._come + self._controller.exchange(POLLED)
            self._come = b""
            if self._inside or found.strip(POLLED):
                self._inside = found[-1] != FLAG
                return found
            if time.monotonic() > end:
                return b""

    def close(self) -> None:
        self._controller.close()


class _Controller(Protocol):
    """The side of SPI that gives the clock."""

    def exchange(self, data: bytes) -> bytes:
        """Send bytes; as many come back."""

    def close(self) -> None:
        """Give the device back."""


class _SimulatedController:
    """The controller of a simulation, behind a pseudo-terminal."""

    def __init__(self, path: str) -> None:
        self._port = SerialPort(path, BAUD)

    def exchange(self, data: bytes) -> bytes:
        self._port.write(data)
        found, end = b"", time.monotonic() + BUSY
        while len(found) < len(data):
            found += self._port.read(1.0)
            if time.monotonic() > end:
                raise InputError("port: the simulated controller of SPI does not answer")
        return found

    def close(self) -> None:
        self._port.close()


class _Spidev:
    """A controller of Linux, by its ioctl SPI_IOC_MESSAGE(1): in mode 0, unless another is set."""

    MESSAGE = 0x40206B00
    TRANSFER = "=QQIIHBBBBBB"  # struct spi_ioc_transfer

    def __init__(self, path: str) -> None:
        self._path, _, hertz = path.partition("@")
        try:
            self._hertz = int(hertz or HERTZ)
            self._file = os.open(self._path, os.O_RDWR)
        except (ValueError, OSError) as error:
            raise InputError(f"port: {SPI}:{path}: {error}") from None

    def exchange(self, data: bytes) -> bytes:
        found = b""
        for start in range(0, len(data), AT_ONCE):
            part = data[start : start + AT_ONCE]
            out, into = ctypes.create_string_buffer(part, len(part)), (ctypes.c_char * len(part))()
            places = ctypes.addressof(out), ctypes.addressof(into)
            message = struct.pack(
                self.TRANSFER, *places, len(part), self._hertz, 0, 8, 0, 0, 0, 0, 0
            )
            try:
                fcntl.ioctl(self._file, self.MESSAGE, message)
            except OSError as error:
                raise InputError(f"port: {SPI}:{self._path}: {error}") from None
            found += bytes(into)
        return found

    def close(self) -> None:
        os.close(self._file)
