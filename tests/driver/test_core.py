"""A plain design answers the driver's calls and has its header in C, as an accelerator does."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.api import InputError, OutputError, evaluate, generate, read_manifest
from rbdgen.api.design_file import DESIGN
from rbdgen.api.packets import packets_of
from rbdgen.api.simulation import batches
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.functions import GIVES, NEEDS
from rbdgen_host.driver import Dynamics, OverflowWarning, c_header
from tests.support.c_header import COMPILER, WARNINGS, pointer
from tests.support.driver_designs import states

FUNCTIONS = ("id", "m", "did", "fd")
CHOICES: dict[str, Any] = {"functions": FUNCTIONS, "target": "xcup"}
SPELT = {"v": "qd", "a": "qdd"}
CALLS = {"rnea": "q v a", "crba": "q", "computeRNEADerivatives": "q v a", "aba": "q v tau"}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate("pendulum", tmp_path_factory.mktemp("plain") / "made", **CHOICES)


@pytest.fixture(scope="module")
def integer(plain: Path) -> Dynamics:
    return Dynamics(plain)


def called(driver: Dynamics, state: dict[str, np.ndarray]) -> dict[str, Any]:
    """The results of all calls, which run together."""
    tickets = [driver.submit(n, *(state[x] for x in own.split())) for n, own in CALLS.items()]
    driver.run()
    return {ticket.call: (ticket.arrays, ticket.overflow) for ticket in tickets}


def assert_same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    for call, (arrays, overflow) in theirs.items():
        np.testing.assert_array_equal(ours[call][1], overflow)
        assert ours[call][0].keys() == arrays.keys()
        for name, array in arrays.items():
            np.testing.assert_array_equal(ours[call][0][name], array)


def test_its_calls_give_the_integer_models_words(plain: Path, integer: Dynamics) -> None:
    """Whether asked for one by one, together, or all at once; of a folder or of a robot."""
    state = states("pendulum", 40, 3)
    named = {SPELT.get(name, name): values for name, values in state.items()}
    expected = evaluate(str(plain / DESIGN), named, "fixed")
    for found in (
        called(integer, state),
        called(Dynamics("pendulum", "integer", accelerator=False, **CHOICES), state),
    ):
        for call, (arrays, overflow) in found.items():
            for name, array in arrays.items():
                np.testing.assert_array_equal(array, expected[name], err_msg=f"{name} of {call}")
            own = np.isin([n.partition("[")[0] for n in expected["overflow_names"]], list(arrays))
            np.testing.assert_array_equal(overflow, expected["overflow"][:, own].any(axis=1))
    everything = integer.everything(state["q"], state["v"], state["a"], state["tau"])
    assert list(everything) == ["tau", "M", "dtau_dq", "dtau_dqd", "qdd"]
    for name, array in everything.items():
        np.testing.assert_array_equal(array, expected[name])
    assert integer.rnea(*(state[x][:0] for x in "qva")).shape == (0, 2)


def test_float64_knows_the_folder(plain: Path, integer: Dynamics) -> None:
    state = states("pendulum", 20, 4)
    q, v, a = (state[x] for x in "qva")
    golden = Dynamics(plain, "golden")
    assert golden.functions == integer.functions == FUNCTIONS
    tau = golden.rnea(q, v, a)
    np.testing.assert_allclose(integer.rnea(q, v, a), tau, atol=2e-3 * np.abs(tau).max())


def test_what_it_has_not_is_refused(plain: Path, integer: Dynamics) -> None:
    q, v, a = np.zeros((3, 2))
    with pytest.raises(InputError, match="rk4 needs the function rk4; the design has id, m, did"):
        integer.rollout(q, v, a, 1e-3, 2)
    with pytest.raises(InputError, match="has been generated; width: cannot be chosen"):
        Dynamics(plain, width=20)
    with pytest.raises(OutputError, match="boards take accelerators, of one function or several"):
        Dynamics(plain, "board", port="udp://10.0.0.2")
    with pytest.raises(InputError, match=r"a\[0\] of state 0 is 1000, outside ±32"):
        integer.rnea(q, v, a + 1e3)


def test_a_word_that_is_too_short_is_told(integer: Dynamics) -> None:
    """Of the results that were asked for, and of no others."""
    q, v = np.zeros((2, 2))
    tau = np.array([0.0, 15.0])
    ticket = integer.submit("aba", q, v, tau)
    assert ticket.overflow
    with pytest.warns(OverflowWarning, match="aba: 1 of 1 states overflowed"):
        ticket.result()
    assert not integer.submit("rnea", q, v, tau).overflow
    saturating = Dynamics("pendulum", "integer", accelerator=False, outside="saturate", **CHOICES)
    assert saturating.submit("rnea", q, v, tau + 1e3).overflow


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("hyq", {"functions": ("id",), "base": "floating", "root": "given"}),
        ("pendulum", {"functions": ("id", "m"), "angles": "sincos", "external_forces": "all"}),
        ("pendulum", {"functions": ("fd",), "inverse": "near", "formulation": "logarithmic"}),
    ],
)
def test_whatever_comes_in(robot: str, choices: dict[str, Any]) -> None:
    """A base's motion, sines and forces, M⁻¹ of a state nearby: near what float64 has."""
    driver, golden = (
        Dynamics(robot, kind, accelerator=False, target="xcup", **choices)
        for kind in ("integer", "golden")
    )
    state = states(robot, 30, 5, **choices)
    (function, *_) = choices["functions"]
    spelt = {own: ours for ours, own in SPELT.items()}
    taken = [state[spelt.get(name, name)] for name in driver._takes(function)]
    rng = np.random.default_rng(6)
    forces = rng.normal(size=(30, 2, 6)) if "external_forces" in choices else None
    ours, theirs = (own.submit(function, *taken, f_ext=forces) for own in (driver, golden))
    assert not ours.overflow.any() and not ours.far.any()
    for name, array in theirs.arrays.items():
        assert np.abs(ours.arrays[name] - array).max() <= 5e-3 * np.abs(array).max()


def library(folder: Path, manifest: dict[str, Any], takes: list[str]) -> ctypes.CDLL:
    """The header's inline functions, to be called from outside."""
    name = manifest["name"]
    lines = [f'#include "{name}.h"', f'#include "{name}.h"']  # once is enough
    arguments = "".join(f"const double *{array}, " for array in takes)
    wrappers = {"encode": (f"int encode({arguments}uint32_t *packet)", [*takes, "packet"])}
    for own in manifest["functions"]:
        arguments = "".join(f", double *{array}" for array in GIVES[own])
        head = f"int decode_{own}(const uint32_t *packet{arguments})"
        wrappers[f"decode_{own}"] = head, ["packet", *GIVES[own]]
    for own, (head, values) in wrappers.items():
        lines += [f"{head};", head, f"{{ return {name}_{own}({', '.join(values)}); }}"]
    (folder / f"{name}.h").write_text(c_header(manifest))
    source, made = folder / "program.c", folder / "program.so"
    source.write_text("\n".join(lines) + "\n")
    assert COMPILER is not None  # the simulation needs one too
    flags = ["-std=c99", *WARNINGS, "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(made), "-lm"], check=True)
    return ctypes.CDLL(str(made))


def test_the_header_says_what_the_shell_of_words_takes(
    plain: Path, integer: Dynamics, tmp_path: Path
) -> None:
    """A task is that of its packets, and of its answer comes what the driver returns."""
    manifest = read_manifest(plain)
    assert (plain / f"{manifest['name']}.h").read_text() == c_header(manifest)
    takes = ["q", "qd", "qdd", "tau"]
    program = library(tmp_path, manifest, takes)
    n, seed = 30, 7
    packets = packets_of(plain, manifest.facts, n, seed)
    state = next(batches(compile_front(front_end(str(plain / DESIGN))), n, seed))
    for k in range(n):
        own = {name: np.ascontiguousarray(state[name][k]) for name in takes}
        packet = np.full(1 + len(packets.tasks[k]), 0xABCD, np.uint32)
        assert program.encode(*map(pointer, own.values()), pointer(packet)) == 0
        np.testing.assert_array_equal(packet, [*packets.tasks[k], 0xABCD])
        answer = np.array(packets.answers[k], np.uint32)
        for function in FUNCTIONS:
            ticket = integer.submit(function, *(own[name] for name in NEEDS[function]))
            found = {name: np.full(x.shape, np.nan) for name, x in ticket.arrays.items()}
            decode = getattr(program, f"decode_{function}")
            assert decode(pointer(answer), *map(pointer, found.values())) == ticket.overflow
            for name, array in ticket.arrays.items():
                np.testing.assert_array_equal(found[name], array)
    flagged = answer.copy()
    flagged[-1] = 1  # that of tau[0] alone
    tau = np.zeros(2)
    assert program.decode_id(pointer(flagged), pointer(tau)) == 1
    assert program.decode_m(pointer(flagged), None) == 0
    zero = np.zeros(2)
    assert program.encode(pointer(zero), None, None, None, pointer(packet)) == 0
    assert packet[2:8].tolist() == [0] * 6
    far = np.array([1e6, np.nan])
    assert program.encode(pointer(zero), pointer(far), None, None, pointer(packet)) == 2


@pytest.mark.rtl
def test_its_hardware_gives_every_bit(plain: Path, integer: Dynamics) -> None:
    """What is asked for at the same states is computed once."""
    rtl, state = Dynamics(plain, "rtl"), states("pendulum", 50, 8)
    assert_same(called(rtl, state), called(integer, state))
    entry = read_manifest(plain).facts
    latency = entry.tasks.functions["id"].latency
    assert rtl.cycles == latency + 49 * entry.tasks.functions["id"].interval
    ticket = rtl.submit("did", *(state[x] for x in "qva"))
    assert (ticket.latency["did"] == latency).all()
    assert integer.cycles is None


@pytest.mark.rtl
@pytest.mark.slow
def test_a_folded_arm_gives_every_bit(tmp_path: Path) -> None:
    """iiwa 14 as it fits an LFE5U-85F."""
    folder = generate("iiwa14", tmp_path / "arm", functions=("id", "m"))
    rtl, integer, state = Dynamics(folder, "rtl"), Dynamics(folder), states("iiwa14", 300, 9)
    for call, arrays in (("rnea", "qva"), ("crba", "q")):
        ours, theirs = (d.submit(call, *(state[x] for x in arrays)) for d in (rtl, integer))
        np.testing.assert_array_equal(ours.overflow, theirs.overflow)
        for name, array in theirs.arrays.items():
            np.testing.assert_array_equal(ours.arrays[name], array)
