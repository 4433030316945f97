"""Whole cores in Verilator: every bit and flag of the integer model, under any stalls, on time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.target import Ports, Stream
from rbdgen.rtl import queues as channel
from rbdgen.schedule.difference_constraints import BANK
from rbdgen.shell.emit import emit
from rbdgen.system.records import NamedWord
from rbdgen.tools.verilate import build
from tests.support.cores import (
    Built,
    any_words,
    check,
    check_on_time,
    core_of,
    shared_folder,
    states_within_limits,
    verilated,
)
from tests.support.random_robots import random_robot

pytestmark = pytest.mark.rtl

STALLS = (0.0, 0.1, 0.5, 0.9)
DRAIN = 64  # cycles that a run goes on after its last result


def shipped(name: str, **choices: object) -> Product:
    return compile_front(front_end(name, fit=False, **choices))


def tree(seed: int, joints: int, **choices: object) -> Product:
    """Of a random robot that branches, turns and slides, and has a joint that mimics another."""
    robot = random_robot(np.random.default_rng(seed), joints=joints, branching=0.5, mimic=0.3)
    assert any(joint.mimic for joint in robot.joints)
    assert len({joint.parent for joint in robot.joints}) < joints
    assert len({joint.kind for joint in robot.joints}) == 2
    return core_of(robot, **choices)


CASES: dict[str, Callable[[], Product]] = {
    "pendulum_12": lambda: shipped("pendulum", width=12),
    "tree_25_with_forces": lambda: tree(6, 3, width=25, external_forces="link002"),
    "tree_32_sines_given": lambda: tree(14, 4, width=32, angles="sincos"),
    "products_in_logic": lambda: core_of(front_end("pendulum").robot, multipliers=3, rotation=3),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared_folder(tmp_path_factory, "cores")


@pytest.fixture(scope="module", params=list(CASES))
def built(request: pytest.FixtureRequest, folder: Path) -> Built:
    core = CASES[request.param]()
    return Built(core, verilated(core, folder, request.param))


def test_every_bit_at_full_rate(built: Built) -> None:
    """A task a clock, each result after exactly the latency that was predicted."""
    for expected in (any_words(built.core, 4000, 1), states_within_limits(built.core, 2000, 2)):
        run = built.model.run(expected.tasks, seed=1)
        check(run, expected)
        check_on_time(run, built.core)


def test_words_that_overflow(built: Built) -> None:
    """Words from anywhere raise flags and leave some down; states within the limits raise none."""
    flags = any_words(built.core, 4000, 1).flags
    assert flags.any()
    assert not flags.all()
    assert not states_within_limits(built.core, 2000, 2).flags.any()


@pytest.mark.parametrize("stall_out", STALLS)
@pytest.mark.parametrize("stall_in", STALLS)
def test_stalls_lose_nothing(built: Built, stall_in: float, stall_out: float) -> None:
    """Nothing lost, doubled or out of order; the slower side alone sets the pace."""
    expected = any_words(built.core, 1000, 3)
    run = built.model.run(expected.tasks, stall_in=stall_in, stall_out=stall_out, seed=4)
    check(run, expected)
    took, latency = run.result_cycle - run.accept_cycle, built.core.plan.latency
    if stall_out == 0:  # no task waits for those behind it
        np.testing.assert_array_equal(took, latency)
    else:
        assert took.min() >= latency
    pace = len(took) / (run.cycles - latency - DRAIN)
    assert 0.85 < pace / (1 - max(stall_in, stall_out)) < 1.15


def test_products_went_to_logic() -> None:
    styles = CASES["products_in_logic"]().plan.schedule.binding.style.values()
    assert set(styles) == {"dsp", "logic"}


def test_fifos_as_deep_as_predicted_are_enough(folder: Path) -> None:
    """No place more than the schedule asks for: no word is overwritten before it was read, and
    a task is taken in every clock."""
    core = CASES["pendulum_12"]()
    assert any(c.depth % BANK for c in core.plan.channels)
    with mock.patch.object(channel, "capacity", lambda c: c.depth):
        model = verilated(core, folder, "exact_depths")
    expected = any_words(core, 3000, 5)
    for stalls in ((0.0, 0.0), (0.0, 0.3), (0.3, 0.6)):
        run = model.run(expected.tasks, stall_in=stalls[0], stall_out=stalls[1], seed=6)
        check(run, expected)
        if stalls == (0.0, 0.0):
            np.testing.assert_array_equal(np.diff(run.accept_cycle), 1)


STICKY = """
module bench (
    input clk, input rst,
    input [{clear}:0] i__payload, input i__valid, output i__ready,
    output [{last}:0] o__payload, output o__valid, input o__ready
);
    {core} core (
        .clk(clk), .rst(rst),
        .i__payload(i__payload[{clear} - 1:0]), .i__valid(i__valid), .i__ready(i__ready),
        .o__payload(o__payload[{sticky} - 1:0]), .o__valid(o__valid), .o__ready(o__ready),
        .clear(i__valid && i__ready && i__payload[{clear}]),
        .overflow(o__payload[{last}:{sticky}])
    );
endmodule
"""


def test_overflow_sticks_until_cleared(folder: Path) -> None:
    """The core's ``overflow`` beside each result, with ``clear`` given beside some tasks."""
    core = CASES["pendulum_12"]()
    made = emit(core.accelerator, "pendulum_12")
    ports = ports_of(port_facts(core))
    outputs = len(core.fixed.graph.outputs)
    last = ports.output.width + outputs - 1
    text = STICKY.format(
        core=made.top, clear=ports.input.width, sticky=ports.output.width, last=last
    )
    source = folder / "sticky.v"
    source.write_text(made.files[f"{made.top}.v"] + text)
    fields = tuple(NamedWord(f"sticky{k}", 1, signed=False) for k in range(outputs))
    ports = Ports(
        Stream(
            (*ports.input.fields, NamedWord("clear", 1, signed=False)),
            *(f"i__{port}" for port in ("payload", "valid", "ready")),
        ),
        Stream(
            (*ports.output.fields, *fields),
            *(f"o__{port}" for port in ("payload", "valid", "ready")),
        ),
    )
    model = build([source], "bench", ports=ports)

    rng = np.random.default_rng(8)
    quiet, loud = states_within_limits(core, 3000, 8), any_words(core, 3000, 8)
    chosen = rng.random((3000, 1)) < 0.1
    tasks, flags = np.where(chosen, loud.tasks, quiet.tasks), np.where(chosen, loud.flags, False)
    clear = rng.random(3000) < 0.1
    run = model.run(np.column_stack([tasks, clear]), stall_in=0.3, seed=9)

    np.testing.assert_array_equal(run.outputs[:, outputs : 2 * outputs], flags)
    cleared = np.zeros(run.cycles + 1, bool)
    cleared[run.accept_cycle[clear]] = True
    seen = np.zeros((run.cycles + 1, outputs), bool)
    seen[run.result_cycle] = flags
    sticky, expected = np.zeros(outputs, bool), np.zeros_like(seen)
    for cycle in range(run.cycles):
        expected[cycle] = sticky
        sticky = seen[cycle] | (sticky & ~cleared[cycle])
    np.testing.assert_array_equal(run.outputs[:, 2 * outputs :], expected[run.result_cycle])
    assert 0.2 < expected.mean() < 0.8
