"""Arrays in files: what is no batch of numbers is refused in one line, before room is made."""

from __future__ import annotations

import io
import os
import resource
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api import arrays


def npz(place: Path, header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> Path:
    """A file with one array ``q`` of that header."""
    text = header.encode()
    data = b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + body
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("q.npy", data)
    return place


def of_shape(shape: str) -> str:
    return f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n"


def test_what_was_written_is_read(tmp_path: Path) -> None:
    given = {
        "q": np.arange(12.0).reshape(3, 4),
        "by_column": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "names": np.array(["a", "bcd"]),
        "none": np.zeros((0, 7)),
        "one": np.array(2.5),
        "flags": np.array([True, False]),
    }
    api.write_arrays(tmp_path / "states.npz", given)
    found = api.read_arrays(tmp_path / "states.npz")
    assert set(found) == set(given)
    for name, array in given.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
        found[name][...] = found[name]  # can be written to
    np.savez_compressed(tmp_path / "small.npz", q=given["q"])
    np.testing.assert_array_equal(api.read_arrays(tmp_path / "small.npz")["q"], given["q"])


@pytest.fixture
def little_memory() -> Iterator[None]:
    """2 GB more than is taken, so that what takes more fails."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + 2 * 10**9
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), \n", b""),  # TokenError
        (of_shape("(1000000000000, 2)"), b""),
        (of_shape("(1000000000000, 0, 2, 1000000000000)"), b"xx"),
        (of_shape("(-1, -2)"), bytes(16)),
        (of_shape("('a', 2)"), bytes(16)),
        (of_shape("(2,)"), bytes(15)),
        (of_shape("(2,)"), bytes(17)),
        (of_shape("(" * 900 + ")" * 900), bytes(16)),
        (of_shape("(1,)").replace("<f8", "|O"), bytes(8)),
        (of_shape("(1,)").replace("<f8", "nonsense"), bytes(8)),
        ("", b""),
        ("\0" * 60, b""),
    ],
)
def test_headers(tmp_path: Path, header: str, body: bytes) -> None:
    file = npz(tmp_path / "states.npz", header, body)
    with pytest.raises(api.InputError, match=r"no \.npz file of numbers, or a damaged") as refused:
        api.read_arrays(file)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400 + len(str(file))


def test_versions(tmp_path: Path) -> None:
    file = npz(tmp_path / "states.npz", of_shape("(0,)"), version=b"\x09\x00")
    with pytest.raises(api.InputError, match=r"format 9\.0 is not one of numbers"):
        api.read_arrays(file)


def test_any_damage_is_one_line(tmp_path: Path) -> None:
    """Bytes at random places, seeded: read as some array, or refused."""
    stream = io.BytesIO()
    np.savez(stream, q=np.arange(6.0), names=np.array(["a", "b"]))
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(300):
        data = bytearray(stream.getvalue())
        for at in rng.integers(0, len(data), 1 + rng.integers(4)):
            data[at] = rng.integers(256)
        (tmp_path / "x.npz").write_bytes(data[: rng.integers(1, 2 * len(data))])
        try:
            api.read_arrays(tmp_path / "x.npz")
        except api.InputError:
            refused += 1
    assert 200 < refused < 300


def test_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is small in the file and large in memory is refused as what is large in the file."""
    monkeypatch.setattr(arrays, "LARGEST", 2**20)
    np.savez_compressed(tmp_path / "small.npz", q=np.zeros(10**6))
    np.savez(tmp_path / "large.npz", q=np.zeros(10**6))
    with pytest.raises(api.InputError, match="unpacked it has 7 MiB, of 1 at most"):
        api.read_arrays(tmp_path / "small.npz")
    with pytest.raises(api.InputError, match="larger than 1 MiB"):
        api.read_arrays(tmp_path / "large.npz")


def test_pipes_and_devices(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(api.InputError, match="a pipe or a device; name an ordinary file"):
            api.read_arrays(place)


@pytest.mark.parametrize("place", ["a\0b", "a\udc00b/\ud800"])
def test_no_place(place: str) -> None:
    with pytest.raises(api.InputError):
        api.read_arrays(Path(place))
    with pytest.raises(api.OutputError):
        api.write_arrays(Path(place), {})
    with pytest.raises(api.OutputError):
        api.simulate(place)
