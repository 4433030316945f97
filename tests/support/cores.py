"""Small cores for tests: compiled, Verilated, with tasks to send and what to expect of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from amaranth.hdl import Module, Value
from amaranth.lib.memory import Memory

from rbdgen.api.evaluation import to_words
from rbdgen.api.integer_model import build_core, integer_results
from rbdgen.api.simulation import batches
from rbdgen.compile.flow import Front, compile_front
from rbdgen.compile.front import trace
from rbdgen.compile.product import Product
from rbdgen.design.design import Design
from rbdgen.design.target import find_target
from rbdgen.robot.canonical import canonicalize
from rbdgen.robot.model import Robot
from rbdgen.rtl.delay_line import LutRam
from rbdgen.tools.model import Model, Result


def core_of(robot: Robot, multipliers: int | None = None, **choices: object) -> Product:
    """The core of a robot that stands in no file.

    ``choices`` are fields of Design; ``multipliers`` is the part's budget, if not the target's.
    """
    design = Design("", **{"fit": False, **choices})  # type: ignore[arg-type]
    canonical = canonicalize(robot, design.snap)
    part = find_target(design.target)
    if multipliers is not None:
        part = replace(part, multipliers=multipliers)
    return compile_front(Front(design, part, robot, canonical, trace(design, canonical)))


@dataclass(frozen=True)
class Batch:
    """N tasks for a core and its results, as words."""

    tasks: np.ndarray  # (N, inputs)
    results: np.ndarray  # (N, outputs)
    flags: np.ndarray  # (N, outputs), bool: overflow


@lru_cache(8)  # tests with other stalls ask for the same
def any_words(core: Product, n: int, seed: int) -> Batch:
    """Every input anywhere in its word, one in eight at an end of it: much of this overflows."""
    rng = np.random.default_rng(seed)
    words = {}
    for name, word in core.fixed.inputs.items():
        column = rng.integers(word.lowest, word.highest, n, endpoint=True)
        ends = rng.choice([word.lowest, word.highest], n)
        words[name] = np.where(rng.random(n) < 0.125, ends, column)
    return batch(core, words)


@lru_cache(8)
def states_within_limits(core: Product, n: int, seed: int) -> Batch:
    """Random states of the robot, as ``rbdgen simulate`` draws them."""
    (state,) = batches(core, n, seed)
    return batch(core, to_words(core, state))


def batch(core: Product, words: dict[str, np.ndarray]) -> Batch:
    outputs, flags = integer_results(core, words)
    made = Batch(
        np.stack([words[name] for name in core.fixed.inputs], axis=1),
        np.stack(list(outputs.values()), axis=1),
        flags,
    )
    for array in (made.tasks, made.results, made.flags):
        array.flags.writeable = False
    return made


def verilated(core: Product, folder: Path, name: str) -> Model:
    """The core as it is generated, without shells."""
    # -O0: these cores are small, compiling takes longer than running
    return build_core(core, folder, name)[0]


def check(run: Result, expected: Batch) -> None:
    """Every result word and overflow flag, in the order of the tasks."""
    outputs = expected.results.shape[1]
    np.testing.assert_array_equal(run.outputs[:, :outputs], expected.results)
    np.testing.assert_array_equal(run.outputs[:, outputs:].astype(bool), expected.flags)


def memory_of(
    ram: LutRam, *, write: Value, write_address: Value, data: Value, read_address: Value, q: Value
) -> Module:
    """In place of `LutRam.instance` where Amaranth simulates: it knows no modules but its own."""
    m = Module()
    m.submodules.memory = memory = Memory(shape=ram.width, depth=ram.depth, init=[])
    write_port, read_port = memory.write_port(), memory.read_port(domain="comb")
    m.d.comb += [
        write_port.en.eq(write),
        write_port.addr.eq(write_address),
        write_port.data.eq(data),
        read_port.addr.eq(read_address),
        q.eq(read_port.data),
    ]
    return m


def shared_folder(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder that the workers of one test session share; `build` is safe to run in parallel."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if base.name.startswith("popen-") else base) / name
    folder.mkdir(exist_ok=True)
    return folder


@dataclass(frozen=True)
class Built:
    """A core and its Verilated model."""

    core: Product
    model: Model


def check_on_time(run: Result, core: Product) -> None:
    """A task every interval, each result after exactly the latency that was predicted."""
    tasks = np.arange(len(run.accept_cycle)) * core.plan.interval
    np.testing.assert_array_equal(run.accept_cycle - run.accept_cycle[0], tasks)
    np.testing.assert_array_equal(run.result_cycle - run.accept_cycle, core.plan.latency)


def check_runs(model: Model, core: Product, expected: Batch) -> None:
    """Every bit, on time where nobody stalls, and in order where both sides do."""
    run = model.run(expected.tasks, seed=1)
    check(run, expected)
    check_on_time(run, core)
    check(model.run(expected.tasks, stall_in=0.3, stall_out=0.4, seed=2), expected)
