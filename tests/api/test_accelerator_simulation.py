"""Runs of an accelerator in Verilator: the timeline of its waves, and points that take turns."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api.accelerator_simulation import tasks_of
from rbdgen.api.design_file import DESIGN
from rbdgen.api.integer_model import load_core
from rbdgen.api.stimulus import Traffic, inputs_of, within_limits
from rbdgen.api.wave_dump import TASKS, traced_run
from rbdgen.compile.product import Product
from rbdgen.tasks.routes import CODES
from rbdgen.tools import verilate
from rbdgen.tools.toolchain import SimulationError
from rbdgen_benchmarks.bench.rk4 import SLOPES, picture, turns
from rbdgen_host.driver import Dynamics
from tests.support.made import accelerate

pytestmark = [pytest.mark.rtl, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs") / "pendulum"
    choices = {"functions": ("minv", "dfd"), "ii": 4, "order": "issued", "target": "xcup"}
    return api.generate("pendulum", place, accelerator=True, **choices)


@pytest.fixture(scope="module")
def made(folder: Path) -> Product:
    return accelerate(str(folder / DESIGN))


def test_the_timeline_is_what_was_measured(folder: Path, made: Product) -> None:
    accelerator, entry = made.accelerator, api.read_manifest(folder).facts
    traffic = Traffic(made, inputs_of(made, within_limits(made, 100, 1)))
    model = load_core(folder, entry, trace=True)
    tasks, run = traced_run(traffic, model, folder, entry, TASKS, 5, folder / "simulation.vcd")
    assert [task.tag for task in tasks] == list(range(TASKS))
    assert [task.function for task in tasks] == traffic.mixed(TASKS, 5)
    assert {task.function for task in tasks} == set(accelerator.functions)
    assert [task.accepted for task in tasks] == run.accept_cycle.tolist()
    given = dict(zip(run.outputs[:, 1].tolist(), run.result_cycle.tolist(), strict=True))
    codes = dict(zip(run.outputs[:, 1].tolist(), run.outputs[:, 0].tolist(), strict=True))
    for task in tasks:
        assert (task.given, CODES[task.function]) == (given[task.tag], codes[task.tag])
        visits = (visit.stage for visit in accelerator.route(task.function))
        assert Counter(stay.stage for stay in task.stays) == Counter(visits)
        assert task.accepted < task.stays[0].taken
        assert max(stay.done for stay in task.stays) < task.given
        for stay in task.stays:
            # operands wait in their register until the core takes them, once in an interval
            stage = accelerator.stages[stay.stage]
            waited = stay.done - stay.taken - 1 - stage.latency
            assert 0 <= waited < stage.interval
        again = [stay for stay in task.stays if stay.stage == "rnea"]
        assert len(again) == {"minv": 0, "dfd": 2}[task.function]
        assert all(first.done < second.taken for first, second in pairwise(again))
    for name, stage in accelerator.stages.items():
        done = sorted(stay.done for task in tasks for stay in task.stays if stay.stage == name)
        assert np.diff(done).min() == stage.interval
    root = ET.fromstring((folder / "timeline.svg").read_text())
    bars = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "bar"]
    assert len(bars) == 2 * sum(len(task.stays) for task in tasks)

    waves = (folder / "simulation.vcd").read_text()
    (folder / "half.vcd").write_text(waves[: waves.rindex("\n#", 0, len(waves) // 2) + 1])
    with pytest.raises(SimulationError, match=r"gives other results|have no result"):
        tasks_of(folder / "half.vcd", accelerator, entry.name)


def test_few_levels_have_the_timeline(
    folder: Path, made: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the waves of large accelerators have."""
    entry, said = api.read_manifest(folder).facts, list[str]()
    traffic = Traffic(made, inputs_of(made, within_limits(made, 100, 1)))
    dump = folder / "simulation.vcd"
    model = load_core(folder, entry, trace=True, progress=said.append)
    whole, _ = traced_run(traffic, model, folder, entry, TASKS, 5, dump)
    assert not [line for line in said if "left out" in line]
    size = dump.stat().st_size
    monkeypatch.setattr(verilate, "ALL_TRACED", 0)
    model = load_core(folder, entry, trace=True, progress=said.append)
    few, _ = traced_run(traffic, model, folder, entry, TASKS, 5, dump)
    assert few == whole
    assert dump.stat().st_size < size
    assert len([line for line in said if "left out" in line]) == 1


def test_points_take_turns(folder: Path, made: Product) -> None:
    """The more points, the fewer cycles each, down to what the stages allow."""
    model = load_core(folder, api.read_manifest(folder).facts, trace=True)
    driver = Dynamics(folder, on_overflow="raise")
    alone, few, many = (turns(made, model, driver, n, ("dfd",)) for n in (1, 4, 64))
    latency = int(alone.given[0, 0] - alone.accepted[0, 0])
    for run in (alone, few):
        points = run.accepted.shape[1]
        assert run.cycles == pytest.approx(SLOPES * latency, rel=0.1)
        assert (run.accepted[1:] > run.given[:-1]).all()
        assert (run.given > run.accepted).all()
        text = picture(run, latency, "a title")
        root = ET.fromstring(text)
        bars = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "bar"]
        assert len(bars) == SLOPES * points
    interval = made.accelerator.interval("dfd")
    assert SLOPES * interval <= many.cycles / 64 < 1.25 * SLOPES * interval
    both = turns(made, model, driver, 4, ("dfd", "minv"))
    assert few.cycles <= both.cycles < 1.2 * few.cycles
