"""The generated controller: every register's width finds the textbook's plan, and allocates not."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.design.loading import load
from rbdgen.golden import ilqr
from tests.support.library import CFLAGS, STRICT, has
from tests.support.optimal_motions import LINK, drawn_problem

STEPS = 11  # no whole number of blocks
CHOICES: dict[str, Any] = {"to": "cpp", "controller": "ilqr", "knots": STEPS}

# Solves a problem of numbers that are read, and counts what is allocated meanwhile.
USER = """
#include "swing.hpp"
#include "other.hpp"
#include "swing.hpp"
#include <cstdio>
#include <cstdlib>
#include <cstring>
namespace mpc = rbdgen::swing;
#ifdef __GLIBC__
extern "C" void *__libc_malloc(std::size_t);
static long allocations;
extern "C" void *malloc(std::size_t bytes) { ++allocations; return __libc_malloc(bytes); }
#endif
static mpc::Solver solver;
static rbdgen::other::Solver beside;
template <class T> static void numbers(T &to)
{
    static double own[sizeof to / sizeof(double)];
    for (double &number : own)
        if (std::scanf("%lf", &number) != 1)
            std::abort();
    std::memcpy(&to, own, sizeof to);
}
template <class T> static void print(const T &from)
{
    static double own[sizeof from / sizeof(double)];
    std::memcpy(own, &from, sizeof from);
    for (double number : own)
        std::printf("%.17g ", number);
}
int main()
{
    double x[2 * mpc::n];
    numbers(solver.problem);
    numbers(x);
    beside.problem.step = 0.1;
    allocations = 0;
    const mpc::Report report = solver.solve(x, 100, 1e-12);
    const long made = allocations;
    std::printf("%ld %d %d ", made, report.iterations, int(report.converged));
    print(solver.plan);
}
"""

# Solves a problem with limits, has iterations in real time, and prints all bits of the plan. By
# these loops and calls g++ 12 made clones of functions, of which one was wrong.
BITS = """
#include "swing.hpp"
#include <cstdio>
#include <cstring>
namespace mpc = rbdgen::swing;
static mpc::Solver solver;
int main(int times, char **)
{
    mpc::Problem &problem = solver.problem;
    problem.step = 0.02;
    for (int k = 0; k <= mpc::knots; ++k) {
        const bool last = k == mpc::knots;
        for (int i = 0; i < mpc::n; ++i) {
            problem.aim[k][i] = 0.6 - 0.1 * i;
            problem.weight[k][i] = last ? 100 : 0.002;
            problem.weight[k][mpc::n + i] = last ? 10 : 0.002;
        }
        for (int i = 0; i < 3; ++i)
            problem.p_weight[k][i] = problem.R[k][4 * i] = 0.1;
        problem.R_weight[k] = 0.01;
    }
    for (int i = 0; i < mpc::n; ++i) {
        problem.effort[i] = 2e-6;
        problem.upper[mpc::n + i] = 1.5;
        problem.lower[mpc::n + i] = -1.5;
    }
    problem.stiffness[1] = 1;
    double x[2 * mpc::n] = {};
    mpc::Report report{};
    for (int a = 0; a < times; ++a)
        report = solver.solve(x, 30);
    x[0] = 0.01;
    double tau[mpc::n];
    for (int a = 0; a < times; ++a) {
        solver.prepare();
        solver.respond(x, tau);
        solver.advance(x);
    }
    solver.shift(0.5);
    solver.prepare();
    solver.respond(x, tau);
    static unsigned long long own[sizeof solver.plan / 8];
    std::memcpy(own, &solver.plan, sizeof solver.plan);
    std::printf("%d %d %a ", report.iterations, report.searches, tau[0]);
    for (unsigned long long bits : own)
        std::printf("%llx ", bits);
}
"""
SANITIZED = ("-fsanitize=undefined,bounds-strict",)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("ilqr")
    for name, robot, frames in (("swing", "pendulum", (LINK,)), ("other", "gantry", ())):
        made = api.generate(robot, place / name, name=name, frames=frames, **CHOICES)
        text = (made.folder / f"{name}.hpp").read_text()
        (place / f"{name}.hpp").write_text(text)
    (place / "user.cpp").write_text(USER)
    return place


def problem() -> tuple[ilqr.Problem, np.ndarray]:
    rng = np.random.default_rng(7)
    most = np.array([[0.9, 1.2], [1.5, 2.0], [12.0, 12.0], [4.0, 3.0]])
    wanted = drawn_problem(rng, STEPS, most)
    return wanted, rng.uniform(-1, 1, 4)


@pytest.mark.parametrize("isa", has())
def test_every_width_finds_the_textbooks_plan(isa: str, place: Path) -> None:
    binary = place / isa
    flags = [f"-m{own}" for own in sorted(CFLAGS[isa])]
    command = ["g++", "-std=c++17", "-O3", *STRICT, *flags, str(place / "user.cpp")]
    done = subprocess.run([*command, "-o", binary], capture_output=True, text=True, check=False)
    assert not done.returncode and not done.stderr, done.stderr
    wanted, x = problem()
    tool, limits = wanted.tool, wanted.limits
    assert tool and limits
    of_tool = (tool.p, tool.R, tool.p_weight, tool.R_weight)
    arrays = [*list(vars(wanted).values())[:6], *vars(limits).values(), *of_tool, x]
    given = np.concatenate([*map(np.ravel, arrays)])
    text = " ".join(map(repr, given.tolist()))
    out = subprocess.run([binary], input=text, capture_output=True, text=True, check=True).stdout
    allocated, iterations, converged, *numbers = map(float, out.split())
    _, robot = load("pendulum")
    first = ilqr.start(robot, wanted, x, np.zeros((STEPS, 2)))
    expected = ilqr.solve(robot, wanted, first, tolerance=1e-12)
    assert (allocated, converged) == (0, 1) and abs(iterations - expected.iterations) <= 1
    q, qd = expected.x[:, :2], expected.x[:, 2:]
    arrays = [q, qd, expected.qdd, expected.tau, expected.K, expected.excess, expected.cost]
    found = np.array(numbers)
    np.testing.assert_allclose(found, np.concatenate([*map(np.ravel, arrays)]), atol=1e-5)
    assert np.count_nonzero(expected.excess) > 3
    assert np.abs(wanted.beyond(expected.numbers)).max() <= 1e-4
    assert found[-1] == pytest.approx(expected.cost, rel=1e-10)


def bits(folder: Path, isa: str, *options: str) -> str:
    """What BITS prints, compiled without contraction of products and sums."""
    flags = ["-std=c++17", "-ffp-contract=off", *options, *(f"-m{own}" for own in CFLAGS[isa])]
    binary = folder / "bits"
    command = ["g++", *STRICT, *flags, "-I", folder, "-x", "c++", "-", "-o", binary]
    subprocess.run([*map(str, command)], input=BITS, text=True, check=True)
    done = subprocess.run([binary], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr  # what a sanitizer says
    return done.stdout


def test_optimised_code_gives_the_same_bits(place: Path) -> None:
    """-O3 with sanitizers, of the widest registers; g++ 12 once gave wrong slopes only then."""
    expected = bits(place / "swing", "base", "-O1")
    assert len(expected.split()) > 200
    assert bits(place / "swing", has()[0], "-O3", *SANITIZED) == expected


@pytest.mark.slow
def test_all_widths_and_levels_give_the_same_bits_of_an_arm(tmp_path: Path) -> None:
    choices = {**CHOICES, "name": "swing", "frames": ("link_7",)}
    folder = api.generate("iiwa14", tmp_path / "arm", **choices).folder
    expected = bits(folder, "base", "-O1")
    for isa in has():
        for level in ("-O2", "-O3"):
            assert bits(folder, isa, level) == expected, (isa, level)


def test_the_same_bytes_twice(place: Path, tmp_path: Path) -> None:
    choices = {**CHOICES, "name": "swing", "frames": (LINK,)}
    made = api.generate("pendulum", tmp_path / "again", **choices)
    for file in (made.folder / "swing.hpp", made.folder / "manifest.json"):
        assert file.read_bytes() == (place / "swing" / file.name).read_bytes()


def test_the_example_converges(place: Path) -> None:
    source, binary = place / "swing" / "example.cpp", place / "example"
    command = ["g++", "-std=c++17", "-O1", *STRICT, source, "-o", binary]
    subprocess.run([*map(str, command)], check=True)
    found = subprocess.run([binary], capture_output=True, text=True, check=True)
    assert "converged, cost" in found.stdout and "not converged" not in found.stdout
