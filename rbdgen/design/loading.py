"""Designs and robots from files: a URDF, what becomes one, a YAML design, or a shipped robot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from ..robot.canonical import merge_fixed
from ..robot.frames import align_axes, frame_of
from ..robot.model import EARTH, NotFound, Robot, RobotError
from ..robot.sources import DESCRIPTION, as_urdf, described, is_xacro, of_its_source
from ..robot.urdf import parse_urdf
from ..robot.variations import PAYLOAD
from ..robot.xml_lines import did_you_mean, quoted, read_bytes
from ..system.quoting import changing
from ..system.templates import data_folder
from .checks import DRIVETRAIN_CHECKS, JOINT_LIMITS, LIMIT_CHECKS, by_joint
from .choices import BEST, EVERY, WORDS
from .controllers import COMPUTING, with_law
from .design import Design, promising
from .effects import notes_of_effects, refused
from .functions import GIVEN_BASE, OF_MOTION, UNFORCED
from .limits import OPTIONS
from .nested import (
    CHOICES,
    PROMISED,
    Choice,
    JointDrivetrain,
    MotionLimits,
    YamlNode,
    parse_yaml,
)
from .options import CHECKS
from .payload import driven, notes_of_payload
from .rule import broken
from .rules import FILE, RULES

MAX_YAML = 2**20  # bytes of a design file


def shipped_robots() -> dict[str, Path]:
    """Name → YAML design file of each robot that comes with rbdgen."""
    return {path.stem: path for path in sorted(data_folder("robots").glob("*.yaml"))}


def locate(path: str | Path, xacro: Mapping[str, str] | None = None) -> Path:
    """The file meant by ROBOT: one that exists, else a shipped robot of that name, else one that
    robot_descriptions has, as ``panda_description``.

    ``iiwa14``, ``iiwa14.yaml`` and ``robots/iiwa14.yaml`` all work anywhere. ``xacro``: arguments
    for what robot_descriptions has as xacro.
    """
    given = Path(path)
    try:
        if given.exists() and not given.is_dir():
            return given
    except (OSError, ValueError):
        return given  # reading it will say why
    shipped = shipped_robots()
    if given.parent in (Path(), Path("robots")):
        if not given.suffix and given.name in shipped:
            return shipped[given.name]
        if given.suffix and (data_folder("robots") / given.name).is_file():
            return data_folder("robots") / given.name
    if given.parent == Path() and given.name.endswith(DESCRIPTION):
        return described(given.name, xacro)
    if given.is_dir():
        raise RobotError(f"{path}: is a folder; name a file in it{_first_of(given)}")
    if given.suffix:
        return given  # reading it says what is wrong, and suggests a neighbour
    hint = did_you_mean(given.stem, shipped, f"; a URDF or YAML file, or one of {_list(shipped)}")
    raise NotFound(f"{path}: no such robot{hint}", path)


def _first_of(folder: Path) -> str:
    """The file in a folder that is probably meant, if there is one."""
    found = [
        own for kind in ("design.yaml", "*.urdf", "*.xacro") for own in sorted(folder.glob(kind))
    ]
    return f", as {found[0]}" if found else ""


class UnknownChoice(RobotError, TypeError):
    """A keyword that names no choice of a design."""


def refuse_unknown(choices: Mapping[str, Any], takes: Callable[..., Any] | None = None) -> None:
    """UnknownChoice for a key that is no field of Design; ``takes``: what has other keywords too.

    Says what was probably meant.
    """
    known = [field.name for field in fields(Design) if field.name != "robot"]
    own = signature(takes).parameters.values() if takes else ()
    for name in choices:
        if name not in known:
            near = did_you_mean(name, (*(p.name for p in own if p.kind != p.VAR_KEYWORD), *known))
            raise UnknownChoice(f"no choice {quoted(name)}{near or f'; one of {_list(known)}'}")


def load(
    path: str | Path, *, notes: list[str] | None = None, programs: bool = False, **choices: Any
) -> tuple[Design, Robot]:
    """The design and the robot that ROBOT names: a URDF, a YAML design or a shipped robot.

    ``choices`` are fields of Design that win over the file's (None: no opinion); ``notes``
    receives what was accepted but looks wrong. ``programs``: whether a controller may be one,
    which is no function of the robot. Raises RobotError with file, line and cure.
    """
    refuse_unknown(choices)
    said = {k: v for k, v in choices.items() if v is not None}
    design, source, given, in_file, controller = _filed(path, said.pop("xacro", None))
    if controller and "functions" in said:  # other functions, and the same controller
        said.setdefault("controller", controller)
    try:
        said = with_law(said, design.functions)
    except ValueError as error:
        raise RobotError(f"controller: {error}") from None
    chosen = replace(design, **said)
    if not programs and (line := refused(chosen, COMPUTING)):
        raise RobotError(line)
    if {*in_file, *said}.isdisjoint(WORDS):
        design, chosen = promising(design), promising(chosen)
    elif "width" in said and "error" not in said:
        chosen = replace(chosen, error=None)
    # what was chosen for a design to fit is chosen anew for another one
    if chosen != design:
        given = said.get("chosen", ())
        left = tuple(one for one in chosen.chosen if one.what == PROMISED or one in given)
        chosen = replace(chosen, chosen=left)
    design = chosen
    content = read_bytes(design.robot) if source is None else _robot_bytes(source, design.robot)
    robot = _parsed(design, content, notes, source, given)
    if design.base_link is not None:
        design, robot = _on_base_link(design, robot, source)
    design = resolved(design, robot, source)
    if notes is not None:
        notes += notes_of_effects(design, robot)
    unforced = [name for name in design.functions if name in UNFORCED]
    if notes is not None and design.external_forces and unforced:
        none = len(unforced) == len(design.functions)
        end = ", so the design has no force inputs" if none else ""
        notes.append(f"external_forces: no force changes {', '.join(unforced)}{end}")
    falls = not set(OF_MOTION).issuperset(design.functions)
    if notes is not None and falls and tuple(robot.gravity) != EARTH:
        own, usual = (" ".join(f"{g:g}" for g in gravity) for gravity in (robot.gravity, EARTH))
        notes.append(changing(f"gravity: {own} m/s², not {usual}"))
    if notes is not None and design.payload is not None:
        notes += notes_of_payload(design)
    return design, robot


def filed(path: str | Path, xacro: Mapping[str, str] | None = None) -> Design:
    """The design that ROBOT names by itself, with arguments if it is xacro; RobotError."""
    return _filed(path, xacro).design


def says(path: str | Path, key: str, xacro: Mapping[str, str] | None = None) -> bool:
    """Whether the design file that ROBOT names makes a choice, be it the usual one; RobotError."""
    return key in _filed(path, xacro).said


class _Filed(NamedTuple):
    """A design, the root of its file if it has one of its own, and what its robot was made of;
    ``said``: the choices that stand in that file."""

    design: Design
    source: YamlNode | None
    given: Path
    said: Set[str] = frozenset()
    controller: str | None = None  # that the file names


def _filed(path: str | Path, xacro: Any = None) -> _Filed:
    arguments = _arguments_of(xacro)
    file = locate(path, arguments)
    if file.suffix.lower() in (".yaml", ".yml"):
        root = parse_yaml(read_bytes(file, MAX_YAML), str(file))
        return _from_yaml(root, file, arguments)
    described_one = file != Path(path) and Path(path).name.endswith(DESCRIPTION)
    urdf = file if described_one else as_urdf(file, arguments)
    return _Filed(Design(str(urdf), xacro=arguments or None), None, file)


def _arguments_of(xacro: Any) -> dict[str, str]:
    try:
        return CHECKS["xacro"](xacro) or {}
    except ValueError as error:
        raise RobotError(f"xacro: {error}") from None


def as_filed(design: Design) -> Robot:
    """The design's robot with the base that its file gives it; RobotError."""
    return _parsed(design, read_bytes(design.robot))


def _parsed(
    design: Design,
    content: bytes,
    notes: list[str] | None = None,
    source: YamlNode | None = None,
    given: Path | None = None,
) -> Robot:
    own: list[str] = []
    given = given or Path(design.robot)
    try:
        robot = parse_urdf(
            content,
            file=design.robot,
            base="fixed" if design.root == "ignored" else design.base,  # type: ignore[arg-type]
            mimic=design.mimic,  # type: ignore[arg-type]
            gravity=design.gravity,
            open_loops=design.open_loops,
            notes=own,
        )
    except RobotError as error:  # of a file that nobody wrote: the one that it was made of
        raise RobotError(of_its_source(str(error), design.robot, given)) from None
    if notes is not None and str(given) == design.robot:
        notes += own
    elif notes is not None:  # by the file's name alone: the same wherever it lies
        said = [of_its_source(note, design.robot, given) for note in own]
        notes += [note.replace(f"{given}", given.name, 1) for note in said]
    try:
        return driven(design, robot, notes)
    except RobotError as error:
        raise _refused(source, str(error), str(error).partition(":")[0]) from None


def _on_base_link(design: Design, robot: Robot, source: YamlNode | None) -> tuple[Design, Robot]:
    """The robot on its other base, and the design with that link's name."""
    from ..robot.compose import reroot
    from ..robot.topology import topology

    try:
        link, rigid = design.base_link or BEST, merge_fixed(robot)
        if link == BEST:
            best = topology(align_axes(rigid, design.snap)).best
            link = best.link if best else link  # reroot says why there is none
        return replace(design, base_link=link), reroot(rigid, link)
    except RobotError as error:
        raise _refused(source, f"base_link: {error}", "base_link") from None


def _robot_bytes(root: YamlNode, robot: str) -> bytes:
    try:
        return read_bytes(robot)
    except RobotError as error:
        raise root.value_of("robot").error(f"robot: {error}") from None


def _from_yaml(root: YamlNode, file: Path, xacro: Mapping[str, str]) -> _Filed:
    """The design in a YAML file; each value is checked where its line is known."""
    known = [f.name for f in fields(Design) if f.name not in ("joint_limits", "chosen")]
    kinds = [what for what, keys in CHOICES.items() if keys]
    entries = root.mapping([*known, *kinds], "design")
    if "robot" not in entries:
        raise root.error("names no robot; write robot: FILE.urdf")
    own = entries.pop("xacro").mapping(None, "xacro") if "xacro" in entries else {}
    arguments = {**{name: value.text() for name, value in own.items()}, **xacro}
    given = file.parent / entries.pop("robot").text()
    # of a URDF the file's arguments are a record: it was expanded with them
    urdf = as_urdf(given, arguments if xacro or is_xacro(given) else None)
    values: dict[str, Any] = {"robot": str(urdf), "xacro": arguments or None}
    for key, node in entries.items():
        if key in kinds:
            values["chosen"] = (*values.get("chosen", ()), _choice(key, node))
        elif key == "joints":
            values[key] = _drivetrains(node)
        elif key == "limits":
            values["limits"], values["joint_limits"] = _limits(node)
        else:
            values[key] = node.checked(key, CHECKS[key])
    controller = values.get("controller")
    return _Filed(Design(**with_law(values)), root, given, frozenset(entries), controller)


def _choice(what: str, node: YamlNode) -> Choice:
    """A choice of rbdgen's that a file keeps."""
    checks: dict[str, Any] = {**CHECKS, "note": str, "fits": CHECKS["fit"]}
    entries = node.mapping([*CHOICES[what]], what)
    if "note" not in entries or len(entries) < 2:
        keys = [key for key in CHOICES[what] if key != "note"]
        raise node.error(f"{what}: has {', '.join(keys)} and note; leave it out to choose anew")
    return Choice.of(what, {key: own.checked(key, checks[key]) for key, own in entries.items()})


def _checked(node: YamlNode, what: str, checks: Mapping[str, Callable[[Any], Any]]) -> Any:
    """The entries of a block, which ``what`` names in messages, as its ``checks`` return them."""
    entries = node.mapping([*checks], what)
    return {key: value.checked(key, checks[key]) for key, value in entries.items()}


def _drivetrains(node: YamlNode) -> dict[str, JointDrivetrain]:
    blocks = node.mapping(None, "joints").items()
    return {k: JointDrivetrain(**_checked(own, "joint", DRIVETRAIN_CHECKS)) for k, own in blocks}


def _limits(node: YamlNode) -> tuple[MotionLimits, dict[str, MotionLimits]]:
    of_joint = {key: LIMIT_CHECKS[key] for key in JOINT_LIMITS}

    def each(joints: YamlNode) -> dict[str, MotionLimits]:
        blocks = joints.mapping(None, "joints").items()
        return {k: MotionLimits(**_checked(own, "joint limits", of_joint)) for k, own in blocks}

    entries = node.mapping([*LIMIT_CHECKS, "joints"], "limits")
    joints = entries.pop("joints", None)
    every = {key: value.checked(key, LIMIT_CHECKS[key]) for key, value in entries.items()}
    return MotionLimits(**every), each(joints) if joints else {}


def resolved(design: Design, robot: Robot, root: YamlNode | None = None) -> Design:
    """The design with its names checked against the robot's, and "all" spelt out; RobotError."""

    for key, line in broken(RULES, design, FILE):
        raise _refused(root, line, key)
    if design.root == "each":
        free = [name for name in design.functions if name not in GIVEN_BASE]
        told = [name for name, own in GIVEN_BASE.items() if own in free]
        design = replace(design, functions=(*free, *told))
    named: list[tuple[str, str, tuple[str, ...]]] = [
        ("", name, ("limits", "joints", name)) for name in design.joint_limits
    ]
    for key in (*OPTIONS, "kp", "kd"):
        numbers = {} if getattr(design, key) is None else by_joint(getattr(design, key))
        named += [(f"{key}: ", name, (key,)) for name in numbers if name]
    for said, name, keys in named:
        if name not in robot.joint_names:
            hint = did_you_mean(name, robot.joint_names, f"; one of {_list(robot.joint_names)}")
            message = f"{said}the robot has no free joint {quoted(name)}{hint}"
            raise _refused(root, message, *keys)
    bodies = [robot.joints[i].body for i in robot.moving]
    design = replace(
        design,
        frames=_with_every(design.frames, bodies),
        external_forces=_with_every(design.external_forces, bodies),
    )
    links = [(name, "frames") for name in design.frames]
    for name, key in [*links, *([(design.payload, PAYLOAD)] if design.payload else [])]:
        try:
            frame_of(robot, name, key)
        except RobotError as error:
            raise _refused(root, str(error), key) from None
    for name in design.external_forces:
        if name not in bodies:
            hint = did_you_mean(name, bodies, f"; one of {_list(bodies)}, or all")
            message = f"external_forces: no joint moves a link {quoted(name)}{hint}"
            raise _refused(root, message, "external_forces")
    return design


def _with_every(named: Sequence[str], bodies: Sequence[str]) -> tuple[str, ...]:
    """The links that are named, each once, with those that joints move in the place of "all"."""
    return tuple(
        dict.fromkeys(own for name in named for own in (bodies if name == EVERY else [name]))
    )


def _refused(root: YamlNode | None, message: str, *keys: str) -> RobotError:
    """The refusal, with the line of the design file if the choice stands there."""
    try:
        return root.value_of(*keys).error(message) if root else RobotError(message)
    except KeyError:
        return RobotError(message)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
