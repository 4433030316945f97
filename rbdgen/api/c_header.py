"""A C header of a design's packets, on the shell of words and on the line to a board, of a host's
arrays, and of an accelerator's registers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..design.arrays import takes
from ..design.facts import BoardLine, FunctionFacts, Operand, TaskFacts
from ..design.functions import GIVES, INVERTING, ROLLOUTS
from ..design.manifest import HardwareManifest
from ..dynamics.interface import place_of_input, places_of_output
from ..graph.word import (
    BASE_PARAMETERS,
    FAR,
    NO_COUNTS,
    PARAMETERS,
    kind_of,
    shape_of,
    spell,
)
from ..robot.base_parameters import SIZE
from ..robot.frames import ALIGNED, LOCAL, WORLD
from ..robot.model import BASE
from ..robot.variations import PAYLOAD
from ..schedule.pipelined import UART, UDP
from ..shell.packets import PacketWidths
from ..shell.task_packets import PacketFormat, TaskFunction
from ..system.records import NamedWord, NoRecord
from ..system.templates import render
from ..tasks.routes import UNREAD
from .folder import InputError


def packet_format(tasks: TaskFacts) -> PacketFormat:
    """The packets of the shell of words.

    A function takes the first so many of a task's words and gives the first so many of a result's.
    """
    functions = {
        own.code: TaskFunction(name, len(own.inputs), len(own.outputs))
        for name, own in tasks.functions.items()
    }
    return PacketFormat(functions, tuple(word.width for word in tasks.words))


def line_layouts(tasks: TaskFacts) -> dict[int, PacketWidths]:
    """Code of each function → how its words are packed on the line to a board."""
    widths = tuple(word.width for word in tasks.words)
    return {
        own.code: PacketWidths(widths[: len(own.inputs)], tuple(word.width for word in own.outputs))
        for own in tasks.functions.values()
    }


def board_lines(tasks: TaskFacts) -> dict[str, BoardLine]:
    """Function → bytes of its frames, a call and tasks a second of a serial line and Ethernet."""
    layouts, found = line_layouts(tasks), {}
    for name, function in tasks.functions.items():
        frames = layouts[function.code].line_bytes
        found[name] = BoardLine(
            *frames,
            *(round(1e6 * UART.call(*frames)), round(UART.pace(*frames))),
            *(round(1e6 * UDP.call(*frames)), round(UDP.pace(*frames))),
        )
    return found


WORD = 32  # bits of a packet's words
SINES = {"sin": "sines", "cos": "cosines"}  # `sin` itself is a function of C's
AXES = {
    ALIGNED: "along the world's axes",
    LOCAL: "along the frame's own axes",
    WORLD: "along the world's axes, about the world's origin",
}
# {rows}: of what has no rows for a base whose motion is given; {frames}: how many are named;
# {along}: one of these axes
MEANING = {
    "q": "positions (NQ); angles that their words cannot hold are taken whole turns back",
    "sines": "of the joints' angles, by joint as in the manifest's angles",
    "cosines": "likewise",
    "qd": "velocities (NV)",
    "qdd": "accelerations ({rows})",
    "tau": "generalised forces ({rows})",
    "q_ref": "positions that a controller follows (NQ)",
    "qd_ref": "their velocities (NV)",
    "qdd_ref": "their accelerations (NV)",
    "kp": "stiffness ({rows}), of which the manifest has the unit",
    "kd": "damping ({rows}), likewise",
    "tau_c": "generalised forces that a controller commands ({rows})",
    "Minv": "inverse mass matrix ({rows}, {rows}), of which the lower triangle is read",
    "q_next": "positions after the step (NQ)",
    "qd_next": "velocities after it ({rows})",
    "Y": "regressor of tau ({rows}, {parameters}): of each body, in its link's frame, m, m c (3), "
    "and about its origin inertia xx, xy, yy, xz, yz, zz",
    "Yb": "the same of the base parameters ({rows}, {base})",
    "A": "their derivative by q and qd (2 {rows}, 2 {rows})",
    "B": "their derivative by tau (2 {rows}, {rows})",
    "g": "what gravity takes ({rows})",
    "nle": "generalised forces without acceleration ({rows})",
    "p": "positions of the frames' origins ({frames}, 3)",
    "R": "their rotations ({frames}, 3, 3)",
    "twist": "their velocities ({frames}, 6), linear then angular, {along}",
    "J": "their Jacobians ({frames}, 6, {rows}), {along}",
    "drift": "their accelerations without qdd ({frames}, 6)",
    "qdd_c": "accelerations of all that moves while the frames are held ({rows})",
    "lambda_c": "forces that hold them ({frames}, 6), force then moment, along the world's axes",
    "dqdd_c_dq": "({rows}, {rows})",
    "dqdd_c_dqd": "({rows}, {rows})",
    "dqdd_c_dtau": "({rows}, {rows}), symmetric",
    "dlambda_c_dq": "({frames}, 6, {rows})",
    "dlambda_c_dqd": "({frames}, 6, {rows})",
    "dlambda_c_dtau": "({frames}, 6, {rows})",
    "com": "centre of mass (3)",
    "subcom": "centres of mass of what the frames' joints carry ({frames}, 3)",
    "Lambda": "operational-space inertia (6 {frames}, 6 {frames}), of each frame three directions, "
    "then three turns",
    "Jcom": "its Jacobian (3, {rows})",
    "kinetic": "kinetic energy",
    "potential": "potential energy",
    "Ag": "centroidal momentum matrix (6, {rows}), linear then angular",
    "hg": "centroidal momentum (6)",
    "M": "mass matrix ({rows}, {rows})",
    "f_ext": "external forces (BODIES, 6), force then moment, in the link's frame",
    PAYLOAD: "what the link carries (10): mass, first moment (3), and about the link's origin "
    "inertia xx, xy, yy, xz, yz, zz",
    "h": "seconds that a step lasts, up to LONGEST_STEP, the nearest multiple of SHORTEST_STEP",
    "steps": "how many there are, at least 1",
    "dtau_dq": "({rows}, {rows})",
    "dtau_dqd": "({rows}, {rows})",
    "dqdd_dq": "({rows}, {rows})",
    "dqdd_dqd": "({rows}, {rows})",
    "d2tau_dq2": "by q[j], then q[k], of tau[i] ({rows}, {rows}, {rows})",
    "d2tau_dqd2": "by qd[j] and qd[k] ({rows}, {rows}, {rows})",
    "d2tau_dq_dqd": "by q[j] and qd[k] ({rows}, {rows}, {rows})",
    "dM_dq": "of M[i, j] by q[k] ({rows}, {rows}, {rows})",
    FAR: "1 where Minv was not near, else 0",
}


def c_header(manifest: Mapping[str, Any]) -> str:
    """The header for a design's manifest: plain C99, which is C++ too, without a library.

    InputError where a word is longer than the 32 bits that packets have for it, or where the
    manifest is of a program, which has no packets.
    """
    name = manifest["name"]
    if "language" in manifest:
        raise InputError(f"{name}: {manifest['language']}, which has no packets; it is a program")
    try:
        return header_of(HardwareManifest.from_json(manifest))
    except NoRecord as error:
        raise InputError(f"{name}: {error}") from None


def header_of(own: HardwareManifest) -> str:
    """The same for a manifest that was read, or is about to be written; InputError."""
    name, tasks = own.name, own.tasks
    widest = max(tasks.result.width, *(word.width for word in tasks.words))
    if widest > WORD:
        raise InputError(f"{name}: words of {widest} bits; a packet has {WORD} for each")
    given = BASE if own.root == "given" else 0
    near = own.choices.get("inverse") == "near"
    frames = len(own.choices.get("frames", ()))
    counts = {
        PARAMETERS: SIZE * len(own.body_names),
        BASE_PARAMETERS: len(own.base_parameters or ()),
    }
    kinds = {kind_of(word.name) for word in tasks.words}
    along = AXES[own.choices.get("reference", ALIGNED)]
    arrays = HostArrays(own.nv, given, near, kinds, frames, along, counts)
    common = {
        "name": name,
        "NAME": name.upper(),
        "robot": own.robot,
        "base_link": own.base_link or "",
        "generator": own.generator,
        "nq": own.nq,
        "nv": own.nv,
        "bodies": len(own.body_names),
        "functions": [
            arrays.function(function, about)
            | {"interval": about.interval, "latency": about.latency}
            for function, about in tasks.functions.items()
        ],
    }
    return _of_core(own, arrays, common) if own.is_core else _of_accelerator(own, common)


def _of_accelerator(own: HardwareManifest, common: Mapping[str, Any]) -> str:
    from ..shell.task_registers import MAGIC
    from ..tasks.integration import LONGEST, STEP

    return render(
        "c_header/accelerator.h.jinja",
        **common,
        slots=own.tasks.slots,
        longest=1 + max(max(len(f["operands"]), len(f["results"])) for f in common["functions"]),
        longest_step=f"{LONGEST:.17g}",
        step_fraction=STEP.fraction,
        magic=MAGIC,
        version=own.packet_format,
        identity=own.identity,
        registers=own.axi["words"].registers,  # those of all shells
    )


def _of_core(own: HardwareManifest, arrays: HostArrays, common: Mapping[str, Any]) -> str:
    """A core's task has all operands; each function finds its results among all."""
    functions = own.tasks.functions
    read = {operand.word: operand for f in functions.values() for operand in f.inputs}
    operands = [
        read.get(word.name, Operand(spell(UNREAD, k), word.width, word=word.name))
        for k, word in enumerate(own.tasks.words)
    ]
    taken = arrays.taken(functions)
    word = {name: k for k, name in enumerate(own.ports.results)}
    for function in common["functions"]:
        for result in function["results"]:
            result["word"] = word[result["name"]]
    return render(
        "c_header/core.h.jinja",
        **common,
        interval=own.initiation_interval,
        latency=own.latency,
        results=len(word),
        takes=arrays.said(taken),
        operands=arrays.operands(operands, taken),
    )


class HostArrays:
    """Places of named scalars in the arrays of a host.

    ``given``: how many of v's first entries are the base's, its motion being given; ``near``:
    whether M⁻¹ of a state nearby comes in; ``kinds``: of the words of a task; ``frames``: how many
    are named; ``along``: in which axes their motions are; ``counts``: as of `shape_of`.
    """

    def __init__(
        self,
        nv: int,
        given: int,
        near: bool,
        kinds: set[str],
        frames: int = 0,
        along: str = AXES[ALIGNED],
        counts: Mapping[str, int] = NO_COUNTS,
    ) -> None:
        self.nv, self.given, self.near, self.frames = nv, given, near, frames
        self.along = along
        self.rows, self.counts = nv - given, counts
        self.sines = [SINES[kind] for kind in SINES if kind in kinds]
        self.forces = ["f_ext"] if "f_ext" in kinds else []
        self.payload = [PAYLOAD] if PAYLOAD in kinds else []

    def function(self, name: str, own: FunctionFacts) -> dict[str, Any]:
        """The template's values for a function."""
        taken = self.taken([name])
        gives = (*GIVES[name], FAR) if self.near and name in INVERTING else GIVES[name]
        firsts = {}
        for array in gives:  # one that is all zero begins where the next one does
            rank = gives.index(array)
            firsts[array] = 1 + sum(gives.index(kind_of(o.name)) < rank for o in own.outputs)
        return {
            "name": name,
            "NAME": name.upper(),
            "code": own.code,
            "rolls": name in ROLLOUTS,
            "takes": self.said(taken),
            "arrays": [{"h": "pair", "steps": "count"}.get(array, array) for array in taken],
            "gives": [
                {
                    "name": array,
                    "meaning": self._said(array),
                    "size": math.prod(self._shape(array)),
                    "first": firsts[array],
                }
                for array in gives
            ],
            "operands": self.operands(own.inputs, taken),
            "results": [self._result(output, gives) for output in own.outputs],
        }

    def taken(self, functions: Iterable[str]) -> list[str]:
        """The arrays that functions take, in order: positions, sines, motion, forces, payload."""
        named = [name for own in functions for name in takes(own, self.given > 0, self.near)]
        first, *others = dict.fromkeys(named)
        # without motion there are no forces
        return [first, *self.sines, *others, *(self.forces if others else []), *self.payload]

    def said(self, taken: Sequence[str]) -> list[dict[str, str]]:
        """The template's values for input arrays: name and meaning of each."""
        return [{"name": array, "meaning": self._taken(array)} for array in taken]

    def operands(self, inputs: Iterable[Operand], taken: list[str]) -> list[dict[str, Any]]:
        """Where each of a task's words comes from, of the arrays ``taken``."""
        return [self._operand(operand, taken) for operand in inputs]

    def _said(self, array: str) -> str:
        rows = f"NV - {self.given}" if self.given else "NV"
        return MEANING[array].format(
            rows=rows,
            frames=self.frames,
            along=self.along,
            parameters=self.counts.get(PARAMETERS),
            base=self.counts.get(BASE_PARAMETERS),
        )

    def _shape(self, array: str) -> tuple[int, ...]:
        return shape_of(array, self.rows, self.frames, counts=self.counts)

    def _taken(self, array: str) -> str:
        # of what comes in, accelerations alone are whole
        return MEANING[array].format(rows="NV") if array == "qdd" else self._said(array)

    def _operand(self, operand: Operand, taken: list[str]) -> dict[str, Any]:
        kind = SINES.get(kind_of(operand.name), kind_of(operand.name))
        return {
            "name": operand.name,
            "array": -1 if kind == UNREAD else taken.index(kind),
            "at": place_of_input(operand.name, self.rows, self.given),
            "width": operand.width,
            "fraction": operand.fraction,
            "turns": operand.turns or 0,
        }

    def _result(self, output: NamedWord, gives: Sequence[str]) -> dict[str, Any]:
        kind = kind_of(output.name)
        at = places_of_output(output.name, self._shape(kind), self.given)
        place = {"array": gives.index(kind), "at": at[0], "mirror": at[-1]}
        return {"name": output.name, **place, "fraction": output.fraction}
