"""A reproduction: text, numbers and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reproduction:
    """``text`` for a reader, ``numbers`` for a program, pictures as SVG by their file's name."""

    text: str
    numbers: Mapping[str, Any]
    pictures: Mapping[str, str] = field(default_factory=dict)
