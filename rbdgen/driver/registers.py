"""Whose words the registers of a back end hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ..api.calibration import Calibration, calibrate, read_calibration
from ..api.folder import InputError
from ..design.manifest import RegisterPorts

Progress = Callable[[str], None]


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

    def hold(self, robot: str | Path | Calibration) -> None:
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

    def _found(self, robot: str | Path | Calibration) -> Calibration:
        if isinstance(robot, Calibration):
            return robot
        if Path(robot).suffix == ".json":
            return read_calibration(robot)
        found = calibrate(self.place, str(robot), progress=self.progress)
        assert isinstance(found, Calibration)  # of hardware
        return found
