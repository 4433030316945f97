"""``NAME.hpp`` as C++ programs use it: every container, every standard, wrong uses refused."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path

import pinocchio as pin
import pytest

from rbdgen import api
from tests.support.library import compiled_strictly, intrinsics
from tests.support.zoo import generated

EIGEN = Path(pin.__file__).parents[4] / "include" / "eigen3"
COMPILERS = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"no {name}"))
    for name in ("g++", "clang++")
]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp("zoo"))


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pendulum") / "made"
    return api.generate("pendulum", place, to="cpp", functions=("did", "m"), name="swing").folder


# Every call, with every container of its standard; two designs in one file.
USER = """
#include "swing.hpp"
#include "zoo.hpp"
#include "swing.hpp"
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif
namespace arm = rbdgen::swing;
namespace beast = rbdgen::zoo;

static_assert(arm::nq == 2 && arm::joint("elbow") == 1 && arm::has_joint("elbow"), "");
static_assert(!arm::has_joint("elbo") && !arm::has_joint("elbows"), "");
static_assert(beast::nq == 22 && beast::nv == 19 && beast::joint_v[beast::joint("slide")] == 9, "");
static_assert(beast::joint_names[0][0] == 'r' && beast::frame_names[0][0] == 'n', "");
static_assert(beast::position_upper[8] == 2 && beast::velocity_limit[7] == 3, "");
static_assert(noexcept(arm::compute(arm::neutral(), arm::neutral(), arm::neutral())), "");

double all(const std::vector<double> &v, std::vector<float> w);
double all(const std::vector<double> &v, std::vector<float> w)
{
    const double q[] = { 1, 2 };
    std::array<double, 2> tau;
    double M[2][2];
    std::array<std::array<double, 2>, 2> by_q;
    double by_qd[4];
    auto found = arm::compute(q, v, tau);
    arm::compute(q, found.tau, v, found);
    long long wrong = arm::compute(v, q, found.tau, tau, by_q, by_qd, M);
    wrong += arm::batch(v, v, v, tau, by_q, by_qd, M) + arm::batch(2, v, v, v, tau, by_q, by_qd, M);
    wrong += found.singular;
#if __cplusplus >= 202002L
    const std::span<const double> any(v);
    const std::span<double, 2> two(tau);
    wrong += arm::compute(any, two, v, two, std::span(by_qd), std::span(by_qd), M);
#endif
    const auto other = arm::compute(w, w, arm::integrate(w, w, 0.1f));
    arm::integrate(w, other.tau, 0.1f, w);
    arm::integrate(tau, v, 0.1, tau);
    const auto neutral = beast::neutral();
    const std::array<float, beast::nq> low = beast::neutral<float>();
    const auto moved = beast::integrate(neutral, v);
    const std::array<double, beast::nv> step = beast::difference(neutral, moved);
    const beast::Results<float> whole = beast::compute(low, beast::difference(low, low));
    const float some = whole.kinetic + whole.R[0][1][2];
    return double(wrong) + M[0][0] + by_q[1][1] + step[0] + double(some);
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("year", [11, 14, 17, 20, 23])
def test_every_standard_compiles_it_without_a_warning(
    zoo: Path, pendulum: Path, tmp_path: Path, compiler: str, year: int
) -> None:
    (tmp_path / "user.cpp").write_text(USER)
    options = [f"-std=c++{year}", "-fsyntax-only", "-I", pendulum, "-I", zoo]
    assert not compiled_strictly(tmp_path / "user.cpp", *options, compiler=compiler)


needs_eigen = pytest.mark.skipif(not EIGEN.is_dir(), reason="no Eigen beside Pinocchio")

# What every container gives is what C gives, no call allocates, and results lie where they should.
VALUES = """
#include <Eigen/Core>
#include "swing.hpp"
#include <cstdio>
#include <cstdlib>
#include <vector>
namespace arm = rbdgen::swing;
extern "C" void *__libc_malloc(std::size_t);
static long allocations, wrong;
extern "C" void *malloc(std::size_t bytes) { ++allocations; return __libc_malloc(bytes); }
typedef Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> Rows;

static void check(const double *found, const double *expected, int count)
{
    for (int k = 0; k < count; ++k)
        wrong += !(found[k] == expected[k]);
}
static void by_reference(Eigen::Ref<const Eigen::VectorXd> q, Eigen::Ref<Rows> M)
{
    double tau[2], by_q[4], by_qd[4];
    arm::compute(q, q, q, tau, by_q, by_qd, M);
}
int main(int count, char **)
{
    const double q[] = { 0.3, -0.5 }, v[] = { 1, 2 }, a[] = { 3, 4 };
    double tau[2], by_q[4], by_qd[4], M[4];
    swing(1, q, v, a, tau, by_q, by_qd, M);

    const std::vector<double> many{ 0.3, -0.5, 1, 2, 0.3, -0.5 };
    std::array<double, 6> three, found, by_c;
    std::vector<double> by(12), by2(12), masses(12);
    const Eigen::Vector2d fixed(0.3, -0.5);
    Eigen::VectorXd any(4);
    any << 1, 2, 3, 4;
    Eigen::MatrixXd columns(2, 3), taus(2, 3), of_q(4, 3);
    columns << 0.3, 1, 0.3, -0.5, 2, -0.5;
    Rows of_qd(3, 4), of_M(3, 4), large(4, 2);
    double unused[12];
    if (count > 2)
        return arm::joint("wrong");
    if (count > 1)
        arm::compute(q, v, many); // of six numbers
    allocations = 0;

    const auto results = arm::compute(q, v, a);
    check(results.tau.data(), tau, 2);
    check(&results.dtau_dqd[0][0], by_qd, 4);
    check(&results.M[0][0], M, 4);
    wrong += results.singular;
    const arm::Maps<double> maps = arm::map(results);
    wrong += maps.M.data() != &results.M[0][0] || maps.M(1, 0) != M[2];
    wrong += maps.dtau_dq(0, 1) != by_q[1];
    const Eigen::Vector2d product = maps.M * maps.tau;
    wrong += std::fabs(product[0] - (M[0] * tau[0] + M[1] * tau[1])) > 1e-12;

    Eigen::Vector2d t;
    Eigen::Matrix<double, 2, 2, Eigen::RowMajor> D;
    Eigen::Map<Eigen::Matrix<double, 2, 2, Eigen::RowMajor>> E(unused);
    wrong += arm::compute(fixed, any.head(2), any.tail<2>(), t, D, E, large.bottomRows(2)) != 0;
    check(t.data(), tau, 2);
    check(D.data(), by_q, 4);
    check(unused, by_qd, 4);
    check(large.data() + 4, M, 4);
    Eigen::Matrix2d symmetric;
    arm::compute(q, v, a, t, D, E, symmetric);
    check(symmetric.data(), M, 4);
    by_reference(fixed, large.topRows(2));
    check(large.data(), M, 4);

    swing(3, many.data(), many.data(), many.data(), by_c.data(), unused, unused, unused);
    arm::batch(many, many, many, three, by, by2, masses);
    arm::batch(1, columns, many, columns, taus, of_q, of_qd, of_M);
    check(three.data(), by_c.data(), 6);
    check(taus.data(), by_c.data(), 6);
    check(of_q.data(), by.data(), 12);
    check(of_qd.data(), by2.data(), 12);
    check(of_M.data(), masses.data(), 12);

    const float low[] = { 0.3f, -0.5f };
    const arm::Results<float> in_float = arm::compute(low, low, low);
    wrong += std::fabs(double(in_float.M[0][0]) - M[0]) > 1e-6 * M[0];
    wrong += arm::map(in_float).M(0, 0) != in_float.M[0][0];
    any.head(2) = arm::map(results).tau;
    arm::integrate(q, any.head(2), 0.5, any.tail(2));
    wrong += any[3] != q[1] + 0.5 * tau[1];
    found.fill(0);
    const long asked = allocations;
    std::printf("%ld wrong, %ld allocations\\n", wrong, asked);
}
"""


@needs_eigen
def test_all_containers_have_the_numbers_of_c(pendulum: Path, tmp_path: Path) -> None:
    source = tmp_path / "values.cpp"
    source.write_text(VALUES)
    options = [
        "-std=c++11",
        "-O0",
        "-I",
        pendulum,
        "-isystem",
        EIGEN,
        "-c",
        "-o",
        tmp_path / "main.o",
    ]
    assert not compiled_strictly(source, *options)
    sources = sorted(pendulum.glob("swing*.cpp"))
    own = [
        "g++",
        "-O0",
        "-DSWING_NATIVE",
        *intrinsics("g++", ["-O0"]),
        *sources,
        tmp_path / "main.o",
    ]
    subprocess.run([*map(str, own), "-pthread", "-o", str(tmp_path / "values")], check=True)
    done = subprocess.run([tmp_path / "values"], capture_output=True, text=True, check=True)
    assert done.stdout == "0 wrong, 0 allocations\n"
    command = [str(tmp_path / "values"), "a vector of another size"]
    wrong = subprocess.run(command, capture_output=True, text=True, check=False)
    assert wrong.returncode == -signal.SIGABRT
    assert re.search(r"swing\.hpp:\d+: .*View.*Assertion", wrong.stderr)
    wrong = subprocess.run([*command, "a joint"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stderr) == (-signal.SIGABRT, 'swing: no joint "wrong"\n')


# Each line is refused, by a text of the header or since no call takes these types.
SIZE, ROW, NONE = "too few numbers, or too many", "are not in a row", "no matching function"
JOINT = "in .constexpr. expansion of .*(\\n.*)*call to non-.constexpr. function .*no_joint"
REFUSED = {
    "arm::compute(three, two, two);": SIZE,
    "arm::compute(two, two, Eigen::Vector3d());": SIZE,
    "arm::compute(two, two, two, two, four, four, two);": SIZE,
    "arm::integrate(two, std::span<const double, 3>(three));": SIZE,
    "arm::compute(two, two, columns.row(0));": ROW,
    "arm::compute(two, two, two, two, four, columns, four);": ROW,
    "arm::compute(two, two, two, two, four, four, large.block<2, 2>(0, 0));": ROW,
    "arm::batch(two, two, two, two, four, four, large.block<2, 2>(0, 0));": ROW,
    "arm::batch(two, two, states_in_rows, two, four, four, four);": ROW,
    "arm::compute(two, two, two, constant, four, four, four);": NONE,
    "arm::compute(two, two, low);": NONE,
    "arm::compute(two, two, columns * two_of_eigen);": NONE,
    "arm::map(arm::compute(two, two, two));": "use of deleted function",
    'constexpr int place = arm::joint("wrong");': JOINT,
}


@needs_eigen
def test_what_does_not_fit_is_refused_when_it_is_compiled(pendulum: Path, tmp_path: Path) -> None:
    head = [
        "#include <Eigen/Core>",
        "#include <span>",
        '#include "swing.hpp"',
        "namespace arm = rbdgen::swing;",
        "std::array<double, 2> two; std::array<double, 3> three; std::array<double, 4> four;",
        "const double constant[2] = { 1, 2 }; const float low[2] = { 1, 2 };",
        "Eigen::Matrix2d columns; Eigen::Matrix<double, 3, 2> states_in_rows;",
        "Eigen::Vector2d two_of_eigen;",
        "Eigen::Matrix<double, 4, 4, Eigen::RowMajor> large;",
        "void all();",
        "void all() {",
    ]
    source = tmp_path / "wrong.cpp"
    source.write_text("\n".join([*head, *REFUSED, "}"]))
    said = compiled_strictly(
        source, "-std=c++20", "-fsyntax-only", "-I", pendulum, "-isystem", EIGEN
    )
    for line, (code, expected) in enumerate(REFUSED.items(), len(head) + 1):
        here = rf"wrong\.cpp:{line}:\d+:"
        if expected in (SIZE, ROW):
            here += r"\s+required from here\n.* error: static assertion failed: swing:"
        assert re.search(f"{here}.* {expected}", said), code


def body(assembly: str, function: str) -> list[str]:
    """The instructions of a function, without directives and labels."""
    lines = assembly.partition(f"\n{function}:\n")[2].partition("\t.cfi_endproc")[0].splitlines()
    return [line for line in lines if line.startswith("\t") and not line.startswith("\t.")]


COSTS = """
#include "swing.hpp"
namespace arm = rbdgen::swing;
typedef std::array<double, 2> V;
typedef std::array<V, 2> Square;
typedef const double *In;
typedef double *Out;
extern "C" long long in_c(In q, In v, In a, Out tau, Out by_q, Out by_qd, Out M) noexcept
{
    return swing(1, q, v, a, tau, by_q, by_qd, M);
}
extern "C" long long in_cpp(
    const V &q, const V &v, const V &a, V &tau, Square &by_q, Square &by_qd, Square &M) noexcept
{
    return arm::compute(q, v, a, tau, by_q, by_qd, M);
}
"""


def test_a_call_costs_what_it_costs_in_c(pendulum: Path, tmp_path: Path) -> None:
    """Instruction by instruction, once it is inline."""
    (tmp_path / "costs.cpp").write_text(COSTS)
    target = tmp_path / "costs.s"
    assert not compiled_strictly(
        tmp_path / "costs.cpp", "-std=c++11", "-O2", "-DNDEBUG", "-S", "-I", pendulum, "-o", target
    )
    found = [body(target.read_text(), name) for name in ("in_c", "in_cpp")]
    assert found[0] == found[1]
    assert any("swing" in line for line in found[0])
