"""The former place of `rbdgen_host.parallel`, taken until version 0.2 with a warning."""

import warnings
from typing import Any

import rbdgen_host.parallel

warnings.warn("rbdgen.parallel is rbdgen_host.parallel now", DeprecationWarning, stacklevel=2)


def __getattr__(name: str) -> Any:
    return getattr(rbdgen_host.parallel, name)
