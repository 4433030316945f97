"""An accelerator behind its serial line, bit by bit in Verilator; the driver is that of boards."""

from __future__ import annotations

import ctypes
import os
import pickle
import random
import subprocess
import threading
import time
import tty
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api import board_link
from rbdgen.api.c_header import line_layouts
from rbdgen.api.folder import Manifest, read_manifest
from rbdgen.api.results import Mismatch
from rbdgen.shell.packets import (
    BROKEN,
    FLAG,
    SELF_TEST,
    TESTED,
    PacketWidths,
    Unframed,
    framed,
    response,
    task,
)
from rbdgen.shell.self_test import Vectors
from rbdgen.shell.simulation import SimulatedBoard
from rbdgen.shell.task_packets import Status
from rbdgen_benchmarks.bench import fuzz_frames
from rbdgen_benchmarks.bench.board import asked_of
from rbdgen_benchmarks.bench.fuzz_frames import KINDS, Damage, flood
from rbdgen_host.driver import Dynamics
from rbdgen_host.driver.checking import check_board
from rbdgen_host.driver.links import SerialPort, TaskLink, latency_note
from tests.support.host import COMPILER, example

pytest.importorskip("serial", reason="pyserial is not installed")
pytest.importorskip("amaranth_boards", reason="amaranth-boards is not installed")
BOARD = "ulx3s-85f"
FAST = 6_000_000  # baud: twice a board's, so that the tests take half as long
LONGEST = 120.0  # s for which a simulation may be silent on a machine that has more to do


@pytest.fixture(scope="module")
def board(folder: Path) -> Iterator[SimulatedBoard]:
    with api.simulated_board(BOARD, folder, baud=FAST) as running:
        yield running


def layouts_of(manifest: Manifest) -> dict[int, PacketWidths]:
    """Of an accelerator's functions."""
    facts = manifest.facts
    return line_layouts(facts.tasks)


class Noisy:
    """A line that turns, loses, inserts and cuts, both ways, some bytes in a thousand."""

    endurance = LONGEST

    def __init__(self, port: SerialPort, seed: int, often: float) -> None:
        self._port, self._rng, self._often = port, random.Random(seed), often
        self.harmed = 0

    def write(self, data: bytes) -> None:
        self._port.write(self._through(data))

    def read(self, timeout: float) -> bytes:
        return self._through(self._port.read(timeout))

    def close(self) -> None:
        self._port.close()

    def _through(self, data: bytes) -> bytes:
        found = bytearray()
        for byte in data:
            if self._rng.random() >= self._often:
                found.append(byte)
                continue
            self.harmed += 1
            kind = self._rng.randrange(4)
            if kind == 0:
                found.append(byte ^ 1 << self._rng.randrange(8))
            elif kind == 1:
                found += bytes([byte, self._rng.randrange(256)])
            elif kind == 2:
                del found[-self._rng.randrange(1, 9) :]
            # else it is lost
        return bytes(found)


def test_every_bit_over_the_line(folder: Path, board: SimulatedBoard) -> None:
    assert check_board(folder, board.port, 40) == 80


def test_a_self_test_that_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One bit of one expected word is wrong: the board says so, and goes on to answer."""

    def wrong(*arguments: Any) -> Vectors:
        made = right(*arguments)
        responses = [list(own) for own in made.responses]
        responses[5][2] ^= 1 << 3
        return Vectors(made.tasks, responses)

    right = board_link.board_vectors
    monkeypatch.setattr(board_link, "board_vectors", wrong)
    with api.simulated_board(BOARD, folder, baud=FAST) as running:
        line = SerialPort(running.port, FAST, endurance=LONGEST)
        with pytest.raises(Mismatch, match="1 words are wrong of 32 responses"):
            check_board(folder, line)
        there = Dynamics(folder, "board", port=running.port)
        here = Dynamics(folder, "integer")
        assert (there.crba([0.1, 0.2]) == here.crba([0.1, 0.2])).all()


def test_a_self_test_between_tasks(folder: Path, board: SimulatedBoard) -> None:
    """It waits for what is on its way, and what comes after it waits for it."""
    asked = asked_of(folder, 6)
    line = SerialPort(board.port, FAST, endurance=LONGEST)
    of = {**asked.layouts, SELF_TEST: TESTED}
    link = TaskLink.over(line, of, asked.identity, "pendulum")
    between = [*asked.tasks[:5], (SELF_TEST, ()), *asked.tasks[5:9], (SELF_TEST, ())]
    found = link.ask(between)
    line.close()
    tests = [own.words for own in found if own.function == SELF_TEST]
    assert [own[:2] for own in tests] == [(32, 0)] * 2
    words = sum(len(task[1]) + 1 for task in asked.tasks) * 32 // len(asked.tasks)
    assert words <= tests[0][2] < words + 100  # a word of a task a clock, then the last answer
    answers = [own.words for own in found if own.function != SELF_TEST]
    assert answers == [own.words for own in asked.answers[:9]]


@pytest.mark.slow
def test_noise_delays_and_changes_nothing(folder: Path, board: SimulatedBoard) -> None:
    """No wrong answer is taken for right, none is missing, nothing hangs."""
    line = Noisy(SerialPort(board.port, FAST), 7, 0.01)
    here = Dynamics(folder, "integer", on_overflow="ignore")
    there = Dynamics(folder, "board", port=line, on_overflow="ignore")
    state = np.random.default_rng(1).uniform(-1, 1, (3, 150, 2))
    expected = here.rnea(*state)
    assert (there.rnea(*state) == expected).all()
    assert (there.crba(state[0]) == here.crba(state[0])).all()
    assert line.harmed > 50
    line.close()


def test_glitches_on_the_wires(folder: Path, board: SimulatedBoard) -> None:
    """Levels, not bytes: bits turned over for a while, in either direction."""
    here, there = Dynamics(folder, "integer"), Dynamics(folder, "board", port=board.port)
    q = np.random.default_rng(2).uniform(-1, 1, (100, 2))
    board.disturb(1e-4)
    try:
        assert (there.crba(q) == here.crba(q)).all()
    finally:
        board.disturb(0)


def test_damaged_frames(
    folder: Path, board: SimulatedBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most are damaged, the board is restarted now and then; all others are answered, once."""
    monkeypatch.setattr(fuzz_frames, "RESTART", 6)
    asked, harm = asked_of(folder, 3), Damage(3, 60)
    line = SerialPort(board.port, FAST)
    found = flood(line, asked, 150, harm, board.restart)
    assert found.damaged >= 150
    assert found.good == found.answered > 100
    assert found.wrong == 0
    assert found.restarts > 0
    assert set(harm.harmed) == set(KINDS)
    assert all(harm.harmed.values())
    first = asked.answers[0]
    other = replace(first, words=(first.words[0] ^ 1, *first.words[1:]))
    wrong = replace(asked, answers=[other, *asked.answers[1:]])
    found = flood(line, wrong, 1, Damage(4, 1), board.restart)
    assert found.wrong == 1
    assert found.answered == found.good - 1
    line.close()


def test_what_is_wrong_is_answered(folder: Path, board: SimulatedBoard) -> None:
    """Damaged frames, unknown functions, wrong lengths; the next good frame is as if none was."""
    identity = read_manifest(folder)["identity"]
    port = SerialPort(board.port, FAST)
    unframed = Unframed(identity)

    def ask(frame: bytes) -> list[tuple[int, Status | None, int]]:
        port.write(frame)
        said: list[tuple[int, Status | None, int]] = []
        started = time.monotonic()
        while not said:
            assert time.monotonic() < started + LONGEST, "the board says nothing"
            for payload in unframed.feed(port.read(0.05)):
                if len(payload) == 4:
                    answer = response(payload, {})
                    said.append((answer.function, answer.status, answer.tag))
        return said

    good = framed(identity, bytes([9, 1, 2, 3]))
    assert ask(good) == [(9, Status.UNKNOWN_FUNCTION, 0x0201)]
    assert ask(framed(identity, bytes([0, 1, 2, 3]))) == [(0, Status.TOO_SHORT, 0x0201)]
    assert ask(framed(identity, bytes([0, 1, 2] + [0] * 60))) == [(0, Status.TOO_LONG, 0x0201)]
    assert ask(good[:4] + bytes([FLAG])) == [(BROKEN, Status.OK, 0)]
    assert ask(framed("0" * 16, bytes([9, 1, 2, 3]))) == [(BROKEN, Status.OK, 0)]
    assert ask(bytes(3000) + bytes([FLAG])) == [(BROKEN, Status.OK, 0)]  # longer than the buffer
    assert ask(good) == [(9, Status.UNKNOWN_FUNCTION, 0x0201)]
    port.close()


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_a_host_in_c(folder: Path, board: SimulatedBoard, tmp_path: Path) -> None:
    """The example that is written beside the bitstream, over the same line."""
    place = folder / f"board-{BOARD}-simulated"
    program = example(folder, place, tmp_path)
    done = subprocess.run([program, board.port], capture_output=True, text=True, check=True)
    expected = Dynamics(folder, "integer").rnea([0, 0], [0, 0], [0, 0])
    found = [float(line.partition(" = ")[2]) for line in done.stdout.splitlines()]
    assert found == pytest.approx(expected, rel=1e-8)
    silent = subprocess.run([program, "/dev/null"], capture_output=True, text=True, check=False)
    assert silent.returncode == 1


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_frames_in_c_are_those_of_python(
    folder: Path, board: SimulatedBoard, tmp_path: Path
) -> None:
    place = folder / f"board-{BOARD}-simulated"
    manifest = read_manifest(folder)
    name, identity = manifest["name"], manifest["identity"]
    source, library = tmp_path / "line.c", tmp_path / "line.so"
    source.write_text(
        f"""#include "{name}_line.h"
        size_t frame(const uint32_t *packet, uint8_t *to) {{ return {name}_frame(packet, to); }}
        static struct {name}_line line;
        int heard(uint8_t byte, uint32_t *packet) {{ return {name}_heard(&line, byte, packet); }}
        unsigned long damaged(void) {{ return line.damaged; }}
        """
    )
    paths = [f"-I{folder}", f"-I{place}"]
    command = [COMPILER, "-std=c99", "-shared", "-fPIC", *paths, source, "-o", library, "-lm"]
    subprocess.run(command, capture_output=True, check=True)
    own = ctypes.CDLL(str(library))
    rng = random.Random(5)
    layouts = layouts_of(manifest)
    packet, bytes_ = (ctypes.c_uint32 * 64)(), (ctypes.c_uint8 * 512)()
    for _ in range(300):
        code, layout = rng.choice(list(layouts.items()))
        tag = rng.randrange(1 << 16)
        words = [rng.randrange(-(1 << w - 1), 1 << w - 1) for w in layout.operands]
        packet[0] = code | tag << 16
        packet[1 : 1 + len(words)] = [word & 0xFFFFFFFF for word in words]
        count = own.frame(packet, bytes_)
        assert bytes(bytes_[:count]) == framed(identity, task(code, tag, words, layout))

        results = [rng.randrange(-(1 << w - 1), 1 << w - 1) for w in layout.results]
        bits = at = 0
        for word, width in zip(results, layout.results, strict=True):
            bits |= (word & (1 << width) - 1) << at
            at += width
        payload = bytes([code, rng.randrange(2)]) + tag.to_bytes(2, "little")
        payload += bits.to_bytes(-(-at // 8), "little")
        frame = framed(identity, payload)
        assert not any(own.heard(byte, packet) for byte in frame[:-1])
        assert own.heard(frame[-1], packet) == 1
        assert packet[0] == int.from_bytes(payload[:4], "little")
        found = [(packet[1 + k] ^ 1 << 31) - (1 << 31) for k in range(len(results))]
        assert found == results
        broken = bytearray(frame)
        broken[rng.randrange(1, len(frame) - 1)] ^= 1
        assert not any(own.heard(byte, packet) for byte in broken)
    assert own.damaged() >= 300


def test_a_plug_that_is_pulled(folder: Path, board: SimulatedBoard, tmp_path: Path) -> None:
    """In mid-batch: one line says so, and the next call opens the port again."""
    port = tmp_path / "port"
    own, other = os.openpty()
    tty.setraw(other)
    port.symlink_to(os.ttyname(other))
    there = Dynamics(folder, "board", port=str(port))
    q = np.random.default_rng(2).uniform(-1, 1, (100, 2))

    def pull() -> None:
        os.read(own, 1)
        os.close(own)

    pulling = threading.Thread(target=pull)
    pulling.start()
    with pytest.raises(api.InputError, match=r"^port: .*port: lost: .*next call opens it again$"):
        there.crba(q)
    pulling.join()
    os.close(other)
    port.unlink()
    with pytest.raises(api.InputError, match=r"^port: .*No such file"):
        there.crba(q)
    port.symlink_to(board.port)
    np.testing.assert_array_equal(there.crba(q), Dynamics(folder, "integer").crba(q))


def test_a_latency_timer_that_delays(tmp_path: Path) -> None:
    """As Linux shows an FTDI bridge's."""
    timer = tmp_path / "ttyUSB0" / "device" / "latency_timer"
    assert latency_note("/dev/ttyUSB0", tmp_path) == ""
    timer.parent.mkdir(parents=True)
    timer.write_text("16\n")
    note = latency_note("/dev/ttyUSB0", tmp_path)
    assert "waits 16 ms" in note and note.endswith(f"echo 1 > {timer}")
    timer.write_text("1\n")
    assert latency_note("/dev/ttyUSB0", tmp_path) == ""


def test_no_driver_of_a_board_is_copied(folder: Path, board: SimulatedBoard) -> None:
    there = Dynamics(folder, "board", port=board.port)
    with pytest.raises(api.InputError, match="copy: the port of a board is this process's"):
        pickle.dumps(there)


def test_a_board_that_is_silent(folder: Path) -> None:
    class Silent:
        def write(self, data: bytes) -> None: ...

        def read(self, timeout: float) -> bytes:
            return b""

        def close(self) -> None: ...

    manifest = read_manifest(folder)
    layouts = layouts_of(manifest)
    link = TaskLink(Silent(), layouts, manifest["identity"], manifest["name"], patience=0.01)
    with pytest.raises(api.InputError, match="no answer from the board: is this design on it"):
        link.ask([(0, [0] * len(layouts[0].operands))])


def test_what_a_board_does_not_take(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(api.InputError, match="a board has one"):
        Dynamics(folder, "board")
    with pytest.raises(api.InputError, match="of integer; a board has one"):
        Dynamics(folder, "integer", port="/dev/null")
    with pytest.raises(api.InputError, match="rbdgen board BOARD DIR"):
        Dynamics("pendulum", "board", port="/dev/null")
    with pytest.raises(api.InputError, match=r"port: .*nothing"):
        Dynamics(folder, "board", port=str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match='did you mean "ulx3s-85f"'):
        api.board("ulx3s-85", folder)
    with pytest.raises(ValueError, match="generate it with --target ecp5-25f"):
        api.board("ulx3s-25f", folder)
    plain = api.generate("pendulum", tmp_path / "plain")
    with pytest.raises(api.OutputError, match="boards take accelerators"):
        api.board(BOARD, plain)
