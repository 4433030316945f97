"""A core with shared multipliers that has no task: nothing changes, and how soon it wakes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.compile.product import Product
from rbdgen.schedule.fold import WAKING
from rbdgen.shell.emit import emit
from rbdgen.tools.model import Model
from rbdgen.tools.verilate import build
from tests.support.cores import any_words, check
from tests.support.made import compiled

pytestmark = pytest.mark.rtl

INTERVAL, TASKS, AWAKE, RESTS = 5, 20, 120, 100
CLOCK, RING = "TOP/clk", "TOP/core/schedule/phases"


@pytest.fixture(scope="module")
def core() -> Product:
    return compiled("pendulum", functions=("g",), fold="none", ii=INTERVAL)


@pytest.fixture(scope="module")
def model(core: Product, tmp_path_factory: pytest.TempPathFactory) -> Model:
    source = tmp_path_factory.mktemp("resting") / "core.v"
    source.write_text(emit(core.accelerator, "core").files[source.name])
    return build([source], "core", ports=ports_of(port_facts(core)), trace=True)


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


def test_nothing_changes_at_rest_but_the_ring(core: Product, model: Model, tmp_path: Path) -> None:
    """The master bits of the phases go on, one of them set; every other signal stays."""
    expected = any_words(core, TASKS, 1)
    waves = tmp_path / "waves.vcd"
    run = model.run(expected.tasks, seed=1, drain=AWAKE + RESTS, waves=waves)
    check(run, expected)
    end = max(int(own[1]) for own in re.finditer(r"^#(\d+)$", waves.read_text(), re.M))
    tick = end / (run.cycles + 4)  # four cycles of reset come first
    busy, resting = changes(waves, 0), changes(waves, int(end - RESTS * tick))
    assert len(busy) > 100
    assert set(resting) == {CLOCK, RING}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_lone_task_is_taken_when_it_is_its_turn(core: Product, model: Model, seed: int) -> None:
    """In the first phase 0 that comes so many cycles after it is offered, whatever the phase."""
    expected = any_words(core, 1, seed)
    after = []
    for phase in range(INTERVAL):
        run = model.run(expected.tasks, seed=seed, waits=AWAKE + phase)
        check(run, expected)
        assert (run.result_cycle - run.accept_cycle == core.plan.latency).all()
        after.append(int(run.accept_cycle[0]))
    assert sorted(after) == list(range(WAKING, WAKING + INTERVAL))
    assert len({(own + phase) % INTERVAL for phase, own in enumerate(after)}) == 1
