"""Memory that nothing here uses any more, handed back to the machine."""

from __future__ import annotations

import ctypes


def hand_back() -> None:
    """Give the machine what is free between what is in use, before other processes need it.

    glibc keeps it for later: after a search for ranges, gigabytes. Other C libraries have no such
    call, and then nothing happens.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
