"""What was compiled is used again only as it was."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rbdgen.system.cache import (
    DIGESTS,
    IN_USE,
    CacheError,
    cached,
    cached_result,
    is_cached,
    named,
    prune,
    store,
)

FILES = {"a.o": b"one object", "b.o": b"another"}


def kept(folder: Path) -> Path:
    with store(folder) as work:
        for name, data in FILES.items():
            (work / name).write_bytes(data)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return kept(tmp_path / "kept")


def test_what_is_whole_is_kept(folder: Path) -> None:
    assert is_cached(folder, list(FILES))
    assert is_cached(folder)
    assert not is_cached(folder, [*FILES, "c.o"])
    assert not is_cached(folder.with_name("nothing"), list(FILES))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("data", [b"", b"one", b"one objecT", b"one object "])
def test_any_change_is_seen(folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)
    assert not is_cached(folder, list(FILES))
    assert not is_cached(folder)


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", '{"a.o": 1}', '{"a.o": "', "[" * 100_000], ids=len
)
def test_spoilt_digests(folder: Path, text: str) -> None:
    (folder / DIGESTS).write_text(text)
    assert not is_cached(folder, list(FILES))
    assert not is_cached(folder)
    kept(folder)
    assert is_cached(folder, list(FILES))
    assert set(json.loads((folder / DIGESTS).read_text())) == set(FILES)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rbdgen"


def test_made_once_and_again_when_damaged(cache: Path) -> None:
    said: list[str] = []
    made: list[Path] = []

    def make(work: Path) -> None:
        made.append(work)
        (work / "a.o").write_bytes(b"one object")

    for _ in range(2):
        assert cached("name", make, said.append) == cache / "name"
    assert (len(made), said) == (1, [])
    (cache / "name" / "a.o").write_bytes(b"another")
    for _ in range(2):
        cached("name", make, said.append)
    assert len(made) == 2
    assert said == [f"{cache / 'name'}: damaged, or without digests; made again"]
    assert (cache / "name" / "a.o").read_bytes() == b"one object"


def test_what_cannot_be_made_leaves_nothing(cache: Path) -> None:
    def make(work: Path) -> None:
        (work / "a.o").write_bytes(b"half an ob")
        raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        cached("name", make)
    assert not list(cache.iterdir())


def entry(cache: Path, name: str, size: int, age: float) -> Path:
    """Of the cache, last used ``age`` s ago."""
    folder = cache / name
    with store(folder) as work:
        (work / "data").write_bytes(bytes(size))
    used = time.time() - age
    os.utime(folder, (used, used))
    return folder


def test_what_was_not_used_for_longest_goes(cache: Path) -> None:
    old, older, oldest = (entry(cache, f"{n}", 1000, n * 2 * IN_USE) for n in (1, 2, 3))
    stray = cache / ".left-by-another-version"
    stray.write_bytes(bytes(1000))
    os.utime(stray, (0, 0))
    prune(10**6)
    assert len(list(cache.iterdir())) == 4
    assert is_cached(oldest)  # which uses it
    prune(3500)
    assert set(cache.iterdir()) == {old, older, oldest}
    prune(1500)
    assert set(cache.iterdir()) == {oldest}


def test_what_is_in_use_stays(cache: Path) -> None:
    folders = {entry(cache, f"{n}", 1000, n) for n in range(3)}
    prune(0)
    assert set(cache.iterdir()) == folders
    cached("new", lambda work: None)
    assert set(cache.iterdir()) == {*folders, cache / "new"}


def test_what_is_made_makes_room(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry(cache, "old", 1000, 2 * IN_USE)
    monkeypatch.setattr(prune, "__defaults__", (0,))
    cached("new", lambda work: None)
    assert set(cache.iterdir()) == {cache / "new"}


def test_no_cache_is_no_error(cache: Path) -> None:
    prune(0)
    assert not cache.exists()


def test_names_have_digests_of_all() -> None:
    """Of a text as it is, and of several things apart: no two of them are taken for one."""
    found = [named("x", *of) for of in (("ab",), ("a", "b"), ("a b",), (b"ab", 1), ("b", "a"))]
    assert len(set(found)) == 5
    assert all(re.fullmatch(r"x-[0-9a-f]{16}", name) for name in found)
    assert named("x", "ab") == named("x", b"ab")


def test_where_nothing_can_be_written(cache: Path) -> None:
    cache.write_text("a file")
    with pytest.raises(CacheError, match=r": [A-Z].*; XDG_CACHE_HOME can name another"):
        cached("name", lambda work: None)
    with pytest.raises(CacheError, match=f"{cache}.*: [A-Z]"):
        cached_result(cache, "x", "input", dict)


def test_a_result_is_computed_once(tmp_path: Path) -> None:
    calls: list[str] = []

    def compute(word: str) -> Callable[[], Any]:
        return lambda: calls.append(word) or {1: word}

    for _ in range(2):
        assert cached_result(tmp_path / "new", "x", "input", compute("a")) == {"1": "a"}
    assert cached_result(tmp_path / "new", "x", "other", compute("b")) == {"1": "b"}
    assert calls == ["a", "b"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-4],
        lambda text: text.replace('"a"', '"b"'),
        lambda text: '{"1": "a"}',
        lambda text: "[" * 100_000,
    ],
    ids=["short", "changed", "without a digest", "nested"],
)
def test_a_damaged_result_is_computed_again(damage: Callable[[str], str], tmp_path: Path) -> None:
    said: list[str] = []
    for word in ("a", "c"):
        assert cached_result(tmp_path, "x", "input", lambda: {1: word}, said.append) == {"1": word}  # noqa: B023
        (file,) = tmp_path.iterdir()
        if word == "a":
            assert not said
            file.write_text(damage(file.read_text()))
    assert cached_result(tmp_path, "x", "input", dict, said.append) == {"1": "c"}
    assert len(said) == 1 and said[0].startswith(f"{file}: damaged")
