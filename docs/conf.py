"""How these pages become a site: ``make docs``, which copies them beside README and changelog."""

import argparse
import importlib
import inspect
import os
import re
from dataclasses import is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

from rbdgen.cli.parser import parser

project = "rbdgen"
copyright = "the rbdgen authors"  # Sphinx's name for it
extensions = ["myst_parser"]
root_doc = "index"
myst_heading_anchors = 3  # links to headings are those that GitHub makes
myst_enable_extensions = ["dollarmath"]
smartquotes_action = "qe"  # quotes and ellipses; two hyphens begin an option
html_theme = "furo"
pygments_dark_style = "github-dark"  # which underlines links alone
html_title = "rbdgen"
html_show_sphinx = False
html_math_renderer = "mathml"
html_static_path = ["site"]
html_css_files = ["site.css"]
GENERATED = {  # pages that are written here: by the group that they are listed in
    "Reference": (
        "* [Commands](commands.md): what `rbdgen COMMAND --help` prints",
        "* [Python](python.md): every public function and class, and the [index](genindex)",
    )
}
MODULES = ("rbdgen.api", "rbdgen_host.driver", "rbdgen_host.parallel")
GROUP = re.compile(r"^## (.+)$", re.MULTILINE)
PAGE = re.compile(r"\]\(([\w/.-]+)\.md\)")
NUMBER = re.compile(r"(\d[\d.]*e[-+]\d+|(?<![\w-])--[a-z][\w-]*)")  # or an option
COLUMNS = {"sentences": 60, "words": 20, "few": 16, "short": 0}  # letters at least, but one
HELP = 100  # columns of the helps of commands, of which a box has room for 98
LINES = 280  # of a page of Python's reference, below its heading
LONG = 40  # letters of a word of code; a telephone's line has room for as many
NAME = re.compile(r"(?<!`)`(\w+)`(?!`)|(?<![`\w])(\w+(?:Error|Warning)|Mismatch)(?![`\w])")
FUNCTION = re.compile(r"<function (\S+?)(?: at 0x\w+)?>(?!>)")


def beside(app: Sphinx, page: str, source: list[str]) -> None:
    """Put all pages in one folder; each group of the index becomes a caption of the sidebar."""
    text = source[0].replace("](docs/", "](").replace("](../", "](")
    if page == "README":
        text = text.replace("# rbdgen\n", "# rbdgen in short\n", 1)
    if page == app.config.root_doc:
        first, *groups = GROUP.split(text)
        text = first
        for caption, listed in zip(groups[::2], groups[1::2], strict=True):
            listed = listed.rstrip() + "\n" + "\n".join(GENERATED.get(caption, ()))
            text += f"## {caption}\n{listed}\n\n{tree(caption, listed)}"
    source[0] = text


def tree(caption: str, listed: str) -> str:
    """A hidden table of contents of the pages that are ``listed``."""
    pages = "\n".join(dict.fromkeys(PAGE.findall(listed)))
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n\n"


def commands(app: Sphinx) -> None:
    """Write a page of each command's whole ``--help``, and one that lists them."""
    os.environ["COLUMNS"] = str(HELP)
    (found,) = (a.choices for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    listed = ["# Commands", "What `rbdgen COMMAND --help all` prints."]
    for name, own in found.items():
        text = f"# rbdgen {name}\n\n```text\n{own.format_help().rstrip()}\n```\n"
        (Path(app.srcdir) / f"command-{name}.md").write_text(text)
    pages = [f"command-{name}" for name in found]
    about = {name: (own.description or "").splitlines()[0] for name, own in found.items()}
    listed += [f"* [`rbdgen {name}`](command-{name}.md): {text}" for name, text in about.items()]
    write(app, "commands", listed, pages)


def write(app: Sphinx, name: str, listed: list[str], pages: list[str]) -> None:
    """Write a page that lists others."""
    tree = "```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```"
    (Path(app.srcdir) / f"{name}.md").write_text("\n\n".join([*listed, tree]) + "\n")


def python(app: Sphinx) -> None:
    """Write pages for each module of `MODULES`, from its docstrings, and one that lists them."""
    listed = ["# Python", "Every name is in the [index](genindex), too."]
    pages = []
    for name in MODULES:
        module = importlib.import_module(name)
        about = inspect.getdoc(module) or ""
        public = {own: getattr(module, own) for own in module.__all__}
        entries = {k: v for own in public for k, v in described(own, public[own], public).items()}
        (first, *_) = about.splitlines() or [""]
        listed.append(f"* [`{name}`](python-{name}.md): {first}")
        for number, names in enumerate(parts(entries)):
            page, head = f"python-{name}", f"# {name}\n\n{about}"
            if number:
                page = f"{page}-{number + 1}"
                head = f"# {name}: {names[0]} to {names[-1]}"
                listed[-1] += f" · [{names[0]} …]({page}.md)"
            head += f"\n\n```{{py:{'currentmodule' if number else 'module'}}} {name}\n```"
            text = "\n\n".join([head, *(entries[own] for own in names)])
            (Path(app.srcdir) / f"{page}.md").write_text(text + "\n")
            pages.append(page)
    write(app, "python", listed, pages)


def parts(entries: dict[str, str]) -> list[list[str]]:
    """The names of entries in order, as many on each page as there is room for."""
    found, left = list[list[str]](), 0
    for name, text in entries.items():
        lines = text.count("\n") + 2
        if lines > left:
            found.append([])
            left = LINES
        found[-1].append(name)
        left -= lines
    return found


def described(name: str, found: object, public: dict[str, Any]) -> dict[str, str]:
    """Directives with signature and docstring, by name: of a class, its public members within it,
    or each by itself where they have no room on a page."""
    if not callable(found):
        value = FUNCTION.sub(r"\1", repr(found))
        return {name: directive("data", name, f"`{value}`")}
    text = linked(inspect.getdoc(found) or "", name, public)
    if not inspect.isclass(found):
        return {name: directive("function", f"{name}{signature(found)}", text)}
    kind = "exception" if issubclass(found, BaseException) else "class"
    ours = [c for c in reversed(found.__mro__) if c.__module__.startswith("rbdgen")]
    members = {own: value for c in ours for own, value in vars(c).items()}
    made = members.get("__init__") if not is_dataclass(found) else None
    first: dict[Any, str] = {}
    within: list[tuple[str, str, str, str]] = []  # kind, name, signature, text
    for own, value in members.items():
        if own.startswith("_"):
            continue
        if isinstance(value, property | cached_property):
            inside = linked(inspect.getdoc(value) or "", own, public)
            within.append(("property", own, "", inside))
        elif inspect.isfunction(value):
            inside = linked(inspect.getdoc(value) or "", own, public)
            if value in first:
                inside = f"Another name of {{py:obj}}`{name}.{first[value]}`."
            first.setdefault(value, own)
            within.append(("method", own, signature(value), inside))
    head = f"{name}{signature(made)}" if made else name
    whole = [text, *(directive(of, own + said, t, fence=4) for of, own, said, t in within)]
    alone = directive(kind, head, "\n\n".join(whole))
    if alone.count("\n") < LINES:
        return {name: alone}
    each = {f"{name}.{own}": (of, said, t) for of, own, said, t in within}
    return {name: directive(kind, head, text)} | {
        own: directive(of, own + said, t) for own, (of, said, t) in each.items()
    }


def signature(found: Any) -> str:
    """The signature, without ``self``, a class's None, and the names of modules in its types."""
    own = inspect.signature(found)
    own = own.replace(parameters=[p for p in own.parameters.values() if p.name != "self"])
    if found.__name__ == "__init__":
        own = own.replace(return_annotation=inspect.Signature.empty)
    return FUNCTION.sub("…", stringify_signature(own, unqualified_typehints=True))


def directive(kind: str, head: str, text: str, fence: int = 5) -> str:
    """A directive of Sphinx's domain for Python."""
    ticks = "`" * fence
    return f"{ticks}{{py:{kind}}} {head}\n\n{text}\n{ticks}"


def linked(text: str, own: str, public: dict[str, Any]) -> str:
    """A docstring in which the names of other public objects, and of exceptions, are links."""

    def link(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return f"{{py:obj}}`{name}`" if name in public and name != own else match[0]

    return NAME.sub(link, text)


def formula(translator: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers draw without a script or a network."""
    text = node.astext().replace("{aligned}", "{align*}")
    if isinstance(node, nodes.math_block):  # each part may begin a line
        parts = "\n".join(convert(part, display="block") for part in text.split(r"\qquad"))
        translator.body.append(f'<div class="formula">{parts}</div>')
    else:
        translator.body.append(convert(text, display="inline"))
    raise nodes.SkipNode


def unbroken(app: Sphinx, page: nodes.document, name: str) -> None:
    """Give each column of a table its class of `COLUMNS`; mark long words, numbers, options."""
    for body in page.findall(nodes.tbody):
        rows = [[*row.findall(nodes.entry)] for row in body.findall(nodes.row)]
        for column in zip(*rows, strict=True):
            longest = max(len(cell.astext()) for cell in column)
            kind = next((kind for kind, least in COLUMNS.items() if longest > least), "short")
            for cell in column:
                cell["classes"].append(kind)
    for code in page.findall(nodes.literal):
        if max(map(len, code.astext().split()), default=0) > LONG:
            code["classes"].append("long")
    for text in [*page.findall(nodes.Text)]:
        if isinstance(text.parent, nodes.paragraph | nodes.strong | nodes.emphasis):
            parts = NUMBER.split(text.astext())
            found = [nodes.inline(part, part, classes=["number"]) for part in parts[1::2]]
            plain = [nodes.Text(part) for part in parts[::2]]
            both = [own for pair in zip(plain, found, strict=False) for own in pair]
            text.parent.replace(text, [*both, plain[-1]])


def setup(app: Sphinx) -> None:
    """Register what this site adds to Sphinx."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("source-read", beside)
    app.connect("doctree-resolved", unbroken)
    app.connect("builder-inited", commands)
    app.connect("builder-inited", python)
