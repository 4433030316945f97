"""Notebooks: as their pages, and each of their cells is what the tests run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.notebooks import NOTEBOOKS, main, pages
from tests.test_pages import BLOCK, IN_ORDER


def test_notebooks_are_those_of_the_pages() -> None:
    assert main([]) == 0, "python -m tests.notebooks --write"
    names = {path.stem for path in NOTEBOOKS.glob("*.ipynb")}
    assert names == {page.stem.removeprefix("tutorial-") for page in pages()}
    assert len(names) >= 6


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_every_cell_of_code_runs_in_the_tests(page: Path) -> None:
    """Cells are the blocks that ``test_pages`` runs, in their order; commands have a ``!``."""
    assert page.stem in IN_ORDER
    made = json.loads((NOTEBOOKS / f"{page.stem.removeprefix('tutorial-')}.ipynb").read_text())
    cells = ["".join(own["source"]) for own in made["cells"] if own["cell_type"] == "code"]
    blocks = [code.strip("\n") for _, code in BLOCK.findall(page.read_text())]
    assert [cell.replace("!rbdgen", "rbdgen") for cell in cells] == blocks


def test_links_of_notebooks_lead_somewhere() -> None:
    for path in NOTEBOOKS.glob("*.ipynb"):
        for cell in json.loads(path.read_text())["cells"]:
            for part in "".join(cell["source"]).split("](../")[1:]:
                assert (path.parent / ".." / part.partition(")")[0].partition("#")[0]).is_file()
