"""The digest under which results are kept: what it is of, and what it is not of."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen.api.design_file import compiler_digest
from rbdgen_benchmarks.bench import board, measurements


def digest(*besides: Path) -> str:
    compiler_digest.cache_clear()
    return compiler_digest(besides)


@pytest.mark.parametrize("whole", [True, False], ids=["folder", "file"])
def test_what_stands_beside_the_package_counts(whole: bool, tmp_path: Path) -> None:
    """Its text and its name do; where it lies does not."""
    found = []
    for place, text in (("here", "a = 1"), ("there", "a = 1"), ("changed", "a = 2")):
        folder = tmp_path / place / "beside"
        folder.mkdir(parents=True)
        (folder / "own.py").write_text(text)
        found.append(digest(folder if whole else folder / "own.py"))
    assert found[0] == found[1] != found[2]
    assert digest() not in found


def test_measurements_name_what_is_there() -> None:
    assert (measurements.HERE / "cpu.py").is_file()
    assert all(file.is_file() for file in board.HERE)
