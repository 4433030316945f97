"""The defaults in which commands differ, by option; of all others the table of options has them."""

from __future__ import annotations

from collections.abc import Mapping

WHOLE = "id, fd, m, minv, did, dfd and difd"
ACCELERATOR = {"functions": f"the design's, else id; with --accelerator {WHOLE}"}
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "info": ACCELERATOR,
    "generate": ACCELERATOR,
    "states": {"functions": f"the arrays of {WHOLE}"},
    "explore": {
        "formulation": "composite and recursive of functions with gradients, else auto",
        "ii": "those of 1 to 6, 8, 10, 12, 16, 20, 24 and 32 that save multipliers; with --quick, "
        "all for which the part has the multipliers",
        "fold": "auto; with --quick none",
    },
    "compare": {
        "functions": "did and difd, whatever the design's are",
        "angles": "sincos for did and difd, else on-chip",
        "gravity": "0 0 0 for did and difd, as others have built them; else the robot's",
        "target": "xcup",
        "ii": "1, 8 and 24, of which those are left out for which the part has too few multipliers",
    },
}
