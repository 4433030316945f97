"""The tables of options in the pages, from the program's own: ``python -m tests.options_page``.

``docs/options.md`` lists every option; ``docs/limits.md`` says what each of them does not go with.
Both stand between two marks. With ``--write`` they are written; else it is said which are not those
of the program.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rbdgen.design.option import GROUPS, Option
from rbdgen.design.options import OPTIONS
from rbdgen.design.rule import Rule
from rbdgen.design.rules import JOINTS, LOOPS, ON_TRUNKS, ONE_TASK, PARALLEL, QUICK, RULES

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- made by python -m tests.options_page --write -->", "<!-- end of what is made -->"
ASKERS = {  # of rules, that know more than a design does
    LOOPS: "`--code loops`",
    JOINTS: "joints that share a datapath",
    ON_TRUNKS: "limbs on a trunk that share a datapath",
    QUICK: "`rbdgen explore` with `--quick`",
    ONE_TASK: "models and languages of single tasks",
    PARALLEL: "`rbdgen_host.parallel`",
}
LEFT_OUT = re.compile(r"; (leave it out|leave one out)$")


def options_text() -> str:
    """The tables of `OPTIONS`: one for each part of the help, and one of files and Python alone."""
    parts = [(title[0].upper() + title[1:], _of_group(title)) for title in GROUPS]
    parts.append(("Names, and blocks of a design's file", _of_group("")))
    blocks = []
    for title, own in parts:
        rows = [_row(said) for said in own]
        blocks.append(f"## {title}\n\n" + _table(("option", "in files", "default", ""), rows))
    return "\n\n".join(blocks)


def rules_text() -> str:
    """The table of `RULES`, by option."""
    order = [*OPTIONS, "to"]
    rules = sorted(RULES, key=lambda rule: order.index(rule.key))
    rows = dict.fromkeys(_rule(rule) for rule in rules)
    return _table(("option", "with", "what is said", ""), rows)


def _of_group(title: str) -> list[Option]:
    return [said for said in OPTIONS.values() if said.group == title]


def _row(said: Option) -> tuple[str, ...]:
    typed = " ".join(said.options()) if said.check else ""
    default = said.usual or ("" if said.default in (None, (), {}) else _default(said.default))
    text = said.help.replace("{default}", said.usual).replace("%%", "%")
    return f"`{typed}`" if typed else "", f"`{said.key}`", default, text


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value) if _plain(value) else ""


def _plain(value: Any) -> bool:
    return isinstance(value, str | int)


def _rule(rule: Rule) -> tuple[str, ...]:
    first, *others = (own.text for own in rule.where)
    beside = [ASKERS[rule.at]] if rule.at in ASKERS else []
    line = (
        rule.line.removeprefix(f"{rule.key}: ").removeprefix("{value}: ").removeprefix("{value} ")
    )
    line = LEFT_OUT.sub("", re.sub(r"\{\w+\}", "…", line))
    return first, " and ".join([*beside, *others]), line, "a note" if rule.noted else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<gazebo>", "`<gazebo>`")


MADE = {"options.md": options_text, "limits.md": rules_text}


def with_made(name: str, text: str) -> str:
    """A page with what is between its marks made anew."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    assert begin and end, f"{name}: no marks"
    return f"{head}{BEGIN}\n\n{MADE[name]()}\n\n{END}{tail}"


def main(arguments: list[str]) -> int:
    """0; or 1, with a line for each page that is not as the program has it."""
    status = 0
    for name in MADE:
        page = DOCS / name
        before = page.read_text("utf-8")
        after = with_made(name, before)
        if "--write" in arguments:
            page.write_text(after, "utf-8")
        elif before != after:
            print(f"docs/{name}: python -m tests.options_page --write")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
