"""The output of a command, as data and as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import api
from ..system.records import Record


class Output(NamedTuple):
    """The output of a command: the data for ``--json``, and the text without it; ``status``: that
    the command ends with."""

    report: Mapping[str, Any]
    text: str
    status: int = 0


def answer(report: api.Report[Record]) -> Output:
    """The output of a command that returns a report."""
    return Output(report.facts.to_json(), report.as_text())
