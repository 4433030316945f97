"""Arrays of other packages: what NumPy can read is taken, and all else is refused in one line."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rbdgen.api import InputError
from rbdgen_host.driver import Dynamics

STATE = np.random.default_rng(2).uniform(-0.5, 0.5, (3, 4, 2)).astype(np.float32)
BACKENDS = ("golden", "cpp", "integer")


class OnlyDlpack:
    """What has DLPack, and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **how: Any) -> Any:
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class OnGpu:
    """As JAX has arrays on a GPU: NumPy reads them, and no module makes others like them."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"data": (1, False), "version": 3}

    def __array__(self, *how: Any, **besides: Any) -> np.ndarray:
        return np.asarray(self._array)


class Unreadable:
    def __array__(self, *how: Any, **besides: Any) -> np.ndarray:
        raise RuntimeError("detach it first\nand more")


@pytest.fixture(scope="module", params=BACKENDS)
def driver(request: pytest.FixtureRequest) -> Dynamics:
    return Dynamics("pendulum", request.param)


@pytest.mark.parametrize("kind", [jnp.asarray, OnlyDlpack, OnGpu, list])
def test_arrays_of_others(driver: Dynamics, kind: Any) -> None:
    expected = driver.rnea(*STATE)
    np.testing.assert_array_equal(driver.rnea(*map(kind, STATE)), expected)


def test_traced_values_are_refused_in_one_line(driver: Dynamics) -> None:
    q, v, a = map(jnp.asarray, STATE)
    for call in (jax.jit(driver.rnea), jax.vmap(driver.rnea), jax.grad(driver.rnea)):
        with pytest.raises(InputError, match=r"rnea: q is a jax\..*jax\.pure_callback") as error:
            call(q, v, a)
        assert "\n" not in str(error.value)
    shape = jax.ShapeDtypeStruct(q.shape, q.dtype)

    def single(*x: Any) -> Any:
        return driver.rnea(*x).astype(np.float32)

    called = jax.jit(lambda *x: jax.pure_callback(single, shape, *x))
    np.testing.assert_allclose(called(q, v, a), driver.rnea(*STATE), rtol=1e-6)


@pytest.mark.parametrize("wrong", [Unreadable(), [[0.0, 0.0], [0.0]], {}, "ab", None])
def test_what_is_no_array(driver: Dynamics, wrong: Any) -> None:
    with pytest.raises(InputError, match=r"^rnea: v is ") as error:
        driver.rnea(STATE[0], wrong, STATE[2])
    assert "\n" not in str(error.value)
