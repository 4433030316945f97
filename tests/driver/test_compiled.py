"""C++ from Python: the golden model's results, arrays as they lie, made once, refused in a line."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import api
from rbdgen.api import InputError, native_programs
from rbdgen.api.arrays import UNIT
from rbdgen.api.native_programs import ProgramKind
from rbdgen.api.structure import program_facts
from rbdgen.codegen.library import Singular
from rbdgen.compile.flow import front_end
from rbdgen.design.facts import ProgramFacts
from rbdgen.design.functions import WHOLE
from rbdgen.draw.tables import info_text
from rbdgen.system.compiler import NoCompiler
from rbdgen_host.driver import Dynamics
from tests.support.driver_designs import (
    FLOATING,
    METHODS,
    SINGULAR,
    call,
    close,
    several,
    states,
)
from tests.support.marks import slow

EXACT = {"cpp": 1e-10, "cpp32": 2e-4}  # of the largest entry; M of the gantry is badly scaled


@pytest.fixture(scope="module")
def golden() -> Dynamics:
    return Dynamics("pendulum", "golden", functions=("did", "m"))


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place))
        yield place


def test_another_processor_compiles_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that several machines share, or that is carried to one, has code of each."""
    own = ProgramKind("cpp").builder().of
    monkeypatch.setattr(native_programs, "processor", lambda: "flags : fpu sse2")
    assert ProgramKind("cpp").builder().of != own


@pytest.mark.parametrize("kind", ["cpp", "cpp32"])
def test_every_function(kind: str) -> None:
    """All in one program; of a batch that no block divides."""
    given = api.states("gantry", 37, functions=WHOLE)
    golden, found = (
        api.evaluate("gantry", given, model, functions=WHOLE) for model in ("golden", kind)
    )
    assert set(found) == set(golden)
    for name in set(found) - {"joint_names"}:
        assert found[name].dtype == np.float64
        close(found[name], golden[name], EXACT[kind])


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("pendulum", {"functions": ("id",), "angles": "sincos"}),
        slow(("hyq", FLOATING)),
        pytest.param(
            "hyq",
            {"base": "floating", "root": "given", "functions": ("fd",)},
            marks=pytest.mark.slow,
        ),
        pytest.param("iiwa14", {"functions": WHOLE}, marks=pytest.mark.slow),
        pytest.param("humanoid", {"functions": ("id", "m")}, marks=pytest.mark.slow),
        pytest.param(
            "hyq",
            {"base": "floating", "base_link": "best", "functions": WHOLE},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["angles", "forces", "given", "iiwa14", "humanoid", "base"],
)
def test_choices(robot: str, choices: dict[str, Any]) -> None:
    given = api.states(robot, 9, **choices)
    golden, found = (api.evaluate(robot, given, m, **choices) for m in ("golden", "cpp"))
    for name in set(found) - {"joint_names"}:
        close(found[name], golden[name])


@pytest.fixture(scope="module")
def compiled() -> Dynamics:
    return Dynamics("pendulum", "cpp", functions=("did", "m"), threads=2)


@pytest.mark.parametrize("n", [None, 0, 1, 1000])
@pytest.mark.parametrize("method", ["computeRNEADerivatives", "crba", "did"])
def test_calls(compiled: Dynamics, golden: Dynamics, method: str, n: int | None) -> None:
    """As arrays lie, and as lists, which are looked at; one state, none, a batch of threads."""
    state = states("pendulum", n or 1, 1)
    state = {name: array[0] if n is None else array[:n] for name, array in state.items()}
    names = METHODS.get(method, "qva")
    found = [
        several(driver.submit(method, *(state[name] for name in names)).result())
        if method == "did"
        else call(driver, method, state)
        for driver in (compiled, golden)
    ]
    if n == 0:
        assert [a.shape for a in found[0]] == [a.shape for a in found[1]]
        return
    close(*found)
    if n is None and method != "did":
        of_lists = getattr(compiled, method)(*(state[name].tolist() for name in names))
        for ours, again in zip(found[0], several(of_lists), strict=True):
            np.testing.assert_array_equal(ours, again)


@pytest.mark.parametrize("kind", ["cpp", "golden", "integer"])
def test_everything(kind: str, compiled: Dynamics, golden: Dynamics) -> None:
    """By name, whatever the arrays are; compiled, of one library, as is the call of did and M."""
    driver = Dynamics("pendulum", kind, functions=("id", "did", "m"))
    state = states("pendulum", 7, 2)
    q, v, a = (state[name] for name in "qva")
    wanted = golden.submit("computeRNEADerivatives", q, v, a).arrays
    for given in ((q, v, a), (q.tolist(), v, a)):
        found = driver.everything(*given)
        assert list(found) == ["tau", "dtau_dq", "dtau_dqd", "M"] == list(wanted)
        for name, values in wanted.items():
            close(found[name], values, 1e-3 if kind == "integer" else 1e-10)
    one = driver.everything(q[0], v[0], a[0])
    assert one["M"].shape == (2, 2)
    with pytest.raises(InputError, match="everything of id, did, m needs a"):
        driver.everything(q, v)
    with pytest.raises(InputError, match="another number of states"):
        driver.everything(q, v, a[:3])
    assert driver.collect() == []
    if kind == "cpp":
        programs = driver._backend.programs
        assert programs["did"].library.names == ("tau", "dtau_dq", "dtau_dqd", "M")
        assert programs["id"].library.names == ("tau",)


def test_arrays_that_lie_otherwise(compiled: Dynamics, golden: Dynamics) -> None:
    """Every second state, Fortran's order, a leading shape of two, float32, read only."""
    state = states("pendulum", 24, 2)
    q, v, a = (state[name] for name in "qva")
    expected = golden.computeRNEADerivatives(q, v, a)
    close(compiled.computeRNEADerivatives(q[::2], v[::2], a[::2]), tuple(x[::2] for x in expected))
    close(compiled.computeRNEADerivatives(*(np.asfortranarray(x) for x in (q, v, a))), expected)
    shaped = compiled.computeRNEADerivatives(*(x.reshape(4, 6, 2) for x in (q, v, a)))
    close(shaped, tuple(x.reshape(4, 6, 2, 2) for x in expected))
    close(compiled.computeRNEADerivatives(q, v.astype(np.float32), a), expected, 1e-6)
    for array in (q, v, a):
        array.flags.writeable = False
    close(compiled.computeRNEADerivatives(q, v, a), expected)


def test_what_cannot_be_answered(compiled: Dynamics) -> None:
    q, v, a = np.zeros((3, 5, 2))
    v[3, 1] = np.nan
    with pytest.raises(InputError, match=r"v\[1\] of state 3 is nan"):
        compiled.computeRNEADerivatives(q, v, a)
    with pytest.raises(InputError, match=r"computeRNEADerivatives: v\[1\] of state 0 is nan"):
        compiled.computeRNEADerivatives(q[3], v[3], a[3])
    with pytest.raises(InputError, match=r"q is float64 \(5, 3\); expected numbers"):
        compiled.crba(np.zeros((5, 3)))
    with pytest.raises(InputError, match="another number of states"):
        compiled.computeRNEADerivatives(q, v[:4], a)
    with pytest.raises(InputError, match="f_ext acts on"):
        compiled.computeRNEADerivatives(q, a, a, f_ext=np.ones((5, 2, 6)))
    with pytest.raises(InputError, match="threads: 2 of golden"):
        Dynamics("pendulum", "golden", threads=2)
    with pytest.raises(InputError, match="cpp has no rk4"):
        Dynamics("pendulum", "cpp", functions=("rk4",))


def test_a_floating_base() -> None:
    """Quaternions come to norm 1, in a copy; forces on every link as they lie."""
    found, expected = (Dynamics("hyq", kind, **FLOATING) for kind in ("cpp", "golden"))
    state = states("hyq", 5, 3, **FLOATING)
    q, v, tau = state["q"], state["v"], state["tau"]
    f_ext = np.random.default_rng(4).normal(size=(5, 13, 6))
    q[:, 3:7] *= 1 + UNIT / 2
    before = q.copy()
    for forces in (None, f_ext):
        close(found.aba(q, v, tau, forces), expected.aba(q, v, tau, forces))
    np.testing.assert_array_equal(q, before)
    q[2, 3:7] *= 2
    with pytest.raises(InputError, match="q of state 2: the quaternion"):
        found.aba(q, v, tau)


def test_a_singular_state_is_named() -> None:
    state = {"q": np.array([[0.1, 1.0], [0.3, 0.0]]), "qd": np.ones((2, 2)), "tau": np.ones((2, 2))}
    with pytest.raises(Singular, match="state 1 is singular") as caught:
        api.evaluate(str(SINGULAR), state, "cpp", functions=("fd",))
    assert isinstance(caught.value, np.linalg.LinAlgError)
    driver = Dynamics(SINGULAR, "cpp", functions=("fd",))
    waiting = driver.submit("aba", *(array[:1] for array in state.values()))
    with pytest.raises(Singular, match="state 1"):
        driver.aba(*state.values())
    assert waiting.result().shape == (1, 2)  # waited for nobody else


def test_made_once(cache: Path, compiled: Dynamics, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the compilers, whatever is chosen of the hardware; damaged, it is made again."""
    monkeypatch.setattr("rbdgen.compile.flow.front_end", None)
    there = sorted(cache.glob("rbdgen/program-*"))
    again = Dynamics("pendulum", "cpp", functions=("did", "m"), ii=2, width=20, target="xcup")
    assert sorted(cache.glob("rbdgen/program-*")) == there
    np.testing.assert_array_equal(again.crba([0.1, 0.2]), compiled.crba([0.1, 0.2]))


def test_info_has_the_time_of_what_is_compiled(
    compiled: Dynamics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured once; where nothing is compiled operations are counted all the same."""
    front = front_end("pendulum", functions=("did", "m"))
    program = program_facts(front)
    assert program.ns is not None and program.ns > 0
    made = api.generate("pendulum", tmp_path / "made", to="cpp", functions=("did", "m")).manifest
    assert program.operations == made.program.facts["nodes"]
    assert program_facts(front) == program
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    assert program_facts(front) == replace(program, ns=None)
    found = api.info("pendulum", functions=("m",), width=18, fit=False)
    assert found.facts.program is not None
    count = f"in C++, generate --to cpp: {found.facts.program.operations} operations a state"
    assert f"{count}; rbdgen evaluate --model cpp measures its time" in found.as_text()
    facts = replace(found.facts, program=ProgramFacts(13, 3.1))
    assert "; 3.1 ns a state in batches on one core of this machine, measured" in info_text(facts)


def test_one_state_goes_straight_to_its_program(
    compiled: Dynamics, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past queue and copies, which take ten times as long as the program."""
    monkeypatch.setattr(compiled, "submit", None)
    q, v, a = np.full((3, 2), 0.1)
    assert compiled.crba(q).shape == (2, 2)
    assert len(compiled.computeRNEADerivatives(q, v, a)) == 3


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(NoCompiler, match=r"^no C\+\+ compiler: install g\+\+ \(Debian: apt-get"):
        Dynamics("pendulum", "cpp")
    monkeypatch.setenv("CXX", "other")
    with pytest.raises(NoCompiler, match=r"no C\+\+ compiler other, which \$CXX names"):
        api.evaluate("pendulum", dict.fromkeys(("q", "qd", "qdd"), np.zeros((1, 2))), "cpp")
    assert not any(tmp_path.rglob("program-*"))


@pytest.mark.parametrize("kind", ["cpp", "golden"])
def test_results_are_written_where_one_says(golden: Dynamics, kind: str) -> None:
    own = golden if kind == "golden" else Dynamics("pendulum", functions=("did", "m"))
    q, v, a = np.random.default_rng(3).uniform(-1, 1, (3, 4, own.nv))
    wanted = golden.computeRNEADerivatives(q, v, a)
    out = tuple(np.empty((4, own.nv, own.nv)) for _ in range(2))
    for arrays in ((q, v, a), (q.tolist(), v, a), (q, v, np.asfortranarray(a))):
        found = own.computeRNEADerivatives(*arrays, out=(*out, None))
        assert found[0] is out[0]
        assert found[1] is out[1]
        for values, array in zip(found, wanted, strict=True):
            assert array is not None
            close(values, array, 1e-10)
            array_of_out = np.asarray(values)
            array_of_out[...] = np.nan
    mass = np.empty((4, own.nv, own.nv))
    assert own.crba(q, out=mass) is mass
    strided = np.empty((4, own.nv, own.nv, 2))[..., 0]
    assert own.crba(q, out=strided) is strided
    close(strided, mass, 1e-10)
    with pytest.raises(InputError, match=r"crba: out is float32 \(4, .*; the result is float64"):
        own.crba(q, out=mass.astype(np.float32))
    with pytest.raises(InputError, match="expected 3 arrays, one for each result"):
        own.computeRNEADerivatives(q, v, a, out=mass)
    mass.flags.writeable = False
    with pytest.raises(InputError, match="crba: out: assignment destination is read-only"):
        own.crba(q, out=mass)


def test_a_call_is_of_the_module_unless_a_class_changes_it() -> None:
    class Counting(Dynamics):
        calls = 0

        def crba(self, *arrays: Any, **words: Any) -> Any:
            self.calls += 1
            return super().crba(*arrays, **words)

    own = Counting("pendulum", functions=("m", "id"))
    q = np.zeros(own.nq)
    own.crba(q)
    assert own.calls == 1
    rnea = own.rnea
    assert (rnea.__name__, rnea.__doc__) == ("rnea", Dynamics.rnea.__doc__)
    assert type(rnea).__name__ == "builtin_function_or_method"
    alive = weakref.ref(own)
    del own
    assert rnea([0.0] * len(q), q, q).shape == q.shape  # which the method answers
    del rnea
    gc.collect()
    assert alive() is None


def test_what_is_in_the_cache_is_called_without_the_compiler() -> None:
    """Nothing of what traces, writes and compiles is imported for it."""
    Dynamics("pendulum", functions=("m",))
    code = (
        "import sys; from rbdgen_host.driver import Dynamics\n"
        "Dynamics('pendulum', functions=('m',)).crba([0, 0])\n"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    modules = run.stdout.split()
    rooms = {".".join(name.split(".")[:2]) for name in modules if name.startswith("rbdgen.")}
    assert rooms.isdisjoint({f"rbdgen.{room}" for room in ("compile", "schedule", "rtl", "draw")})
    assert {"jinja2", "amaranth", "scipy", "ortools"}.isdisjoint(modules)
