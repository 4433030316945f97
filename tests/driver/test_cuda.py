"""CUDA from Python: its text on the CPU, what nvcc makes of it, and what is said without a GPU."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api, golden
from rbdgen.api import InputError
from rbdgen.codegen import cuda_library
from rbdgen.codegen.cuda_library import CudaLibrary
from rbdgen.codegen.library import Singular
from rbdgen.codegen.nvcc import NoNvcc
from rbdgen.design.loading import load
from rbdgen.system import compiler as gpu
from rbdgen.system.compiler import NoGpu, find_gpu
from rbdgen_host.driver import Dynamics
from tests.support.another_robot import another
from tests.support.driver_designs import FLOATING, SINGULAR, close, states
from tests.support.marks import slow
from tests.support.nvcc import needed_nvcc

EXACT = {"cuda-on-cpu": 1e-10, "cuda32-on-cpu": 2e-4}  # of the largest entry


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "DRIVER", "libnothing.so.1")


class Array(np.ndarray):
    """Stands for an array of CuPy's. Where the CPU is the device, it lies where NumPy's do."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (self.ctypes.data, False), "stream": 1, "version": 3}


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Stands for CuPy: what is called of it."""
    module = types.ModuleType("device")
    for name in ("empty", "zeros", "full", "asarray", "ascontiguousarray"):
        make = getattr(np, name)
        setattr(module, name, lambda *given, make=make: make(*given).view(Array))
    monkeypatch.setattr(module, "ndarray", Array, raising=False)
    monkeypatch.setattr(Array, "__module__", "device")
    monkeypatch.setitem(sys.modules, "device", module)
    return module


@pytest.mark.parametrize("kind", list(EXACT))
def test_the_text_on_the_cpu(kind: str) -> None:
    """Batches in buffers that grow, one state, none."""
    found, golden = (Dynamics("pendulum", k, functions=("did", "m")) for k in (kind, "golden"))
    dtype = np.float32 if "32" in kind else np.float64
    for n in (3, 40, 1, 0):
        given = [states("pendulum", n or 1, 1)[name][:n].astype(dtype) for name in "qva"]
        ours, expected = (driver.computeRNEADerivatives(*given) for driver in (found, golden))
        assert [own.shape for own in ours if own is not None] == [(n, 2, 2)] * 3
        assert all(own is not None and own.dtype == dtype for own in ours) or not n
        if n:
            close(ours, expected, EXACT[kind])


def test_evaluate() -> None:
    given = api.states("pendulum", 20, functions=("fd",))
    golden, found = (
        api.evaluate("pendulum", given, m, functions=("fd",)) for m in ("golden", "cuda-on-cpu")
    )
    close(found["qdd"], golden["qdd"])


def test_arrays_of_the_device(device: types.ModuleType) -> None:
    """Results lie there, too; a floating base's quaternions come to norm 1 in a copy."""
    found = Dynamics("hyq", "cuda-on-cpu", **FLOATING)
    state = states("hyq", 6, 3, **FLOATING)
    state["q"][:, 3:7] *= 1.0005
    given = [state[name].view(Array) for name in ("q", "v", "tau")]
    before = given[0].copy()
    ours = found.aba(*given)
    assert type(ours) is Array
    np.testing.assert_array_equal(given[0], before)
    close(np.asarray(ours), found.aba(*(np.asarray(array) for array in given)))
    shaped = found.aba(*(array.reshape(2, 3, -1) for array in given))
    np.testing.assert_array_equal(shaped.reshape(6, -1), ours)
    assert found.aba(*(array[:0] for array in given)).shape == (0, 18)
    given[1][2, 0] = np.nan
    assert np.isnan(found.aba(*given)[2]).all()
    for wrong in (
        [given[0], given[1], np.asarray(given[2])],
        [given[0], given[1].astype(np.float32), given[2]],
        [given[0], given[1][:5], given[2]],
        [given[0], np.asfortranarray(given[1]), given[2]],
    ):
        with pytest.raises(InputError, match=r"^aba: q is on a GPU; its arrays are taken where"):
            found.aba(*wrong)
    given[0][4, 3:7] *= 2
    with pytest.raises(InputError, match="q of state 4: the quaternion"):
        found.aba(*given)


def test_arrays_of_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX's arrays are read and written where they lie, if the CPU is the device of both."""
    jnp = pytest.importorskip("jax.numpy")
    monkeypatch.setattr("rbdgen.codegen.library.XLA_ON_GPU", ("cpu",))
    for functions in (("did", "m"), ("fd",)):  # without division, and with
        found = Dynamics("pendulum", "cuda32-on-cpu", functions=functions)
        golden = Dynamics("pendulum", "golden", functions=functions)
        state = states("pendulum", 6, 3, functions=functions)
        call = "aba" if functions == ("fd",) else "computeRNEADerivatives"
        names = ("q", "v", "tau" if call == "aba" else "a")
        given = [jnp.asarray(state[name], jnp.float32) for name in names]
        ours = getattr(found, call)(*given)
        expected = getattr(golden, call)(*(state[name] for name in names))
        several = ours if isinstance(ours, tuple) else (ours,)
        assert {(type(own), own.dtype) for own in several} == {(type(given[0]), given[0].dtype)}
        close(ours, expected, EXACT["cuda32-on-cpu"])
    with pytest.raises(InputError, match="those of PyTorch and JAX where the base is fixed"):
        found.aba(given[0], given[1], np.asarray(given[2]))
    with pytest.raises(InputError, match=r"^aba: q is on a GPU"):
        found.aba(*(own.astype(jnp.int32) for own in given))
    singular = Dynamics(SINGULAR, "cuda32-on-cpu", functions=("fd",))
    arrays = np.array([[0.1, 1.0], [0.3, 0.0]]), np.ones((2, 2)), np.ones((2, 2))
    with pytest.raises(Singular, match="state 1"):
        singular.aba(*(jnp.asarray(own, jnp.float32) for own in arrays))


class Tensor:
    """Stands for one of PyTorch's, of which this has what is asked of it."""

    def __init__(self, array: np.ndarray, device: str = "cuda:0") -> None:
        self.array, self.device = array, device
        self.shape, self.dtype, self.ndim = array.shape, f"torch.{array.dtype}", array.ndim
        self.__cuda_array_interface__ = {"version": 2}

    def is_contiguous(self) -> bool:
        return bool(self.array.flags.c_contiguous)

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.array


def test_tensors_of_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the device and of the type of those that come, on the current stream."""
    torch = types.ModuleType("torch")

    def made(shape: tuple[int, ...], value: float, dtype: str, device: str) -> Tensor:
        return Tensor(np.full(shape, value, dtype.removeprefix("torch.")), device)

    own: dict[str, Any] = {
        "float32": "torch.float32",
        "float64": "torch.float64",
        "int32": "torch.int32",
        "empty": lambda shape, dtype, device: made(shape, np.nan, dtype, device),
        "full": lambda shape, value, dtype, device: made(shape, value, dtype, device),
        "cuda": types.SimpleNamespace(
            current_stream=lambda device: types.SimpleNamespace(cuda_stream=0)
        ),
    }
    for name, value in own.items():
        setattr(torch, name, value)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(Tensor, "__module__", "torch")
    found = Dynamics("pendulum", "cuda-on-cpu", functions=("fd",))
    state = states("pendulum", 5, 3, functions=("fd",))
    given = [state[name] for name in ("q", "v", "tau")]
    ours = found.aba(*map(Tensor, given))
    assert type(ours) is Tensor and ours.device == "cuda:0"
    close(ours.array, found.aba(*given))
    for wrong in (
        [Tensor(given[0]), Tensor(given[1]), Tensor(given[2], "cuda:1")],
        [Tensor(given[0]), Tensor(given[1]), Tensor(given[2].astype(np.float32))],
        [Tensor(given[0]), Tensor(given[1]), Tensor(np.asfortranarray(given[2]))],
    ):
        with pytest.raises(InputError, match=r"^aba: q is on a GPU"):
            found.aba(*wrong)


def test_parameters_are_the_host_s(device: types.ModuleType, tmp_path: Path) -> None:
    """Of arrays on the GPU, too, which are one robot's or another's."""
    driver = Dynamics("pendulum", "cuda-on-cpu", functions=("id",), parameters="registers")
    state = states("pendulum", 5, 1)
    given = [state[name] for name in "qva"]
    for robot in ("pendulum", another("pendulum", tmp_path, 3)):
        driver.set_parameters(robot)
        ours = driver.rnea(*(array.view(Array) for array in given))
        assert type(ours) is Array
        expected = golden.rnea(load(str(robot))[1], *given)
        np.testing.assert_allclose(np.asarray(ours), expected, rtol=1e-9)


def test_a_singular_state_is_named(device: types.ModuleType) -> None:
    arrays = np.array([[0.1, 1.0], [0.3, 0.0]]), np.ones((2, 2)), np.ones((2, 2))
    driver = Dynamics(SINGULAR, "cuda-on-cpu", functions=("fd",))
    for given in (arrays, [array.view(Array) for array in arrays]):
        with pytest.raises(Singular, match="state 1"):
            driver.aba(*given)


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu() -> None:
    line = (
        r"^no NVIDIA GPU here: its driver, libnothing\.so\.1, is not installed\. cuda32 runs where "
        "there is one; cuda32-on-cpu is the same text compiled for this processor$"
    )
    with pytest.raises(NoGpu, match=line):
        Dynamics("pendulum", "cuda32")
    given = api.states("pendulum", 2, functions=("id",))
    with pytest.raises(NoGpu, match=line):
        api.evaluate("pendulum", given, "cuda32", functions=("id",))
    with pytest.raises(InputError, match="threads: 2 of cuda-on-cpu"):
        Dynamics("pendulum", "cuda-on-cpu", threads=2)


def test_without_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rbdgen.system.compiler.find_gpu", lambda: gpu.Gpu("a GPU", "sm_90"))
    monkeypatch.setattr("rbdgen.codegen.nvcc.os.access", lambda *_: False)
    with pytest.raises(NoNvcc, match=r"^no nvcc; install CUDA, or: pip install nvidia-cuda"):
        Dynamics("pendulum", "cuda")


@pytest.mark.parametrize("architecture", [slow("sm_80"), "sm_90"])
def test_what_nvcc_makes(architecture: str, tmp_path: Path) -> None:
    """A library with everything that is called; it says so where no GPU answers."""
    needed_nvcc()
    made = api.generate("pendulum", tmp_path / "made", to="cuda", functions=("fd",)).folder
    program = api.read_manifest(made).program
    cuda_library.build(architecture, made, program.name, tmp_path, lambda _: None)
    for dtype in (np.float64, np.float32):
        library = CudaLibrary(
            tmp_path / f"{program.name}.so", program.name, program.interface, dtype, 0, True
        )
        try:
            find_gpu()
        except NoGpu:
            arrays = [np.zeros((3, 2), dtype)] * 3
            with pytest.raises(NoGpu, match=r"^pendulum_fd: no memory of a GPU is to be had$"):
                library.run((3,), arrays)
