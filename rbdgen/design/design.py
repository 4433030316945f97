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

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..robot.model import RobotError
from .checks import CHECKS, NOT_OF_JOINTS
from .checks import mix as parse_mix
from .choices import (
    AT_FRAMES,
    ERROR,
    FLOAT_ERROR,
    GIVEN_BASE,
    INVERTING,
    MOVING,
    NEARBY,
    ON_ACCELERATORS,
    ROLLOUTS,
    STEP,
    TO_COMPARE,
    TOLERANCE,
)
from .effects import refused
from .nested import Fitted, Formulated, JointDrivetrain, MotionLimits


@dataclass(frozen=True)
class Design:
    """The choices. Construction checks each of them (RobotError, one line).

    ``robot``            path of the URDF.
    ``name``             of files, modules and symbols, an identifier; None: `design_name` says.
    ``base``             "fixed" or "floating"; ``mimic`` "fold" or "independent".
    ``gravity``          (3,) [m/s²], base frame; the robot's file's (MJCF), else 0, 0, -9.81.
    ``open_loops``       whether what closes loops, or couples joints, is left out of a robot that
                         has such; else it is refused.
    ``xacro``            arguments by name of a robot that is xacro; of a URDF a record of those
                         that it was expanded with.
    ``snap``             angles this near [rad] to a multiple of 90° are taken for it; 0: none; if
                         not said 1e-5 where there are words, 0 in floating point.
    ``alike``            limbs that differ by no more than this part of their size are made alike,
                         to take turns: the first one's figures stand for all; 0: none.
    ``functions``        which of ``FUNCTIONS`` the hardware computes.
    ``width``            word width [bit] of every signal.
    ``guard``            bits that words have more where no multiplier reads them, products that are
                         added up, say: they cost adders and no multipliers.
    ``proven``           which words no state within the limits overflows, by a proof: "one-bit",
                         those that it costs a bit or less; "all", or it is refused; "none": words
                         are searched, and what is proven of them is said.
    ``target``           FPGA part, a name of ``rbdgen.schedule``'s targets.
    ``limits``           for every joint; ``joint_limits`` by joint name, which wins.
    ``velocity``, ``acceleration``, ``effort``  limits that win over those: a number for every
                         joint, or "3,wrist=8", or "elbow=2,wrist=8", or a mapping.
    ``joints``           rotors' inertias, damping and friction by joint name, over the file's.
    ``friction``         whether damping and friction are computed; rotors' inertias always are.
    ``friction_width``   the speed [rad/s or m/s] from which on friction has its whole size, as
                         velocities are given; 0.1 rad/s and 0.01 m/s unless given.
    ``external_forces``  names of the links that take an external force input.
    ``payload``          the link that carries a payload, whose mass, centre of mass and inertia are
                         inputs; nothing else about the robot is.
    ``parameters``       the robot's masses, lengths and so on: "constants", folded into the
                         hardware; or "registers", for what differs between robots of one model.
    ``tolerance``        by how much they may differ, as a part of the largest of their kind that
                         a joint or link has; angles in radians.
    ``frames``           names of the links whose frames pose, twist, jac, drift and cfd are of.
    ``contact``          what cfd holds of each: "point", its origin; "surface", its turn, too.
    ``contact_damping``  by how much a held frame gives way, acceleration by force [1/kg, and of
                         moments 1/(kg m²)]: 0, or what makes contacts that are not independent,
                         or nearly, regular.
    ``angles``           "on-chip": angles come in, sines are made on the chip; "sincos": sine and
                         cosine of each joint angle come in.
    ``error``            RMS error of each output coordinate, matrices by rows, beside its own RMS
                         at the limits, and ten times that at a tenth of them, in place of
                         ``width``: words get the bits that this takes, each its own. A design that
                         says neither is loaded with 1e-3; an accelerator, or one with ``guard`` or
                         ``proven``, with words of 18 bits.
    ``unsaid``           whether that was chosen by `load`: words that cannot keep the error have
                         18 bits then, with a note.
    ``float_error``      of programs in float: the largest error of a result, by the largest entry
                         of its array; what takes more than float's precision is in double.
    ``rotation``         multiplications per plane rotation: 4, or 3 with one bit more noise.
    ``formulation``      "auto": with style latency that of the fewest cycles, else composite;
                         "composite": recursions from link to link, gradients of composite bodies
                         (the fewest multiplications); "recursive": gradients carried from link to
                         link (Carpentier's, the dataflow that others build); "logarithmic": sums
                         in one frame for each tree (as many cycles as the logarithm of its height
                         asks for, and more multiplications); of id alone "linear", from link to
                         link with one matrix a joint, and Lathrop's of 1985, "lathrop-linear" and
                         "lathrop-log", to compare with.
    ``formulated``       what was chosen so; only of this very design: another one chooses anew.
    ``network``          of the formulation "logarithmic": how rotations are composed, "sklansky"
                         (the fewest cycles), "kogge-stone" or "brent-kung" (the fewest products).
    ``products``         of it, too: how gradients' entries are made, "plain" or "winograd", fewer
                         multipliers and more adders: an eighth fewer of 16 joints in a row.
    ``frame``            of it, too: the link whose axes its tree's sums are along; the middle of
                         each tree unless given.
    ``factorisation``    of the mass matrix: "ltdl", "mminvgen", or "auto", the cheaper one; or
                         "blocks", by cofactors of up to four coordinates, which takes the fewest
                         cycles and has the largest errors.
    ``inverse``          of the mass matrix: "computed"; or, in the formulation "logarithmic",
                         "near", corrected from that of a state nearby, an input.
    ``nearby``           of such a state: how far each coordinate [rad or m] may be off, for which
                         words have room; 10 rad/s for 1 ms unless given.
    ``step``             of the function step: the seconds that it takes; they are a constant.
    ``root``             of a floating base: "free", its coordinates are part of the function;
                         "given", its motion is an input and only the joints' rows and columns
                         come out; "ignored", it is held still, as with a fixed base; "each", of an
                         accelerator, whose functions fd, minv and dfd are there a second time, as
                         fd_given and so on, for tasks whose base moves as they say.
    ``base_link``        the link that a floating base holds: "best", where the tree is least deep,
                         or a link's name; the file's root unless given. States and results are
                         then of that base.
    ``code``             of programs over real numbers: "inlined", all operations one after another;
                         or "loops", a function for what each kind of joint, or pair of joints,
                         computes, and tables that say what each joint reads.
    ``ii``               initiation interval [cycles]: a task that often; more than 1 folds.
    ``multipliers``      hardware multipliers, in place of ``ii``: the smallest that fits.
    ``scheduler``        of a folded design: "list", or "exact" (CP-SAT, minutes, shorter latency).
    ``style``            "throughput"; or "latency": the fewest cycles from start to done within
                         ``multipliers`` (else the target's), one task in flight or several.
    ``clock``            period [ns] of a slow clock, within which operations are chained; only
                         with style "latency", which else counts with the fastest clock.
    ``fold``             with ``ii`` or ``multipliers``: "limbs", limbs that are alike up to signs
                         take turns in one of them; "joints", joints do, one datapath for each
                         thing that they compute; "none", operations share multipliers;
                         "auto", limbs where there are such and they give no longer an interval,
                         else joints where that saves much logic and M is not inverted, else
                         "none". Of an accelerator: limbs in the stages whose interval is a
                         multiple of their number; joints in τ, M and the gradients of τ, with
                         "auto" where it is large or does not fit the part; and with "auto" and
                         "joints" columns do in a product of matrices.
    ``fit``              without ``ii``, ``multipliers`` and ``fold``: the fastest design that fits
                         the part; else one that takes a task every cycle, whether it fits or not.
    ``fitted``           what was chosen so; only of this very design: another one searches anew.
    ``accelerator``      whether the functions share one accelerator, task by task, each at its
                         own rate; else all of them are computed for every task. ``ii`` is then
                         that of the slowest function.
    ``slots``            of an accelerator: tasks under way at a time, a power of two; as many as
                         keep it busy unless given.
    ``mix``              of an accelerator's tasks, such as "id=8,dfd=1": so many of each come
                         together, once every ``ii`` cycles, and each stage is as fast as that
                         takes; else any function alone runs once every ``ii`` cycles.
    ``order``            of an accelerator's results: "finished", as they do (those of a function
                         in order); "issued", as their tasks came.
    """

    robot: str
    base: str = "fixed"
    mimic: str = "fold"
    gravity: tuple[float, float, float] | None = None
    open_loops: bool = False
    xacro: Mapping[str, str] | None = None
    snap: float | None = None
    alike: float = 0.0
    functions: tuple[str, ...] = ("id",)
    width: int = 18
    guard: int = 1
    proven: str = "none"
    target: str = "ecp5-85f"
    limits: MotionLimits = field(default_factory=MotionLimits)
    joint_limits: Mapping[str, MotionLimits] = field(default_factory=dict)
    external_forces: tuple[str, ...] = ()
    payload: str | None = None
    parameters: str = "constants"
    tolerance: float = TOLERANCE
    frames: tuple[str, ...] = ()
    contact: str = "point"
    contact_damping: float = 0.0
    angles: str = "on-chip"
    rotation: int = 4
    error: float | None = None
    unsaid: bool = field(default=False, compare=False)
    float_error: float = FLOAT_ERROR
    formulation: str = "auto"
    formulated: Formulated | None = None
    network: str = "sklansky"
    products: str = "plain"
    frame: str | None = None
    factorisation: str = "auto"
    inverse: str = "computed"
    nearby: float = NEARBY
    step: float = STEP
    integrator: str = "euler"
    root: str = "free"
    base_link: str | None = None
    code: str = "inlined"
    ii: int | None = None
    multipliers: int | None = None
    scheduler: str = "list"
    style: str = "throughput"
    clock: float | None = None
    fold: str = "auto"
    fit: bool = True
    fitted: Fitted | None = None
    accelerator: bool = False
    slots: int | None = None
    order: str = "finished"
    mix: str | None = None
    velocity: Any = None
    acceleration: Any = None
    effort: Any = None
    joints: Mapping[str, JointDrivetrain] = field(default_factory=dict)
    friction: bool = True
    friction_width: Any = None
    name: str | None = None

    def __post_init__(self) -> None:
        checks = CHECKS if self.fold == "joints" else CHECKS | NOT_OF_JOINTS
        for key, check in checks.items():
            try:
                object.__setattr__(self, key, check(getattr(self, key)))
            except ValueError as error:
                raise RobotError(f"{key}: {error}") from None
        own_joints = {name: JointDrivetrain.of(name, said) for name, said in self.joints.items()}
        object.__setattr__(self, "joints", own_joints)
        if line := refused(self):
            raise RobotError(line)
        _check_functions(self)
        _check_parameters(self)
        if self.guard != 1:
            _refuse_own_words(self, f"guard: {self.guard}", self.error is not None)
        if self.proven != "none":
            _refuse_own_words(self, f"proven: {self.proven}")
        if self.inverse == "near":
            _refuse_near(self)
        rollouts = [name for name in self.functions if name in ROLLOUTS]
        if rollouts and not self.accelerator:
            raise RobotError(f"functions: {rollouts[0]} is a task of an accelerator; --accelerator")
        for name in parse_mix(self.mix) if self.mix else ():
            if name not in self.functions:
                raise RobotError(
                    f"mix: {name} is none of the functions, {', '.join(self.functions)}"
                )
        if self.style == "latency":
            for key, values in (("fold", ("limbs", "joints")), ("scheduler", ("exact",))):
                if (value := getattr(self, key)) in values:
                    raise RobotError(f"{key}: {value} is for style throughput, not latency")
            return
        if self.ii is not None and self.multipliers is not None:
            raise RobotError("ii and multipliers: one follows from the other; give one of them")


def _check_functions(design: Design) -> None:
    """RobotError for functions that ask for what the design has not."""
    of_frames = [name for name in design.functions if name in AT_FRAMES]
    if of_frames and not design.frames:
        raise RobotError(f"functions: {of_frames[0]} is of frames; name their links: --frames LINK")
    moving = [name for name in design.functions if name in MOVING]
    if moving and design.angles == "sincos":
        raise RobotError(
            f"angles: sincos: {moving[0]} moves angles on, of which only sines come in; leave it "
            "out"
        )
    if "cfd" in design.functions:
        _check_contacts(design)
    if "step" in design.functions:
        for key, default in (("root", "free"), ("base_link", None)):
            if (value := getattr(design, key)) != default:
                raise RobotError(
                    f"{key}: {value}: step moves the file's base by what it computes; leave it out"
                )
        if design.integrator != "euler" and design.inverse != "computed":
            raise RobotError(
                f"inverse: {design.inverse}: integrator {design.integrator} has M⁻¹ of the first "
                "point alone; leave it out"
            )
    if "ddid" in design.functions and design.base_link is not None:
        raise RobotError(
            f"base_link: {design.base_link}: ddid is not carried to the file's base; leave it out"
        )
    _check_roots(design)
    known = (*ON_ACCELERATORS, *ROLLOUTS, *GIVEN_BASE)
    alone = [name for name in design.functions if name not in known]
    if design.accelerator and alone:
        raise RobotError(
            f"functions: {alone[0]} is no task of an accelerator, which has {', '.join(known)}; "
            "make it a design of its own"
        )


def _check_roots(design: Design) -> None:
    """RobotError for tasks that say what the base does, where none can."""
    if design.root != "each":
        for name in design.functions:
            if name in GIVEN_BASE:
                raise RobotError(
                    f"functions: {name} is there with --root each, beside {GIVEN_BASE[name]}"
                )
        return
    if not design.accelerator:
        raise RobotError(
            "root: each: tasks of an accelerator say what the base does; --accelerator, or root "
            "free or given"
        )
    for key, said in (
        ("base_link", design.base_link is not None),
        ("factorisation", design.factorisation == "mminvgen"),
        ("fold", design.fold in ("limbs", "joints")),
    ):
        if said:
            raise RobotError(f"{key}: {getattr(design, key)}: not with root: each; leave one out")


def _check_contacts(design: Design) -> None:
    """RobotError for what has no factors of M to put contacts between, or no base that moves."""
    for key, known, why in (
        ("factorisation", ("auto", "ltdl"), "cfd goes between the factors of LᵀDL"),
        ("inverse", ("computed",), "cfd takes M's factors, not M⁻¹ of a state nearby"),
        ("root", ("free", "ignored"), "cfd has no base whose motion is given"),
    ):
        if (value := getattr(design, key)) not in known:
            raise RobotError(f"{key}: {value}: {why}; leave it out")


def _check_parameters(design: Design) -> None:
    """RobotError for what a design with registers has not."""
    if not has_registers(design):
        return
    for key, said in (
        ("alike", design.alike != 0),
        ("fold", design.fold in ("limbs", "joints")),
        ("formulation", design.formulation in TO_COMPARE),
    ):
        if said:
            raise RobotError(
                f"{key}: {getattr(design, key)}: not with --parameters registers; leave one out"
            )
    if "ddid" in design.functions:
        raise RobotError("functions: ddid: not with --parameters registers; leave one out")


def snap_in_floats(design: Design) -> float:
    """``snap`` of programs in floating point: 0 unless the design says it."""
    return 0.0 if design.snap is None else design.snap


def promising(design: Design) -> Design:
    """The design with words for an error of `ERROR`, unless other choices ask for one width.

    An accelerator's limbs on a trunk, joints and columns take turns in words of one width alone.
    """
    if design.accelerator or design.guard != 1 or design.proven != "none":
        return replace(design, unsaid=True)
    return replace(design, error=ERROR, unsaid=True)


def has_registers(design: Design) -> bool:
    """Whether what differs between robots of one model is in registers."""
    return design.parameters == "registers"


def _refuse_own_words(design: Design, said: str, by_error: bool = False) -> None:
    """RobotError for a choice of words, as ``said``, where the design has words of its own."""
    own = (
        ("error", by_error),
        ("accelerator", design.accelerator),
        ("fold: joints", design.fold == "joints"),
    )
    for name, there in own:
        if there:
            raise RobotError(f"{said}: {name} has words of its own; leave one out")


def _refuse_near(design: Design) -> None:
    """RobotError where M⁻¹ of a state nearby serves nothing, or is mistaken for another."""
    functions = ", ".join(design.functions)
    if set(INVERTING).isdisjoint(design.functions):
        raise RobotError(f"inverse: near is for {', '.join(INVERTING)}, not {functions}")
    if "difd" in design.functions:
        raise RobotError(
            "inverse: near: difd takes M⁻¹ itself as Minv; make it a design of its own"
        )
    if design.factorisation != "auto":
        raise RobotError(
            f"factorisation: {design.factorisation}: inverse: near factorises nothing; leave it out"
        )
