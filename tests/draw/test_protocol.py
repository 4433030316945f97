"""The picture of a protocol: what it draws is what the hardware does, in every cycle."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from rbdgen.design.manifest import HardwareManifest
from rbdgen.draw.protocol import COLUMN, WAVE, core_moments, protocol
from tests.support.contrast import faint
from tests.support.cores import states_within_limits, verilated
from tests.support.hdl_designs import entry_of, filled, run_in_icarus
from tests.support.made import compiled, generated

SVG = "{http://www.w3.org/2000/svg}"
PORTS = ("rst", "i__valid", "i__ready", "o__valid", "o__ready")
CASES: dict[str, dict[str, Any]] = {
    "torque": {},
    "fourth": {"ii": 4},  # a folded core
    "slow": {"ii": 40},  # of which a result comes before the next task
    "turns": {"functions": ("did",), "ii": 16, "fold": "joints"},
    "many": {"functions": ("id", "m"), "accelerator": True, "ii": 2},
}
# Two tasks that stay until they are taken; the first result has to wait for one cycle.
BENCH = """
module bench;
    import @NAME@_pkg::*;
    reg clk = 0, rst = 1, i_valid = 0, o_ready = 1;
    wire i_ready, o_valid;
    task_t task_in;
    wire [$bits(@RESULT@) - 1:0] result;
    integer cycle, tasks = 0, results = 0, waited = 0;
    always #5 clk = !clk;
    @NAME@ dynamics (
        .clk(clk), .rst(rst), @FLAGS@
        .i__payload(task_in), .i__valid(i_valid), .i__ready(i_ready),
        .o__payload(result), .o__valid(o_valid), .o__ready(o_ready));
    initial for (cycle = 0; results < 2; cycle = cycle + 1) begin
        @(negedge clk);
        rst = cycle == 0;
        i_valid = cycle > 0 && tasks < 2;
        task_in = tasks == 0 ? @PREFIX@EXAMPLE_TASK : 0;
        o_ready = 1;
        #1 if (o_valid && results == 0 && !waited) begin
            o_ready = 0;
            waited = 1;
        end
        $display("%b %b %b %b %b %b", rst, i_valid, i_ready, o_valid, o_ready,
            result === @PREFIX@EXAMPLE_RESULT);
        if (i_valid && i_ready) tasks = tasks + 1;
        if (o_valid && o_ready) results = results + 1;
        if (results == 2) $finish;
    end
    initial #20000 $fatal(1, "no result");
endmodule
"""


def drawn(page: ET.Element) -> dict[str, list[str]]:
    """Port → what is drawn of it in each column: a level, a payload, "" for grey, "//" for none.

    "head": what stands above the column.
    """
    lines = {own.get("id"): own for own in page.iter(f"{SVG}g")}
    clock = [
        (x, y)
        for path in lines["clk"].iter(f"{SVG}path")
        if path.get("stroke-width") == "1.4"
        for x, y in points(path)
    ]
    left, end = min(clock)[0], max(clock)[0]
    middles = [left + COLUMN * (k + 0.5) for k in range(round((end - left) / COLUMN))]
    found: dict[str, list[str]] = {}
    for port in (*PORTS, "i__payload", "o__payload"):
        found[port] = [in_column(lines[port], x) for x in middles]
    texts = {float(own.get("x", "")): own.text or "" for own in page.findall(f"{SVG}text")}
    found["head"] = [texts.get(round(x, 1), "") for x in middles]
    return found


def in_column(line: ET.Element, x: float) -> str:
    """What is drawn at ``x`` pixels."""
    for own in line.iter(f"{SVG}text"):
        middle, wide = float(own.get("x", "")), 0.0
        for box in line.iter(f"{SVG}rect"):
            start, width = float(box.get("x", "")), float(box.get("width", ""))
            if abs(start + width / 2 - middle) < 1:
                wide = width
        if abs(x - middle) < wide / 2:
            return own.text or ""
    for box in line.iter(f"{SVG}rect"):
        if 0 < x - float(box.get("x", "")) < float(box.get("width", "")):
            return ""
    waves = [points(path) for path in line.iter(f"{SVG}path") if path.get("stroke-width") == "1.4"]
    bottom = max((y for wave in waves for _, y in wave), default=0.0)
    top = min((y for wave in waves for _, y in wave), default=0.0)
    assert not waves or bottom - top == WAVE
    for wave in waves:
        for (a, y), (b, _) in pairwise(wave):
            if a < x < b:
                return "1" if y == top else "0"
    return "//"


def points(path: ET.Element) -> list[tuple[float, float]]:
    """The corners of a line."""
    words = path.get("d", "").replace("M", "").replace("L", "").split()
    return list(zip(map(float, words[::2]), map(float, words[1::2]), strict=True))


def simulated(folder: Path, entry: HardwareManifest, place: Path) -> list[dict[str, str]]:
    """Port → its level, of each cycle from the one of reset on; "right": the result is A."""
    core = entry.is_core
    bench = place / "bench.sv"
    values = {
        "NAME": entry.name,
        "RESULT": "result_t",
        "PREFIX": "" if core else "id_",
        "FLAGS": ".clear(1'b0), .overflow()," if core else "",
    }
    bench.write_text(filled(BENCH, **values))
    sources = [folder / f"{entry.name}{end}" for end in ("_pkg.sv", ".v")]
    lines = run_in_icarus(bench, "bench", sources)
    return [dict(zip((*PORTS, "right"), line.split(), strict=True)) for line in lines]


@pytest.mark.rtl
@pytest.mark.parametrize("name", CASES)
def test_what_is_drawn_is_simulated(name: str, tmp_path: Path) -> None:
    """Every level that is not grey, and the payload of the first result while it is valid."""
    folder = generated("pendulum", name=name, **CASES[name])
    entry = entry_of(folder)
    found = drawn(ET.parse(folder / "protocol.svg").getroot())
    cycles = simulated(folder, entry, tmp_path)
    zero = next(k for k, own in enumerate(cycles) if own["i__valid"] == own["i__ready"] == "1")
    latency = entry.tasks.functions[entry.functions[0]].latency
    compared = set()
    for k, head in enumerate(found["head"]):
        if found["rst"][k] == "//":
            continue
        if head == "later":
            at = next(
                n for n in range(zero + latency + 2, len(cycles)) if cycles[n]["o__valid"] == "1"
            )
        elif found["rst"][k] == "1" or not head:  # reset, and the cycle behind it
            at = k
        else:
            at = zero + cycle_of(head, latency)
        own = cycles[at]
        for port in PORTS:
            assert found[port][k] in ("", own[port]), (head, port)
        if found["o__payload"][k]:
            assert found["o__valid"][k] == "1"
            assert (own["right"] == "1") == (found["o__payload"][k] == "A"), head
        compared.add(at)
    assert {0, 1, zero, zero + latency, zero + latency + 1} <= compared
    assert found["o__payload"].count("A") == 2 and found["o__ready"].count("0") == 1


def cycle_of(head: str, latency: int) -> int:
    """A number, or L and a number more or less."""
    if not head.startswith("L"):
        return int(head)
    return latency + int(head[1:].replace(" ", "") or 0)


@pytest.mark.rtl
def test_the_verilated_model_has_the_same_latency(tmp_path: Path) -> None:
    core = compiled("pendulum", name="torque")
    batch = states_within_limits(core, 2, 0)
    run = verilated(core, tmp_path, "torque").run(batch.tasks)
    moments = core_moments(core.plan.interval, core.plan.latency)
    first = next(own for own in moments if own.result == "A")
    assert run.result_cycle[0] - run.accept_cycle[0] == int(first.label)


@pytest.mark.parametrize(("interval", "latency"), [(1, 1), (1, 2), (2, 3), (3, 2), (9, 5), (4, 90)])
def test_cycles_are_in_order(interval: int, latency: int) -> None:
    moments = core_moments(interval, latency)
    counted = [own for own in moments if own.label.isdigit()]
    cycles = [int(own.label) for own in counted]
    assert cycles == sorted(set(cycles)) and {0, interval, latency, latency + 1} <= set(cycles)
    for before, own in pairwise(counted):
        assert own.gap == (int(own.label) > int(before.label) + 1)
        assert not own.gap or int(own.label) > int(before.label) + 2
    assert [int(own.label) for own in counted if own.task and own.i_ready] == [0, interval]


@pytest.mark.parametrize("name", CASES)
def test_texts_can_be_read(name: str) -> None:
    entry = entry_of(generated("pendulum", name=name, **CASES[name]))
    text = protocol(entry)
    page = ET.fromstring(text)
    assert not faint(page) and text == protocol(entry)
    said = " ".join(own.text or "" for own in page.iter(f"{SVG}text"))
    for own in entry.tasks.functions.values():
        assert str(own.latency) in said
