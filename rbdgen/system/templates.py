"""The templates that travel with rbdgen, filled in."""

from __future__ import annotations

from typing import Any

import jinja2

from .data import data_folder


def render(template: str, **values: Any) -> str:
    """The text of a file of ``templates``; jinja2.UndefinedError where a value is missing."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(**values)
