"""What a task takes through a link, and where the link is the slower part."""

from dataclasses import replace

import pytest

from rbdgen.schedule.pipelined import HostLink
from rbdgen_benchmarks.compare.link_times import LINKS, Timing

BY_NAME = {link.name: link for link in LINKS}
CORE = Timing(latency=1e-6, interval=1e-8)
PLAIN = HostLink("plain", 1e6, 100, 10, 1e-3, "none")


def test_one_task_waits_for_everything() -> None:
    assert CORE.alone(1) == 1e-6
    assert CORE.through(PLAIN, 50, 20, 1) == pytest.approx(1e-3 + 60e-6 + 1e-6 + 30e-6)


def test_many_go_at_the_pace_of_the_slowest() -> None:
    each = (CORE.through(PLAIN, 50, 20, 20_000) - CORE.through(PLAIN, 50, 20, 10_000)) / 10_000
    assert each == pytest.approx(55e-6, rel=1e-3)  # two tasks in a packet
    slow = Timing(1e-6, 1e-3)
    each = (slow.through(PLAIN, 50, 20, 2000) - slow.through(PLAIN, 50, 20, 1000)) / 1000
    assert each == pytest.approx(1e-3)


def test_frames_through_a_link() -> None:
    framed = replace(PLAIN, framed=True)
    each = (CORE.through(framed, 50, 20, 20) - CORE.through(framed, 50, 20, 10)) / 10
    assert each == pytest.approx(60e-6)


def test_the_links_carry_what_they_are_said_to() -> None:
    """Megabytes a second each way, packets full."""
    rates = {name: 1e-6 * 1e6 / link.seconds(1_000_000) for name, link in BY_NAME.items()}
    assert rates["PCIe Gen1 x8"] == pytest.approx(2000 * 128 / 156, rel=1e-3)
    assert rates["PCIe Gen3 x16"] == pytest.approx(15754 * 128 / 156, rel=1e-3)
    assert rates["1 GbE, UDP"] == pytest.approx(125 * 1472 / 1538, rel=1e-3)
    assert rates["UART, 3 Mbaud"] == pytest.approx(0.3)
