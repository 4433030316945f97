"""Reports as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..design.coordinates import CoordinateError, coordinate_table, worst_lines
from ..design.facts import (
    Area,
    DesignFacts,
    FunctionFacts,
)
from ..design.limits import LimitRow
from ..graph.accuracy import SCALES
from .clocks import clock_lines, energy_lines

if TYPE_CHECKING:
    from ..design.facts import AcceleratorRun, CoreRun
    from ..robot.topology import Organisation


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns as wide as their widest entry; numbers to the right."""
    (first, *lines), widths = aligned([head, *rows])
    return "\n".join([first, "  ".join("-" * width for width in widths), *lines])


def aligned(
    rows: Sequence[Sequence[Any]], least: Sequence[int] = ()
) -> tuple[list[str], list[int]]:
    """Lines of rows, and the widths of their columns, which are ``least`` or more."""
    cells = [[_cell(x) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widths = [max(pair) for pair in zip(widths, least or widths, strict=True)]
    lines = []
    for row, plain in zip(rows, cells, strict=True):
        words = [
            text.rjust(w) if isinstance(value, (int, float)) else text.ljust(w)
            for value, text, w in zip(row, plain, widths, strict=True)
        ]
        lines.append("  ".join(words).rstrip())
    return lines, widths


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The same as a table for a Markdown page."""
    lines = [list(head), ["---"] * len(head), *([_cell(x) for x in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def info_text(facts: DesignFacts) -> str:
    """The facts of ``rbdgen.api.info``."""
    if not facts.is_core:
        return accelerator_text(facts)
    names = ("mul", "mulc", "add", "neg", "sincos", "recip")
    rows = [[step.name, *(step.operations[n] for n in names)] for step in facts.rewrites or ()]
    if (limbs := facts.limbs) and limbs.in_turn > 1:
        label = f"one of {limbs.in_turn} limbs"
        rows.append([label, *(limbs.operations[n] for n in names)])
    lowered = facts.lowered_operations
    rows.append(["constants as shifts", *(lowered[n] for n in names)])
    lines = [
        f"{facts.robot}: {facts.bodies} bodies, {facts.joints} moving joints, "
        f"depth {facts.depth}, nq {facts.nq}, nv {facts.nv}, {_base(facts)}",
        f"joints: {', '.join(facts.joint_names)}",
    ]
    if facts.merged:
        lines.append(f"merged into their parents: {', '.join(facts.merged)}")
    lines += limits_lines(facts)
    lines += ["", f"operations of {', '.join(facts.functions)} after each exact rewrite", ""]
    lines += [table(["", *names], rows), ""]
    words = (
        f"words of {facts.mean_width} bits on average, operands of multipliers of {facts.width} "
        "at most"
    )
    if own := facts.ranges:
        words += (
            f"; of {own.proven + own.searched} signals that could overflow {own.proven} are proven "
            f"not to, {own.searched} searched"
        )
    lines.append(words)
    for kind, error in facts.largest_errors.items():
        most = "not known" if error is None else f"{error:.3g} at most, unless a flag rises"
        lines.append(f"{kind}: error {most}")
    lines += error_lines(facts.errors)
    line = (
        f"{facts.target}: latency {facts.latency} cycles, initiation interval "
        f"{facts.initiation_interval}, {facts.multipliers} hardware multipliers"
    )
    if facts.clock is not None and facts.latency is not None:
        line += f"; {facts.latency * facts.clock:g} ns at {facts.clock:g} ns a cycle"
    lines.append(line)
    lines += area_lines(facts.estimated)
    lines += [*clock_lines(facts.clocks, facts.target), *_pace_lines(facts)]
    lines += energy_lines(facts.energy, facts.clocks)
    if program := facts.program:
        time = (
            f"{program.ns:g} ns a state in batches on one core of this machine, measured"
            if program.ns
            else "rbdgen evaluate --model cpp measures its time"
        )
        lines.append(f"in C++, generate --to cpp: {program.operations} operations a state; {time}")
    if facts.lines:
        lines += ["", line_table(facts)]
    for note in facts.notes:
        lines.append(f"note: {note}")
    if facts.wanted:
        lines.append(facts.wanted.line)
    return "\n".join(lines)


def limits_text(rows: Sequence[LimitRow]) -> list[str]:
    """The limits of a design as lines; joints with the same limits share one."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        position = row.position
        parts = []
        if position.lower is None:
            parts.append("any direction")
        elif (position.lower, position.upper) == (-math.pi, math.pi):
            parts.append("any angle")
        else:
            span = f"{position.lower:.6g} to {position.upper:.6g} {position.unit}"
            parts.append(f"{span} ({position.from_})")
        for own in (row.velocity, row.acceleration, row.effort):
            if own.value is not None:
                parts.append(f"{own.value:.6g} {own.unit} ({own.from_})")
        names = groups.setdefault(", ".join(parts), [])
        if row.joint not in names:
            names.append(row.joint)
    return [f"{', '.join(names)}: {said}" for said, names in groups.items()]


def limits_lines(facts: DesignFacts) -> list[str]:
    """Joints' drivetrains, where there are any, and the limits that a design is for."""
    limits = ["limits (and who said so):", *(f"  {line}" for line in limits_text(facts.limits))]
    return [*_drivetrain_lines(facts), *limits]


def _drivetrain_lines(facts: DesignFacts) -> list[str]:
    """Rotors, damping and friction; joints with the same share a line."""
    groups: dict[str, list[str]] = {}
    for row in facts.drivetrains:
        said = f"armature {row.armature:.6g}, damping {row.damping:.6g}"
        if row.friction:
            said += f", friction {row.friction:.6g} from {row.friction_width:.6g} on"
        groups.setdefault(said, []).append(row.joint)
    lines = [f"  {', '.join(names)}: {said}" for said, names in groups.items()]
    return ["rotors, damping and friction (SI units):", *lines] if lines else []


def _base(facts: DesignFacts) -> str:
    root = {"given": ", its motion given", "ignored": ", held still"}.get(facts.root, "")
    held = f", which holds {facts.base_link}" if facts.base_link else ""
    return f"{facts.base} base{root}{held}"


def error_lines(errors: Sequence[CoordinateError]) -> list[str]:
    """The coordinate that is off most, relative to its own size, at each scale."""
    return [f"worst {line}" for line in worst_lines(errors)]


def area_lines(area: Area | None) -> list[str]:
    """A line with the estimated cells, if there is a model."""
    if area is None:
        return []
    return [
        f"about {area.luts} LUTs ({area.memory} of them memory), {area.flip_flops} "
        f"flip-flops and {area.block_rams} block RAMs, by a model that is "
        f"{area.error:.1%} off (RMS) where it was fitted"
    ]


def _pace_lines(facts: DesignFacts) -> list[str]:
    """A line with a core's time, where no table of lines has it, at the slowest speed grade."""
    if not facts.clocks or facts.lines or facts.latency is None or not facts.initiation_interval:
        return []
    own, functions = facts.clocks[0], facts.tasks.functions.values()
    longest = max(function.longest or function.latency for function in functions)
    return [
        f"a task takes {own.us(facts.latency)} µs, {own.us(longest)} µs at most with its wait "
        f"({longest} cycles), {own.rate(facts.initiation_interval)} M tasks/s at speed {own.speed}"
    ]


def line_table(facts: DesignFacts) -> str:
    """A table of a task's time in the core, and of its bytes and times on the line to a board.

    The core's are at the part's slowest speed grade, with a task's longest wait. They are in a
    call's where they are known.
    """
    core = next(iter(facts.clocks), None)
    head = ["on a board"]
    if core:
        head += [f"core at most, µs at speed {core.speed}", "M tasks/s"]
    head += ["bytes out", "bytes back"]
    head += ["UART, µs a call", "tasks/s", "Ethernet, µs a call", "tasks/s"]
    rows = []
    for name, line in facts.lines.items():
        own = facts.tasks.functions[name]
        row: list[Any] = [name]
        us, rate = 0.0, math.inf
        if core:
            inside = core.us(own.longest or own.latency)
            tasks = core.rate(own.interval)
            row += [str(inside), str(tasks)]
            us, rate = inside.about, tasks.about * 1e6
        row += [line.task_bytes, line.result_bytes]
        row += [round(us + line.uart_call_us), round(min(rate, line.uart))]
        row += [round(us + line.udp_call_us), round(min(rate, line.udp))]
        rows.append(row)
    return table(head, rows)


def accelerator_text(facts: DesignFacts) -> str:
    """The facts of an accelerator."""
    own = facts.tasks
    stages = [
        [
            name,
            s.interval,
            s.latency,
            s.multipliers,
            s.operations["mul"],
            s.limbs_in_turn,
        ]
        for name, s in own.stages.items()
    ]
    functions = [
        [name, len(f.inputs), len(f.outputs), f.interval, latency_text(f)]
        for name, f in own.functions.items()
    ]
    return "\n".join(
        [
            f"{facts.robot}: {facts.joints} moving joints, nv {facts.nv}, "
            f"{_base(facts)}; {own.multipliers} hardware multipliers, {own.slots} tasks "
            "under way",
            "",
            table(("stage", "interval", "latency", "multipliers", "products", "in turn"), stages),
            "",
            table(("function", "words in", "words out", "interval", "latency"), functions),
            "",
            line_table(facts),
            *limits_lines(facts),
            *error_lines(facts.errors),
            *area_lines(facts.estimated),
            *clock_lines(facts.clocks, facts.target),
            *(f"note: {note}" for note in facts.notes),
            *([facts.wanted.line] if facts.wanted else []),
        ]
    )


def latency_text(facts: FunctionFacts) -> int | str:
    """Cycles: exact, or of a rollout's step, about."""
    return f"about {facts.latency} a step" if facts.latency_of == "step" else facts.latency


def topology_text(facts: Organisation) -> str:
    """The facts of ``rbdgen.api.topology``."""
    from ..robot.limb_unification import rounded_up

    arrays, modules = facts.arrays, facts.modules
    columns = {branch.name: branch.columns for branch in facts.branches}
    split = f" ({' + '.join(facts.root_modules)})" if facts.root_modules else ""
    rows: list[list[Any]] = []
    for k, array in enumerate(arrays, 1):
        own = columns[array.branches[0]]
        rows.append(
            [
                k,
                array.size,
                len(array.branches),
                ", ".join(array.branches),
                "root" if array.after is None else f"array {array.after + 1}",
                f"{own[0]}-{own[-1]}" if len(own) > 1 else str(own[0]),
                array.work,
            ]
        )
    lines = [
        f"{facts.robot}: {len(facts.joints)} joints on a {facts.base} base, root "
        f"{facts.root}{split}, depth {facts.depth}, {facts.columns} columns",
        "",
        table(("array", "size", "limbs", "of", "after", "columns", "work"), rows),
        "",
        f"{modules.built} modules built of {modules.needed} needed; pace {facts.pace}",
        facts.root_note,
        "",
    ]
    lines += [f"{branch.name}: {', '.join(branch.joints)}" for branch in facts.branches]
    for near in facts.near:
        names, off = " and ".join(near.branches), f"{rounded_up(near.difference):g}"
        lines.append(
            f"note: {names} differ by {near.difference:.1e}: alike with --tolerance {off}, and to "
            f"generate with --alike {off}"
        )
    return "\n".join(lines)


OF_COORDINATES = "off from float64, RMS, relative to what each coordinate is there:"


def simulation_text(report: CoreRun | AcceleratorRun) -> str:
    """The report of ``rbdgen.api.simulate``."""
    from ..design.facts import AcceleratorRun

    if isinstance(report, AcceleratorRun):
        return accelerator_simulation_text(report)
    cycles = f"latency {report.latency} cycles"
    if report.initiation_interval is None:
        cycles += ", as predicted"
    else:
        cycles += f", initiation interval {report.initiation_interval}, both as predicted"
    promise = []
    if report.promised is not None and report.judged:
        parts = [f"{report.promised * scale.times:g} {scale.name}" for scale in SCALES]
        promise = [
            f"error promised: {', '.join(parts)}; not contradicted by {report.states} states"
        ]
    return "\n".join(
        [
            f"{report.states} states, every bit equal to the integer model "
            f"({report.stalled_states} more under random stalls on both sides)",
            f"{cycles}; {report.overflows} overflows",
            *promise,
            *(f"note: {note}" for note in report.notes),
            "",
            OF_COORDINATES,
            "",
            table(*coordinate_table(report.coordinates)),
        ]
    )


def accelerator_simulation_text(report: AcceleratorRun) -> str:
    """The report of an accelerator's simulation."""
    rows = [
        [
            name,
            own.latency,
            own.interval,
            own.batch_cycles,
            own.overflows,
        ]
        for name, own in report.functions.items()
    ]
    head = ("function", "latency", "interval", f"{report.batch} tasks", "overflows")
    errors = [error for own in report.functions.values() for error in own.coordinates]
    return "\n".join(
        [
            "every bit and tag equal to the integer model, under random stalls too; cycles:",
            "",
            table(head, rows),
            "",
            f"{report.mixed.tasks} tasks of all functions mixed: {report.mixed.cycles} cycles; "
            f"{report.multipliers} hardware multipliers",
            "",
            OF_COORDINATES,
            "",
            table(*coordinate_table(errors)),
        ]
    )
