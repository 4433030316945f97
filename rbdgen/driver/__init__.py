"""The host's side of an accelerator: dynamics as Pinocchio names them, and a header for C."""

from .dynamics import BACKENDS, Dynamics, OverflowWarning, Ticket
from .header import c_header

__all__ = ["BACKENDS", "Dynamics", "OverflowWarning", "Ticket", "c_header"]
