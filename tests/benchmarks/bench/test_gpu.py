"""What kernels take, by the assembler; what times them compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdgen import api
from rbdgen.codegen.interface import rows
from rbdgen.codegen.nvcc import NoNvcc, compiled, find_nvcc
from rbdgen.system.templates import render
from rbdgen_benchmarks.bench import gpu
from tests.support.nvcc import needed_nvcc


@pytest.fixture(autouse=True)
def _nvcc() -> None:
    needed_nvcc()


@pytest.mark.slow
def test_kernels_are_listed_and_nothing_is_timed_without_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu, "CASES", (("pendulum", "fixed", "fd"),))
    monkeypatch.setattr("rbdgen.codegen.nvcc.ARCHITECTURES", ("sm_90",))
    monkeypatch.setattr("rbdgen.system.compiler.DRIVER", "libnothing.so.1")
    found = gpu.gpu(tmp_path, lambda line: None)
    assert found["times"] == [] and found["gpu"] is None
    assert [own["scalar"] for own in found["kernels"]] == ["double", "float"]
    for own in found["kernels"]:
        assert own["operations"] > 40 and 16 <= own["registers"] <= 64 and own["spilled"] == 0
    line = "no NVIDIA GPU here: its driver, libnothing.so.1, is not installed: none of this has run"
    assert line in capsys.readouterr().out


@pytest.mark.slow
def test_what_times_kernels_compiles(tmp_path: Path) -> None:
    made = api.generate("pendulum", tmp_path / "made", to="cuda")
    source = made / "times.cu"
    interface = made.manifest.program.interface
    source.write_text(render("bench/gpu_times.cu.jinja", name="pendulum_id", **rows(interface)))
    compiled(source, tmp_path / "times", "-arch=sm_90", str(made / "pendulum_id.cu"))
    assert (tmp_path / "times").stat().st_size > 0


def test_a_missing_compiler_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("NVCC", raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    with pytest.raises(NoNvcc, match="pip install nvidia-cuda-nvcc") as error:
        find_nvcc()
    assert "\n" not in str(error.value)
