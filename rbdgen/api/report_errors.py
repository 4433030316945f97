"""Errors of a design, output by output and joint by joint: how large, and at which speeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compile.flow import Core
from ..compile.product import Product
from ..compile.scheduled import Accelerated
from ..draw import heat
from .evaluation import to_words
from .integer_model import IntegerModel
from .simulation import batches, outputs_and_golden
from .traffic import Traffic, inputs_of, within_limits

BINS = 8  # of speed, and of an error's size
STILL = ("M", "Minv")  # what no speed enters
Array = NDArray[np.float64]
Progress = Callable[[str], None]
Beside = Iterator[tuple[str, Array, Array, Mapping[str, Any]]]  # values, float64's, their states


@dataclass(frozen=True)
class Errors:
    """Of one array: ``rms`` relative to its RMS, ``largest`` to its largest value; pictures."""

    name: str
    shape: str
    rms: float
    largest: float
    pictures: tuple[str, ...]


@dataclass
class _Found:
    """What came of one array, batch by batch: values, the reference's, and each joint's speed."""

    values: list[Array] = field(default_factory=list)
    golden: list[Array] = field(default_factory=list)
    speeds: list[Array] = field(default_factory=list)


def errors_of(product: Product, states: int, seed: int, progress: Progress) -> Iterator[Errors]:
    """Errors of random states within the limits: the integer model beside float64; of an
    accelerator those of each function."""
    found: dict[str, _Found] = {}
    if isinstance(product, Core):
        beside = _of_core(product, states, seed, progress)
    else:
        beside = _of_functions(product, states, seed)
    for name, values, golden, state in beside:
        _add(found, name, values, golden, state)
    yield from _drawn(found, product.front.robot.joint_names)


def _of_core(core: Core, states: int, seed: int, progress: Progress) -> Beside:
    integers = IntegerModel(core, progress)
    for state in batches(core, states, seed):
        results, _ = integers(to_words(core, state))
        for name, values, golden in outputs_and_golden(core, state, results):
            yield name, values, golden, state


def _of_functions(made: Accelerated, states: int, seed: int) -> Beside:
    state = within_limits(made, states, seed)
    traffic = Traffic(made, inputs_of(made, state))
    for function in made.accelerator.functions:
        for name, values, golden in traffic.beside_golden(function, state):
            yield f"{name} of {function}", values, golden, state


def _add(
    found: dict[str, _Found], name: str, values: Array, golden: Array, state: Mapping[str, Any]
) -> None:
    own = found.setdefault(name, _Found())
    own.values.append(values)
    own.golden.append(golden)
    own.speeds.append(np.abs(state["qd"]) if "qd" in state else np.zeros((len(golden), 0)))


def _drawn(found: Mapping[str, _Found], joints: Sequence[str]) -> Iterator[Errors]:
    for name, own in found.items():
        values, golden = np.concatenate(own.values), np.concatenate(own.golden)
        scale = float(np.abs(golden).max()) or 1.0
        relative = np.abs(values - golden).reshape(*golden.shape[:2], -1) / scale
        rms = float(np.sqrt((relative**2).mean() / ((golden / scale) ** 2).mean()))
        rows = _rows(golden.shape[1], joints)
        pictures = [_sizes(name, rows, relative)]
        speeds = np.concatenate(own.speeds)
        if speeds.any() and name.split()[0] not in STILL:
            pictures.append(_by_speed(name, rows, relative, speeds))
        shape = " × ".join(map(str, golden.shape[1:]))
        yield Errors(name, shape, rms, float(relative.max()), tuple(pictures))


def _rows(count: int, joints: Sequence[str]) -> list[str]:
    """What an array's rows are called: by their joints, where each has one."""
    named = len(joints) == count
    return [joints[k] if named else f"[{k}]" for k in range(count)]


def _sizes(name: str, rows: Sequence[str], relative: Array) -> str:
    """Of a hundred errors of each row how many are how large, by powers of two of the largest."""
    top = float(relative.max()) or 1.0
    edges = [top * 2.0**-k for k in range(BINS)] + [-1.0]
    shares = [
        [100 * float(((own <= high) & (own > low)).mean()) for high, low in pairwise(edges)]
        for own in np.moveaxis(relative, 1, 0)
    ]
    columns = [f"≤ {high:.1e}" for high in edges[:-1]]
    below = "% of a row's errors that are of this size, and above half of it; the last: all smaller"
    title, bad = f"{name}: how large errors are", [1 - k / BINS for k in range(BINS)]
    return heat.picture(title, rows, columns, below, shares, "{:.0f}", weights=bad)


def _by_speed(name: str, rows: Sequence[str], relative: Array, speeds: Array) -> str:
    """Each row's RMS error in each eighth of the states by its own joint's speed."""
    own = speeds.shape[1] == relative.shape[1]
    of = speeds if own else np.repeat(_rms(speeds)[:, None], relative.shape[1], axis=1)
    table = []
    for k in range(relative.shape[1]):
        eighths = np.array_split(np.argsort(of[:, k], kind="stable"), BINS)
        table.append([float(np.sqrt((relative[at, k] ** 2).mean())) for at in eighths])
    columns = [f"{k + 1}/{BINS}" for k in range(BINS)]
    whose = "its own joint's |q̇|" if own else "the RMS of q̇"
    below = (
        f"RMS error of an eighth of the states each, from the slowest to the fastest, by {whose}"
    )
    title = f"{name}: errors against speed"
    return heat.picture(title, rows, columns, below, table, "{:.1e}", logarithmic=True)


def _rms(speeds: Array) -> Array:
    return np.asarray(np.sqrt((speeds**2).mean(axis=1)))
