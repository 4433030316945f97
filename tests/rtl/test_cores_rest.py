"""Cores that share hardware and have no task: nothing changes, and how soon they wake."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.compile.product import Product
from rbdgen.shell.emit import emit
from rbdgen.tools.model import Model
from rbdgen.tools.verilate import build
from tests.support.cores import any_words, check, core_of
from tests.support.limbs import robot_of_limbs
from tests.support.made import compiled

pytestmark = pytest.mark.rtl

TASKS, RESTS = 20, 100
CLOCK = "TOP/clk"
CORES: dict[str, Callable[[], Product]] = {
    "folded": lambda: compiled("pendulum", functions=("g",), fold="none", ii=5),
    "limbs": lambda: core_of(
        robot_of_limbs([(1, 1), (-1, 1)]), functions=("id",), fold="limbs", ii=6
    ),
    "joints": lambda: compiled("pendulum", functions=("id",), fold="joints", ii=8),
    "rounds_of_one_cycle": lambda: compiled("iiwa14", functions=("g",), fold="joints", ii=7),
}


@pytest.fixture(scope="module", params=CORES)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Product, Model]:
    core = CORES[request.param]()
    source = tmp_path_factory.mktemp("resting") / "core.v"
    source.write_text(emit(core.accelerator, "core").files[source.name])
    ports = ports_of(port_facts(core))
    return core, build([source], "core", ports=ports, trace=True)


def awake(core: Product) -> int:
    """The cycles after a task, at most, in which a core does not rest yet."""
    return core.plan.latency + 4 * core.plan.interval


def changes(waves: Path, since: int) -> dict[str, int]:
    """The signals that change from a time on → how often."""
    scopes, names, found, time = list[str](), dict[str, str](), dict[str, int](), 0
    for line in waves.read_text().splitlines():
        match line.split():
            case ["$scope", _, scope, "$end"]:
                scopes.append(scope)
            case ["$upscope", "$end"]:
                scopes.pop()
            case ["$var", _, _, code, name, *_]:
                names.setdefault(code, "/".join([*scopes, name]))
            case [first] if first[0] == "#":
                time = int(first[1:])
            case [*_, last] if last[0] != "$" and time > since:
                name = names[re.sub(r"^[01](?=.)", "", last) if line[0] in "01" else last]
                found[name] = found.get(name, 0) + 1
    return found


def test_nothing_changes_at_rest(built: tuple[Product, Model], tmp_path: Path) -> None:
    """Every signal but the clock stays."""
    core, model = built
    expected = any_words(core, TASKS, 1)
    waves = tmp_path / "waves.vcd"
    run = model.run(expected.tasks, seed=1, drain=awake(core) + RESTS, waves=waves)
    check(run, expected)
    end = max(int(own[1]) for own in re.finditer(r"^#(\d+)$", waves.read_text(), re.M))
    tick = end / (run.cycles + 4)  # four cycles of reset come first
    busy, resting = changes(waves, 0), changes(waves, int(end - RESTS * tick))
    assert len(busy) > 100
    assert set(resting) == {CLOCK}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_lone_task_is_taken_when_they_are_awake(built: tuple[Product, Model], seed: int) -> None:
    """The cycles from when it is offered are the same, whichever that is."""
    core, model = built
    expected = any_words(core, 1, seed)
    for phase in range(min(core.plan.interval, 8) + 1):
        run = model.run(expected.tasks, seed=seed, waits=awake(core) + phase)
        check(run, expected)
        assert int(run.accept_cycle[0]) == core.plan.waking > 0
        assert int(run.result_cycle[0] - run.accept_cycle[0]) == core.plan.latency


def test_a_task_that_comes_while_they_fall_asleep(built: tuple[Product, Model]) -> None:
    """It waits no longer than any other, and its result is right."""
    core, model = built
    expected = any_words(core, 1, 3)
    for waits in range(1, awake(core), 3):
        run = model.run(expected.tasks, seed=1, waits=waits)
        check(run, expected)
        assert int(run.accept_cycle[0]) <= core.plan.waits
        assert int(run.result_cycle[0] - run.accept_cycle[0]) == core.plan.latency


@pytest.mark.parametrize("stall_out", [0.0, 0.5])
def test_gaps_between_tasks(built: tuple[Product, Model], stall_out: float) -> None:
    """Some of them long enough to rest in: every bit is the integer model's."""
    core, model = built
    expected = any_words(core, 2 * TASKS, 4)
    run = model.run(expected.tasks, seed=5, stall_in=0.985, stall_out=stall_out)
    check(run, expected)
    gaps = run.accept_cycle[1:] - run.accept_cycle[:-1]
    assert gaps.max() > awake(core) and (gaps < awake(core)).any()
    if not stall_out:
        assert (run.result_cycle - run.accept_cycle == core.plan.latency).all()
