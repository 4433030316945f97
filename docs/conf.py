"""How these pages become a site: ``make docs``, which copies them beside README and changelog."""

import argparse
import inspect
import re
from pathlib import Path

from sphinx.application import Sphinx

from rbdgen import api
from rbdgen.cli.parser import parser
from rbdgen_host import driver

project = "rbdgen"
copyright = "the rbdgen authors"  # Sphinx's name for it
extensions = ["myst_parser"]
root_doc = "index"
myst_heading_anchors = 3  # links to headings are those that GitHub makes
html_theme = "furo"
html_title = "rbdgen"
html_show_sphinx = False
LAST = ("commands", "python", "CONTRIBUTING", "CHANGELOG")  # pages that the index does not name


def beside(app: Sphinx, page: str, source: list[str]) -> None:
    """All pages stand in one folder here, and the index has a tree of them besides its table."""
    text = source[0].replace("](docs/", "](").replace("](../", "](")
    if page == app.config.root_doc:
        named = dict.fromkeys(re.findall(r"\]\(([\w-]+)\.md\)", text))
        tree = "\n".join([*(name for name in named if name not in LAST), *LAST])
        text += f"\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    source[0] = text


def commands(app: Sphinx) -> None:
    """The page of every command's ``--help``."""
    (found,) = (a.choices for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    pages = ["# Commands", "What `rbdgen COMMAND --help` says."]
    for name, own in found.items():
        pages += [f"## rbdgen {name}", f"```text\n{own.format_help().rstrip()}\n```"]
    (Path(app.srcdir) / "commands.md").write_text("\n\n".join(pages) + "\n")


def python(app: Sphinx) -> None:
    """The page of what can be called from Python, as its docstrings have it."""
    pages = ["# Python", "What the docstrings of `rbdgen.api` and `rbdgen_host.driver` say."]
    for module in (api, driver):
        pages.append(f"## {module.__name__}")
        for name in module.__all__:
            pages.append(described(name, getattr(module, name)))
    (Path(app.srcdir) / "python.md").write_text("\n\n".join(pages) + "\n")


def described(name: str, found: object) -> str:
    """A heading, the call, the docstring; of a class those of its public methods, too."""
    own = [f"### {name}", as_text(name, found)]
    classes = found.__mro__ if inspect.isclass(found) else ()
    methods = {name: value for own in reversed(classes) for name, value in vars(own).items()}
    for method, value in methods.items():
        if inspect.isfunction(value) and not method.startswith("_"):
            own.append(as_text(method, value))
    return "\n\n".join(own)


def as_text(name: str, found: object) -> str:
    """A signature and a docstring; of what is neither called nor a class, its value."""
    if not callable(found):
        return f"```text\n{name} = {found!r}\n```"
    call = f"{name}{inspect.signature(found)}" if not inspect.isclass(found) else f"class {name}"
    return f"```text\n{call}\n\n{inspect.getdoc(found) or ''}\n```"


def setup(app: Sphinx) -> None:
    """What Sphinx calls."""
    app.connect("source-read", beside)
    app.connect("builder-inited", commands)
    app.connect("builder-inited", python)
