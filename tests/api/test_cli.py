"""The command line: exit codes, and one line instead of a traceback whatever is given."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
import pytest

from rbdgen import __version__, api
from rbdgen.cli.main import main
from rbdgen.cli.parser import parser
from rbdgen.system.templates import data_folder
from tests.support.command_line import refused

COMMANDS = (
    *("info", "states", "evaluate", "generate", "explore", "compare", "simulate", "synthesize"),
    *("demo", "bench", "topology"),
)


def commands() -> list[str]:
    (found,) = (a.choices for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return [*found]


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    text = capsys.readouterr().out
    assert f"usage: rbdgen {command}" in text
    assert "--json" in text
    assert "--quiet" in text
    shown = text.partition("\nexamples:\n")[2].partition("\n\n")[0].splitlines()
    for line in shown:  # each of them is one
        words = line.split("  ")[1].split()
        assert words[:2] == ["rbdgen", command]
        parser().parse_args(words[1:])


@pytest.mark.parametrize("command", commands())
def test_a_first_help_fits_a_screen(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And names every option that the whole help explains."""

    def told(*words: str) -> str:
        with pytest.raises(SystemExit, match="0"):
            main([command, *words])
        return capsys.readouterr().out

    first, whole = told("--help"), told("--help", "all")
    assert whole == told("--help=all")
    assert first.count("(") == first.count(")")
    assert len(first.splitlines()) <= 48
    shown = first.partition("\nexamples:\n")[2].partition("\n\n")[0].splitlines()
    assert 3 <= len(shown) <= 8
    options = {*re.findall(r"^  (?:-\w \w+, )?(--[\w-]+)", whole, re.MULTILINE)}
    assert all(re.search(rf"{option}\b", first) for option in options)
    if first != whole:
        assert first.endswith(f"\nrbdgen {command} --help all explains every option.\n")


@pytest.mark.parametrize("words", [["--to", "cpp", "--help", "all"], ["-h", "--to=cpp", "all"]])
def test_help_of_a_language(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Options that act in it, and of no others; of several languages those of either."""

    def told(*words: str) -> str:
        with pytest.raises(SystemExit, match="0"):
            main(["generate", *words])
        return capsys.readouterr().out

    text = told(*words)
    assert "\n  --float-error X" in text
    assert "\nthe robot:\n" in text
    for other in ("--width", "--accelerator", "an accelerator:", "words:", "of --to verilog"):
        assert f"\n{other}" not in text
        assert f"\n  {other}" not in text
    both = told("--to", "cpp,hls", "--help", "all")
    assert "\n  --width BITS" in both
    assert "\n  --accelerator" not in both
    every = told("--help", "all")
    assert "\nwords:\n  of --to verilog, c and hls\n" in every
    assert "\nan accelerator:\n  of --to verilog and c\n" in every
    assert "\nthe robot:\n  --base" in every


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
        ([], "arguments are required: COMMAND; see rbdgen --help"),
        (["help"], 'no command "help"; did you mean "--help"?'),
        (["info", "pendulum", "--gravity=-9.81"], "--gravity: expects 3 values: X Y Z"),
        (["info", "pendulum", "--payload"], "--payload: expects a value: LINK"),
        (["board", "--link"], "--link: expects a value: {uart,udp,spi}"),
        (["info", "pendulum", "--link", "foo"], 'no option "--link"; see rbdgen info --help'),
        (["info"], "arguments are required: ROBOT; see rbdgen info --help"),
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
        (["simulate", "D", "--waves"], "--waves moved: rbdgen waves DIR"),
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
        ("info .", ".: is a folder; name a file in it, as bent.urdf"),
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
        ("simulate nowhere", "nowhere: no such folder; make a design with: rbdgen generate"),
        ("simulate text.tx", 'text.tx: no such folder; did you mean "text.txt"?'),
        ("simulate text.txt", "text.txt: is a file; name the folder that generate wrote"),
        ("simulate .", ".: no manifest.json; make a design with: rbdgen generate"),
        ("synthesize nowhere", "nowhere: no such folder"),
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
