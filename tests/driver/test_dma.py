"""The packaged IP in Verilator behind pynq's calls, of which a model stands here: every bit."""

from __future__ import annotations

import ctypes
import random
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.vivado import package_vivado
from rbdgen.tools.verilate import library
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.dma import DmaLink
from tests.support.another_robot import another

pytestmark = pytest.mark.rtl
IP = "swing_ip"
CHOICES: dict[str, Any] = {
    "functions": ("id", "m"),
    "accelerator": True,
    "ii": 2,
    "target": "xc7",
    "name": IP.removesuffix("_ip"),
}
POLL = 20  # clocks that pass while software looks once


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The design is clocked by Python, on a machine that may have more to do."""
    monkeypatch.setattr(DmaLink.__init__, "__defaults__", (120.0,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pynq") / "pendulum"
    api.generate("pendulum", place, **CHOICES)
    package_vivado(place)
    return place


@pytest.fixture(scope="module")
def for_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for all robots of the model."""
    place = tmp_path_factory.mktemp("pynq") / "pendulums"
    api.generate("pendulum", place, parameters="registers", **CHOICES)
    package_vivado(place)
    return place


@pytest.fixture(scope="module")
def ip(folder: Path) -> ctypes.CDLL:
    return verilated(folder)


def verilated(folder: Path) -> ctypes.CDLL:
    name = IP.removesuffix("_ip")
    sources = [folder / f"{name}.v", folder / f"{name}_axi_words.v", folder / f"vivado/{IP}.v"]
    harness = (Path(__file__).parent / "ip.cpp").read_text()
    made = ctypes.CDLL(str(library(sources, IP, harness)))
    made.ip_read.restype = ctypes.c_uint32
    return made


class Way:
    """A channel of the DMA, as pynq has it: idle once the transfer that was begun has ended."""

    def __init__(self, dma: Dma) -> None:
        self._dma = dma
        self.buffer: Any = None
        self.at = 0
        self.began = False

    @property
    def idle(self) -> bool:
        self._dma.run(POLL)
        return self.began and self.buffer is None

    def transfer(self, array: Any) -> None:
        if self.buffer is not None:
            raise RuntimeError("DMA channel not idle")
        self.buffer, self.at, self.began = array, 0, True

    def wait(self) -> None:
        while not self.idle:
            pass


class Dma:
    """AXI DMA between buffers and the links of the IP, with pauses of the memory's."""

    def __init__(self, ip: ctypes.CDLL, deaf: bool) -> None:
        self._ip, self._rng, self.deaf = ip, random.Random(3), deaf
        self.sendchannel, self.recvchannel = Way(self), Way(self)
        self.packets: list[int] = []  # words of each that came

    def run(self, clocks: int) -> None:
        send, receive, out = self.sendchannel, self.recvchannel, ctypes.c_uint32()
        for _ in range(clocks):
            offers = send.buffer is not None and self._rng.random() < 0.8 and not self.deaf
            takes = receive.buffer is not None and self._rng.random() < 0.8
            word = int(send.buffer[send.at]) if offers else 0
            last = offers and send.at == len(send.buffer) - 1
            done = self._ip.ip_clock(offers, word, last, takes, ctypes.byref(out))
            if done & 1:
                send.at += 1
                if last:
                    send.buffer = None
            if done & 2:
                receive.buffer[receive.at] = out.value
                receive.at += 1
                if done & 4:
                    self.packets.append(receive.at)
                    receive.buffer = None


@pytest.fixture
def pynq(ip: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What stands for the package; ``dmas``: those of the overlays that were loaded."""
    made = SimpleNamespace(dmas=[], deaf=False)

    def overlay(bitfile: str) -> SimpleNamespace:
        if not Path(bitfile).is_file():
            raise OSError(f"Bitstream file {bitfile} does not exist.")
        ip.ip_start()
        made.dmas.append(Dma(ip, made.deaf))
        return SimpleNamespace(
            dma=made.dmas[-1], core=SimpleNamespace(read=ip.ip_read, write=ip.ip_write)
        )

    def allocate(shape: tuple[int, ...], dtype: Any) -> Any:
        return np.full(shape, 0xDEADBEEF, dtype)

    made.Overlay, made.allocate = overlay, allocate
    monkeypatch.setitem(sys.modules, "pynq", made)
    return made


@pytest.fixture
def bitfile(tmp_path: Path) -> str:
    (tmp_path / "design_1_wrapper.bit").touch()
    return str(tmp_path / "design_1_wrapper.bit")


def test_every_bit(folder: Path, pynq: SimpleNamespace, bitfile: str) -> None:
    """Calls and mixed tickets, with states that overflow among them."""
    here = Dynamics(folder, "integer", on_overflow="ignore", outside="saturate")
    there = Dynamics(
        folder, "board", port=f"pynq:{bitfile}", on_overflow="ignore", outside="saturate"
    )
    state = np.random.default_rng(1).uniform(-1, 1, (3, 200, 2)) * [[[10]], [[20]], [[200]]]
    tickets = [(own.submit("rnea", *state), own.submit("crba", state[0])) for own in (here, there)]
    (tau, M), (tau_there, M_there) = here.collect(), there.collect()
    assert np.array_equal(tau, tau_there) and np.array_equal(M, M_there)
    (expected, _), (found, _) = tickets
    assert np.array_equal(expected.overflow, found.overflow)
    assert expected.overflow.any() and not expected.overflow.all()
    assert np.array_equal(here.crba(state[0, :1]), there.crba(state[0, :1]))
    (dma,) = pynq.dmas
    assert len(dma.packets) == 401
    assert set(dma.packets) == {3, 4}  # τ has two words, M three, behind a header


def test_parameters_over_axi_lite(
    for_all: Path, tmp_path: Path, bitfile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words of another robot, written by the host: every bit of the integer model with them."""
    ip = verilated(for_all)
    ip.ip_start()
    core = SimpleNamespace(read=ip.ip_read, write=ip.ip_write)
    overlay = SimpleNamespace(dma=Dma(ip, False), core=core)
    made = SimpleNamespace(Overlay=lambda _: overlay, allocate=np.zeros)
    monkeypatch.setitem(sys.modules, "pynq", made)
    here = Dynamics(for_all, "integer")
    there = Dynamics(for_all, "board", port=f"pynq:{bitfile}")
    state = np.random.default_rng(2).uniform(-1, 1, (3, 20, 2))
    before = here.rnea(*state)
    assert np.array_equal(before, there.rnea(*state))
    robot = another("pendulum", tmp_path, 8)
    for own in (here, there):
        own.set_parameters(robot)
    found = there.rnea(*state)
    assert np.array_equal(here.rnea(*state), found)
    assert not np.array_equal(before, found)
    words = api.calibrate(for_all, str(robot)).words
    first, *_ = words.values()
    read = core.read(0x80)
    assert (read - (1 << 32) if read >> 31 else read) == first
    assert core.read(0x84) == len(words)


def test_what_is_refused(
    folder: Path, pynq: SimpleNamespace, bitfile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(api.InputError, match=r"nothing\.bit does not exist"):
        Dynamics(folder, "board", port="pynq:nothing.bit")
    pynq.deaf = True
    silent = Dynamics(folder, "board", port=f"pynq:{bitfile}")
    monkeypatch.setattr(silent._backend.run.args[1], "_patience", 0.05)
    with pytest.raises(api.InputError, match=r"no answer from the design within 0\.05 s"):
        silent.crba([0, 0])
    overlay = pynq.Overlay
    other = SimpleNamespace(dma=None, core=SimpleNamespace(read=lambda _: 7))
    pynq.Overlay = lambda _: other
    with pytest.raises(api.InputError, match="has the design 0000000700000007, not"):
        Dynamics(folder, "board", port=f"pynq:{bitfile}")
    pynq.Overlay = overlay
    monkeypatch.setitem(sys.modules, "pynq", None)
    with pytest.raises(api.InputError, match="no pynq here"):
        Dynamics(folder, "board", port=f"pynq:{bitfile}")
