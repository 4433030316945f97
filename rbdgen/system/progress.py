"""Progress of long work: lines for people, while it runs."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str], None]
