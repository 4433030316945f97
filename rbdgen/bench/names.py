"""What can be measured, and about how long that takes on two cores."""

from __future__ import annotations

from collections.abc import Sequence

from ..robot.xml_lines import did_you_mean, quoted
from ..system.refusal import Refusal

ALL = "all"
TAKES = {
    "cpu": "an hour",
    "payload": "minutes",
    "rounding": "minutes",
    "codesign": "minutes",
    "programs": "an hour",
    "exact-c": "minutes",
    "exact-hls": "an hour",
    "exact-accelerators": "minutes",
    "board": "hours",
    "gpu": "minutes",
    "loops": "minutes",
    "bits": "minutes",
    "ranges": "hours",
    "proven": "minutes",
    "scans": "half an hour",
    "growth": "minutes",
    "tool": "half an hour",
    "robots": "an hour",
    "quadruped": "an hour",
    "humanoid": "minutes",
    "xilinx": "an hour",
    "iiwa": "hours",
    "hyq": "hours",
    "folded": "hours",
    "fold-overhead": "minutes",
    "accelerators": "hours",
    "peers": "hours",
    "rk4": "minutes",
    "delays": "an hour",
    "area-model": "hours",
    "logarithmic": "minutes",
    "logarithmic-chains": "an hour",
    "latency": "an hour",
    "functions-iiwa14": "hours",
    "functions-hyq": "hours",
    "functions-hyq-floating": "hours",
    "functions-humanoid": "hours",
}


class UnknownMeasurement(Refusal, ValueError):
    """The measurement ``name`` is none."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


def chosen(names: Sequence[str]) -> list[str]:
    """The measurements called ``names``, once each: "all", or ``functions`` for all that begin so.

    UnknownMeasurement for a name that is none.
    """
    found: dict[str, None] = {}
    for name in names:
        own = [m for m in TAKES if name in (m, ALL) or m.startswith(f"{name}-")]
        if not own:
            known = (*TAKES, ALL)
            hint = did_you_mean(name, known, f"; one of {', '.join(known)}")
            raise UnknownMeasurement(f"no measurement {quoted(name)}{hint}", name)
        found |= dict.fromkeys(own)
    return list(found)
