"""What a task takes on the line to a board, said before anything is built."""

from __future__ import annotations

from rbdgen import api
from rbdgen.design.facts import BoardLine
from rbdgen.draw.tables import info_text

# Words of 2·21 and 4·18 bits are 15 bytes; head, CRC and flags 9. Back: 36 and 54 bits, and 10.
# Of 0.3 MB a second of a serial line and a millisecond's turn, and of a gigabit with 66 bytes
# around a datagram and 30 µs.
ID = BoardLine(24, 15, 1130, 12500, 31, 1388889)
M = BoardLine(15, 17, 1107, 17647, 31, 1506024)


def test_of_tasks() -> None:
    facts = api.info("pendulum", functions=("id", "m"), accelerator=True, ii=2).facts
    assert facts.lines == {"id": ID, "m": M}
    (row,) = [line for line in info_text(facts).splitlines() if line.startswith("id  ")][-1:]
    assert row.split()[-6:] == ["24", "15", "1130", "12500", "31", "1388889"]
    assert row.split()[1].startswith("~0.")  # µs in the core


def test_of_a_core() -> None:
    """As of its accelerator; of several functions there is none."""
    facts = api.info("pendulum", width=18).facts
    assert facts.lines == {"id": ID} and "Ethernet, µs a call" in info_text(facts)
    facts = api.info("pendulum", functions=("id", "m")).facts
    text = info_text(facts)
    assert facts.lines == {} and "on a board" not in text and "M tasks/s at speed 6" in text


def test_of_a_part_whose_clock_is_not_known() -> None:
    facts = api.info("pendulum", width=18, target="xcup").facts
    assert facts.clocks == () and "~" not in info_text(facts)
