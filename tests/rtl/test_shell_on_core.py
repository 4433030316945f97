"""A generated core behind its AXI4-Stream shells, from the Verilog files as they are written."""

from __future__ import annotations

import json
import random
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.shell.axi import Beat, Packet, Shell, fields_of
from rbdgen.shell.emit import emit, shell_files, stream_shells
from rbdgen.system.records import WORD_BITS
from sim.runner import build_sources, run
from tests.support.cores import any_words
from tests.support.packets import malformed_packets

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

TASKS = 200
# What is time-multiplexed: robot, choices. Cores that take tasks in every n-th cycle alone keep
# their pace.
SHARED: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing": ("pendulum", {}),
    "multipliers": ("pendulum", {"ii": 4}),
    "joints": ("pendulum", {"functions": ("did",), "fold": "joints", "ii": 6}),
    "limbs": ("hyq", {"fold": "limbs"}),
    "limbs and multipliers": ("hyq", {"fold": "limbs", "ii": 20}),
}


@pytest.fixture(scope="module", params=list(SHARED))
def design(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    robot, choices = SHARED[request.param]
    place = tmp_path_factory.mktemp("design") / robot
    return api.generate(robot, place, fit=False, **choices)


@pytest.fixture(scope="module")
def core(design: Path) -> Product:
    return compile_front(front_end(str(design / "design.yaml")))


def taken(core: Product, shell: Shell) -> int:
    """Clocks from task to task, for want of a faster input link or core."""
    least = max(len(shell.packet_in.beats), core.plan.interval)
    return next(k for k in count(0, core.plan.takes_every) if k >= least)


def scenario(core: Product, shell: Shell, clocks_per_task: int) -> dict[str, Any]:
    """Tasks from anywhere in their words, so that flags travel too."""
    batch = any_words(core, TASKS, 1)
    assert batch.flags.any()
    assert not batch.flags.all()
    graph = core.fixed.graph
    packets = [
        shell.packet_in.encode(dict(zip(core.fixed.inputs, map(int, task), strict=True)))
        for task in batch.tasks
    ]
    results = []
    for words, flags in zip(batch.results, batch.flags, strict=True):
        result = dict(zip(graph.outputs, map(int, words), strict=True))
        result |= {f"overflow[{k}]": int(flag) for k, flag in enumerate(flags)}
        results.append(shell.packet_out.encode(result))
    beats = len(shell.packet_in.beats) + len(shell.packet_out.beats)
    return {
        "packets": packets,
        "results": results,
        "malformed": malformed_packets(shell.packet_in, random.Random(2)),
        "clocks_per_task": clocks_per_task,
        "takes_every": core.plan.takes_every,
        "resumes": core.plan.resumes if len(shell.packet_out.beats) > taken(core, shell) else 1,
        "drain": 20 * beats + 2 * core.plan.latency,
    }


@pytest.mark.parametrize("kind", ["wide", "words"])
def test_on_the_bench(kind: str, design: Path, core: Product, tmp_path: Path) -> None:
    manifest = json.loads((design / "manifest.json").read_text())
    axi = manifest["axi"][kind]
    shell = emit(core.accelerator, manifest["name"], stream_shells).shells[kind]
    clocks = axi["clocks_per_task"]
    assert clocks == max(taken(core, shell), len(shell.packet_out.beats))
    assert (axi["tdata_in"], axi["tdata_out"]) == (shell.packet_in.width, shell.packet_out.width)
    sources = [design / f"{manifest['name']}.v", design / f"{axi['top']}.v"]
    build_sources(sources, tmp_path, name=axi["top"])
    stimulus = scenario(core, shell, clocks)
    assert run("sim.axi_bench", stimulus, tmp_path, name=axi["top"]) == 6


@pytest.mark.parametrize("design", ["joints"], indirect=True)
def test_a_link_a_little_slower_than_the_core(design: Path, core: Product, tmp_path: Path) -> None:
    """What is read in vain while a result waits costs a little, which the promise has in it."""
    name = json.loads((design / "manifest.json").read_text())["name"]
    around = emit(core.accelerator, name, stream_shells).shells["wide"]
    fields = fields_of(around.core.o.payload.shape())
    slower = core.plan.interval + 1
    cuts = [len(fields) * k // slower for k in range(slower + 1)]
    beats = tuple(Beat(tuple(fields[low:high])) for low, high in pairwise(cuts))
    shell = Shell(around.core, around.packet_in, Packet(2 * WORD_BITS, beats))
    clocks = shell.clocks_per_task(core.plan.interval, core.plan.takes_every, core.plan.resumes)
    assert clocks == core.plan.resumes > slower
    top = f"{name}_slower"
    (tmp_path / f"{top}.v").write_text(shell_files(shell, top)[f"{top}.v"])
    build_sources([design / f"{name}.v", tmp_path / f"{top}.v"], tmp_path, name=top)
    assert run("sim.axi_bench", scenario(core, shell, clocks), tmp_path, name=top) == 6
