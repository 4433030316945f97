"""The tables of options in the pages, from the program's own: ``python -m tests.options_page``.

``docs/options.md`` lists every option; ``docs/limits.md`` says which functions go with which ways
of sharing, words and languages, and what each option does not go with.
Both stand between two marks. With ``--write`` they are written; else it is said which are not those
of the program.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rbdgen.design.functions import AT_FRAMES, FUNCTIONS
from rbdgen.design.option import GROUPS, Option
from rbdgen.design.options import OPTIONS
from rbdgen.design.rule import Rule, broken
from rbdgen.design.rules import JOINTS, LOOPS, ON_TRUNKS, ONE_TASK, PARALLEL, QUICK, RULES, STAGES

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- made by python -m tests.options_page --write -->", "<!-- end of what is made -->"
INCOMPATIBLE = """\
Each row is a combination of options that is refused or, where the last column says so, an option
without effect, which a note reports. Limits that depend on a robot are reported where they apply.
[Options](options.md) explains each option."""
ASKERS = {  # of rules, that know more than a design does
    LOOPS: "`--code loops`",
    JOINTS: "joints that share a datapath",
    ON_TRUNKS: "limbs on a trunk that share a datapath",
    QUICK: "`rbdgen explore` with `--quick`",
    ONE_TASK: "models and languages of single tasks",
    PARALLEL: "`rbdgen_host.parallel`",
}
# Columns of the table of functions: what is chosen, and who asks beside the design
WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "accelerator": ({"accelerator": True}, STAGES),
    "joints time-multiplexed": ({"fold": "joints", "ii": 8}, JOINTS),
    "`--error`": ({"error": 1e-3}, ""),
    "`--parameters registers`": ({"parameters": "registers"}, ""),
    "`--payload`": ({"payload": "tool"}, ""),
    "`--external-forces`": ({"external_forces": ("tool",)}, ""),
    "`--root given`": ({"base": "floating", "root": "given"}, ""),
    "`--formulation logarithmic`": ({"formulation": "logarithmic"}, ""),
    "`--code loops`": ({"to": ("cpp",), "code": "loops"}, LOOPS),
    "`--to cpp`, `cuda`, `hls`": ({"to": ("cpp", "cuda", "hls")}, ""),
    "`--to c --real float`": ({"to": ("c",), "real": "float"}, ""),
}
LEFT_OUT = re.compile(r"; (leave it out|leave one out)$")
VALUE = re.compile(r"^\{value\}(?:: | s | )")  # or of seconds
OPTION = re.compile(r"(?<![\w`-])--[a-z][a-z-]*")
PARTS = 8  # of a help text: where it has more, each begins a line
PART = re.compile(r"(?<=[.;]) (?:(\w+): )?")
PEER = re.compile(r"(Pinocchio's names)( are accepted, too): .*")  # of functions: they have a page


def options_text() -> str:
    """The tables of `OPTIONS`: one for each part of the help, and one of files and Python alone."""
    parts = [(title[0].upper() + title[1:], _of_group(title)) for title in GROUPS]
    parts.append(("Names, and blocks of a design's file", _of_group("")))
    blocks = []
    for title, own in parts:
        rows = [_row(said) for said in own]
        table = _table(("option", "what it does", "in files", "default"), rows)
        blocks.append(f"## {title}\n\n" + table)
    return "\n\n".join(blocks)


def functions_text() -> str:
    """The table of functions: with which ways of sharing, words and languages there is a rule."""
    rows = [(f"`{name}`", *(answer(name, *way) for way in WAYS.values())) for name in FUNCTIONS]
    return _table(("function", *WAYS), rows)


def answer(function: str, chosen: dict[str, Any], at: str) -> str:
    """``yes``, or ``-`` for what is refused."""
    known: dict[str, Any] = {key: said.default for key, said in OPTIONS.items()}
    frames = ("tool",) if function in AT_FRAMES else ()
    known |= {
        "to": ("verilog",),
        "formulation": "composite",
        "functions": (function,),
        "frames": frames,
        "turning_joints": True,
    }
    known |= chosen
    return "-" if any(next(broken(RULES, None, who, **known), "") for who in {"", at}) else "yes"


def rules_text() -> str:
    """The table of `RULES`, by option."""
    order = [*OPTIONS, "to"]
    rules = sorted(RULES, key=lambda rule: order.index(rule.key))
    rows = dict.fromkeys(_rule(rule) for rule in rules)
    return _table(("option", "with", "what is said", ""), rows)


def limits_text() -> str:
    """Both tables of the limits: by function, and by option."""
    return f"{functions_text()}\n\n## Incompatible options\n\n{INCOMPATIBLE}\n\n{rules_text()}"


def _of_group(title: str) -> list[Option]:
    return [said for said in OPTIONS.values() if said.group == title]


def _row(said: Option) -> tuple[str, ...]:
    typed = " ".join(said.options()) if said.check else ""
    default = said.usual or ("" if said.default in (None, (), {}) else _default(said.default))
    text = OPTION.sub(r"`\g<0>`", said.help.replace("{default}", said.usual).replace("%%", "%"))
    text = PEER.sub(r"[\1](functions.md#functions)\2", text)
    if len(PART.findall(text)) > PARTS:
        text = PART.sub(lambda found: "<br>" + (f"`{found[1]}`: " if found[1] else ""), text)
    return f"`{typed}`" if typed else "", text, f"`{said.key}`", default


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value) if _plain(value) else ""


def _plain(value: Any) -> bool:
    return isinstance(value, str | int)


def _rule(rule: Rule) -> tuple[str, ...]:
    first, *others = (own.text for own in rule.where)
    beside = [ASKERS[rule.at]] if rule.at in ASKERS else []
    line = VALUE.sub("", rule.line.removeprefix(f"{rule.key}: "))
    line = LEFT_OUT.sub("", re.sub(r"\{\w+\}", "…", line))
    return first, " and ".join([*beside, *others]), line, "a note" if rule.noted else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<gazebo>", "`<gazebo>`")


MADE = {"options.md": options_text, "limits.md": limits_text}


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
