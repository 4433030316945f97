"""Lists in sentences."""

import pytest

from rbdgen.system.quoting import listed


@pytest.mark.parametrize(
    ("words", "text"),
    [(("a",), "a"), (("a", "b"), "a or b"), (("a", "b", "c"), "a, b or c")],
)
def test_the_last_two_are_joined_by_a_word(words: tuple[str, ...], text: str) -> None:
    assert listed(words, "or") == text
