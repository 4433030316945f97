"""Robot × function: operations, latency, multipliers, errors, widths and cells at 18 bits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rbdgen.api.folder import write_file
from rbdgen.compile.flow import Front, compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.coordinates import CoordinateError, brief, worst_share
from rbdgen.design.functions import INVERTING
from rbdgen.draw.tables import markdown, table
from rbdgen.graph.accuracy import SCALES
from rbdgen.robot.model import RobotError
from rbdgen.schedule.area import estimated
from rbdgen.schedule.features import features
from rbdgen.system.quoting import Progress
from rbdgen.words.precision import smallest_width
from rbdgen.words.ranges import RangeError
from rbdgen.words.wordlength import PrecisionError

from ..compare.integer_errors import IntegerRun
from .cells import COLUMNS, FAMILIES, cells, columns, no_cells, too_large
from .errors import errors, redesigned
from .measurement import Measurement

Row = dict[str, Any]
ROBOTS = (("iiwa14_fast", "fixed"), ("hyq", "fixed"), ("hyq", "floating"), ("humanoid", "fixed"))
FUNCTIONS = ("id", "m", "minv", "fd", "did", "dfd", "difd", "did,m")
WIDTH, WANTED = 18, 1e-4
STATES, FEWER = 20_000, 4000  # of the errors at 18 bits, of those that the width is searched with
SLOW = 2.0  # rad/s and m/s
TARGET = "xcup"  # so many multipliers that few designs have products in logic


def all_functions(robot: str, base: str, place: Path, progress: Progress) -> Any:
    """All rows of a robot, and what each idea gained; written as soon as there is more of it.

    Cells come last, since mapping takes longest.
    """
    store = place / "kept"
    name = "functions-" + title(robot, base)
    rows: list[Row] = []
    result: dict[str, Any] = {"robot": robot, "base": base, "rows": rows, "ideas": []}

    def written() -> None:
        write_file(place / f"{name}.json", json.dumps(result, indent=2) + "\n")
        write_file(place / f"{name}.md", as_markdown(result))

    def of(function: str) -> Progress:
        return lambda line: progress(f"{title(robot, base)} {function}: {line}")

    cores: dict[str, Product] = {}
    for function in FUNCTIONS:
        try:
            row, core = measured(robot, base, function, store, of(function))
            if not too_large(core):
                cores[function] = core
        except (RobotError, RangeError) as error:
            row = {"function": function, "why_not": str(error)}
        rows.append(row)
        written()
    result["ideas"] = ideas(robot, base, progress)
    for row in rows:
        written()
        if (function := row["function"]) in cores:
            row["cells"] = cells(cores.pop(function), store, of(function))
    written()
    return result


def title(robot: str, base: str) -> str:
    """``hyq-floating``; a fixed base is not said."""
    return robot if base == "fixed" else f"{robot}-{base}"


def measured(
    robot: str, base: str, function: str, store: Path, progress: Progress
) -> tuple[Row, Product]:
    """All but the cells of one row: a robot's function, or several in one graph. And its core."""
    names = tuple(function.split(","))
    progress("trace")
    front = front_end(robot, base=base, functions=names, width=WIDTH, target=TARGET, fit=False)
    core = compile_front(front, progress)
    slow = redesigned(front, limits=replace(front.design.limits, velocity=SLOW))
    row = {
        "function": function,
        "operations": front.graph.operations(),
        **hardware(core),
        "estimated": {family: estimated(family, features(core.plan)) for family in FAMILIES},
        "errors": {
            "limits": accuracy(core, store, progress),
            "slow": accuracy(compile_front(slow), store, progress),
        },
        "velocity": {"limits": front.design.limits.velocity, "slow": SLOW},
        "budget": budget(redesigned(front, error=WANTED), store, progress),
        "cells": no_cells(too_large(core) or "not mapped yet"),
    }
    return row, core


def hardware(core: Product) -> dict[str, int]:
    """Cycles, hardware multipliers, and products in logic for want of more of them."""
    binding = core.plan.binding
    styles = [binding.style, binding.sincos, binding.recip]
    return {
        "latency": core.plan.latency,
        "multipliers": binding.multipliers,
        "in_logic": sum(style == "logic" for kind in styles for style in kind.values()),
    }


def accuracy(core: Product, store: Path, progress: Progress) -> dict[str, Any]:
    """Errors at the core's width, and the smallest width at which no coordinate's exceeds
    ``WANTED`` at the limits, or ten times that at a tenth of them."""
    at_first = errors(core, STATES, store)
    made = {core.fixed.width: core}

    def error_at(width: int) -> float:
        progress(f"{width} bits")
        made[width] = compile_front(redesigned(core.front, width=width))
        return worst_share(errors(made[width], FEWER, store).coordinates)

    known = {core.fixed.width: worst_share(at_first.coordinates)}
    width, tried = smallest_width(error_at, WANTED, known, core.fixed.width)
    enough = None if width is None else {"width": width, **hardware(made[width])}
    return {**at_first.to_json(), "enough": enough, "tried": tried}


def budget(front: Front, store: Path, progress: Progress) -> dict[str, Any]:
    """The design whose words come from the error ``WANTED`` instead of a width."""
    progress(f"error {WANTED:g}")
    try:
        core = compile_front(front)
    except PrecisionError as error:
        return {"why_not": str(error)}
    return {**hardware(core), **errors(core, STATES, store).to_json()}


def ideas(robot: str, base: str, progress: Progress) -> list[dict[str, Any]]:
    """Operations of did after each rewrite and pass; of the other choices, latencies too."""
    rows: list[dict[str, Any]] = []

    def front(function: str, **choices: Any) -> Front:
        said = " ".join(f"{k} {v}" for k, v in choices.items())
        progress(f"{title(robot, base)} {function}: {said or 'rewrites'}")
        return front_end(
            robot, base=base, functions=(function,), target=TARGET, fit=False, **choices
        )

    whole = front("did")
    for step, operations in whole.rewrites:
        rows.append({"function": "did", "idea": step, "operations": operations})

    def add(function: str, idea: str, found: Front) -> None:
        latency = compile_front(found).plan.latency
        count = found.graph.operations()
        rows.append({"function": function, "idea": idea, "operations": count, "latency": latency})

    add("did", "composite, rotation 4", whole)
    add("did", "recursive", front("did", formulation="recursive"))
    add("did", "rotation 3", front("did", rotation=3))
    for function in INVERTING:
        for way in ("ltdl", "mminvgen"):
            add(function, way, front(function, factorisation=way))
    return rows


# --- tables ----------------------------------------------------------------------------------

OPERATIONS = ("mul", "mulc", "add", "recip")
BUDGET = (f"latency at {WANTED:g}", "multipliers", "in logic", "worst")
HEAD = ("function", *OPERATIONS, "latency", "multipliers", "in logic")
AREA = ("luts", "flip_flops")  # of the area model: LUTs of logic and of memory
ABOUT = tuple(f"about, {family}: {of}" for family in FAMILIES for of in ("LUTs", "FF"))


def cost_rows(rows: Sequence[Row]) -> list[list[Any]]:
    """Operations, cycles, cells."""
    return [
        [
            row["function"],
            *(row["operations"][k] for k in OPERATIONS),
            *(row[k] for k in ("latency", "multipliers", "in_logic")),
            *columns(row["cells"]),
            *(row["estimated"][family][of] for family in FAMILIES for of in AREA),
            *_budget(row["budget"]),
        ]
        for row in rows
    ]


def error_rows(rows: Sequence[Row]) -> list[list[Any]]:
    """A line for each array: the errors of its worst coordinates at 18 bits, and the width that all
    of the function's take."""
    lines = []
    for row in rows:
        reports = [row["errors"][k] for k in ("limits", "slow")]
        found = [_by_array(report) for report in reports]
        for n, name in enumerate(found[0]):
            worst = [brief(own[name]) for own in found]
            widths = ["" if n else _width(report["enough"]) for report in reports]
            overflows = "" if n else sum(report["overflows"] for report in reports)
            lines.append(["" if n else row["function"], name, *worst, *widths, overflows])
    return lines


def _by_array(report: dict[str, Any]) -> dict[str, list[CoordinateError]]:
    found: dict[str, list[CoordinateError]] = {}
    for own in IntegerRun.from_json(report).coordinates:
        found.setdefault(own.array, []).append(own)
    return found


def _budget(found: dict[str, Any]) -> list[Any]:
    """Cycles, multipliers and products in logic, and the worst coordinates' errors."""
    if "why_not" in found:
        return ["-"] * 4
    worst = brief(IntegerRun.from_json(found).coordinates)
    return [*(found[k] for k in ("latency", "multipliers", "in_logic")), worst]


def _width(enough: dict[str, int] | None) -> str:
    return "> 32" if enough is None else f"{enough['width']} ({enough['latency']})"


def idea_rows(rows: Sequence[dict[str, Any]]) -> list[list[Any]]:
    """Operations that each idea left."""
    return [
        [
            row["function"],
            row["idea"],
            *(row["operations"][k] for k in OPERATIONS),
            row.get("latency", ""),
        ]
        for row in rows
    ]


def tables(result: dict[str, Any]) -> list[tuple[str, Sequence[str], list[list[Any]]]]:
    """Caption, head and rows of each table of a robot."""
    rows = [row for row in result["rows"] if "why_not" not in row]
    name = title(result["robot"], result["base"])
    if not rows:
        return []
    fast, slow = (f"{rows[0]['velocity'][k]:g} rad/s" for k in ("limits", "slow"))
    errors_head = ("function", "array", f"worst, {fast}", f"worst, {slow}")
    widths_head = (f"bits (latency) for {WANTED:g}, {fast}", slow, "overflows")
    found: list[tuple[str, Sequence[str], list[list[Any]]]] = [
        (
            f"{name}: operations; cycles and multipliers at II = 1; cells as mapped (xcup, ECP5), "
            f"and LUTs and flip-flops as the area model has them; "
            f"and with --error {WANTED:g} in place of {WIDTH} bits",
            (*HEAD, *(name for _, name, _ in COLUMNS), *ABOUT, *BUDGET),
            cost_rows(rows),
        ),
        (
            f"{name}: RMS errors at {WIDTH} bits of the worst coordinates, by their own RMS, "
            f"{SCALES[0].name} | {SCALES[1].name} ({STATES} states); smallest width with at most "
            f"{WANTED:g} | {SCALES[1].times * WANTED:g} in all coordinates ({FEWER} states)",
            (*errors_head, *widths_head),
            error_rows(rows),
        ),
    ]
    if result["ideas"]:
        head = ("function", "after, or with", *OPERATIONS, "latency")
        found.append((f"{name}: what each idea gained", head, idea_rows(result["ideas"])))
    return found


def notes(result: dict[str, Any]) -> list[str]:
    """Why there is no figure, where there is none."""
    said: dict[str, list[str]] = {}
    for row in result["rows"]:
        places = [row, row.get("budget", {}), *row.get("cells", {}).values()]
        for reason in dict.fromkeys(place["why_not"] for place in places if "why_not" in place):
            said.setdefault(reason, []).append(row["function"])
    return [f"{'; '.join(names)}: {reason}" for reason, names in said.items()]


def as_text(result: dict[str, Any]) -> str:
    """The tables and notes for a terminal."""
    parts = [f"{caption}\n\n{table(head, rows)}" for caption, head, rows in tables(result)]
    return "\n\n".join([*parts, *notes(result)])


def as_markdown(result: dict[str, Any]) -> str:
    """The tables and notes for a page."""
    parts = [f"**{caption}**\n\n{markdown(head, rows)}" for caption, head, rows in tables(result)]
    return "\n\n".join([*parts, *(f"- {note}" for note in notes(result))]) + "\n"


def _of(robot: str, base: str) -> Measurement:
    def measure(place: Path, progress: Progress) -> Any:
        result = all_functions(robot, base, place, progress)
        print(as_text(result))
        return result

    measure.__doc__ = f"Every function of {robot}, {base} base: cost, errors, widths, cells."
    return Measurement(f"functions-{title(robot, base)}", "hours", measure)


iiwa14_fast, hyq, hyq_floating, humanoid = (_of(*robot) for robot in ROBOTS)
