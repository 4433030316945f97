"""The folder that a machine with a GPU runs: what it says where there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rbdgen.system.compiler import NoGpu, find_gpu
from rbdgen_benchmarks.bench import gpu_script
from tests.support.nvcc import needed_nvcc


@pytest.mark.slow
def test_the_script_checks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU nothing is timed, and each case says that it fails."""
    needed_nvcc()
    cases = (("pendulum", "fixed", "fd", "inlined"), ("pendulum", "fixed", "id", "loops"))
    monkeypatch.setattr(gpu_script, "CASES", cases)
    monkeypatch.setattr("rbdgen.codegen.nvcc.ARCHITECTURES", ("sm_90",))
    found = gpu_script.script(tmp_path, lambda line: None)
    assert [own["case"] for own in found] == ["pendulum_fd", "pendulum_id_loops"]
    run = ["sh", tmp_path / "gpu-script" / "run.sh"]
    try:
        find_gpu()
    except NoGpu:
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and not done.stderr
        for case in ("pendulum_fd", "pendulum_id_loops"):
            assert f"{case} double: fails, status 2" in done.stdout
            assert f"{case} times:" not in done.stdout
    some = subprocess.run([*run, "nothing"], capture_output=True, text=True, check=False)
    assert some.returncode == 1 and "nothing double: fails, status 127" in some.stdout
