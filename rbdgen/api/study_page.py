"""The page of what compared several designs: its picture, its table, how to make each again."""

from __future__ import annotations

from collections.abc import Sequence

from .. import __version__
from ..system.templates import render


def study_page(title: str, picture: str, text: str, commands: Sequence[tuple[str, str]]) -> str:
    """One file that needs no network; ``picture``: an SVG document; ``text``: what the command
    prints; ``commands``: what makes something again, and the command."""
    return render(
        "report/study.html.jinja",
        title=title,
        generator=f"rbdgen {__version__}",
        picture=picture[picture.index("<svg") :],
        blocks=text.strip().split("\n\n"),
        commands=commands,
    )
