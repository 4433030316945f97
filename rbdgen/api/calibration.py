"""The words that a design with registers holds for one robot, computed from that robot's file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from .. import golden
from ..compile.flow import front_end
from ..compile.front import Front, of_bodies
from ..compile.parameters import Parameters, model_of
from ..design.choices import OF_NUMBERS, VERILOG
from ..design.design import canonical_of, has_registers
from ..design.loading import load
from ..graph.fixed import FixedGraph, parameter_formats, parameter_words
from ..robot.model import Robot, RobotError
from ..system.files import read_regular
from ..system.quoting import Progress
from ..system.records import NamedWord, NoRecord, Record
from ..system.templates import render
from ..tasks.model import Specification
from .compilation import front_again, other_version
from .design_file import DESIGN, ROBOT
from .filed_design import compiled_again, filed_graphs
from .folder import InputError, OutputError, UsageError, checked_folder, write_file
from .output_paths import check_place

LARGEST = 2**24  # bytes of a calibration
OF_ROBOT = (
    *("base", "mimic", "gravity", "open_loops", "root", "base_link", "joints"),
    *("friction", "friction_width"),
)
STATES, SEED, NEAR = 16, 5, 1e-9  # at which the numbers must have the robot's own dynamics
HEADERS = (".h", ".c", ".hpp")


@dataclass(frozen=True)
class RegisterNumber(Record):
    """A register and the real number in it."""

    name: str
    real: float


@dataclass(frozen=True, kw_only=True)
class RegisterWord(NamedWord, RegisterNumber):
    """A register's word, and the real number that it is the nearest of."""

    LAST = ("real",)

    word: int


@dataclass(frozen=True)
class RealCalibration(Record):
    """The array ``parameter`` for ``robot``, in order, of a program in real numbers.

    ``numbers``: the robot's own, in the order of the manifest's [SI units].
    """

    KIND: ClassVar[str] = "numbers"

    design: str
    robot: str
    file: str
    numbers: tuple[float, ...]
    registers: tuple[RegisterNumber, ...]

    def as_text(self) -> str:
        """A one-line summary."""
        return f"{self.robot}: {len(self.registers)} {self.KIND} for {self.design}"

    @property
    def reals(self) -> list[float]:
        """The registers' contents as real numbers."""
        return [own.real for own in self.registers]


@dataclass(frozen=True)
class Calibration(RealCalibration):
    """The register words of ``design`` for ``robot``, in the order of writing."""

    KIND = "words"

    registers: tuple[RegisterWord, ...]

    @property
    def words(self) -> dict[str, int]:
        """Register → its word."""
        return {own.name: own.word for own in self.registers}


def calibrate(
    folder: str | Path,
    robot: str,
    output: str | Path | None = None,
    progress: Progress = lambda _: None,
    trust: bool = False,
) -> RealCalibration:
    """Compute the register contents for another robot of the same model as the design in
    ``folder``.

    Returns a `Calibration` in words, or a `RealCalibration` for a program in real numbers.
    ``output`` is written as JSON, from which `simulate` reads words, or as a C table if its name
    ends in .h, .c or .hpp.

    Raises RobotError for a robot of another structure, or a number beyond its word, with the joint
    and the number.
    """
    if output is not None and Path(output).suffix not in (".json", *HEADERS):
        raise UsageError(f"{output}: a calibration is a .json, or a .h of C")
    if output is not None:
        check_place(Path(output))
    place = Path(folder)
    entry = checked_folder(place, trust, progress, (DESIGN, ROBOT))
    language = entry.get("language", VERILOG)
    found: RealCalibration
    if language in OF_NUMBERS:
        found = numbers_for(front_again(place, entry, progress), place, entry["name"], robot)
    else:
        filed = filed_graphs(place, entry["files"])
        if filed is None:
            graphs = compiled_again(place, progress).graphs
        else:
            graphs = {name: fixed for name, (fixed, _) in filed.items()}
        front = front_end(str(place / DESIGN), progress)
        found = words_for(front, graphs, place, entry["name"], robot)
    if output is not None:
        write_file(Path(output), as_file(found, Path(output), language))
    return found


def words_for(
    front: Front, graphs: Mapping[str, FixedGraph], place: Path, name: str, file: str
) -> Calibration:
    """The words for the robot in ``file``, in the registers of ``graphs``.

    OutputError where ``front``, which this rbdgen traces, has other registers.
    """
    found = numbers_for(front, place, name, file)
    reals = {own.name: own.real for own in found.registers}
    held = registers_of(front, place)
    held.refuse_beyond(file, reals)
    formats, known = parameter_formats(graphs), held.nominal
    same = {k.rpartition(".")[2] for k in formats} <= known.keys()
    if not same or parameter_words(graphs) != parameter_words(graphs, known):
        raise other_version(place)
    words = parameter_words(graphs, reals)
    registers = tuple(
        RegisterWord(
            name=k,
            real=reals[k.rpartition(".")[2]],
            width=f.width,
            fraction=f.fraction,
            word=int(words[k]),
        )
        for k, f in formats.items()
    )
    return Calibration(found.design, found.robot, found.file, found.numbers, registers)


def numbers_for(front: Front, place: Path, name: str, file: str) -> RealCalibration:
    """The register contents for the robot in ``file``, as real numbers. RobotError."""
    design, held = front.design, registers_of(front, place)
    own = {key: getattr(design, key) for key in OF_ROBOT}
    _, robot = load(file, **own)
    canonical = canonical_of(design, of_bodies(design))(robot)
    try:
        values = held.numbers.of(canonical)
    except RobotError as error:
        raise RobotError(f"{file}: {error}") from None
    _refuse_other_dynamics(file, robot, held.numbers.with_values(values))
    columns = held.columns(values[None, :])
    registers = tuple(RegisterNumber(k, float(v[0])) for k, v in columns.items())
    return RealCalibration(name, robot.name, str(file), tuple(values.tolist()), registers)


def numbers_again(front: Front, place: Path, said: RealCalibration) -> RealCalibration:
    """The registers of another design of the same model, for a calibration's robot.

    InputError where ``said`` has another model's numbers.
    """
    held = registers_of(front, place)
    if len(said.numbers) != len(held.numbers.keys):
        raise InputError(
            f"{said.file}: its numbers are for {said.design}, and {place} has others; the robot's "
            "own file will do"
        )
    values = np.array(said.numbers)
    held.numbers.of(held.numbers.with_values(values))  # or they are not of the model
    registers = tuple(
        RegisterNumber(k, float(v[0])) for k, v in held.columns(values[None, :]).items()
    )
    return replace(said, registers=registers)


def registers_of(front: Front, place: Path) -> Parameters:
    """The parameters that a design's registers hold; OutputError for a design without registers."""
    if front.parameters is None:
        raise _constant(place)
    return front.parameters


def _constant(place: Path) -> OutputError:
    return OutputError(
        f"{place}: the robot's parameters are constants of this design; generate it with "
        "--parameters registers"
    )


def as_file(found: RealCalibration, place: Path, language: str) -> str:
    """The text of a calibration as the file's name asks for it; ``language``: the design's."""
    if place.suffix in HEADERS:
        kind = "double"
        if isinstance(found, Calibration):
            kind = "int64_t" if max(own.width for own in found.registers) > 32 else "int32_t"
        return render("c_header/registers.h.jinja", own=found, kind=kind, to=language)
    return json.dumps(found.to_json(), indent=2) + "\n"


def read_calibration(file: str | Path) -> RealCalibration:
    """A calibration as `calibrate` writes it; InputError, in one line, for anything else."""
    try:
        data = json.loads(read_regular(Path(file), LARGEST))
        try:
            return Calibration.from_json(data)
        except NoRecord:
            return RealCalibration.from_json(data)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    except (NoRecord, ValueError) as error:
        raise InputError(
            f"{file}: no calibration: {error}; rbdgen calibrate DIR ROBOT -o FILE.json makes one"
        ) from None


def in_words(found: RealCalibration, place: Path) -> Calibration:
    """The calibration, for the design in ``place``; InputError for one without words."""
    if isinstance(found, Calibration):
        return found
    raise InputError(
        f"{found.file}: its real numbers are for {found.design}, and the design in {place} takes "
        "words; calibrate anew"
    )


def calibrated(made: Specification, place: Path, found: Calibration) -> Specification:
    """The design with those words in its registers, of the robot that they are of."""
    front = made.front
    if not has_registers(front.design):
        raise _constant(place)
    model = model_of(front.design, front.robot, of_bodies(front.design))
    own = {k: (f.width, f.fraction) for k, f in parameter_formats(made.graphs).items()}
    theirs = {r.name: (r.width, r.fraction) for r in found.registers}
    if own != theirs or len(found.numbers) != len(model.keys):
        raise InputError(
            f"{found.file}: its words are for {found.design}, another design than that in {place}; "
            "calibrate anew"
        )
    robot = model.with_values(np.array(found.numbers))
    front = replace(front, robot=robot, canonical=robot)
    return replace(made, front=front, held={k: np.array(w) for k, w in found.words.items()})


def _refuse_other_dynamics(file: str, robot: Robot, same: Robot) -> None:
    """RobotError where the numbers do not say all about a robot: its dynamics are the judge."""
    state = golden.random_state(same, STATES, np.random.default_rng(SEED))
    one, two = (golden.rnea(own, state.q, state.qd, state.qdd) for own in (robot, same))
    if np.abs(one - two).max() > NEAR * max(np.abs(one).max(), 1.0):
        raise RobotError(f"{file}: {robot.name}: its dynamics are not those of the numbers found")
