"""A design: which robot, and the choices that turn it into hardware.

Written as a short YAML file that names a URDF (path relative to the YAML)::

    robot: iiwa14.urdf
    functions: [id]
    error: 1e-3
    limits:
      velocity: 10            # every joint, in place of the URDF's [rad/s, m/s]
      acceleration: 10
      joints:
        slide: {velocity: 1.5, position: [0, 2]}
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..robot.model import RobotError
from .checks import mix
from .choices import ERROR
from .effects import refused
from .function_options import FunctionOptions
from .hardware_options import HardwareOptions
from .nested import Fitted, Formulated, JointDrivetrain
from .options import CHECKS
from .robot_options import RobotOptions


@dataclass(frozen=True)
class Design(HardwareOptions, FunctionOptions, RobotOptions):
    """The choices. Construction checks each of them (RobotError, one line).

    ``robot`` is the path of the URDF. Each option stands beside its field, in `RobotOptions`,
    `FunctionOptions` and `HardwareOptions`; docs/options.md lists them. The other fields say what
    was found for this very design, and a design of other choices is searched anew:

    ``unsaid``      whether `load` chose how long words are: words that cannot keep `ERROR` have 18
                    bits then, with a note.
    ``formulated``  the formulation that style latency chose.
    ``fitted``      the choices that make it fit its part.
    """

    unsaid: bool = field(default=False, compare=False)
    formulated: Formulated | None = None
    fitted: Fitted | None = None

    def __post_init__(self) -> None:
        for key, check in CHECKS.items():
            try:
                object.__setattr__(self, key, check(getattr(self, key)))
            except ValueError as error:
                raise RobotError(f"{key}: {error}") from None
        own_joints = {name: JointDrivetrain.of(name, said) for name, said in self.joints.items()}
        object.__setattr__(self, "joints", own_joints)
        if line := refused(self):
            raise RobotError(line)
        for name in mix(self.mix) if self.mix else ():
            if name not in self.functions:
                raise RobotError(
                    f"mix: {name} is none of the functions, {', '.join(self.functions)}"
                )


def snap_in_floats(design: Design) -> float:
    """``snap`` of programs in floating point: 0 unless the design says it."""
    return 0.0 if design.snap is None else design.snap


def promising(design: Design) -> Design:
    """The design with words for an error of `ERROR`, unless other choices ask for one width.

    An accelerator's limbs on a trunk, joints and columns are time-multiplexed in words of one width
    alone.
    """
    if design.accelerator or design.guard != 1 or design.proven != "none":
        return replace(design, unsaid=True)
    return replace(design, error=ERROR, unsaid=True)


def has_registers(design: Design) -> bool:
    """Whether what differs between robots of one model is in registers."""
    return design.parameters == "registers"
