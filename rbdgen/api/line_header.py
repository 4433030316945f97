"""A board's line in C: frames around the packets of the accelerator's header."""

from __future__ import annotations

from ..board.ethernet import Address
from ..board.packets import CRC_BYTES, crc_of
from ..design.arrays import takes
from ..design.choices import GIVES, ROLLOUTS
from ..design.manifest import AcceleratorManifest
from ..graph.arrays import SHAPES, V
from ..graph.word import kind_of
from ..robot.model import JointKind
from ..robot.payload import PAYLOAD, SIZE
from ..system.templates import render
from .host_interface import Contract


def line_files(
    entry: AcceleratorManifest, baud: int, folder: str, address: Address | None = None
) -> dict[str, str]:
    """``NAME_line.h``, and ``NAME_example.c`` for a serial port of Linux, or for an ``address``.

    ``folder``: where ``NAME.h`` is, as the compiler is told. There is no example of a design that
    has nothing but rollouts, or whose base's motion is given.
    """
    contract = Contract.of(entry.accelerator)
    layouts = contract.layouts
    payload = max(max(own.task_bytes, own.response_bytes) for own in layouts.values())
    name = entry.name
    longest = max(layouts.values(), key=lambda own: len(own.operands))
    files = {
        f"{name}_line.h": render(
            "board/line.h.jinja",
            name=name,
            NAME=name.upper(),
            baud=baud,
            payload_bytes=payload,
            frame_bytes=2 * (payload + CRC_BYTES) + 2,
            operands=longest.operands,
            crc=crc_of(entry.identity) ^ 0xFFFFFFFF,
            functions=[
                {
                    "name": function,
                    "code": own.code,
                    "operands": len(own.inputs),
                    "results": layouts[own.code].results,
                }
                for function, own in contract.functions.items()
            ],
        )
    }
    single = [function for function in contract.functions if function not in ROLLOUTS]
    if single and entry.root != "given":
        files[f"{name}_example.c"] = _example(entry, single[0], baud, folder, address)
    return files


def _example(
    entry: AcceleratorManifest, function: str, baud: int, folder: str, address: Address | None
) -> str:
    upper = entry.name.upper()
    words = {kind_of(word.name) for word in entry.accelerator.words}
    taken = list(takes(function, False))
    taken[1:1] = [kind for kind in ("sines", "cosines") if kind[:3] in words]
    taken += ["f_ext"] * ("f_ext" in words and len(taken) > 1)
    taken += [PAYLOAD] * (PAYLOAD in words)
    sizes = {"q": f"{upper}_NQ", "f_ext": f"{upper}_BODIES * 6", "Minv": f"{upper}_NV * {upper}_NV"}
    sizes[PAYLOAD] = str(SIZE)
    gives = GIVES[function]
    sizes |= {name: f"{upper}_NV * {upper}_NV" for name in gives if SHAPES.get(name) != (V,)}
    arrays = [*taken, *(name for name in gives if name not in taken)]
    return render(
        "board/example.c.jinja",
        name=entry.name,
        NAME=upper,
        folder=folder,
        baud=baud,
        ip=address.ip if address else None,
        port=address.port if address else None,
        floating=entry.base == JointKind.FLOATING.value,
        first={
            "name": function,
            "takes": taken,
            "gives": gives,
            "arrays": [(array, sizes.get(array, f"{upper}_NV")) for array in arrays],
        },
    )
