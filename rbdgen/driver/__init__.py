"""The host's side of an accelerator: dynamics as Pinocchio names them, and a header for C."""

from ..api.header import c_header
from .dynamics import BACKENDS, Dynamics
from .rk4 import Step, rk4_sensitivity
from .tickets import OverflowWarning, Ticket

__all__ = [
    "BACKENDS",
    "Dynamics",
    "OverflowWarning",
    "Step",
    "Ticket",
    "c_header",
    "rk4_sensitivity",
]
