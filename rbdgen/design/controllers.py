"""A controller among a design's choices, which is one of its functions where it is a law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import checks
from .functions import LAWS


def with_law(choices: Mapping[str, Any], functions: Sequence[str] = ()) -> dict[str, Any]:
    """The choices, a controller that is a law among their functions: a design has it there.

    Without functions beside it that is the only one. ``functions``: those of a design that the
    choices win over, whose law another controller takes the place of. ValueError for a controller
    that there is not.
    """
    found = dict(choices)
    if (said := found.get("controller")) is None:
        return found
    name, own = checks.CONTROLLER(said), found.get("functions")
    if name in LAWS:
        beside = (own,) if isinstance(own, str) else tuple(own or ())
        together = beside if name in beside else (*beside, name)
        return found | {"controller": "none", "functions": together}
    if own is None and not set(LAWS).isdisjoint(functions):
        left = tuple(function for function in functions if function not in LAWS)
        found["functions"] = left or ("id",)
    return found
