"""A robot's functions compiled once for all languages, or again from the design in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from ..compile.choosing import Chosen, choose
from ..compile.expected import with_errors
from ..compile.fixed_functions import FixedFunctions
from ..compile.flow import compile_design, compile_front, front_end, front_of
from ..compile.front import Front
from ..compile.product import Product
from ..design.arrays import given_coordinates
from ..design.choices import OF_NUMBERS
from ..design.clock import FAMILY
from ..design.design import is_predictive, no_defaults
from ..design.effects import notes_of_use
from ..design.facts import ChosenFacts, RobotFacts
from ..design.limits import limits_table
from ..design.loading import load, says
from ..design.manifest import DesignManifest
from ..design.target import Target, ascending
from ..design.wishes import Wishes, hertz, seconds, watts
from ..graph.text import same_text, to_text
from ..robot.base_parameters import base_parameters
from ..robot.xml_lines import read_bytes
from ..system.files import read_regular
from ..system.quoting import Progress
from .design_file import DESIGN, ROBOT, design_file, filed_notes, graph_file
from .folder import MARK, Manifest, OutputError, UsageError, digests, sealed

Files = dict[str, str]  # name → text
LARGEST = 2**30  # bytes of a graph


class Compilation:
    """The steps to a design's files, each taken once however many languages need it.

    The robot is read when this is made; RobotError. ``programs``: whether its
    controller may be one.
    """

    def __init__(
        self, robot: str, progress: Progress, choices: Mapping[str, Any], programs: bool = False
    ) -> None:
        self.progress, self.choices, self._path = progress, choices, robot
        self._read: list[str] = []  # notes
        self.design, self.robot = load(robot, notes=self._read, programs=programs, **choices)
        self._said: set[str] = set()
        self.wanted: ChosenFacts | None = None
        self._words: FixedFunctions | None = None

    @cached_property
    def front(self) -> Front:
        """The graph over real numbers."""
        return self._traced()

    @cached_property
    def _in_floats(self) -> Front:
        """The same for programs in floating point."""
        if self.design.snap is not None:
            return self.front
        return self._traced(in_floats=True)

    def _traced(self, in_floats: bool = False) -> Front:
        self.progress(f"reading {self._path}")
        front = front_of(self.design, self.robot, self._read, self.progress, in_floats)
        self.say(front.notes)
        return front

    @cached_property
    def product(self) -> Product:
        """The graph in fixed point, scheduled."""
        product = with_errors(compile_front(self.front, self.progress, self._words))
        self.say(product.notes)
        return product

    def choose(self, wishes: Wishes) -> None:
        """Take the smallest design that should reach the wishes in place of that which was asked
        for, whose graph and words it has."""
        found = chosen_for(self._path, self.front, wishes, self.choices, self.progress)
        self.front, self.design, self._words = found.front, found.front.design, found.words
        self.choices, self.wanted = {**self.choices, **found.options}, found.facts
        self.say(self.front.notes)

    def front_of(self, language: str) -> Front:
        """The front end for a program in ``language``, with all notes.

        One of the notes lists choices that change nothing in this language.
        """
        in_c = language == "c"
        numbers = self.design.real == "float" or is_predictive(self.design)
        words = language not in OF_NUMBERS and not (in_c and numbers)
        front, own = (self.product.front, self.product.notes) if words else (self._in_floats, ())
        notes = notes_of_use(language, self.choices, words, True, not words, in_c)
        self.say(notes)
        return replace(front, notes=(*front.notes, *own, *notes))

    def say(self, notes: Iterable[str]) -> None:
        """Tell `progress` each note, once."""
        for note in notes:
            if note not in self._said:
                self._said.add(note)
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


def robot_facts(front: Front, notes: Iterable[str] = ()) -> RobotFacts:
    """The robot before fixed point; ``notes`` come last."""
    robot, design = front.robot, front.design
    return RobotFacts(
        robot=robot.name,
        functions=design.functions,
        joint_names=tuple(robot.joint_names),
        body_names=tuple(robot.joints[i].body for i in robot.moving),
        base=design.base,
        root=design.root,
        base_link=design.base_link,
        nq=robot.nq,
        nv=robot.nv,
        limits=limits_table(design, robot),
        notes=(*front.notes, *notes),
        operations=front.graph.operations(),
        base_parameters=_base_parameters(front),
    )


def _base_parameters(front: Front) -> dict[str, dict[str, float]] | None:
    if "base_regressor" not in front.design.functions:
        return None
    given = given_coordinates(front.design, front.canonical)
    return base_parameters(front.canonical, given).named(front.canonical)


def described(front: Front, name: str, facts: RobotFacts) -> dict[str, Any]:
    """The fields of `DesignManifest`: ``facts``, and of its folder all but the files."""
    return vars(facts) | {
        "generator": f"rbdgen {__version__}",
        "name": name,
        "choices": no_defaults(front.design),
        "gravity": tuple(front.robot.gravity.tolist()),
        "notes": filed_notes(front.design, facts.notes),
        "files": {},
    }


def graph_files(product: Product) -> dict[str, str]:
    """The graphs of the hardware as text: a core's, or one of each stage."""
    flagged = product.flagged if product.is_core else {}
    return {graph_file(name): to_text(own, flagged) for name, own in product.graphs.items()}


def recompiled(place: Path, progress: Progress = lambda _: None) -> Product:
    """OutputError if this rbdgen makes another graph of the design than the one in the folder."""
    product = compile_design(str(place / DESIGN), progress)
    for name, text in graph_files(product).items():
        try:
            there = read_regular(place / name, LARGEST)
        except OSError as error:
            raise OutputError(f"{place / name}: {error.strerror}") from None
        if not same_text(there.decode("utf-8", "replace"), text):
            raise other_version(place)
    return product


def front_again(place: Path, entry: Manifest, progress: Progress = lambda _: None) -> Front:
    """The graph over real numbers of a program's folder; OutputError if this rbdgen makes one with
    other registers than the one in the folder, of which ``entry`` is the manifest."""
    from ..compile.visits import with_visits

    front, _ = with_visits(front_end(str(place / DESIGN), progress))
    if register_numbers(front) != entry["facts"].get("parameters", []):
        raise other_version(place)
    return front


def register_numbers(front: Front) -> list[dict[str, Any]]:
    """The registers of a program in real numbers, for its manifest: the values of its robot."""
    own = front.parameters.nominal if front.parameters else {}
    return [{"name": name, "real": real} for name, real in own.items()]


def other_version(place: Path) -> OutputError:
    """The error for a folder whose design this version compiles otherwise."""
    return OutputError(f"{place}: made by another version of rbdgen; generate it again")


def wishes_of(
    latency: float | str | None, rate: float | str | None, power: float | str | None = None
) -> Wishes:
    """Wishes of times, rates and watts; UsageError for what is none."""
    return Wishes(
        None if latency is None else quantity("latency", latency, seconds),
        None if rate is None else quantity("rate", rate, hertz),
        None if power is None else quantity("power", power, watts),
    )


def quantity(name: str, value: float | str, check: Callable[[object], float]) -> float:
    """The number of a quantity in SI units that ``check`` reads; UsageError for what is none."""
    try:
        return check(value)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def parts_of(robot: str, front: Front, choices: Mapping[str, Any]) -> Sequence[Target]:
    """The part that ``choices`` or the design file ``robot`` names, else all of those whose clocks
    are known, the smallest first."""
    said = choices.get("target") or says(robot, "target", choices.get("xacro"))
    return [front.target] if said else ascending(FAMILY)


def chosen_for(
    robot: str, front: Front, wishes: Wishes, choices: Mapping[str, Any], progress: Progress
) -> Chosen:
    """The smallest design that should reach the wishes."""
    return choose(front, wishes, parts_of(robot, front, choices), progress)
