"""A C header of a design's packets, and of an accelerator's registers, from its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..design.manifest import AcceleratorManifest, CoreManifest
from ..graph.fixed import Format
from ..graph.word import kind_of, spell
from ..robot.model import BASE
from ..rtl.task_registers import MAGIC
from ..system.records import NoRecord
from ..system.templates import render
from ..tasks.integration import LONGEST, STEP
from ..tasks.routes import UNREAD
from .contract import Contract, Operand
from .folder import InputError
from .header_arrays import Arrays

WORD = 32  # bits of a packet's words


def c_header(manifest: Mapping[str, Any]) -> str:
    """The header for a design's manifest: plain C99, which is C++ too, without a library.

    InputError where a word is longer than the 32 bits that packets have for it, or where the
    manifest is of a program, which has no packets.
    """
    name = manifest["name"]
    if "language" in manifest:
        raise InputError(f"{name}: {manifest['language']}, which has no packets; it is a program")
    kind = AcceleratorManifest if "accelerator" in manifest else CoreManifest
    try:
        own: AcceleratorManifest | CoreManifest = kind.from_json(manifest)
    except NoRecord as error:
        raise InputError(f"{name}: {error}") from None
    contract = Contract.of(own.tasks)
    widest = max(contract.result_width, *contract.words.values())
    if widest > WORD:
        raise InputError(f"{name}: words of {widest} bits; a packet has {WORD} for each")
    given = BASE if own.root == "given" else 0
    near = own.choices.get("inverse") == "near"
    frames = len(own.choices.get("frames", ()))
    arrays = Arrays(own.nv, given, near, {kind_of(word) for word in contract.words}, frames)
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
            arrays.function(function, contract.functions[function])
            | {"interval": about.interval, "latency": about.latency}
            for function, about in own.tasks.functions.items()
        ],
    }
    if isinstance(own, AcceleratorManifest):
        return _of_accelerator(own, common)
    return _of_core(own, contract, arrays, common)


def _of_accelerator(own: AcceleratorManifest, common: Mapping[str, Any]) -> str:
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


def _of_core(
    own: CoreManifest, contract: Contract, arrays: Arrays, common: Mapping[str, Any]
) -> str:
    """A core's task has all operands; each function finds its results among all."""
    read = {operand.word: operand for f in contract.functions.values() for operand in f.inputs}
    operands = [
        read.get(word, Operand(spell(UNREAD, k), word, Format(width, 0)))
        for k, (word, width) in enumerate(contract.words.items())
    ]
    taken = arrays.taken(contract.functions)
    word = {name: k for k, name in enumerate(own.formats.output)}
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
