"""The command line: exit codes, and one line instead of a traceback whatever is given."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from rbdgen import __version__, api
from rbdgen.api import folder
from rbdgen.cli.main import main
from rbdgen.cli.parser import parser
from rbdgen.compile import flow as compiler
from rbdgen.design.runs import CoreRun
from rbdgen.system.data import data_folder
from tests.support.coordinates import worst_of

COMMANDS = (
    *("info", "states", "evaluate", "generate", "explore", "compare", "simulate", "synthesize"),
    *("demo", "bench", "topology"),
)
BENT = """<robot name="bent">
  <link name="a"/>
  <joint name="j" type="revolut"><parent link="a"/><child link="b"/></joint>
</robot>
"""
STILL = '<robot name="still"><link name="a"/></robot>'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a test, with some inputs in it."""
    monkeypatch.chdir(tmp_path)
    Path("bent.urdf").write_text(BENT)
    Path("still.urdf").write_text(STILL)
    Path("text.txt").write_text("x")
    states = {name: np.zeros((3, 2)) for name in ("q", "qd", "qdd")}
    np.savez("states.npz", **states)
    whole = Path("states.npz").read_bytes()
    Path("cut.npz").write_bytes(whole[:-40])
    Path("flipped.npz").write_bytes(whole[:150] + b"\xff" + whole[151:])
    np.savez("objects.npz", q=np.array([None, {}], dtype=object))
    np.save("one.npy", np.zeros(3))
    return tmp_path


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return api.generate("pendulum", tmp_path_factory.mktemp("cli") / "pendulum")


@pytest.fixture
def design(pendulum: Path, place: Path) -> Path:
    """A copy, to be spoilt."""
    shutil.copytree(pendulum, place / "design")
    return Path("design")


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 1) -> str:
    """The one line with which a command fails, progress aside."""
    assert main(arguments) == status
    out, err = capsys.readouterr()
    assert not out
    (line,) = [line for line in err.splitlines() if not line.startswith("[")]
    assert line.startswith("rbdgen: ")
    return line.removeprefix("rbdgen: ")


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    text = capsys.readouterr().out
    assert f"usage: rbdgen {command}" in text
    assert "--json" in text
    assert "--quiet" in text
    shown = text.partition("\nexamples:\n")[2].splitlines()
    assert 2 <= len(shown) <= 4
    for line in shown:  # each of them is one
        words = line.split("  ")[1].split()
        assert words[:2] == ["rbdgen", command]
        parser().parse_args(words[1:])


def test_version_and_overview(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"rbdgen {__version__}\n"
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    overview = capsys.readouterr().out
    assert all(f"\n    {command}" in overview for command in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "arguments are required: COMMAND"),
        (["info"], "arguments are required: ROBOT"),
        (
            ["info", "pendulum", "--function", "dance"],
            '--function/--functions: "dance" is unknown; one of id',
        ),
        (["info", "pendulum", "--functions", "did,md"], '"md" is unknown; did you mean "m"?'),
        (["info", "pendulum", "--function", "crb"], '"crb" is unknown; did you mean "crba"?'),
        (["info", "pendulum", "--root", "fixed"], '--root: "fixed" is unknown; one of free, given'),
        (["info", "pendulum", "--root", "givn"], '--root: "givn" is unknown; did you mean "given"'),
        (
            ["info", "pendulum", "--target", "up5k"],
            '"up5k" is unknown; one of ecp5-25f, ecp5-45f',
        ),
        (["info", "pendulum", "--rotation", "5"], '--rotation: "5" is unknown; one of 3, 4'),
        (["info", "pendulum", "--width", "40"], "--width: a whole number of bits from 12 to 32"),
        (["info", "pendulum", "--gravity", "0", "0", "g"], '--gravity: a number, not "g"'),
        (["info", "pendulum", "--snap", "1"], "--snap: an angle from 0 to 0.1 rad, not 1"),
        (["info", "pendulum", "hyq"], '"hyq" is one argument too many; see rbdgen info --help'),
        (["genrate", "pendulum"], 'no command "genrate"; did you mean "generate"?'),
        (["dance"], 'no command "dance"; one of info, topology'),
        (["generate", "pendulum", "--fuction", "did"], 'no option "--fuction"; did you mean --fun'),
        (["evaluate", "pendulum", "--inptu=x"], 'no option "--inptu"; did you mean --input?'),
        (["info", "--xyz"], 'no option "--xyz"; see rbdgen info --help'),
        (["--jsn"], 'no option "--jsn"; see rbdgen --help'),
        (["evaluate", "pendulum", "--output", "o.npz"], "arguments are required: --input"),
        (["topology", "hyq", "--turns", "0"], "--turns: at least 1"),
        (["topology", "hyq", "--tolerance", "x"], '--tolerance: a number, not "x"'),
        (["simulate", "design", "--states", "0"], "--states: at least 1"),
        (["simulate", "design", "--seed", "-1"], "--seed: not negative"),
        (["synthesize", "design", "--seed", "0"], "--seed: at least 1"),
        (["synthesize", "design", "--seed", "2", "--seeds", "3"], "not allowed with argument"),
        (["synthesize", "design", "--frequency", "0"], "--frequency: a number above 0"),
        (["synthesize", "design", "--target", "ecp5"], '"ecp5" is unknown; did you mean "ecp5-'),
        (["explore", "hyq", "--ii", "a,b"], '--ii: whole numbers with commas between, not "a,b"'),
    ],
)
def test_usage(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    out, error = capsys.readouterr()
    assert not out
    (line,) = error.splitlines()
    assert line.startswith("rbdgen: ")
    assert message in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "pendulum", "--wid", "16"],
        ["info", "pendulum", "--gravity", "0", "0", "-9.81", "--ii=4"],
    ],
)
def test_what_argparse_takes_is_taken(arguments: list[str]) -> None:
    """Shortened options, negative numbers, values after an equals sign."""
    assert parser().parse_args(arguments).command == "info"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("info .", ".: is a folder"),
        ("info bent.urdf", 'bent.urdf:3: <joint name="j">: unknown joint type "revolut"'),
        ("generate bent.urdf -o out", "bent.urdf:3: "),
        ("info still.urdf", "still: no joint moves, so there is no hardware to make"),
        ("generate still.urdf -o out", "still: no joint moves"),
        ("info pendulum --gravity nan 0 0", "gravity: must be finite"),
        ("info pendulum --function id --function m,id", "functions: a name stands twice"),
        ("info pendulum --root given", "root: given is for a floating base; write base: floating"),
        ("generate pendulum -o text.txt", "text.txt: exists and is no design of rbdgen's"),
        ("generate pendulum -o text.txt/out", "text.txt/out: "),
        ("topology bent.urdf -o bent.svg", "bent.urdf:3: "),
        ("topology still.urdf", "still: no joint moves a link"),
        ("topology still.urdf --base floating", "still: no joint moves a link"),
        ("topology pendulum --tolerance nan", "tolerance: a part of a limb's size, from 0"),
        ("topology pendulum --reroot", "so that ceiling stays the root; only a floating base can"),
        ("topology pendulum -o .", ".: "),
        ("topology pendulum -o text.txt/out.svg", "text.txt/out.svg: "),
    ],
)
def test_one_line(
    arguments: str, message: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in place.iterdir())
    assert message in refused(capsys, *arguments.split())
    assert sorted(path.name for path in place.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("info nowhere.urdf", "nowhere.urdf: no such file; check the path"),
        ("info bnt.urdf", 'bnt.urdf: no such file; did you mean "bent.urdf"?'),
        ("info nobody", "nobody: no such robot; a URDF or YAML file, or one of baxter, gantry"),
        ("info pendulun", 'pendulun: no such robot; did you mean "pendulum"?'),
        ("topology nobody", "nobody: no such robot"),
        ("simulate nowhere", "nowhere: no manifest.json; make a design with: rbdgen generate"),
        ("simulate text.tx", 'text.tx: no manifest.json; did you mean "text.txt"?'),
        ("simulate text.txt", "text.txt: no manifest.json; make a design with: rbdgen generate"),
        ("simulate .", ".: no manifest.json"),
        ("synthesize nowhere", "nowhere: no manifest.json"),
        (
            "evaluate pendulum --input stats.npz --output out.npz",
            'stats.npz: No such file or directory; did you mean "states.npz"?',
        ),
        ("bench nothing", 'no measurement "nothing"; one of cpu'),
        ("bench growht", 'no measurement "growht"; did you mean "growth"?'),
    ],
)
def test_what_is_not_there(
    arguments: str, message: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names that were typed wrong are wrong usage."""
    assert message in refused(capsys, *arguments.split(), status=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "info pendulum --external-forces hand",
            'external_forces: no joint moves a link "hand"',
        ),
        ("info two.yaml", "two.yaml:3: root: ignored is for a floating base"),
    ],
)
def test_one_line_for_choices_in_and_out_of_a_file(
    arguments: str, message: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf = data_folder("robots") / "pendulum.urdf"
    Path("two.yaml").write_text(f"robot: {urdf}\nfunctions: [id, m]\nroot: ignored\n")
    assert message in refused(capsys, *arguments.split())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (".", ".: Is a directory"),
        ("text.txt", "text.txt: no .npz file of numbers, or a damaged one"),
        ("one.npy", "one.npy: no .npz file of numbers"),
        ("cut.npz", "cut.npz: no .npz file of numbers"),
        ("flipped.npz", "flipped.npz: no .npz file of numbers"),
        ("objects.npz", "objects.npz: no .npz file of numbers"),
    ],
)
def test_bad_states(
    source: str, message: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("evaluate", "pendulum", "--input", source, "--output", "out.npz")
    assert refused(capsys, *given).startswith(message)
    assert not Path("out.npz").exists()


def test_unwritable_output(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for output in (".", "text.txt/out.npz"):
        given = ("evaluate", "pendulum", "--input", "states.npz", "--output", output)
        assert refused(capsys, *given).startswith(f"{output}: ")


def test_evaluate(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["evaluate", "pendulum", "--input", "states.npz", "--output", "new/out.npz"]
    assert main([*given, "--model", "fixed"]) == 0
    with np.load("new/out.npz") as results:
        assert set(results) == {"tau", "joint_names", "overflow", "overflow_names"}
        assert results["tau"].shape == (3, 2)
    assert [p.name for p in Path("new").iterdir()] == ["out.npz"]


def test_info_as_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "pendulum", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == api.info("pendulum")
    assert main(["info", "pendulum"]) == 0
    text = capsys.readouterr().out
    assert "nq 2, nv 2, fixed base" in text
    assert all(step["name"] in text for step in api.info("pendulum")["rewrites"])


def test_generate_prints_the_place(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "pendulum", "--width", "12"]) == 0
    assert capsys.readouterr().out == "build/pendulum_id_width12\n"
    assert api.read_manifest(Path("build/pendulum_id_width12"))["width"] == 12


@pytest.mark.parametrize(
    "command",
    [
        "generate pendulum --width 12 -o made",
        "generate pendulum --accelerator --function id --ii 8 -o made",
        "topology pendulum",
        "explore pendulum --no-synthesis --ii 1 --jobs 1 -o made",
        "compare pendulum --function m --ii 1",
        "bench",
    ],
)
def test_json_and_quiet(command: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object on standard output, nothing on standard error."""
    assert main([*command.split(), "--json", "--quiet"]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert not err
    if command.startswith("generate"):
        manifest = api.read_manifest(Path("made"))
        assert report == {"path": "made", **manifest}
        assert "notes" in report
    else:
        assert report


def test_json_with_progress(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "pendulum", "--json", "-o", "made"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["name"] == "pendulum_id"
    assert all(line.startswith("[") for line in err.splitlines())
    assert "Verilog" in err


XACRO = "http://www.ros.org/wiki/xacro"


@pytest.mark.parametrize(
    ("name", "text", "cure"),
    [
        ("arm.xacro", "<xacro:include filename='a'/>", "xacro arm.xacro > arm.urdf"),
        ("arm.urdf.xacro", "<xacro:arm/>", "xacro arm.urdf.xacro > arm.urdf"),
        ("arm.urdf", "<x:arm/>", "xacro arm.urdf > arm_expanded.urdf"),
        ("arm.xacro", "", "xacro arm.xacro > arm.urdf"),
        ("my arm.xacro", '<link name="${a}"/>', "xacro 'my arm.xacro' > 'my arm.urdf'"),
    ],
)
def test_xacro_where_it_is_not_installed(
    name: str,
    text: str,
    cure: str,
    place: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    Path(name).write_text(f'<robot name="arm" xmlns:x="{XACRO}">\n{text}\n</robot>')
    line = refused(capsys, "info", name)
    assert line.startswith(f"{name}:")
    assert " is xacro" in line
    assert line.endswith(f"expand it first: {cure}")


@pytest.mark.parametrize("accelerator", [[], ["--accelerator", "--ii", "4"]])
def test_what_flies_needs_a_floating_base(
    accelerator: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = "still: no joint moves, so there is no hardware to make; "
    assert refused(capsys, "info", "still.urdf", *accelerator).endswith("does: --base floating")
    given = ["--base", "floating", "--root", "given", *accelerator]
    line = refused(capsys, "info", "still.urdf", *given)
    assert line == f"{start}its base does with --root free, not given"


@pytest.mark.parametrize("command", ["simulate", "synthesize"])
@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"name": "pendulum_id"', "\udcff\udcfe"], ids=repr
)
def test_spoilt_manifest(
    command: str, text: str, design: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (design / "manifest.json").write_text(text, errors="surrogateescape")
    message = "design/manifest.json: damaged, or of an older rbdgen; make the design again"
    assert refused(capsys, command, "design").startswith(message)


def test_changed_manifest(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = design / "manifest.json"
    before = file.read_text()
    file.write_text(re.sub(r'"width": \d+', '"width": 33', before, count=1))
    assert file.read_text() != before
    assert refused(capsys, "simulate", "design").startswith("design/manifest.json: damaged")


@pytest.mark.parametrize("file", ["graph.txt", "design.yaml", "robot.urdf", "pendulum_id.v"])
def test_missing_file(file: str, design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (design / file).unlink()
    assert f"design/{file}: " in refused(capsys, "simulate", "design") + ": "


def test_design_of_another_version(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (design / "graph.txt").read_text() + "one node more\n"
    (design / "graph.txt").write_text(text)
    manifest = api.read_manifest(design)
    manifest["files"]["graph.txt"] = hashlib.sha256(text.encode()).hexdigest()
    (design / "manifest.json").write_text(folder.sealed(manifest))
    message = "design: made by another version of rbdgen; generate it again"
    assert refused(capsys, "simulate", "design") == message


@pytest.mark.rtl
@pytest.mark.slow
def test_simulate(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report is right; a manifest that promises another latency is not passed."""
    assert main(["simulate", "design", "--states", "200"]) == 0
    assert "200 states, every bit equal" in capsys.readouterr().out
    report = json.loads((design / "simulation.json").read_text())
    manifest = api.read_manifest(design)
    assert report["bit_exact"] is True
    assert report["latency"] == manifest["latency"]
    assert report["initiation_interval"] == 1
    assert worst_of(CoreRun.from_json(report).coordinates)["tau"] < 1e-3
    promise = {**manifest, "latency": manifest["latency"] - 1}
    (design / "manifest.json").write_text(folder.sealed(promise))
    message = f"design: latency {report['latency']} simulated, {promise['latency']} predicted"
    assert refused(capsys, "simulate", "design", "--states", "20") == message


@pytest.mark.rtl
@pytest.mark.slow
def test_simulate_sees_a_wrong_bit(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = design / "pendulum_id.v"
    text = file.read_text()
    assert "<= a1 * b1;" in text
    file.write_text(text.replace("<= a1 * b1;", "<= -(a1 * b1);", 1))
    given = "simulate", "design", "--states", "200"
    assert refused(capsys, *given).startswith("design/pendulum_id.v: changed since")
    message = refused(capsys, *given, "--trust")
    assert re.match(r"tau\[\d\] of state \d+ at full rate: hardware -?\d+, integer model", message)


HELD = """<robot name="gimbal">
  <link name="a"/>
  <joint name="outer" type="continuous">
    <parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  </joint>
  <link name="b"/>
  <joint name="tilt" type="continuous">
    <parent link="b"/><child link="c"/><axis xyz="1 0 0"/>
  </joint>
  <link name="c"/>
  <joint name="inner" type="continuous">
    <parent link="c"/><child link="d"/><axis xyz="0 0 1"/>
  </joint>
  <link name="d"><inertial>
    <mass value="1"/><inertia ixx="0.3" iyy="0.2" izz="0.1" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
</robot>
"""
LOCKED = """robot: gimbal.urdf
functions: [minv]
limits: {joints: {tilt: {position: [-1.0e-9, 1.0e-9]}}}
"""


def test_singular_mass_matrices_are_refused(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gimbal whose axes fall into one: at the first look, or at the last in all states."""
    Path("gimbal.urdf").write_text(HELD)
    Path("locked.yaml").write_text(LOCKED)
    assert "gimbal: singular mass matrix" in refused(capsys, "generate", "locked.yaml")
    monkeypatch.setattr(compiler, "refuse_singular", lambda design, robot: None)
    line = refused(capsys, "generate", "locked.yaml")
    assert "the reciprocal of region factor 0" in line
    assert "must be positive in all of them" in line


def test_what_is_constant_needs_no_hardware(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("wheel.urdf").write_text(
        '<robot name="wheel"><link name="a"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint><link name="b"><inertial>'
        '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link></robot>"
    )
    line = refused(capsys, "generate", "wheel.urdf", "--function", "m,minv")
    assert line == "wheel: m, minv: the same in every state, so there is no hardware to make"
