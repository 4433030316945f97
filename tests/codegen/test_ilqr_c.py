"""The generated controller in C99: the textbook's plan in double, nearly so in float."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.design.loading import load
from rbdgen.golden import ilqr
from tests.codegen.test_c_float import ARM
from tests.codegen.test_ilqr import BITS, CHOICES, STEPS, problem
from tests.support.library import STRICT
from tests.support.optimal_motions import LINK

C99 = ("-std=c99", "-Wdouble-promotion", *STRICT)

# Solves a problem of numbers that are read, and counts what is allocated meanwhile.
USER = """
#include "swing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
extern void *__libc_malloc(size_t);
static long allocations;
void *malloc(size_t bytes) { ++allocations; return __libc_malloc(bytes); }
#endif
static swing_solver solver;
static void numbers(swing_real *to, size_t bytes)
{
    double own;
    size_t k;
    for (k = 0; k < bytes / sizeof *to; k++) {
        if (scanf("%lf", &own) != 1)
            abort();
        to[k] = (swing_real)own;
    }
}
int main(void)
{
    swing_real x[2 * swing_n], *plan = &solver.plan.q[0][0];
    swing_report report;
    long made;
    size_t k;
    swing_init(&solver);
    numbers(&solver.problem.step, sizeof solver.problem);
    numbers(x, sizeof x);
    allocations = 0;
    report = swing_solve(&solver, x, 100, TOLERANCE, (swing_real)1e-4);
    made = allocations;
    printf("%ld %d %d %zu ", made, report.iterations, report.converged, sizeof solver);
    for (k = 0; k < sizeof solver.plan / sizeof *plan; k++)
        printf("%.17g ", (double)plan[k]);
    return 0;
}
"""
# The same calls as BITS, in C.
CALLS = """
#include "swing.h"
#include <stdio.h>
static swing_solver solver;
int main(int times, char **words)
{
    swing_problem *const problem = &solver.problem;
    swing_real x[2 * swing_n] = { 0 }, tau[swing_n], *plan = &solver.plan.q[0][0];
    swing_report report = { 0, 0, 0, 0 };
    size_t m;
    int k, i, a;
    (void)words;
    swing_init(&solver);
    problem->step = 0.02;
    for (k = 0; k <= swing_knots; k++) {
        const int last = k == swing_knots;
        for (i = 0; i < swing_n; i++) {
            problem->aim[k][i] = 0.6 - 0.1 * i;
            problem->weight[k][i] = last ? 100 : 0.002;
            problem->weight[k][swing_n + i] = last ? 10 : 0.002;
        }
        for (i = 0; i < 3; i++)
            problem->p_weight[k][i] = problem->R[k][4 * i] = 0.1;
        problem->R_weight[k] = 0.01;
    }
    for (i = 0; i < swing_n; i++) {
        problem->effort[i] = 2e-6;
        problem->upper[swing_n + i] = 1.5;
        problem->lower[swing_n + i] = -1.5;
    }
    problem->stiffness[1] = 1;
    for (a = 0; a < times; a++)
        report = swing_solve(&solver, x, 30, 1e-9, 1e-4);
    x[0] = 0.01;
    for (a = 0; a < times; a++) {
        swing_prepare(&solver);
        swing_respond(&solver, x, tau);
        swing_advance(&solver, x);
    }
    swing_shift(&solver, 0.5);
    swing_prepare(&solver);
    swing_respond(&solver, x, tau);
    printf("%d %d %.17g ", report.iterations, report.searches, tau[0]);
    for (m = 0; m < sizeof solver.plan / sizeof *plan; m++)
        printf("%.17g ", plan[m]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Real → a folder of the pendulum with a tool."""
    place = tmp_path_factory.mktemp("ilqr_c")
    choices = {**CHOICES, "to": "c", "name": "swing", "frames": (LINK,)}
    return {
        real: api.generate("pendulum", place / real, **choices, **extra).folder
        for real, extra in (("double", {}), ("float", {"real": "float"}))
    }


def built(folder: Path, text: str, *options: str) -> Path:
    """A program of the controller and of a user's C, compiled without a warning."""
    binary, user = folder / "user", folder / "user.c"
    user.write_text(text)
    command = ["gcc", *C99, *options, "-I", folder, user, folder / "swing.c", "-lm", "-o", binary]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert not done.returncode and not done.stderr, done.stderr
    return binary


@pytest.mark.parametrize("real", ["double", "float"])
def test_it_finds_the_textbooks_plan(real: str, folders: dict[str, Path]) -> None:
    text = USER.replace("TOLERANCE", "1e-12" if real == "double" else "1e-5F")
    options = ["-O2", "-fsanitize=undefined", "-fno-sanitize-recover"] * (real == "double")
    binary = built(folders[real], text, *options)
    wanted, x = problem()
    tool, limits = wanted.tool, wanted.limits
    assert tool and limits
    of_tool = (tool.p, tool.R, tool.p_weight, tool.R_weight)
    arrays = [*list(vars(wanted).values())[:6], *vars(limits).values(), *of_tool, x]
    given = " ".join(map(repr, np.concatenate([*map(np.ravel, arrays)]).tolist()))
    out = subprocess.run([binary], input=given, capture_output=True, text=True, check=True).stdout
    allocated, iterations, converged, size, *numbers = map(float, out.split())
    _, robot = load("pendulum")
    first = ilqr.start(robot, wanted, x, np.zeros((STEPS, 2)))
    expected = ilqr.solve(robot, wanted, first, tolerance=1e-12)
    assert allocated == 0
    facts = json.loads((folders[real] / "manifest.json").read_text())["facts"]
    assert facts["real"] == real and facts["bytes"] == size
    found = np.array(numbers)
    if real == "double":
        assert converged and abs(iterations - expected.iterations) <= 1
        q, qd = expected.x[:, :2], expected.x[:, 2:]
        whole = [q, qd, expected.qdd, expected.tau, expected.K, expected.excess, expected.cost]
        np.testing.assert_allclose(found, np.concatenate([*map(np.ravel, whole)]), atol=1e-5)
        assert found[-1] == pytest.approx(expected.cost, rel=1e-10)
    else:
        np.testing.assert_allclose(found[: 2 * STEPS], expected.x[:-1, :2].ravel(), atol=3e-3)
        assert found[-1] == pytest.approx(expected.cost, rel=5e-4)
    assert np.count_nonzero(expected.excess) > 3


def test_every_call_is_that_of_cpp(folders: dict[str, Path], tmp_path: Path) -> None:
    """Solves with limits and a tool, and iterations in real time; to rounding."""
    binary = built(folders["double"], CALLS, "-O1")
    own = subprocess.run([binary], capture_output=True, text=True, check=True).stdout.split()
    choices: dict[str, Any] = {**CHOICES, "name": "swing", "frames": (LINK,)}
    folder = api.generate("pendulum", tmp_path / "cpp", **choices).folder
    command = ["g++", "-std=c++17", "-O1", "-I", folder, "-x", "c++", "-", "-o", folder / "user"]
    subprocess.run([*map(str, command)], input=BITS, text=True, check=True)
    printed = subprocess.run([folder / "user"], capture_output=True, text=True, check=True).stdout
    iterations, searches, effort, *bits = printed.split()
    assert own[:2] == [iterations, searches]
    right = [struct.unpack("<d", struct.pack("<Q", int(word, 16)))[0] for word in bits]
    found = [*map(float, own[2:])]
    np.testing.assert_allclose(found, [float.fromhex(effort), *right], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_example_converges(real: str, folders: dict[str, Path]) -> None:
    text = (folders[real] / "example.c").read_text()
    found = subprocess.run(
        [built(folders[real], text, "-O1")], capture_output=True, text=True, check=True
    )
    assert "converged, cost" in found.stdout and "not converged" not in found.stdout


@pytest.mark.skipif(shutil.which(ARM) is None, reason=f"no {ARM}")
def test_float_takes_nothing_of_double_on_a_microcontroller(folders: dict[str, Path]) -> None:
    folder = folders["float"]
    flags = ["-O2", "-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"]
    command = [ARM, *C99, *flags, "-Werror", "-c", folder / "swing.c", "-o", folder / "arm.o"]
    subprocess.run([*map(str, command)], check=True)
    names = ["arm-none-eabi-nm", "-u", str(folder / "arm.o")]
    symbols = subprocess.run(names, capture_output=True, text=True, check=True).stdout.split()
    assert {*symbols} - {"U"} <= {"memcpy", "memset", "sinf", "cosf"}


def test_the_same_bytes_twice(folders: dict[str, Path], tmp_path: Path) -> None:
    choices = {**CHOICES, "to": "c", "name": "swing", "frames": (LINK,)}
    made = api.generate("pendulum", tmp_path / "again", **choices)
    for file in ("swing.c", "swing.h", "manifest.json"):
        assert (made.folder / file).read_bytes() == (folders["double"] / file).read_bytes()
