"""The host's side of a design: dynamics as Pinocchio names them, and a header for C."""

from typing import TYPE_CHECKING

from rbdgen.system import names_from

if TYPE_CHECKING:
    from rbdgen.api.c_header import c_header

    from .defaults import BACKENDS, DynamicsWarning
    from .dynamics import Dynamics
    from .futures import FarError, FarWarning, OverflowWarning, Ticket
    from .rk4 import Step, rk4_sensitivity

__getattr__ = names_from(
    __name__,
    {
        "rbdgen.api.c_header": ("c_header",),
        ".defaults": ("BACKENDS", "DynamicsWarning"),
        ".dynamics": ("Dynamics",),
        ".rk4": ("Step", "rk4_sensitivity"),
        ".futures": ("FarError", "FarWarning", "OverflowWarning", "Ticket"),
    },
)

__all__ = [
    "BACKENDS",
    "Dynamics",
    "DynamicsWarning",
    "FarError",
    "FarWarning",
    "OverflowWarning",
    "Step",
    "Ticket",
    "c_header",
    "rk4_sensitivity",
]
