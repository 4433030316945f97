"""Names of words: read and spelled in one place."""

from __future__ import annotations

import re

import pytest

from rbdgen.graph.word import Word, parse, renamed, spell
from rbdgen.tasks.routes import place
from tests.test_imports import ROOT, modules

# A bracket that is looked for, a pattern with one, or a name that is put together around one.
BY_HAND = re.compile(
    r"""["']\[["']|(?:match|search|findall|sub|compile)\(r?["'][^"']*\w\\\[|\w\[\{|\}\[\{"""
)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("steps", Word("steps")),
        ("q[12]", Word("q", (12,))),
        ("Minv[3,0]", Word("Minv", (3, 0))),
        ("left[0,1,2]", Word("left", (0, 1, 2))),
        ("f_ext[3].nx", Word("f_ext", (3,), "nx")),
        ("force.f.x", Word("force", (), "f.x")),
    ],
)
def test_there_and_back(name: str, word: Word) -> None:
    assert parse(name) == word
    assert spell(word.kind, *word.indices, axis=word.axis) == str(word) == name


@pytest.mark.parametrize("name", ["", "q[", "q[]", "q[a]", "q[1,]", "q[1]nx", "[1]", "q[1][2]"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a graph input or output"):
        parse(name)


def test_the_same_entry_of_another_array() -> None:
    assert renamed("tau[3]", "bias") == "bias[3]"
    assert [place(n) for n in ("qdd[3]", "tau[3]", "qd[3]", "steps")] == [
        *("u[3]", "u[3]", "qd[3]", "steps"),
    ]


OF_ANOTHER_LANGUAGE = (
    *("graph/word.py", "rtl/multiplier.py", "system/records.py"),
    *("tasks/c.py", "api/doctor.py", "system/quoting.py", "api/board_link.py"),
    *("api/simulation.py", "shell/catalog.py", "tools/observed_netlist.py"),
)


def test_nobody_else_reads_or_spells_names() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in modules().values()
        # the others write arrays of C, Verilog's ranges, places in JSON, extras as pip has them,
        # boards' pins and patterns
        if path.relative_to(ROOT).as_posix().partition("/")[2] not in OF_ANOTHER_LANGUAGE
        if path.parent.name != "codegen"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if BY_HAND.search(line)
    ]
    assert not found, "\n".join(found)
