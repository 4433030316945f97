"""The keywords for editors and type checkers are the options, and of their types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from rbdgen.design.design import Design
from rbdgen.design.options import OPTIONS, DesignChoices
from rbdgen_host.driver.dynamics import Dynamics

TYPED, FIELDS = get_type_hints(DesignChoices), get_type_hints(Design)
# Values that come in several spellings, of which a design has one.
SPELT = {
    *("xacro", "joints", "gravity", "functions", "external_forces", "frames"),
    *("friction_width", "velocity", "acceleration", "effort", "kp", "kd"),
}


def test_all_options_are_keywords() -> None:
    assert list(TYPED) == [*OPTIONS, "chosen"]
    assert not DesignChoices.__required_keys__


@pytest.mark.parametrize("key", [key for key in TYPED if key not in SPELT])
def test_a_keyword_is_of_its_option_s_type_or_none(key: str) -> None:
    assert TYPED[key] == FIELDS[key] | None


@pytest.mark.slow
def test_a_type_checker_refuses_what_is_no_option(tmp_path: Path) -> None:
    """And says which line; the keywords beside it are taken."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("functionz", {"functionz": ("id",)}),
        ("", {"functions": ("id", "m"), "ii": 8, "base": "floating", "velocity": "3,elbow=2"}),
        ("ii", {"ii": "8"}),
    ]
    lines = [
        f"Dynamics('arm', {', '.join(f'{k}={v!r}' for k, v in own.items())})" for _, own in calls
    ]
    file = tmp_path / "calls.py"
    file.write_text("\n".join([f"from {Dynamics.__module__} import Dynamics", *lines]))
    command = [sys.executable, "-m", "mypy", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    errors = [
        line.partition(f"{file.name}:")[2]
        for line in said.splitlines()
        if f"{file.name}:" in line and " error: " in line
    ]
    assert [int(line.partition(":")[0]) for line in errors] == [2, 4], said
    assert all(name in line for name, line in zip(("functionz", "ii"), errors, strict=True))
