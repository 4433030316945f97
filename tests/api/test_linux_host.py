"""The C program for Linux, run with files in place of devices: what answers is this process, which
does as an AXI DMA with the design behind it does, and as the streams of a card."""

from __future__ import annotations

import mmap
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rbdgen.api import generate
from rbdgen.api.vivado import package_vivado

NAME = "pendulum_xcup_id"
WINDOW, HALF, AT = 0x10000, 4096, 0x1_2340_0000
PATIENCE = 60.0  # s
TASK, ANSWER = [1, 0xFFFFFFFE, 3, 0x80000000, 5, 6], [0xDEADBEEF, 7, 0]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with the folder that it stands in for /dev and /sys/class/u-dma-buf."""
    place = tmp_path_factory.mktemp("linux")
    generate("pendulum", place / "design", target="xcup")
    package_vivado(place / "design")
    source = place / "design" / "vivado" / f"{NAME}_linux.c"
    devices, buffers = place / "dev", place / "sys"
    folders = [
        f'-D{NAME.upper()}_{of}="{where}"'
        for of, where in (("DEVICES", devices), ("BUFFERS", buffers))
    ]
    command = ["gcc", "-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", *folders]
    subprocess.run([*command, str(source), "-o", str(place / "program")], check=True)
    return place / "program"


@pytest.fixture
def board(program: Path) -> Iterator[tuple[mmap.mmap, mmap.mmap]]:
    """The registers of a DMA and its buffer."""
    devices, said = program.parent / "dev", program.parent / "sys" / "udmabuf0"
    devices.mkdir(exist_ok=True)
    said.mkdir(parents=True, exist_ok=True)
    (said / "phys_addr").write_text(f"{AT:#x}\n")
    for file, size in (("uio0", WINDOW), ("udmabuf0", 2 * HALF)):
        (devices / file).write_bytes(bytes(size))
    with (devices / "uio0").open("r+b") as uio, (devices / "udmabuf0").open("r+b") as buffer:
        yield mmap.mmap(uio.fileno(), WINDOW), mmap.mmap(buffer.fileno(), 2 * HALF)


def read(registers: mmap.mmap, at: int) -> int:
    return int.from_bytes(registers[at : at + 4], "little")


def write(registers: mmap.mmap, at: int, *words: int) -> None:
    registers[at : at + 4 * len(words)] = b"".join(own.to_bytes(4, "little") for own in words)


def wait_for(happened: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.001)


def started(program: Path, *devices: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(program), *map(str, devices)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def line(words: list[int]) -> str:
    return " ".join(f"{own:08x}" for own in words) + "\n"


@pytest.mark.parametrize("status", [0x02, 0x12])
def test_a_dma(status: int, program: Path, board: tuple[mmap.mmap, mmap.mmap]) -> None:
    """A task lies in the buffer, both ways are told where, and what came is printed; or the
    error of a DMA is."""
    registers, buffer = board
    running = started(program, program.parent / "dev" / "uio0", "udmabuf0")
    wait_for(lambda: read(registers, 0x00) & 4)
    write(registers, 0x00, 0)  # it is reset
    assert running.stdin
    running.stdin.write(line(TASK))
    running.stdin.close()
    wait_for(lambda: read(registers, 0x28) and read(registers, 0x58))
    assert read(registers, 0x00) == read(registers, 0x30) == 1
    assert read(registers, 0x18) | read(registers, 0x1C) << 32 == AT
    assert read(registers, 0x48) | read(registers, 0x4C) << 32 == AT + HALF
    assert read(registers, 0x28) == 4 * len(TASK)
    assert [read(buffer, 4 * k) for k in range(len(TASK))] == TASK
    write(buffer, HALF, *ANSWER)
    write(registers, 0x58, 4 * len(ANSWER))
    write(registers, 0x34, status)
    write(registers, 0x04, 0x02)
    if status & 0x10:
        wait_for(lambda: read(registers, 0x00) & 4)
        write(registers, 0x00, 0)
    assert running.stdout
    assert running.stderr
    assert running.stdout.read() == ("" if status & 0x10 else line(ANSWER))
    assert ("Input/output error" in running.stderr.read()) == (status & 0x10 > 0)
    assert running.wait() == (status & 0x10 > 0)


@pytest.mark.usefixtures("board")
def test_a_dma_that_stays_in_reset(program: Path) -> None:
    running = started(program, program.parent / "dev" / "uio0", "udmabuf0")
    assert running.communicate()[1].endswith("Connection timed out\n")
    assert running.returncode == 1


def test_a_card(program: Path, tmp_path: Path) -> None:
    """Two tasks, each a packet of the one stream; what comes of the other is printed."""
    files = [tmp_path / of for of in ("h2c", "c2h")]
    for file in files:
        os.mkfifo(file)
    running = started(program, *files)
    with files[0].open("rb", buffering=0) as tasks, files[1].open("wb", buffering=0) as answers:
        assert running.stdin
        assert running.stdout
        for number in (0, 1):
            words = [*TASK, number]
            running.stdin.write(line(words))
            running.stdin.flush()
            assert tasks.read(4096) == b"".join(own.to_bytes(4, "little") for own in words)
            answers.write(b"".join(own.to_bytes(4, "little") for own in ANSWER))
            assert running.stdout.readline() == line(ANSWER)
        running.stdin.close()
        assert running.wait() == 0


def test_what_is_not_there_is_named(program: Path, tmp_path: Path) -> None:
    for devices in ((tmp_path / "h2c", tmp_path / "c2h"), (tmp_path / "uio7", "udmabuf7")):
        done = started(program, *devices)
        assert done.communicate() == ("", f"{devices[0]}: No such file or directory\n")
        assert done.returncode == 1
