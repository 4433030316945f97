"""Inverse and forward dynamics in logarithmic depth, batched, on whatever JAX runs on.

Inverse dynamics as scans and forward dynamics by joint-space inversion, articulated bodies or
constraint forces (Yang, Wu and Pan, arXiv 1609.04493 and 1609.06779, with their misprints
corrected). Everything is written once over arrays: JAX computes with it, and arrays of graph
nodes trace it.
"""

from typing import TYPE_CHECKING

from rbdgen.system import names_from

if TYPE_CHECKING:
    from .dynamics import Dynamics
    from .formulations import FORWARD, INVERSE, MASS
    from .graphs import traced

__getattr__ = names_from(
    __name__,
    {
        ".dynamics": ("Dynamics",),
        ".formulations": ("FORWARD", "INVERSE", "MASS"),
        ".graphs": ("traced",),
    },
)

__all__ = ["FORWARD", "INVERSE", "MASS", "Dynamics", "traced"]
