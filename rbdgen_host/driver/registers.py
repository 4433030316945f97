"""The robot whose parameters the registers of a back end hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rbdgen.api.calibration import (
    Calibration,
    RealCalibration,
    calibrate,
    in_words,
    numbers_again,
    numbers_for,
    read_calibration,
)
from rbdgen.api.compilation import front_again
from rbdgen.api.folder import InputError, read_manifest
from rbdgen.api.native_programs import NativeProgram
from rbdgen.compile.front import Front
from rbdgen.design.manifest import RegisterPorts
from rbdgen.system.quoting import Progress


@dataclass
class Registers:
    """Registers of the design in the folder ``place``, in a back end.

    ``words``: in them, in their order; none: those that are there from the start. ``write`` is told
    of others.
    """

    place: Path
    ports: RegisterPorts
    progress: Progress
    write: Callable[[Calibration], None] = lambda _: None
    words: list[int] = field(default_factory=list)

    def hold(self, robot: str | Path | RealCalibration) -> None:
        """The words of a robot: its file, the JSON that `calibrate` made of it, or that itself.

        RobotError for a robot that is not of the design's model; InputError for words of another
        design.
        """
        found = self._found(robot)
        own = [(word.name, word.width, word.fraction) for word in self.ports.registers]
        if own != [(word.name, word.width, word.fraction) for word in found.registers]:
            raise InputError(
                f"{found.file}: its words are for {found.design}, another design than that in "
                f"{self.place}; calibrate anew"
            )
        self.write(found)
        self.words = [word.word for word in found.registers]

    def _found(self, robot: str | Path | RealCalibration) -> Calibration:
        if isinstance(robot, str | Path):
            if Path(robot).suffix == ".json":
                robot = read_calibration(robot)
            else:
                robot = calibrate(self.place, str(robot), progress=self.progress)
        return in_words(robot, self.place)


@dataclass
class ProgramRegisters:
    """The compiled programs of a design, and the robot that their parameters are set to.

    ``said``: whose numbers those are, if not of the one that they were made from.
    """

    progress: Progress
    said: str | Path | RealCalibration | None = None
    _programs: list[NativeProgram] = field(default_factory=list)
    _fronts: dict[Path, Front] = field(default_factory=dict)

    def add(self, program: NativeProgram) -> NativeProgram:
        """One more of them, which is given what the others were."""
        if self.said is not None:
            program.library.hold(self._numbers(program, self.said))
        self._programs.append(program)
        return program

    def hold(self, robot: str | Path | RealCalibration) -> None:
        """The numbers of a robot: its file, the JSON that `calibrate` made of it, or that itself.

        RobotError for a robot that is not of the design's model; InputError for numbers of another
        design.
        """
        found = [self._numbers(program, robot) for program in self._programs]
        for program, numbers in zip(self._programs, found, strict=True):
            program.library.hold(numbers)
        self.said = robot

    def _numbers(self, program: NativeProgram, robot: str | Path | RealCalibration) -> list[float]:
        place = program.folder
        if place not in self._fronts:
            self._fronts[place] = front_again(place, read_manifest(place), self.progress)
        front = self._fronts[place]
        if isinstance(robot, str | Path) and Path(robot).suffix == ".json":
            robot = read_calibration(robot)
        if isinstance(robot, RealCalibration):
            return numbers_again(front, place, robot).reals
        return numbers_for(front, place, program.name, str(robot)).reals
