"""nvcc, where it is installed."""

from __future__ import annotations

import pytest

from rbdgen.codegen.nvcc import NoNvcc, find_nvcc
from rbdgen.system.compiler import Command


def needed_nvcc() -> Command:
    """The command of nvcc; a test that asks for it is skipped where there is none."""
    try:
        return find_nvcc()
    except NoNvcc as error:
        pytest.skip(str(error))
