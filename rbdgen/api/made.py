"""A robot's functions on their way to whatever language they are written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..compile.flow import Front, front_end
from ..compile.product import Product, compile_front
from ..design.choices import OF_NUMBERS
from ..design.design import Design
from ..design.effects import notes_of_use
from ..design.loading import load
from ..design.manifest import DesignManifest
from ..robot.xml_lines import read_bytes
from .folder import MARK, digests, sealed
from .names import DESIGN, ROBOT, design_file

Progress = Callable[[str], None]
Files = dict[str, str]  # name → text


class Made:
    """The steps to a design's files, each taken once however many languages need it."""

    def __init__(self, robot: str, progress: Progress, choices: Mapping[str, Any]) -> None:
        self.robot, self.progress, self.choices = robot, progress, choices

    @cached_property
    def design(self) -> Design:
        """The choices."""
        return load(self.robot, **self.choices)[0]

    @cached_property
    def front(self) -> Front:
        """The graph over real numbers."""
        self.progress(f"reading {self.robot}")
        front = front_end(self.robot, self.progress, **self.choices)
        self._say(front.notes)
        return front

    @cached_property
    def _in_floats(self) -> Front:
        """The same for programs in floating point."""
        if self.design.snap is not None:
            return self.front
        self.progress(f"reading {self.robot}")
        front = front_end(self.robot, self.progress, in_floats=True, **self.choices)
        self._say(front.notes)
        return front

    @cached_property
    def product(self) -> Product:
        """The graph in fixed point, scheduled: a core, or an accelerator's stages."""
        product = compile_front(self.front, self.progress)
        self._say(product.notes)
        return product

    def front_of(self, language: str) -> Front:
        """The front end for a program in ``language``, with all notes.

        One of the notes lists choices that change nothing in this language.
        """
        words = language not in OF_NUMBERS
        front, own = (self.product.front, self.product.notes) if words else (self._in_floats, ())
        notes = notes_of_use(language, self.choices, words, texts=True, clocks=not words)
        self._say(tuple(notes))
        return replace(front, notes=(*front.notes, *own, *notes))

    def _say(self, notes: tuple[str, ...]) -> None:
        for note in notes:
            self.progress(f"note: {note}")


def closed(files: Files, entry: DesignManifest) -> Files:
    """The files of a folder with its manifest, which has digests of all others."""
    whole = replace(entry, files=digests(files))
    return files | {MARK: sealed(whole.to_json())}


def sources_of(front: Front) -> Files:
    """The robot and the design, from which all else can be made again."""
    return {
        ROBOT: read_bytes(front.design.robot).decode("utf-8", "surrogateescape"),
        DESIGN: design_file(front.design, front.robot),
    }
