"""The tutorials as notebooks of Jupyter, from their pages: ``python -m tests.notebooks``.

``docs/notebooks`` has one for each page ``docs/tutorial-*.md``: its text, its blocks of Python, and
its commands behind a ``!``. The tests run the same blocks, as the pages have them
(``tests/test_pages.py``). With ``--write`` the notebooks are written; else it is said which are not
those of the pages.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
NOTEBOOKS = DOCS / "notebooks"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"^<!--.*?-->\n+", re.MULTILINE)
LINK = re.compile(r"\]\((?!\w+:|#)([^)]+)\)")


def pages() -> list[Path]:
    """The tutorials, in the order of their names."""
    return sorted(DOCS.glob("tutorial-*.md"))


def notebook(page: Path) -> str:
    """The text of the notebook of a page, the same bytes each time."""
    rest, cells = page.read_text("utf-8"), []
    while found := BLOCK.search(rest):
        cells += _text(rest[: found.start()])
        code = found[2].strip("\n")
        if found[1] == "sh":
            code = re.sub(r"^(?=\S)", "!", code, flags=re.MULTILINE)
        cells.append(_cell("code", code))
        rest = rest[found.end() :]
    cells += _text(rest)
    for number, cell in enumerate(cells):
        cell["id"] = hashlib.sha256(f"{page.stem} {number}".encode()).hexdigest()[:12]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _text(markdown: str) -> list[dict[str, Any]]:
    """A cell of a page's text, if there is any; links lead from the notebooks' folder."""
    text = LINK.sub(r"](../\1)", COMMENT.sub("", markdown)).strip("\n")
    return [_cell("markdown", text)] if text else []


def _cell(kind: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.splitlines(True)}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


def main(arguments: list[str]) -> int:
    """0; or 1, with a line for each notebook that is not as its page."""
    status = 0
    for page in pages():
        place = NOTEBOOKS / f"{page.stem.removeprefix('tutorial-')}.ipynb"
        text = notebook(page)
        if "--write" in arguments:
            NOTEBOOKS.mkdir(exist_ok=True)
            place.write_text(text, "utf-8")
        elif not place.is_file() or place.read_text("utf-8") != text:
            print(f"docs/notebooks/{place.name}: python -m tests.notebooks --write")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
