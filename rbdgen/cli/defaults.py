"""The default of an option in the help, where neither an option nor a design's file sets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

WHOLE = "id, fd, m, minv, did, dfd and difd"


class Defaults(NamedTuple):
    """The defaults in which commands differ. Of all other options it is the design's own."""

    function: str = "the design's, else id"
    formulation: str = "auto"
    angles: str = "on-chip"
    gravity: str = "the robot's, else 0 0 -9.81 m/s²"
    target: str = "ecp5-85f"
    ii: str = "the shortest that fits the part"
    fold: str = "auto"


DESIGN = Defaults()
ACCELERATOR = DESIGN._replace(function=f"the design's, else id; with --accelerator {WHOLE}")
DEFAULTS: Mapping[str, Defaults] = {
    "info": ACCELERATOR,
    "generate": ACCELERATOR,
    "states": DESIGN._replace(function=f"the arrays of {WHOLE}"),
    "explore": DESIGN._replace(
        formulation="composite and recursive of functions with gradients, else auto",
        ii="those of 1 to 6, 8, 10, 12, 16, 20, 24 and 32 that save multipliers; with --quick, all "
        "for which the part has the multipliers",
        fold="auto; with --quick none",
    ),
    "compare": DESIGN._replace(
        function="did and difd, whatever the design's are",
        angles="sincos for did and difd, else on-chip",
        gravity="0 0 0 for did and difd, as others have built them; else the robot's",
        target="xcup",
        ii="1, 8 and 24, of which those are left out for which the part has too few multipliers",
    ),
}
