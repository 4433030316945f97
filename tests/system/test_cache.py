"""What was compiled is used again only as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rbdgen.system.cache import DIGESTS, is_kept, is_remembered, keep, remember

FILES = {"a.o": b"one object", "b.o": b"another"}


def kept(folder: Path) -> Path:
    with keep(folder) as work:
        for name, data in FILES.items():
            (work / name).write_bytes(data)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return kept(tmp_path / "kept")


def test_what_is_whole_is_kept(folder: Path) -> None:
    assert is_kept(folder, list(FILES))
    assert not is_kept(folder, [*FILES, "c.o"])
    assert not is_kept(folder.with_name("nothing"), list(FILES))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("data", [b"", b"one", b"one objecT", b"one object "])
def test_any_change_is_seen(folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)
    assert not is_kept(folder, list(FILES))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", '{"a.o": 1}', '{"a.o": "', "[" * 100_000], ids=len
)
def test_spoilt_digests(folder: Path, text: str) -> None:
    (folder / DIGESTS).write_text(text)
    assert not is_kept(folder, list(FILES))
    kept(folder)
    assert is_kept(folder, list(FILES))
    assert set(json.loads((folder / DIGESTS).read_text())) == set(FILES)


def test_libraries_are_known_by_content_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    library = tmp_path / "model.so"
    library.write_bytes(b"\x7fELF")
    assert not is_remembered(library, "0123")
    remember(library, "0123")
    assert is_remembered(library, "0123")
    assert not is_remembered(library, "4567")
    library.write_bytes(b"\x7fELG")
    assert not is_remembered(library, "0123")
