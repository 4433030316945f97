"""How these pages become a site: ``make docs``, which copies them beside README and changelog."""

import argparse
import re
from pathlib import Path

from sphinx.application import Sphinx

from rbdgen.cli.parser import parser

project = "rbdgen"
copyright = "the rbdgen authors"  # Sphinx's name for it
extensions = ["myst_parser"]
root_doc = "index"
myst_heading_anchors = 3  # links to headings are those that GitHub makes
html_theme = "furo"
html_title = "rbdgen"
html_show_sphinx = False
LAST = ("commands", "CHANGELOG")  # pages that the index does not name


def beside(app: Sphinx, page: str, source: list[str]) -> None:
    """All pages stand in one folder here, and the index has a tree of them besides its table."""
    text = source[0].replace("](docs/", "](").replace("](../", "](")
    if page == app.config.root_doc:
        named = dict.fromkeys(re.findall(r"\]\((\w+)\.md\)", text))
        tree = "\n".join([*named, *LAST])
        text += f"\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    source[0] = text


def commands(app: Sphinx) -> None:
    """The page of every command's ``--help``."""
    (found,) = (a.choices for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    pages = ["# Commands", "What `rbdgen COMMAND --help` says."]
    for name, own in found.items():
        pages += [f"## rbdgen {name}", f"```text\n{own.format_help().rstrip()}\n```"]
    (Path(app.srcdir) / "commands.md").write_text("\n\n".join(pages) + "\n")


def setup(app: Sphinx) -> None:
    """What Sphinx calls."""
    app.connect("source-read", beside)
    app.connect("builder-inited", commands)
