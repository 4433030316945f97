"""The former place of `rbdgen_host.driver`, taken until version 0.2 with a warning."""

import warnings
from typing import Any

import rbdgen_host.driver

warnings.warn("rbdgen.driver is rbdgen_host.driver now", DeprecationWarning, stacklevel=2)


def __getattr__(name: str) -> Any:
    return getattr(rbdgen_host.driver, name)
