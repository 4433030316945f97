"""The list of figures: each of its lines stands in its page, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.figures import PLACE, Command, Line, listed, moved

COMMANDS = listed(PLACE.read_text())


@pytest.mark.parametrize("command", COMMANDS, ids=[c.words for c in COMMANDS])
def test_every_line_stands_once(command: Command) -> None:
    assert command.lines
    for line in command.lines:
        assert line.fields
        assert len(line.places(line.page.read_text())) == 1, line.template


def test_what_moved(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("| arm | 100 | x | 16.4 k |\n")
    line = Line(page, "| arm | {latency} | … | {luts} k |")
    facts = {"operations": {}, "latency": 101, "estimated": {"luts": 16432}}
    ((name, place, k, now),) = moved(line, facts)
    assert (name, place[k], now) == ("latency", "100", "101")
