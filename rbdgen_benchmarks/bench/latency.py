"""The fewest cycles for RoboShape's function and robots, in every formulation that has it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from rbdgen import api
from rbdgen.compile.fixed_functions import FixedFunctions
from rbdgen.compile.flow import Front, front_end
from rbdgen.compile.formulation import ranked
from rbdgen.compile.ways import as_asked
from rbdgen.design.design import formulation_of
from rbdgen.design.loading import filed
from rbdgen.robot.model import RobotError
from rbdgen.robot.xml_lines import read_bytes
from rbdgen.system.quoting import Progress

from ..compare.peers import CONVENTIONS, PEERS, ROBOSHAPE_CLOCK
from .bodily import bodily
from .measurement import Row, measurement

FOLDER = "RBDGEN_ROBOTS"
CLOCK = 1e3 / ROBOSHAPE_CLOCK  # ns
SHIPPED = ("iiwa14", "hyq", "baxter")
# RoboShape's other robots: the file in a folder of URDFs that is not rbdgen's.
OTHERS = {"jaco2": "jaco_2_simple.urdf", "jaco3": "jaco_3_simple.urdf"}
# No file of its quadruped with an arm is published: HyQ with an arm of 7 joints on its trunk.
BASE, ARM, LINK, XYZ = "hyq", "iiwa14", "trunk", (0.3, 0.0, 0.1)
COMPOSED = "hyq_arm"
DESIGN: dict[str, Any] = {
    **CONVENTIONS,
    "width": 18,
    "target": "xcup",
    "style": "latency",
    "fit": False,
}
HEAD = (
    *("robot", "joints", "RoboShape [cycles]", "formulation", "chained [cycles]", "pipelined"),
    *("a task every", "multipliers", "chosen"),
)


def robots_folder() -> Path | None:
    """The folder of URDFs that rbdgen has not, for rows of robots that others published."""
    given = os.environ.get(FOLDER)
    return Path(given) if given else None


LEGEND = f"cycles of {CLOCK:g} ns; pipelined: at the fastest clock"


@measurement("latency", "an hour", HEAD, legend=LEGEND)
def latency(place: Path, progress: Progress) -> Iterator[Row]:
    """RoboShape's six robots, `did,difd`: fewest cycles at its clock, in every formulation."""
    robots = robots_folder()
    place.mkdir(parents=True, exist_ok=True)
    for name, file, note in _files(place, robots):
        if note:
            print(note, flush=True)
        if file is None:
            continue
        for own in _formulations(name, file, progress):
            yield _row(own)
            if why := own.get("why_not"):
                print(f"not chained: {why}", flush=True)


def _files(place: Path, robots: Path | None) -> list[tuple[str, str | None, str]]:
    """Robot, its file, and what is to be said of it; no file where it is not there."""
    found: list[tuple[str, str | None, str]] = [(name, name, "") for name in SHIPPED]
    for name, own in OTHERS.items():
        if robots is None or not (robots / own).is_file():
            where = f"{FOLDER} names no folder" if robots is None else f"there is none in {robots}"
            found.append((name, None, f"{name}: left out: rbdgen has no {own}, and {where}"))
            continue
        text, changed = bodily(read_bytes(robots / own), str(robots / own))
        file = place / own
        api.write_file(file, text)
        note = f"{name}: {robots / own}"
        if changed:
            note += (
                f": inertias of {len(changed)} links are no body's, and are replaced by such as "
                "have the same axes: cycles and multipliers count, values do not"
            )
        found.append((name, str(file), note))
    file = api.mount(BASE, ARM, LINK, place / f"{COMPOSED}.urdf", xyz=XYZ)
    note = f"{COMPOSED}: {ARM} on {BASE}'s {LINK}, since RoboShape's own file is not published"
    return [*found, (COMPOSED, str(file), note)]


def _formulations(name: str, file: str, progress: Progress) -> list[dict[str, Any]]:
    """The robot in every formulation, and which of them each style latency chooses."""
    design = filed(file)
    limits: dict[str, Any] = {"velocity": 10, "acceleration": 10}
    if design.limits.velocity:
        limits = {}
    front = front_end(file, **DESIGN, **limits)
    chained = _chained(front)
    chosen = [ranked(own, progress)[0] for own in (front, chained)]
    (peer,) = (p for p in PEERS if p.name == "RoboShape" and p.robot == name)
    found = []
    for own in ranked(front, progress):
        formulation = formulation_of(own.design)
        progress(f"{name}, {formulation}")
        words = FixedFunctions(own, progress)
        core = as_asked(own, words)
        entry: dict[str, Any] = {
            "robot": name,
            "joints": own.robot.nv,
            "roboshape": peer.latency,
            "formulation": formulation,
            "operations": own.graph.operations(),
            "pipelined": core.plan.latency,
            "interval": core.plan.interval,
            "multipliers": core.plan.multipliers,
        }
        try:
            entry["chained"] = as_asked(_chained(own), words).plan.latency
        except RobotError as error:
            entry["why_not"] = str(error)
        entry["chosen"] = [
            said
            for said, best in zip(("pipelined", "chained"), chosen, strict=True)
            if formulation_of(best.design) == formulation
        ]
        found.append(entry)
    return found


def _chained(front: Front) -> Front:
    return replace(front, design=replace(front.design, clock=CLOCK))


def _row(own: dict[str, Any]) -> list[Any]:
    return [
        *(own[key] for key in ("robot", "joints", "roboshape", "formulation")),
        own.get("chained", "-"),
        own["pipelined"],
        own["interval"],
        own["multipliers"],
        ", ".join(own["chosen"]),
    ]
