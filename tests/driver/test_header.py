"""The C header says what the integer model says, bit for bit, in C and in C++."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api import InputError, generate, read_manifest
from rbdgen.design.functions import GIVES, NEEDS, ON_ACCELERATORS
from rbdgen.graph.word import shape_of
from rbdgen.robot.variations import checked_body, payload_of
from rbdgen.shell.task_packets import FORMAT_VERSION, Response, Status
from rbdgen.shell.task_registers import MAGIC, register_table
from rbdgen_host.driver import Dynamics, c_header
from tests.support.c_header import (
    OK,
    OVERFLOW,
    SPELT,
    TAG,
    UNKNOWN_FUNCTION,
    WARNINGS,
    header,
    library,
    pointer,
    response_words,
    rows,
)
from tests.support.driver_designs import NAME, states
from tests.support.marks import slow
from tests.support.packets import packet_format


@pytest.mark.parametrize("function", ON_ACCELERATORS)
def test_packets_are_the_integer_models_words(
    integer: Dynamics, program: ctypes.CDLL, manifest: dict[str, Any], function: str
) -> None:
    """Encode a state, answer its words as the hardware would, decode: what the driver returns."""
    coder = integer._backend.coder
    assert coder is not None
    facts, packets = coder.tasks.functions[function], packet_format(manifest)
    for state in rows(states(NAME, 5, 3)):
        takes = [state[SPELT.get(name, name)] for name in NEEDS[function]]
        ticket = integer.submit(function, *takes)
        (tasks,) = ticket._batches
        words = [int(tasks.values[i.word][0]) for i in facts.inputs]
        packet = np.full(2 + len(words), 0xABCD, np.uint32)
        encode = getattr(program, f"encode_{function}")
        assert encode(*map(pointer, takes), TAG, pointer(packet)) == 0
        expected = packets.encode_task(facts.code, TAG, words)
        np.testing.assert_array_equal(packet, [*expected, 0xABCD])

        ticket.result()
        results = response_words(ticket.arrays, facts)
        response = Response(facts.code, Status.OK, TAG, results)
        answer = np.array(packets.encode_response(response), np.uint32)
        tag = ctypes.c_uint16()
        nv = 5
        found = {name: np.full(shape_of(name, nv), np.nan) for name in GIVES[function]}
        decode = getattr(program, f"decode_{function}")
        assert decode(pointer(answer), ctypes.byref(tag), *map(pointer, found.values())) == OK
        assert tag.value == TAG
        for name, array in found.items():
            np.testing.assert_array_equal(array, ticket.arrays[name])


def test_angles_wrap(integer: Dynamics, program: ctypes.CDLL, manifest: dict[str, Any]) -> None:
    """As the driver has it: the last two joints of the gantry turn."""
    assert integer._backend.coder is not None
    facts, packets = integer._backend.coder.tasks.functions["id"], packet_format(manifest)
    (state,) = rows(states(NAME, 1, 8))
    takes = [state[name] for name in ("q", "v", "a")]
    for angles in ((6.08, -3.9), (50.0, -1e12), (4.0, 3.2), (1e300, -2e5)):
        takes[0][3:] = angles
        (tasks,) = integer.submit("id", *takes)._batches
        words = [int(tasks.values[i.word][0]) for i in facts.inputs]
        packet = np.zeros(1 + len(words), np.uint32)
        assert program.encode_id(*map(pointer, takes), TAG, pointer(packet)) == 0
        np.testing.assert_array_equal(packet, packets.encode_task(facts.code, TAG, words))
    integer.collect()
    for at, value, outside in ((3, math.inf, 1), (3, math.nan, 1), (3, 50.0, 0)):
        q = np.zeros(5)
        q[at] = value
        assert program.encode_id(pointer(q), *map(pointer, takes[1:]), TAG, pointer(packet)) == (
            outside
        )


def test_responses_that_are_no_result(program: ctypes.CDLL) -> None:
    """Errors leave the arrays alone; of an overflow there are some; NULL is an array unwanted."""
    tag, tau = ctypes.c_uint16(), np.full(5, 7.0)
    words = [0] * 5
    decode = program.decode_id
    error = np.array([header("id", UNKNOWN_FUNCTION)], np.uint32)
    assert decode(pointer(error), ctypes.byref(tag), pointer(tau)) == UNKNOWN_FUNCTION
    assert tag.value == TAG
    assert (tau == 7).all()
    other = np.array([header("fd"), *words], np.uint32)
    assert decode(pointer(other), ctypes.byref(tag), pointer(tau)) == -1
    assert (tau == 7).all()
    wrapped = np.array([header("id", OVERFLOW), *words], np.uint32)
    assert decode(pointer(wrapped), ctypes.byref(tag), None) == OVERFLOW
    assert decode(pointer(wrapped), ctypes.byref(tag), pointer(tau)) == OVERFLOW
    assert (tau == 0).all()


def test_conversion_saturates_and_says_so(program: ctypes.CDLL) -> None:
    word = ctypes.c_int32()

    def converted(value: float, width: int = 18, fraction: int = 15) -> tuple[int, int]:
        outside = program.to_word(ctypes.c_double(value), width, fraction, ctypes.byref(word))
        return word.value, outside

    assert converted(1.5 * 2**-15) == (2, 0)  # half up
    assert converted(-1.5 * 2**-15) == (-1, 0)
    assert converted(4.0) == (2**17 - 1, 0)  # half a bit beyond, as the driver has it
    assert converted(4.1) == (2**17 - 1, 1)
    assert converted(-4.1) == (-(2**17), 1)
    assert converted(math.inf) == (2**17 - 1, 1)
    assert converted(-math.inf, 32) == (-(2**31), 1)
    assert converted(math.nan) == (0, 1)
    assert converted(1e6, 32, -3) == (125000, 0)


def test_what_does_not_fit_is_counted(program: ctypes.CDLL) -> None:
    q, v, a = np.zeros(5), np.full(5, 1e6), np.zeros(5)
    packet = np.zeros(32, np.uint32)
    a[4] = math.nan
    assert program.encode_id(*map(pointer, (q, v, a)), 0, pointer(packet)) == 3  # v[3], v[4], a[4]


def test_it_is_cpp_and_takes_floats(tmp_path: Path, manifest: dict[str, Any]) -> None:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    assert compiler is not None  # the simulation needs one too
    (tmp_path / "one.h").write_text(c_header({**manifest, "robot": "any */ /* name\n"}))
    source, name = tmp_path / "program.cpp", manifest["name"]
    source.write_text(
        f'#define {name.upper()}_REAL float\n#include "one.h"\n'
        f"int encode(const float *q, const float *v, const float *a, uint32_t *packet)\n"
        f"{{ return {name}_encode_id(q, v, a, 1, packet); }}\n"
    )
    for standard in ("c++11", "c++17"):
        command = [compiler, f"-std={standard}", *WARNINGS, "-c", str(source)]
        subprocess.run([*command, "-o", str(tmp_path / "program.o")], check=True)


@pytest.mark.parametrize("angles", ["on-chip", slow("sincos")])
def test_forces_sines_and_payload_come_in(tmp_path: Path, angles: str) -> None:
    """Forces on the links; sines from a host that computes them itself; a payload, last."""
    choices: dict[str, Any] = {
        "functions": ("id", "m"),
        "angles": angles,
        "external_forces": "all",
        "payload": "lower_rod",
        "target": "xcup",
    }
    manifest = read_manifest(generate("pendulum", tmp_path / "made", accelerator=True, **choices))
    sines = ["sines", "cosines"] if angles == "sincos" else []
    assert len(manifest["angles"]) == len(sines)
    program = library(
        tmp_path, manifest, {"id": [*sines, "f_ext", "payload"], "m": [*sines, "payload"]}
    )
    driver = Dynamics("pendulum", "integer", **choices)
    coder = driver._backend.coder
    assert coder is not None
    (state,) = rows(states("pendulum", 1, 4))
    angle = np.array(
        [
            a["multiplier"] * state["q"][a["coordinate"]] + a["offset"]
            for a in manifest["angles"].values()
        ]
    )
    trig = (np.sin(angle), np.cos(angle)) if sines else ()
    driver.set_payload(1.5, (0.01, -0.02, 0.1), 0.01 * np.eye(3))
    payload = payload_of(checked_body(1.5, (0.01, -0.02, 0.1), 0.01 * np.eye(3)))
    forces = np.random.default_rng(5).normal(size=(2, 6))
    for function, takes, more in (
        ("id", [state["v"], state["a"], forces], {"f_ext": forces}),
        ("m", [], {}),
    ):
        given = [state[SPELT.get(name, name)] for name in NEEDS[function]]
        (tasks,) = driver.submit(function, *given, **more)._batches
        operands = coder.tasks.functions[function].inputs
        words = np.array([tasks.values[i.word][0] for i in operands])
        packet = np.zeros(1 + len(words), np.uint32)
        encode = getattr(program, f"encode_{function}")
        arrays = [state["q"], *trig, *takes, payload]
        assert encode(*map(pointer, arrays), TAG, pointer(packet)) == 0
        np.testing.assert_array_equal(packet, [header(function), *(words & 0xFFFFFFFF)])


def test_it_knows_its_hardware(program: ctypes.CDLL, manifest: dict[str, Any]) -> None:
    """By the registers, which are where the hardware has them."""
    name = manifest["name"].upper()
    text = c_header(manifest)
    table = register_table(packet_format(manifest).functions)
    for register in table:
        assert f"{name}_REG_{register.name.upper()} = 0x{register.offset:02X}" in text
        for bit in register.bits:
            own = f"{name}_{register.name}_{bit.name}_BIT".upper()
            assert f"{own} = {bit.position}" in text
    offsets = {register.name: register.offset for register in table}
    identity = int(manifest["identity"], 16)
    right = {
        "magic": MAGIC,
        "format": FORMAT_VERSION,
        "identity_low": identity & 0xFFFFFFFF,
        "identity_high": identity >> 32,
    }
    callback = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)

    def identified(values: dict[str, int]) -> int:
        there = {offsets[own]: value for own, value in values.items()}
        context = 0x1234

        def read32(given: int, offset: int) -> int:
            assert given == context
            return there[offset]

        return program.identify(callback(read32), ctypes.c_void_p(context))

    assert identified(right) == 0
    assert identified(right | {"magic": 0xFFFFFFFF}) == 1
    assert identified(right | {"format": FORMAT_VERSION + 1}) == 2
    for half in ("identity_low", "identity_high"):
        assert identified(right | {half: right[half] ^ 0x80000000}) == 3


def test_what_has_no_packets(manifest: dict[str, Any]) -> None:
    name = manifest["name"]
    with pytest.raises(InputError, match=f"{name}: cpp, which has no packets"):
        c_header({**manifest, "language": "cpp"})
    with pytest.raises(InputError, match=f"{name}: no nv"):
        c_header({k: v for k, v in manifest.items() if k != "nv"})
    accelerator = manifest["tasks"]
    wide = {**accelerator, "result": {**accelerator["result"], "width": 33}}
    with pytest.raises(InputError, match=f"{name}: words of 33 bits; a packet has 32 for each"):
        c_header({**manifest, "tasks": wide})
