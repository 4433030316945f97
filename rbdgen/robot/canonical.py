"""Exact rewrites: another robot with the same τ, M and gradients, and less arithmetic.

Each rewrite is a pure function Robot → Robot. ``rewrites`` lists them in the order in which they
help each other; ``canonicalize`` runs them all and ``stages`` shows the robot after each.
Only ``align_axes`` and ``equal_limbs`` may change the robot physically, by the tolerances that they
are given (0 for none), and they say what they changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .base_parameters import regroup_inertia
from .denavit_hartenberg import modified_dh
from .equal_limbs import equal_limbs
from .fixed_links import merge_fixed
from .frames import align_axes
from .model import Robot

Rewrite = Callable[[Robot], Robot]


def rewrites(
    snap: float | None = 0.0,
    notes: list[str] | None = None,
    alike: float = 0.0,
    geometry: bool = False,
) -> list[tuple[str, Rewrite]]:
    """The canonical form, step by step; each step relies on the one before."""
    steps: list[tuple[str, Rewrite]] = [
        ("merge_fixed", merge_fixed),  # later steps see moving joints only
        ("align_axes", lambda robot: align_axes(robot, snap, notes)),  # one case: z
        ("equal_limbs", lambda robot: equal_limbs(robot, alike, notes)),  # before frames differ
        (
            "modified_dh",
            lambda robot: modified_dh(robot, geometry),
        ),  # frames may slide and turn about z only
        # depends on the final frames
        ("regroup_inertia", lambda robot: regroup_inertia(robot, not geometry)),
    ]
    return [step for step in steps if alike or step[0] != "equal_limbs"]


def stages(
    robot: Robot,
    snap: float | None = 0.0,
    notes: list[str] | None = None,
    bodies: bool = False,
    alike: float = 0.0,
    geometry: bool = False,
) -> Iterator[tuple[str, Robot]]:
    """The robot after each rewrite, with the rewrite's name. ``bodies``: its inertias stay those
    of bodies that have a centre of mass. ``geometry``: frames and what is left of inertias depend
    on no inertia, so that robots of one model are rewritten alike."""
    for name, rewrite in rewrites(snap, notes, alike, geometry)[: -1 if bodies else None]:
        robot = rewrite(robot)
        yield name, robot


def canonicalize(
    robot: Robot,
    snap: float | None = 0.0,
    notes: list[str] | None = None,
    alike: float = 0.0,
    geometry: bool = False,
) -> Robot:
    """All rewrites. ``snap`` [rad] is ``align_axes``'s tolerance, ``alike`` ``equal_limbs``'s;
    ``geometry`` as of `stages`."""
    for _, rewrite in rewrites(snap, notes, alike, geometry):
        robot = rewrite(robot)
    return robot
