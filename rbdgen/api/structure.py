"""The facts of a robot and of its dynamics' cost; how modules of a pipeline follow its tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ..codegen.loops import loops
from ..codegen.statement_order import computed
from ..compile.expected import with_errors
from ..compile.flow import compile_front, front_end, front_of
from ..compile.front import Front, roughly
from ..compile.visits import with_visits
from ..design.effects import notes_of_use
from ..design.facts import DesignFacts, ProgramFacts
from ..design.loading import load, refuse_unknown
from ..draw.organisation import organisation
from ..draw.tables import info_text, topology_text
from ..robot.canonical import merge_fixed
from ..robot.compose import reroot as rerooted
from ..robot.frames import align_axes
from ..robot.limb_unification import equal_limbs
from ..robot.model import ALIKE, RobotError
from ..robot.topology import (
    BranchDifference,
    ModuleCount,
    NamedArray,
    NamedBranch,
    Organisation,
    Rooting,
    Topology,
)
from ..robot.topology import topology as organised
from ..system.quoting import Progress
from .compilation import chosen_for, wishes_of
from .facts import design_facts
from .folder import write_file
from .native_programs import measured
from .results import Report

if TYPE_CHECKING:
    from ..design.options import DesignChoices


class Info(Report[DesignFacts]):
    """The result of `info`."""

    def headline(self) -> str:
        own = self.facts
        return f"{own.robot}: {', '.join(own.functions)}{own.headline}"

    def as_text(self) -> str:
        return info_text(self.facts)


def info(
    robot: str,
    progress: Progress = lambda _: None,
    latency: float | str | None = None,
    rate: float | str | None = None,
    power: float | str | None = None,
    **choices: Unpack[DesignChoices],
) -> Info:
    """The facts of ``robot`` (a URDF, a design file or a shipped robot) as a JSON-able dict.

    ``choices`` are fields of `Design`. Operations are counted by kind: mul (both operands vary),
    mulc (by a constant that is no power of two), add, neg, sincos (pairs) and recip.

    ``latency`` [s, or as "3us"], ``rate`` [tasks/s, or as "1MHz"] and ``power`` [W, or as "200mW"]
    select the smallest design that should reach them. Its part is the smallest ECP5 unless
    ``choices`` or the design file have a target.
    """
    refuse_unknown(choices, info)
    wishes = wishes_of(latency, rate, power)
    progress(f"reading {robot}")
    front = roughly(front_end(robot, progress, **choices))
    wanted = None
    if wishes:
        wanted = chosen_for(robot, front, wishes, choices, progress)
    made = wanted.product(progress) if wanted else compile_front(front, progress)
    product = with_errors(made)
    from ..compile.formulation import advice

    said = advice(product.front) if product.is_core else ""
    progress("trace: after each rewrite")
    idle = notes_of_use("info", choices, words=True)
    facts = design_facts(product, (*([said] if said else []), *idle))
    if wanted:
        facts = replace(facts, wanted=wanted.facts)
    return Info(replace(facts, program=program_facts(front)) if product.is_core else facts)


def program_facts(front: Front) -> ProgramFacts:
    """The front's functions in C++, traced in floats; its time if it was compiled here."""
    design, robot = front.design, front.robot
    exact = front if design.snap is not None else front_of(design, robot, in_floats=True)
    exact, visits = with_visits(exact)
    operations = loops(visits, exact.graph).operations if visits else len(computed(exact.graph))
    return ProgramFacts(operations, measured(design, robot))


class TopologyReport(Report[Organisation]):
    """The result of `topology`."""

    def headline(self) -> str:
        own, modules = self.facts, self.facts.modules
        built = f"{modules.built} modules built of {modules.needed}"
        return f"{own.robot}: {len(own.joints)} joints, {built}"

    def as_text(self) -> str:
        return topology_text(self.facts)


def topology(
    robot: str,
    tolerance: float = ALIKE,
    turns: int | None = None,
    reroot: bool = False,
    **choices: Any,
) -> TopologyReport:
    """The organisation of ``robot`` (a URDF, a design file or a shipped robot), as a JSON-able
    dict.

    ``tolerance`` and ``turns`` are those of ``rbdgen.robot.topology``; ``reroot`` starts from the
    best root. Of ``choices``, fields of `Design`, only ``base`` and ``mimic`` matter here. A branch
    has the name of its last link. ``after`` is an index into its own list, and None on the root.
    Raises RobotError.
    """
    if not 0 <= tolerance < 1:
        raise RobotError(
            f"tolerance: a part of a limb's size, from 0 to less than 1, not {tolerance:g}"
        )
    if turns is not None and turns < 1:
        raise RobotError(f"turns: at least 1, not {turns}")
    refuse_unknown(choices, topology)
    design, read = load(robot, **choices)
    aligned = align_axes(merge_fixed(read), design.snap)
    if design.alike:
        aligned = equal_limbs(aligned, design.alike)
    found = organised(aligned, tolerance, turns)
    file_root = found.present
    if reroot:
        if found.best is None:
            raise RobotError(f"{read.name}: {_held(found)}; only a floating base can move")
        found = organised(rerooted(aligned, found.best.link), tolerance, turns)
    return TopologyReport(facts_of(found, file_root, design.robot, tolerance, turns))


def facts_of(
    found: Topology, file_root: Rooting, file: str, tolerance: float, turns: int | None
) -> Organisation:
    """The organisation by name; ``file_root``: the tree as the file roots it."""
    joints = [joint for i, joint in enumerate(found.robot.joints) if i != found.root]
    names = [found.robot.joints[branch.joints[-1]].body for branch in found.branches]
    return Organisation(
        file=file,
        tolerance=tolerance,
        turns=turns,
        robot=found.robot.name,
        base=found.robot.joints[found.root].kind.value if found.root >= 0 else "fixed",
        root=found.present.link,
        root_modules=tuple(found.root_modules),
        depth=found.present.depth,
        columns=found.present.columns,
        joints=tuple(joint.name for joint in joints),
        branches=tuple(
            NamedBranch(
                name,
                tuple(found.robot.joints[i].name for i in branch.joints),
                branch.after,
                tuple(branch.columns),
                branch.work,
            )
            for name, branch in zip(names, found.branches, strict=True)
        ),
        alike=tuple(tuple(names[b] for b in group) for group in found.alike),
        near=tuple(BranchDifference((names[a], names[b]), off) for a, b, off in found.near),
        arrays=tuple(
            NamedArray(array.size, tuple(names[b] for b in array.limbs), array.after, array.work)
            for array in found.arrays
        ),
        pace=found.pace,
        modules=ModuleCount(found.built, found.needed),
        best_root=found.best,
        file_root=file_root,
        root_note=_root_note(found, file_root),
    )


def topology_picture(report: TopologyReport, file: str | Path) -> None:
    """Write the tree and arrays of ``topology`` as an SVG file; OutputError if unwritable."""
    write_file(Path(file), organisation(report.facts))


def _root_note(found: Topology, before: Rooting) -> str:
    """Where the tree is least deep, and what that saves against the root ``before``."""
    best = found.best
    if best is None:
        return _held(found)
    if best.link == before.link:
        return f"{best.link} is the best root"
    moved = "rooted at" if found.present.link == best.link else "best root"
    return (
        f"{moved} {best.link}: depth {before.depth} → {best.depth}, "
        f"columns {before.columns} → {best.columns}"
    )


def _held(found: Topology) -> str:
    """Why the root cannot move."""
    if found.root < 0:
        return f"the base is fixed, so that {found.present.link} stays the root"
    return f"a planar joint holds {found.present.link}, which stays the root"
