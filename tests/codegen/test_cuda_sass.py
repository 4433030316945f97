"""Instructions of a GPU, by NVIDIA's disassembler: where kernels load, and how they store."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from rbdgen.api.program_folder import interface_of
from rbdgen.codegen.nvcc import compiled
from rbdgen.compile.flow import front_end
from tests.support.cuda_host import files
from tests.support.nvcc import needed_nvcc

OF = re.compile(r"\n\s*\.section\s+\.text\.\S*?\d(kernel_\d+|in_rows|to_rows|to_columns)I([fd])")
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+\s+)?([A-Z0-9_.]+)", re.MULTILINE)
ARITHMETIC = re.compile(r"[FD](FMA|MUL|ADD)|MUFU")


def disassembler() -> str:
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    places = ["nvdisasm", *map(str, packages.glob("*/bin/nvdisasm"))]
    found = next(filter(None, map(shutil.which, places)), None)
    if found is None:
        pytest.skip("no nvdisasm; pip install nvidia-cuda-nvdisasm")
    return found


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], list[str]]:
    """The instructions of each kernel of an arm's gradients, in float and in double."""
    needed_nvcc()
    command, folder = disassembler(), tmp_path_factory.mktemp("made")
    front = front_end("gantry", functions=("did",))
    source, made = files(front.graph, interface_of(front), folder), folder / "made.cubin"
    compiled(source, made, "-arch=sm_90", "-cubin")
    text = subprocess.run([command, "-c", made], capture_output=True, text=True, check=True).stdout
    _, *parts = OF.split(text)
    of = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {(kernel, scalar): INSTRUCTION.findall(body) for kernel, scalar, body in of}


@pytest.mark.parametrize("kernel", ["kernel_0", "in_rows"])
@pytest.mark.parametrize("scalar", ["f", "d"])
def test_inputs_are_loaded_before_anything_is_computed(
    kernel: str, scalar: str, kernels: dict[tuple[str, str], list[str]]
) -> None:
    own = kernels[kernel, scalar]
    inputs = len(front_end("gantry", functions=("did",)).graph.inputs)
    first = next(k for k, name in enumerate(own) if ARITHMETIC.match(name))
    assert sum(name.startswith("LDG") for name in own[:first]) == inputs


def test_rows_are_written_by_threads_side_by_side(
    kernels: dict[tuple[str, str], list[str]],
) -> None:
    """Each result goes to the block's memory; stores to the GPU's come behind a barrier."""
    for scalar in "fd":
        own = kernels["in_rows", scalar]
        barrier = own.index(next(name for name in own if name.startswith("BAR")))
        assert not any(name.startswith("STG") for name in own[:barrier])
        assert any(name.startswith("STG") for name in own[barrier:])
        assert sum(name.startswith("STS") for name in own[:barrier]) >= 30
