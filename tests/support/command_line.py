"""The command line, called within this process."""

from __future__ import annotations

import pytest

from rbdgen.cli.main import main


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 1) -> str:
    """The one line with which a command fails, progress aside."""
    assert main(arguments) == status
    out, err = capsys.readouterr()
    assert not out
    (line,) = [line for line in err.splitlines() if not line.startswith("[")]
    assert line.startswith("rbdgen: ")
    return line.removeprefix("rbdgen: ")
