"""GRiD beside ours: where its numbers are, what is said where it cannot be, that it compiles."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

from rbdgen import api
from rbdgen.codegen.interface import ArrayInterface
from rbdgen.codegen.nvcc import NoNvcc
from rbdgen_benchmarks.bench import grid
from rbdgen_benchmarks.bench.grid import FUNCTIONS, NoGrid
from tests.support.marks import fast_at

NOTHING = ArrayInterface((), (), {}, {})


@pytest.mark.parametrize("function", fast_at((0, len(FUNCTIONS) - 1), [*FUNCTIONS]))
def test_results_are_found(function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The right numbers as the peer has them come out as ours; one that is wrong is refused."""
    made = api.generate("pendulum", tmp_path / "made", to="cuda", functions=(function,))
    interface = made.manifest.program.interface
    wanted = np.loadtxt(made / "expected.txt", ndmin=2)
    n = len(wanted)
    theirs = wanted[:, -2 * 4 :] if FUNCTIONS[function].halves else wanted.copy()
    if FUNCTIONS[function].halves:  # by columns
        theirs = theirs.reshape(n, 2, 2, 2).swapaxes(2, 3).reshape(n, -1)
    if FUNCTIONS[function].upper:
        theirs[:, 1] = 0.0
    for entry in (None, (n - 1, 0)):
        if entry:
            theirs[entry] += 0.1 * np.abs(wanted).max()
        text = "\n".join(" ".join(map(str, row)) for row in theirs)
        monkeypatch.setattr(grid, "said", lambda command, text=text: text)
        if entry is None:
            grid.check(tmp_path, made.folder, function, interface)
        else:
            with pytest.raises(NoGrid, match=r"^grid-rbd's \w+ of made is another: \d\.\de"):
                grid.check(tmp_path, made.folder, function, interface)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    for found, version in (("none", missing), (r"0\.5\.1", lambda name: "0.5.1")):
        monkeypatch.setattr(grid, "version", version)
        with pytest.raises(
            NoGrid, match=rf"put beside: {found} is installed; pip install grid-rbd"
        ):
            grid.build(tmp_path, "id", NOTHING, "sm_90")


@pytest.mark.slow
@pytest.mark.parametrize("function", list(FUNCTIONS))
def test_its_program_compiles(function: str, tmp_path: Path) -> None:
    made = api.generate("iiwa14", tmp_path / "made", to="cuda", functions=(function,))
    interface = made.manifest.program.interface
    try:
        program = grid.build(made.folder, function, interface, "sm_90")
    except (NoGrid, NoNvcc) as error:
        pytest.skip(str(error))
    assert program.stat().st_size > 0
