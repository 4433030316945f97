"""The names of all measurements, and roughly how long each takes on two cores."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rbdgen.robot.xml_lines import did_you_mean, quoted
from rbdgen.system.refusal import Refusal

ALL, DAYS = "all", "days"
TAKES = {
    "cpu": "an hour",
    "parameters": "minutes",
    "payload": "minutes",
    "identities": "minutes",
    "second-derivatives": "minutes",
    "rounding": "minutes",
    "codesign": "minutes",
    "compiling": "minutes",
    "programs": "an hour",
    "bit-exactness-c": "minutes",
    "bit-exactness-hls": "an hour",
    "bit-exactness-accelerators": "minutes",
    "board": "hours",
    "gpu": "minutes",
    "loops": "minutes",
    "mppi": "minutes",
    "bits": "minutes",
    "ranges": "hours",
    "proven": "minutes",
    "accuracy": "minutes",
    "scans": "half an hour",
    "growth": "minutes",
    "tool-latency": "half an hour",
    "entry": "minutes",
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
    "reliability": "an hour",
    "fuzz-urdf": "minutes",
    "fuzz-packets": "minutes",
    "vectors": DAYS,
    "rk4": "minutes",
    "delays": "an hour",
    "area-model": "hours",
    "logarithmic": "minutes",
    "logarithmic-chains": "an hour",
    "latency": "an hour",
    "functions-iiwa14_fast": "hours",
    "functions-hyq": "hours",
    "functions-hyq-floating": "hours",
    "functions-humanoid": "hours",
}


# Name of before → name now; both are taken.
FORMER = {
    "second": "second-derivatives",
    "exact-c": "bit-exactness-c",
    "exact-hls": "bit-exactness-hls",
    "exact-accelerators": "bit-exactness-accelerators",
    "tool": "tool-latency",
    "reliability-robots": "fuzz-urdf",
    "reliability-packets": "fuzz-packets",
}
# Of those that take robots one after another, which ``only`` can choose from.
OF_ROBOTS = (
    "cpu",
    "programs",
    "bit-exactness-c",
    "bit-exactness-hls",
    "bit-exactness-accelerators",
)


class UnknownMeasurement(Refusal, ValueError):
    """The measurement ``name`` is none."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


def refuse_unknown(only: Sequence[str], robots: Collection[str]) -> None:
    """UnknownMeasurement for a name in ``only`` that no robot of a measurement has."""
    for name in only:
        if name not in robots:
            hint = did_you_mean(name, sorted(robots), f"; one of {', '.join(sorted(robots))}")
            raise UnknownMeasurement(f"--only: no robot {quoted(name)} is measured{hint}", name)


def chosen(names: Sequence[str], only: Sequence[str] = ()) -> list[str]:
    """The measurements called ``names``, once each; ``functions`` for all that begin so.

    "all" for all but those that take days.

    UnknownMeasurement for a name that is none, and where ``only`` says of which robots, for one
    that has no choice of them.
    """
    found: dict[str, None] = {}
    for name in names:
        known = {**dict(zip(TAKES, TAKES, strict=True)), **FORMER}
        own = [m for n, m in known.items() if n == name or n.startswith(f"{name}-")]
        if name == ALL:
            own = [m for m, takes in TAKES.items() if takes != DAYS]
        if not own:
            there_are = (*TAKES, ALL)
            hint = did_you_mean(name, there_are, f"; one of {', '.join(there_are)}")
            raise UnknownMeasurement(f"no measurement {quoted(name)}{hint}", name)
        found |= dict.fromkeys(own)
    for name in found if only else ():
        if name not in OF_ROBOTS:
            of = ", ".join(OF_ROBOTS)
            raise UnknownMeasurement(f"--only: {name} has no robots to choose; {of} have", name)
    return list(found)
