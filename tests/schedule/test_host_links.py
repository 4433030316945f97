"""The model of links: what bytes take through them, one task after another."""

from dataclasses import replace

import pytest

from rbdgen.schedule.pipelined import HostLink

PLAIN = HostLink("plain", 1e6, 100, 10, 1e-3, "none")


def test_packets_are_filled() -> None:
    assert PLAIN.seconds(100) == pytest.approx(110e-6)
    assert PLAIN.seconds(101) == pytest.approx(121e-6)
    assert PLAIN.seconds(0) == 0


def test_the_pace_is_of_the_fuller_way() -> None:
    """One task a packet, as they come one by one."""
    for ways in ((50, 20), (20, 50)):
        assert PLAIN.pace(*ways) == pytest.approx(1 / 60e-6)


def test_frames_have_packets_of_their_own() -> None:
    framed = replace(PLAIN, framed=True)
    assert framed.pace(50, 20) == pytest.approx(1 / 60e-6) and PLAIN.each(50, 2) < 60e-6
    assert framed.call(50, 20) == pytest.approx(1e-3 + 90e-6)
