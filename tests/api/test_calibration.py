"""Words for another robot of a model: its file, the RTL with them, and who is refused."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen import golden
from rbdgen.api import calibrate, generate, read_manifest, simulate
from rbdgen.api.calibration import read_calibration
from rbdgen.api.evaluation import to_words
from rbdgen.api.folder import InputError, OutputError, UsageError
from rbdgen.api.integer_model import IntegerModel, word_program
from rbdgen.api.stimulus import within_limits
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.parameters import Parameters
from rbdgen.design.coordinates import worst_share
from rbdgen.design.loading import load
from rbdgen.robot.model import RobotError
from rbdgen.system.compiler import find_compiler
from tests.support.another_robot import another


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("pendulum"))


def made(place: Path, name: str = "pendulum", **choices: Any) -> Path:
    return generate(name, place / "design", parameters="registers", fit=False, **choices)


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("pendulum", {}),
        pytest.param("pendulum", {"functions": ("did", "m"), "ii": 4}, marks=pytest.mark.slow),
        pytest.param("gantry", {"functions": ("fd",)}, marks=pytest.mark.slow),
        pytest.param("gantry", {"style": "latency"}, marks=pytest.mark.slow),
        pytest.param("iiwa14", {}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_every_bit_of_two_robots_through_one_design(
    name: str, choices: dict[str, Any], tmp_path: Path
) -> None:
    place = made(tmp_path, name, **choices)
    own = simulate(place, 300)
    limit = 3 * worst_share(own.facts.coordinates)
    words = []
    for seed in (1, 2):
        file = tmp_path / f"{seed}.json"
        words.append(calibrate(place, str(another(name, tmp_path, seed)), file).words)
        report = simulate(place, 300, calibration=file)
        assert report["bit_exact"]
        assert report["overflows"] == 0
        assert report["calibration"] == own_name(place)
        assert worst_share(report.facts.coordinates) < limit
    assert words[0] != words[1]


def own_name(place: Path) -> str:
    return str(read_manifest(place)["robot"])


def test_the_robot_itself_has_the_words_that_are_there_from_the_start(pendulum: Path) -> None:
    ports = read_manifest(pendulum)["ports"]["registers"]
    found = calibrate(pendulum, "pendulum")
    assert [own.word for own in found.registers] == [r["initial"] for r in ports["registers"]]
    assert [own.name for own in found.registers] == [r["name"] for r in ports["registers"]]
    numbers = read_manifest(pendulum)["numbers"]
    np.testing.assert_allclose(found.numbers, [n["value"] for n in numbers], rtol=1e-12)
    assert any("within 5 %" in note for note in read_manifest(pendulum)["notes"])


def test_files(pendulum: Path, tmp_path: Path) -> None:
    """As JSON, which is read again, and as a table that a C compiler takes."""
    robot = str(another("pendulum", tmp_path, 3))
    found = calibrate(pendulum, robot, tmp_path / "words.json")
    assert read_calibration(tmp_path / "words.json") == found
    calibrate(pendulum, robot, tmp_path / "words.h")
    (tmp_path / "main.cpp").write_text(
        '#include <cstdio>\n#include "words.h"\nint main() {\n'
        "  for (auto word : pendulum_registers_no_fit_id_registers)\n"
        '    std::printf("%d\\n", word);\n}\n'
    )
    program = tmp_path / "main"
    subprocess.run([*find_compiler(), tmp_path / "main.cpp", "-o", program], check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert [int(line) for line in printed.split()] == list(found.words.values())


def test_who_is_refused(pendulum: Path, tmp_path: Path) -> None:
    far = another("pendulum", tmp_path, 4, 0.3)
    one_line(RobotError, rf"{far}: .*joint .*beyond .* larger --tolerance", pendulum, str(far))
    one_line(RobotError, "gantry: .*5 joints", pendulum, "gantry")
    with pytest.raises(UsageError, match=r"a calibration is a \.json"):
        calibrate(pendulum, "pendulum", tmp_path / "words.txt")
    constants = generate("pendulum", tmp_path / "constants", fit=False)
    one_line(
        OutputError, "constants of this design; .*--parameters registers", constants, "pendulum"
    )


def test_words_of_another_design_are_refused(pendulum: Path, tmp_path: Path) -> None:
    file = tmp_path / "words.json"
    calibrate(pendulum, "pendulum", file)
    data = json.loads(file.read_text())
    data["registers"][0]["fraction"] += 1
    file.write_text(json.dumps(data))
    with pytest.raises(InputError, match="another design than that in"):
        simulate(pendulum, 10, calibration=file)
    file.write_text("{}")
    with pytest.raises(InputError, match=r"no calibration: no design; rbdgen calibrate"):
        simulate(pendulum, 10, calibration=file)
    with pytest.raises(InputError, match="No such file"):
        simulate(pendulum, 10, calibration=tmp_path / "none.json")


@pytest.mark.parametrize(
    ("language", "name", "choices"),
    [
        ("c", "pendulum", {}),
        ("hls", "pendulum", {}),
        pytest.param("hls", "gantry", {"functions": ("fd",)}, marks=pytest.mark.slow),
        pytest.param("hls", "iiwa14", {"ii": 4}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_programs_in_words_take_those_of_another_robot(
    language: str, name: str, choices: dict[str, Any], tmp_path: Path
) -> None:
    """Every bit and flag of the integer model that holds them, its own robot's and others'."""
    choices = {"parameters": "registers", "fit": False, **choices}
    place = generate(name, tmp_path / "made", to=language, **choices)
    core = compile_front(front_end(name, **choices))
    facts, held = read_manifest(place)["facts"], core.front.parameters
    (*_, listed) = facts.get("parameters", ()) or facts["functions"][0]["inputs"]
    assert held is not None
    assert listed["name"] == held.names[-1]
    files = [another(name, tmp_path, seed) for seed in (9, 10)]
    words = [calibrate(place, str(file)).words for file in files]
    assert words[0] != words[1]
    state = within_limits(core, 200, 3)
    outputs = []
    for own in ({}, *words):
        core = replace(core, held={key: np.array(word) for key, word in own.items()})
        given = to_words(core, state)
        found, flags = word_program(core, language, print)(given)
        expected, raised = IntegerModel(core)(given)
        assert all(np.array_equal(found[name], expected[name]) for name in expected)
        assert np.array_equal(flags, raised)
        outputs.append(np.stack(list(found.values())))
    assert not np.array_equal(outputs[0], outputs[1])
    assert not np.array_equal(outputs[1], outputs[2])


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("c", "behind the words of each task"),
        ("hls", "In the order of pendulum_registers_no_fit_id_parameters;"),
        ("cpp", "The array parameter, for each state."),
        ("cuda", "The array parameter, for all states of a call."),
    ],
)
def test_the_table_says_where_it_goes(language: str, said: str, tmp_path: Path) -> None:
    """And a changed folder, another structure, a design of constants are refused."""
    place = generate("pendulum", tmp_path / "made", to=language, parameters="registers", fit=False)
    calibrate(place, "pendulum", tmp_path / "words.h")
    text = (tmp_path / "words.h").read_text()
    assert said in text
    assert "parameter_write" not in text
    one_line(RobotError, "gantry: .*5 joints", place, "gantry")
    assert "rbdgen calibrate FOLDER" in (place / "README.md").read_text()
    (place / "README.md").write_text("")
    one_line(OutputError, r"README\.md: changed since it was generated", place, "pendulum")
    constants = generate("pendulum", tmp_path / "constants", to=language, fit=False)
    one_line(OutputError, "constants of this design; ", constants, "pendulum")


@pytest.mark.parametrize(("language", "code"), [("cpp", "inlined"), ("cuda", "loops")])
def test_programs_in_real_numbers_are_given_those(language: str, code: str, tmp_path: Path) -> None:
    """Compiled with the table of another robot, they give what its golden model does."""
    choices = {"functions": ("fd",), "parameters": "registers", "code": code, "name": "swing"}
    place = generate("pendulum", tmp_path / "made", to=language, **choices)
    own = calibrate(place, "pendulum", tmp_path / "own.json")
    facts = read_manifest(place)["facts"]["parameters"]
    assert [word.to_json() for word in own.registers] == facts
    assert json.loads((tmp_path / "own.json").read_text())["registers"] == facts
    other = another("pendulum", tmp_path, 9)
    found = calibrate(place, str(other), tmp_path / "other.h")
    assert found.numbers != own.numbers
    each = len(found.registers) if language == "cpp" else 0
    (tmp_path / "main.cpp").write_text(
        f"""#include <cstdio>
#include <vector>
#include "made/swing.h"
#include "other.h"
int main()
{{
    const double q[] = {{0.3, -0.5, 0.1, 0.2}}, qd[] = {{1, 2, -1, 0.5}}, tau[] = {{3, 4, -2, 1}};
    std::vector<double> parameter;
    for (int k = 0; k < 1 + !!{each}; ++k)
        for (double own : swing_registers)
            parameter.push_back(own);
    double qdd[4];
    const long long failed = swing(2, q, qd, tau, parameter.data(), qdd);
    std::printf("%lld %.17g %.17g %.17g %.17g\\n", failed, qdd[0], qdd[1], qdd[2], qdd[3]);
}}
"""
    )
    sources = [str(file) for file in (*place.folder.glob("*.cpp"), *place.folder.glob("*.cu"))]
    command = [*find_compiler(), "-O1", "-DSWING_HOST", "-I", str(tmp_path), "-x", "c++"]
    program = tmp_path / "main"
    command += [str(tmp_path / "main.cpp"), *(own for own in sources if "crocoddyl" not in own)]
    subprocess.run([*command, "-o", program, "-lstdc++", "-lm"], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    failed, *qdd = (float(own) for own in printed.split())
    state = ([[0.3, -0.5], [0.1, 0.2]], [[1.0, 2.0], [-1.0, 0.5]], [[3.0, 4.0], [-2.0, 1.0]])
    expected = golden.aba(load(str(other))[1], *map(np.array, state))
    assert failed == 0
    np.testing.assert_allclose(qdd, expected.ravel(), rtol=1e-9)


@pytest.mark.parametrize("language", ["cpp", "hls"])
def test_another_version_s_folder_is_refused(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that makes other registers of the same design."""
    place = generate("pendulum", tmp_path / "made", to=language, parameters="registers", fit=False)
    monkeypatch.setattr(Parameters, "nominal", {"parameter[0]": 7.25})
    one_line(OutputError, "made by another version of rbdgen; generate it again", place, "pendulum")


def test_an_accelerator_in_c_has_none() -> None:
    with pytest.raises(
        UsageError, match="parameters: an accelerator's registers are for verilog, not for c; "
    ):
        generate("pendulum", to="c", accelerator=True, parameters="registers")


def one_line(error: type[Exception], why: str, place: Path, robot: str) -> None:
    with pytest.raises(error, match=why) as found:
        calibrate(place, robot)
    assert "\n" not in str(found.value)


@pytest.mark.rtl
@pytest.mark.slow
def test_an_accelerator_for_two_robots(tmp_path: Path) -> None:
    """Every stage has registers of its own, all in one chain: every bit, every function."""
    functions = ("id", "m", "did", "fd", "dfd")
    place = made(tmp_path, functions=functions, accelerator=True, ii=4)
    own, file = simulate(place, 200), tmp_path / "words.json"
    words = calibrate(place, str(another("pendulum", tmp_path, 1)), file).words
    ports = read_manifest(place)["ports"]["registers"]
    assert [r["name"] for r in ports["registers"]] == list(words)
    assert len({name.partition(".")[0] for name in words}) > 1
    report = simulate(place, 200, calibration=file)
    assert report["bit_exact"]
    for function in functions:
        before, now = (run.facts.functions[function].coordinates for run in (own, report))
        assert worst_share(now) < 4 * worst_share(before)
