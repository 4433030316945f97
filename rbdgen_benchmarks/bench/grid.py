"""GRiD's kernels beside ours: the package grid-rbd, where it is installed, on the same GPU.

Its header is made of the same URDF and compiled as ours is. It computes in float, a block of
threads for each state; its ``did`` leaves τ out, which ours gives.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen import api
from rbdgen.codegen.interface import ArrayInterface
from rbdgen.codegen.nvcc import compiled
from rbdgen.system.quoting import Refusal
from rbdgen.system.signals import run_child
from rbdgen.system.templates import render

from ..compare.timing import said

PACKAGE, VERSION = "grid-rbd", "0.6.0"
WITHIN = 1e-3  # of the largest entry; it computes in float
GRAVITY = -9.81  # along z, as it is signed there
KIND = "KIND"


class NoGrid(Refusal, RuntimeError):
    """The peer cannot be run, in one line."""


@dataclass(frozen=True)
class Function:
    """The host call for a function of ours: name, template arguments, result.

    ``given``: arrays that it takes beside q, qd and u; ``halves``: whether the result is two
    matrices side by side, by columns; ``upper``: whether it has the upper triangle alone.
    """

    call: str
    arguments: str
    result: str
    given: Mapping[str, str]
    halves: bool = False
    upper: bool = False
    pulled: bool = True  # whether it takes gravity


FUNCTIONS = {
    "id": Function("inverse_dynamics", f"float, true, false, {KIND}", "h_c", {"qdd": "h_qdd"}),
    "m": Function("crba", f"float, false, {KIND}", "h_M", {}),
    "minv": Function("minv", f"float, false, {KIND}", "h_Minv", {}, upper=True, pulled=False),
    "fd": Function("forward_dynamics", f"float, {KIND}", "h_qdd", {}),
    "did": Function(
        "inverse_dynamics_gradient",
        f"float, true, false, {KIND}",
        "h_dc_du",
        {"qdd": "h_qdd"},
        True,
    ),
    "dfd": Function("forward_dynamics_gradient", f"float, false, {KIND}", "h_df_du", {}, True),
    "difd": Function(
        "forward_dynamics_gradient",
        f"float, true, {KIND}",
        "h_df_du",
        {"qdd": "h_qdd", "Minv": "h_Minv"},
        True,
    ),
}
FIRST = ("q", "qd", "tau")  # which lie side by side in one array


def refuse_without_grid() -> None:
    """NoGrid unless the package is installed, as this was written against it."""
    try:
        found = version(PACKAGE)
    except PackageNotFoundError:
        found = "none"
    if found != VERSION:
        raise NoGrid(
            f"{PACKAGE} {VERSION} is not put beside: {found} is installed; "
            f"pip install {PACKAGE}=={VERSION}"
        )


def build(folder: Path, function: str, interface: ArrayInterface, architecture: str) -> Path:
    """The program that computes and times the peer's, of our folder's robot; NoGrid, NoCompiler."""
    refuse_without_grid()
    own = FUNCTIONS[function]
    make = ["-m", "grid_codegen.cli", str(folder / "robot.urdf"), "--no-mujoco-kernels"]
    make += ["--algorithm-list", own.call, "-o", str(folder / "grid.cuh")]
    done = run_child([sys.executable, *make])
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise NoGrid(
            f"{PACKAGE} refuses {folder.name}: {lines[-1] if lines else 'no reason given'}"
        )
    source = folder / "grid_times.cu"
    source.write_text(source_of(function, interface), "utf-8")
    compiled(source, folder / "grid_times", f"-arch={architecture}")
    return folder / "grid_times"


def source_of(function: str, interface: ArrayInterface) -> str:
    """The program's text."""
    own, n = FUNCTIONS[function], interface.gives[0].shape[0]
    takes, before = [], 0
    for array in interface.takes:
        place, stride, offset = own.given.get(array.name), array.size, 0
        if place is None:
            place, stride, offset = "h_q_qd_u", 3 * n, n * FIRST.index(array.name)
        takes.append(
            {"size": array.size, "before": before, "place": place, "stride": stride}
            | {"offset": offset}
        )
        before += array.size
    return render(
        "bench/grid_times.cu.jinja",
        call=own.call,
        arguments=own.arguments,
        takes=takes,
        gives=n if own.result in ("h_c", "h_qdd") else 2 * n * n if own.halves else n * n,
        result=own.result,
        gravity=GRAVITY if own.pulled else None,
    )


def results(function: str, rows: NDArray[np.float64], interface: ArrayInterface) -> dict[str, Any]:
    """Our arrays (N, …), of those that the peer has, from its results (N, numbers)."""
    own, n = FUNCTIONS[function], interface.gives[0].shape[0]
    if own.halves:
        by_q, by_v = rows.reshape(-1, 2, n, n).swapaxes(2, 3).swapaxes(0, 1)
        return dict(zip([a.name for a in interface.gives][-2:], (by_q, by_v), strict=True))
    (array,) = interface.gives
    found = rows.reshape(-1, *array.shape)
    if own.upper:  # zeros below
        found = found + found.swapaxes(1, 2) - found * np.eye(n)
    return {array.name: found}


def check(program: Path, folder: Path, function: str, interface: ArrayInterface) -> None:
    """NoGrid where the peer's results are others than ours are to be."""
    wanted = np.loadtxt(folder / "expected.txt", ndmin=2)
    command = [str(program), str(folder / "states.txt"), str(len(wanted))]
    found = results(function, np.loadtxt(said(command).splitlines(), ndmin=2), interface)
    before = 0
    for array in interface.gives:
        expected = wanted[:, before : before + array.size].reshape(-1, *array.shape)
        before += array.size
        if array.name not in found:
            continue
        apart = np.abs(found[array.name] - expected).max() / np.abs(expected).max()
        if not apart <= WITHIN:
            raise NoGrid(f"{PACKAGE}'s {array.name} of {folder.name} is another: {apart:.1e} apart")


def times(program: Path, folder: Path) -> Sequence[tuple[int, float, float]]:
    """States at once, ns a state of its kernel, and with copies."""
    lines = said([str(program), str(folder / "states.txt"), "1", "time"]).splitlines()
    return [(int(n), float(a), float(b)) for n, a, b in (line.split() for line in lines)]


def timed(folder: Path, function: str, architecture: str) -> Sequence[tuple[int, float, float]]:
    """The same of the robot in our folder, its results checked before and after."""
    interface = api.read_manifest(folder).program.interface
    program = build(folder, function, interface, architecture)
    check(program, folder, function, interface)
    found = times(program, folder)
    check(program, folder, function, interface)
    return found
