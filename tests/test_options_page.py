"""The pages' tables of options are the program's."""

import random
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.design.functions import AT_FRAMES, FUNCTIONS
from rbdgen.design.options import OPTIONS
from rbdgen.design.rules import RULES
from rbdgen.system.quoting import Refusal
from tests.options_page import (
    DOCS,
    MADE,
    WAYS,
    answer,
    main,
    options_text,
    rules_text,
    with_made,
)


def test_pages_are_as_the_program_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", MADE)
def test_what_is_between_the_marks_is_made_anew(name: str) -> None:
    page = (DOCS / name).read_text("utf-8")
    line = MADE[name]().splitlines()[-1]
    assert page.count(line) == 1
    assert with_made(name, page.replace(line, "| another |")) == page


def test_each_option_has_a_row() -> None:
    text = options_text()
    assert all(f" | `{key}` | " in text for key in OPTIONS)


def test_no_two_rules_are_one_row() -> None:
    assert len(rules_text().splitlines()) == 2 + len(RULES)


CELLS = random.Random(4).sample([(name, way) for name in FUNCTIONS for way in WAYS], 16)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "way"), CELLS)
def test_what_the_table_of_functions_says_is_so(function: str, way: str, tmp_path: Path) -> None:
    """A design of a pendulum is made, or refused in one line."""
    chosen: dict[str, Any] = {"functions": (function,), **WAYS[way][0]}
    for key, links in (("payload", "lower_rod"), ("external_forces", ("lower_rod",))):
        chosen |= {key: links} if key in chosen else {}
    if function in AT_FRAMES:
        chosen |= {"frames": ("lower_rod",), "contact_damping": 0.01}
    if not {"to", "ii", "accelerator"} & {*chosen}:
        chosen |= {"fit": False}
    chosen |= {} if "error" in chosen or "to" in chosen else {"width": 18}
    try:
        if "to" in chosen:
            api.generate("pendulum", output=tmp_path / "D", **chosen)
        else:
            api.info("pendulum", **chosen)
        found = "yes"
    except Refusal:
        found = "-"
    assert found == answer(function, *WAYS[way])
