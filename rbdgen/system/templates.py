"""Templates that travel with rbdgen, filled in.

Files that travel lie beside the package in the source tree, and inside it once installed.

What ``{{ }}`` puts into a text is data, and goes through its language's `Language.plain`, in HTML
and XML through `markup`, so that no template can forget it. Code that rbdgen made itself is marked
by the filter ``safe``. ``{{ x | literal }}`` is x as a string of the language, with its quotes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .quoting import LANGUAGES, markup

if TYPE_CHECKING:
    import jinja2

_PACKAGE = Path(__file__).resolve().parent.parent


def data_folder(name: str) -> Path:
    """The folder "robots", "templates" or "sim"."""
    # The wheel puts them under _data. That comes first: what stands beside an installed package
    # is somebody else's.
    for folder in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"rbdgen's data folder {name!r} is missing; install rbdgen again")


MARKUP = ("html", "xml", "svd")


def render(template: str, **values: Any) -> str:
    """The text of a file of ``templates``; jinja2.UndefinedError where a value is missing.

    Its language is said by the end of its name: ``NAME.h.jinja`` is C.
    """
    kind = template.removesuffix(".jinja").rpartition(".")[-1]
    return _environment(kind).get_template(template).render(**values)


@cache
def _environment(kind: str) -> jinja2.Environment:
    import jinja2  # which takes a while, and only those who write files need
    from markupsafe import Markup

    def put(value: Any) -> Any:
        """A value quoted for the language, if it is not of it already."""
        return value if isinstance(value, jinja2.Undefined | Markup) else Markup(fit(str(value)))

    fit = markup if kind in MARKUP else LANGUAGES[kind].plain
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("templates")),
        undefined=jinja2.StrictUndefined,
        # which marks what is of the language already; what is not, `finalize` has made so
        autoescape=True,
        finalize=put,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    if kind not in MARKUP and (literal := LANGUAGES[kind].literal):
        environment.filters["literal"] = lambda text: Markup(literal(str(text)))
    return environment
