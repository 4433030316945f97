"""A controller among a design's choices, a function where it is a law; what none goes with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..system.quoting import listed
from . import checks
from .functions import FOLLOWING, LAWS, PROGRAMS
from .rule import Rule, but, of, said


def with_law(choices: Mapping[str, Any], functions: Sequence[str] = ()) -> dict[str, Any]:
    """The choices, a controller that is a law among their functions: a design has it there.

    Without functions beside it that is the only one. ``functions``: those of a design that the
    choices win over, whose law another controller takes the place of. ValueError for a controller
    that there is not.
    """
    found = dict(choices)
    if (wanted := found.get("controller")) is None:
        return found
    name, own = checks.CONTROLLER(wanted), found.get("functions")
    if name in LAWS:
        beside = (own,) if isinstance(own, str) else tuple(own or ())
        together = beside if name in beside else (*beside, name)
        return found | {"controller": "none", "functions": together}
    if own is None and not set(LAWS).isdisjoint(functions):
        left = tuple(function for function in functions if function not in LAWS)
        found["functions"] = left or ("id",)
    return found


# Who asks, if not a design when it is made: who writes the program, and who computes functions.
PREDICTED, COMPUTING = "predictive controllers", "functions"

# Rows of the table of `rules`: what a controller computes for itself, or has no input for.
OF_CONTROLLERS = (
    Rule(
        (of("functions", *LAWS), of("angles", "sincos")),
        "functions: {value} takes errors of angles, not of their sines; leave angles out",
    ),
    *(
        Rule(
            (of("functions", law), of("functions", *(own for own in LAWS if own != law))),
            f"functions: {law}: a design has one controller, and {{other}} is another",
        )
        for law in LAWS
    ),
    Rule(
        (but("functions", *FOLLOWING), said("tick")),
        f"functions: {{value}}: not with --tick, which is of {listed(FOLLOWING, 'or')} alone",
    ),
    Rule(
        (said("base_link"), of("functions", *LAWS)),
        "base_link: {value}: {other} is of the file's base; leave it out",
    ),
    Rule(
        (of("controller", *LAWS),),
        "controller: {value}: a design has a law among its functions; load puts it there",
    ),
    Rule(
        (of("controller", *PROGRAMS),),
        "controller: {value} is a program, of rbdgen generate --to cpp or c alone",
        at=COMPUTING,
    ),
    Rule(
        (of("controller", *PROGRAMS), but("to", "cpp", "c")),
        "controller: {value} is for cpp and c, not for {others}; --to cpp",
    ),
    Rule(
        (but("functions", "id"), of("controller", *PROGRAMS)),
        "functions: {value}: controller {other} computes id, did and m itself; leave it out",
        at=PREDICTED,
    ),
    *(
        Rule(
            (where, of("controller", *PROGRAMS)),
            f"{where.key}: {{value}}: not with controller {{other}}, {why}",
            at=PREDICTED,
        )
        for where, why in (
            (
                of("base", "floating"),
                "which needs a motor for each coordinate; hold the base, or "
                "plan by crocoddyl over --function dfd,minv",
            ),
            *(
                (said(key), "whose numbers are the robot's alone; leave it out")
                for key in ("external_forces", "payload", "parameters")
            ),
            (said("angles"), "which computes sines itself; leave it out"),
            (said("accelerator"), "which is a program; leave it out"),
            (said("code"), "whose code is inlined; leave it out"),
            (said("float_error"), "which computes in double; leave it out"),
        )
    ),
)
