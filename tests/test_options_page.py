"""The pages' tables of options are the program's."""

import pytest

from rbdgen.design.options import OPTIONS
from rbdgen.design.rules import RULES
from tests.options_page import DOCS, MADE, main, options_text, rules_text, with_made


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
