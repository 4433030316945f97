"""Modules of shared datapaths as text: what stands where, and whom each signal serves."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.graph.text import to_text
from rbdgen.shell.emit import emit
from tests.support.cores import core_of
from tests.support.limbs import robot_of_limbs

LONGEST = 1500  # lines of a module
ANONYMOUS = re.compile(r"\b_\d+_|port\$")
MODULE = re.compile(r"^module \\?core([\w.]*) ?\(.*?^endmodule", re.MULTILINE | re.DOTALL)
# What an operation, a register or a shared multiplier is declared as, and whom it serves.
SERVING = re.compile(r"^  .*\b(add|sub|neg|select|mul|r)_?(\d+)(?:_p)?;(?: .*;)?  // (.*)$", re.M)
NAMES = r"(?:(?:add|sub|neg|select)_\d+|r\d+|mul_\d+_p)"
OPERATION = re.compile(rf"^  (?:input|output|wire|reg)[^;]* {NAMES};")
# What a region has for a node: what comes in, unit and register, result, what delays it, its flag.
OF_REGION = re.compile(r"^  (?:wire|reg)[^;]* ([xprwnv])(\d+)(?:_\d+)?;(?: .*;)?(.*)$", re.M)
REGION = re.compile(r"(?:_limb)?_[a-z]+_\d+")
KINDS = ("folded", "rounds", "limbs", pytest.param("iiwa14", marks=pytest.mark.slow))


def product_of(kind: str) -> Product:
    if kind == "folded":
        return compile_front(front_end("pendulum", functions=("id",), ii=4))
    if kind == "rounds":
        return compile_front(front_end("pendulum", functions=("id",), fold="joints", ii=8))
    if kind == "iiwa14":
        return compile_front(front_end("iiwa14", functions=("id",), ii=5))
    return core_of(robot_of_limbs([(1, 1), (1, -1)]), functions=("id",), fold="limbs", ii=8)


@pytest.fixture(scope="module", params=KINDS)
def product(request: pytest.FixtureRequest) -> Product:
    return product_of(request.param)


@pytest.fixture(scope="module")
def modules(product: Product) -> dict[str, str]:
    """Module, without the design's name → its text."""
    text = emit(product.accelerator, "core", joints=["any"]).files["core.v"]
    return {found[1]: found[0] for found in MODULE.finditer(text)}


def test_a_module_for_each_datapath(modules: Mapping[str, str]) -> None:
    inside = {name.rpartition(".")[2] for name in modules if "." in name}
    assert {"schedule", "results"} <= inside
    assert sum(bool(re.fullmatch(r"[a-z_]+(_\d+)+", name)) for name in inside) > 2
    assert max(text.count("\n") for text in modules.values()) < LONGEST


def test_what_connects_modules_has_a_name(modules: Mapping[str, str]) -> None:
    for name, text in modules.items():
        head = text.partition(";")[0]
        assert not ANONYMOUS.search(head), name  # no port
        inside = any(other.startswith(f"{name}.") for other in modules)
        assert not (inside and ANONYMOUS.search(text)), name  # no wire between modules


def test_each_operation_says_whom_it_serves(product: Product, modules: Mapping[str, str]) -> None:
    lines = to_text(product.fixed).splitlines()
    graph = {line.split()[0]: line for line in lines if line.startswith("%")}
    seen = 0
    for name, text in modules.items():
        if "." not in name:
            continue
        for line in filter(OPERATION.search, text.splitlines()):
            found = SERVING.fullmatch(line)
            assert found, line
            kind, _, whom = found.groups()
            for own in whom.split(", "):
                who, number = own.rsplit(" ", 1)
                assert re.fullmatch(r"(joint|joints|limb)( \d+)+", who), line
                operation = graph[number].split()[2]
                assert operation == kind or kind == "r", line
                seen += 1
    assert seen > 20


@pytest.mark.parametrize("kind", ["pipeline", "limbs"])
def test_each_value_of_a_region_says_whom_it_serves(kind: str) -> None:
    """In Verilog; RTLIL has no attribute more, since names of nets would follow them."""
    if kind == "limbs":
        limbs = robot_of_limbs([(1, 1), (1, -1)])
        product = core_of(limbs, functions=("id",), fold="limbs", ii=2)
    else:
        product = compile_front(front_end("pendulum", functions=("id",)))
    files = emit(product.accelerator, "core", joints=["any"]).files
    assert "attribute \\serves" not in files["core.il"]
    text, lines = files["core.v"], to_text(product.fixed).splitlines()
    graph = {line.split()[0]: line for line in lines if line.startswith("%")}
    who = "limb 0 (%\\d+), limb 1 (%\\d+)" if kind == "limbs" else r"joint \d+ (%\d+)"
    seen = set[str]()
    for found in MODULE.finditer(text):
        if not REGION.fullmatch(found[1]):
            continue
        for value in OF_REGION.finditer(found[0]):
            if kind == "pipeline" and graph[f"%{value[2]}"].split()[2] == "input":
                continue  # it is no joint's alone
            own = re.fullmatch(rf"  // {who}", value[3])
            assert own, value[0]
            operations = {graph[number].split()[2] for number in own.groups()}
            assert len(operations) == 1 or value[1] == "x", value[0]  # x may come in mirrored
            seen |= operations
    assert {"mul", "add", "sub", "sin"} <= seen, seen
