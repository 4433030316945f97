"""A C header of an accelerator's packets and registers, from its manifest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..design.choices import GIVES, ROLLOUTS, VECTORS
from ..design.design import takes
from ..design.manifest import AcceleratorManifest
from ..dynamics.interface import WRENCH
from ..graph.arrays import SYMMETRIC
from ..graph.word import indices, kind_of, parse
from ..robot.model import JointKind
from ..rtl.task_registers import MAGIC
from ..system.records import NoRecord
from ..system.templates import render
from ..tasks.integration import LONGEST, STEP
from .contract import UNREAD, Contract, Function, Operand
from .folder import InputError

TEMPLATE = "driver.h.jinja"
BASE = JointKind.FLOATING.nv
WORD = 32  # bits of a packet's words
SINES = {"sin": "sines", "cos": "cosines"}  # `sin` itself is a function of C's

MEANING = {  # {rows}: of what has no rows for a base whose motion is given
    "q": "positions (NQ); angles that their words cannot hold are taken whole turns back",
    "sines": "of the joints' angles, by joint as in the manifest's angles",
    "cosines": "likewise",
    "qd": "velocities (NV)",
    "qdd": "accelerations ({rows})",
    "tau": "generalised forces ({rows})",
    "Minv": "inverse mass matrix ({rows}, {rows}), of which the lower triangle is read",
    "M": "mass matrix ({rows}, {rows})",
    "f_ext": "external forces (BODIES, 6), force then moment, in the link's frame",
    "h": "seconds that a step lasts, up to LONGEST_STEP, the nearest multiple of SHORTEST_STEP",
    "steps": "how many there are, at least 1",
    "dtau_dq": "({rows}, {rows})",
    "dtau_dqd": "({rows}, {rows})",
    "dqdd_dq": "({rows}, {rows})",
    "dqdd_dqd": "({rows}, {rows})",
}


def c_header(manifest: Mapping[str, Any]) -> str:
    """The header for an accelerator's manifest: plain C99, which is C++ too, without a library.

    InputError where a word is longer than the 32 bits that packets have for it, or where the
    manifest is not an accelerator's.
    """
    name = manifest["name"]
    if "accelerator" not in manifest:
        raise InputError(f"{name}: no accelerator, whose packets a header could describe")
    try:
        own = AcceleratorManifest.from_json(manifest)
    except NoRecord as error:
        raise InputError(f"{name}: {error}") from None
    contract = Contract.of(own.accelerator)
    widest = max(contract.result_width, *contract.words.values())
    if widest > WORD:
        raise InputError(f"{name}: words of {widest} bits; a packet has {WORD} for each")
    given = BASE if own.root == "given" else 0
    shape = _Shape(own.nv, given, {kind_of(word) for word in contract.words})
    functions = [
        shape.function(function, contract.functions[function])
        | {"interval": about.interval, "latency": about.latency}
        for function, about in own.accelerator.functions.items()
    ]
    return render(
        TEMPLATE,
        name=name,
        NAME=name.upper(),
        robot=_plain(own.robot),
        base_link=_plain(own.base_link or ""),
        generator=own.generator,
        nq=own.nq,
        nv=own.nv,
        bodies=len(own.body_names),
        slots=own.accelerator.slots,
        longest=1 + max(max(len(f["operands"]), len(f["results"])) for f in functions),
        functions=functions,
        longest_step=f"{LONGEST:.17g}",
        step_fraction=STEP.fraction,
        magic=MAGIC,
        version=own.packet_format,
        identity=own.identity,
        registers=own.axi["words"].registers,  # those of all shells
    )


def _plain(name: str) -> str:
    """Whatever it is, the comment that it stands in goes on."""
    return re.sub(r"[^\w .-]", "_", name)


class _Shape:
    """Places of named scalars in the arrays of a host.

    ``given``: how many of v's first entries are the base's, its motion being given.
    """

    def __init__(self, nv: int, given: int, kinds: set[str]) -> None:
        self.nv, self.given = nv, given
        self.rows = nv - given
        self.sines = [SINES[kind] for kind in SINES if kind in kinds]
        self.forces = ["f_ext"] if "f_ext" in kinds else []

    def function(self, name: str, own: Function) -> dict[str, Any]:
        """What the template says of a function."""
        first, *others = takes(name, self.given > 0)
        taken = [first, *self.sines, *others]
        taken += self.forces if others else []  # without motion there are no forces
        gives = GIVES[name]
        outputs = list(own.outputs)
        firsts = {}
        for array in gives:  # one that is all zero begins where the next one does
            rank = gives.index(array)
            firsts[array] = 1 + sum(gives.index(kind_of(o)) < rank for o in outputs)
        return {
            "name": name,
            "NAME": name.upper(),
            "code": own.code,
            "rolls": name in ROLLOUTS,
            "takes": [{"name": array, "meaning": self._taken(array)} for array in taken],
            "arrays": [{"h": "pair", "steps": "count"}.get(array, array) for array in taken],
            "gives": [
                {
                    "name": array,
                    "meaning": self._said(array),
                    "size": self.rows if array in VECTORS else self.rows**2,
                    "first": firsts[array],
                }
                for array in gives
            ],
            "operands": [self._operand(operand, taken) for operand in own.inputs],
            "results": [
                self._result(output, list(gives)) | {"fraction": word.fraction}
                for output, word in own.outputs.items()
            ],
        }

    def _said(self, array: str) -> str:
        rows = f"NV - {self.given}" if self.given else "NV"
        return MEANING[array].format(rows=rows)

    def _taken(self, array: str) -> str:
        # of what comes in, accelerations alone are whole
        return MEANING[array].format(rows="NV") if array == "qdd" else self._said(array)

    def _operand(self, operand: Operand, taken: list[str]) -> dict[str, Any]:
        kind, index = kind_of(operand.name), indices(operand.name)
        kind = SINES.get(kind, kind)
        at = index[0]
        if kind == "f_ext":
            at = index[0] * len(WRENCH) + WRENCH.index(parse(operand.name).axis)
        elif kind == "tau":
            at = index[0] - self.given
        elif kind == "Minv":
            at = (index[0] - self.given) * self.rows + index[1] - self.given
        return {
            "name": operand.name,
            "array": -1 if kind == UNREAD else taken.index(kind),
            "at": at,
            "width": operand.format.width,
            "fraction": operand.format.fraction,
            "turns": operand.turns or 0,
        }

    def _result(self, output: str, gives: list[str]) -> dict[str, Any]:
        kind, index = kind_of(output), [k - self.given for k in indices(output)]
        at = mirror = index[0]
        if len(index) == 2:
            i, j = index
            at = mirror = i * self.rows + j
            if kind in SYMMETRIC:
                mirror = j * self.rows + i
        return {"name": output, "array": gives.index(kind), "at": at, "mirror": mirror}
