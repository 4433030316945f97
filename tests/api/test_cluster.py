"""Work as jobs of submitit's local executor: one is killed, one fails, some are done before."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from rbdgen import api
from rbdgen.api.folder import InputError
from rbdgen.api.parallel import ATTEMPTS, RAN, Executor, JobError, executor_of, in_jobs, in_parallel
from rbdgen.cli.main import main
from rbdgen.system.cache import cached_result


def square(k: int, place: Path) -> int:
    """k²; the first to compute 1's is killed, whoever computes 7's each time."""
    tried = place / f"tried-{k}"
    if k == 7 or (k == 1 and not tried.exists()):
        tried.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if k == 13:
        raise InputError("thirteen")
    return int(cached_result(place, "square", str(k), lambda: k * k))


def known(k: int, place: Path) -> int | None:
    found: int | None = cached_result(place, "square", str(k), None)
    return found


def test_a_job_that_is_lost_is_asked_for_again(tmp_path: Path) -> None:
    told: dict[int, int] = {}
    said: list[str] = []
    queue = Executor("local", tmp_path / "jobs")
    square(3, tmp_path)

    def run() -> list[int]:
        inputs = [(k, tmp_path) for k in range(4)]
        return in_parallel(square, inputs, 2, told.__setitem__, queue, known, said.append)

    assert run() == [0, 1, 4, 9] and told == {0: 0, 1: 1, 2: 4, 3: 9}
    ran = json.loads((queue.folder / RAN).read_text())
    ends = sorted((own["what"], own["attempt"], own["ended"]) for own in ran)
    assert ends == [
        ("square 0", 1, "well"),
        ("square 1", 1, "lost"),
        ("square 1", 2, "well"),
        ("square 2", 1, "well"),
    ]
    assert any(line.endswith("is lost; asked for again: square 1") for line in said)
    said.clear()
    assert run() == [0, 1, 4, 9] and not said  # nothing is asked for twice


@pytest.mark.slow
def test_a_job_that_is_always_lost_and_one_that_fails(tmp_path: Path) -> None:
    queue = Executor("local", tmp_path / "jobs")
    with pytest.raises(JobError, match=rf"\(square 7\) was lost {ATTEMPTS} times"):
        in_jobs(square, [(7, tmp_path)], 1, lambda k, r: None, queue)
    with pytest.raises(InputError, match=r"^thirteen$"):
        in_jobs(square, [(13, tmp_path)], 1, lambda k, r: None, queue)
    assert [own.ended for own in queue.ran] == [*["lost"] * ATTEMPTS, "in error"]


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=r"executor: local or slurm, not pbs"):
        in_jobs(square, [(0, tmp_path)], 1, lambda k, r: None, Executor("pbs", tmp_path))
    with pytest.raises(InputError, match=r"mem_gb is given, but no executor"):
        executor_of(None, tmp_path, {"mem_gb": 8})
    queue = Executor("local", tmp_path / "jobs", {"nonsense": 1})
    with pytest.raises(JobError, match=r"^executor local: .*nonsense"):
        in_jobs(square, [(0, tmp_path)], 1, lambda k, r: None, queue)
    with pytest.raises(api.UsageError, match=r"say --place-and-route"):
        api.synthesize(tmp_path, executor="local")
    for words, cure in (
        (["bench", "growth", "--jobs", "2"], "name an --executor"),
        (["bench", "growth", "--executor-option", "mem_gb=8"], "no executor"),
    ):
        assert main(words) != 0
        assert cure in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["bench", "growth", "--executor-option", "mem_gb"])
    assert "executor-option: KEY=VALUE, not" in capsys.readouterr().err


@pytest.mark.slow
def test_placements_and_explorations_are_the_same_by_jobs(tmp_path: Path) -> None:
    made = api.generate("pendulum", tmp_path / "made", functions=("m",))

    def placed(seeds: tuple[int, ...], **queued: Any) -> list[tuple[Any, ...]]:
        report = api.synthesize(made.folder, place_and_route=True, seeds=seeds, **queued).facts
        return [(p.seed, p.fmax, p.used) for p in report.placements]

    assert placed((1, 2), jobs=2, executor="local")[1:] == placed((2,))
    tried: dict[str, Any] = {"intervals": (1, 2), "synthesis": False, "jobs": 2}
    alone = api.explore("pendulum", tmp_path / "alone", **tried)
    queued = api.explore("pendulum", tmp_path / "queued", **tried, executor="local")
    assert alone.as_text() == queued.as_text()
    assert len(json.loads((tmp_path / "queued/jobs" / RAN).read_text())) == 2
