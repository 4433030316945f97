"""Calls within JAX beside frax: a row, and one line where frax is missing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from rbdgen.api.folder import InputError
from rbdgen_benchmarks.bench import in_jax


@pytest.mark.skipif(importlib.util.find_spec("frax") is None, reason="frax is not installed")
def test_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, own in (("RUNS", 1), ("SECONDS", 1e-4)):
        monkeypatch.setattr(in_jax, name, own)
    (row,) = in_jax.within.measure(tmp_path, lambda _: None, "iiwa14", "m", 1)
    assert len(row) == len(in_jax.HEAD)
    assert all(own > 0 for own in row[1:])


def test_without_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "frax.core.manipulator", None)
    in_jax._models.cache_clear()
    with pytest.raises(InputError, match="not installed: pip install frax"):
        in_jax._models("iiwa14")
