"""What README and docs/ say: links lead somewhere, commands parse, sentences stay short."""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdgen.cli.parser import parser
from rbdgen.design.loading import shipped_robots
from rbdgen_benchmarks.bench.names import MEASUREMENTS
from tests.charts import Chart, charts
from tests.pictures import PICTURES, Picture
from tests.screenshots import WIDTHS, browser_there, measured
from tests.test_imports import FLOOR
from tests.test_pages import IN_ORDER

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CHANGELOG = ROOT / "CHANGELOG.md"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
ROOMS = ROOT / "docs" / "rooms.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [README, ROOT / "CONTRIBUTING.md", *DOCS]
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"`((?:\w+/)+\w+\.\w+)`")
ROOM = re.compile(r"^\| `(\w+)` \| (\d+) \| ", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^    .*$", re.MULTILINE)
CONTINUED = re.compile(r" \\\n *")  # a command on two lines
COMMENT = re.compile(r"^<!--.*?-->$", re.MULTILINE | re.DOTALL)
DISPLAYED = re.compile(r"^\$\$\n(.*?)^\$\$$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"\$([^$\n]+(?:\n[^$\n]+)?)\$")
# What stands for something else in a command.
PLACEHOLDERS = {"COMMAND": "info", "NAME": "bits", "F": "id", "K": "4", "N": "4", "NS": "18"}
# Robots of the reader's, and one that robot_descriptions has.
ROBOTS = (
    "my_robot.urdf",
    "my_robot.urdf.xacro",
    "my_robot.xml",
    "panda_description",
    "build/mine/design.yaml",
    "fitted.yaml",
)
LARGEST = 10_000  # bytes of README
COLUMNS = 110  # of lines that can be broken
LETTERS = 98  # of a line of code, which the site's box has room for
WORDS = 30  # of a sentence
LINES = 300  # of a page
(COMMANDS,) = (a.choices for a in parser()._actions if isinstance(a, argparse._SubParsersAction))

page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)


def anchor(heading: str) -> str:
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(path: Path) -> list[str]:
    text = FENCED.sub("", path.read_text())
    return [anchor(found) for found in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]


def prose(text: str) -> list[str]:
    """Sentences outside code and tables; each item of a list begins one."""
    text = COMMENT.sub("", INDENTED.sub("", DISPLAYED.sub("", FENCED.sub("", text))))
    text = INLINE.sub("formula", text)
    text = re.sub(r"^(\||#|!\[).*$", "", text, flags=re.MULTILINE)
    text = LINK.sub("]", CODE.sub("code", text))
    blocks = re.split(r"\n\s*\n|^[*-] |^\d+\. ", text, flags=re.MULTILINE)
    return [s for block in blocks for s in re.split(r"(?<=[.!?])\s+", " ".join(block.split()))]


def cells(text: str) -> list[str]:
    """Sentences in tables; each item of a list, which ends at a semicolon, is one."""
    rows = re.findall(r"^\|(.*)\|$", COMMENT.sub("", FENCED.sub("", text)), re.MULTILINE)
    plain = [LINK.sub("]", CODE.sub("code", INLINE.sub("formula", row))) for row in rows]
    found = [cell for row in plain for cell in re.split(r"(?<!\\)\|", row)]
    return [s for cell in found for s in re.split(r"(?<=[.!?;])\s+|(?<=[.!?;])?<br>", cell)]


def commands(text: str) -> list[str]:
    """Every command line of rbdgen: on a line of code, or within a text."""
    text = CONTINUED.sub(" ", text)
    fenced = [line for block in SHELL.findall(text) for line in block.splitlines()]
    lines = [line.strip() for line in INDENTED.findall(text) + CODE.findall(text) + fenced]
    return [line.partition(" #")[0] for line in lines if line.startswith("rbdgen ")]


def shown() -> list[str]:
    return sorted({command for path in PAGES for command in commands(path.read_text())})


@page
def test_links(path: Path) -> None:
    for link in LINK.findall(path.read_text()):
        assert "://" not in link, f"{link} leads out of the tree"
        name, _, to = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.is_relative_to(ROOT) and target.is_file(), link
        if to:
            assert to in anchors(target), link


@page
def test_headings_are_said_once(path: Path) -> None:
    found = anchors(path)
    assert len(found) == len(set(found))


@page
def test_sentences_and_lines(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= LINES
    for sentence in [*prose(text), *cells(text)]:
        assert len(sentence.split()) <= WORDS, sentence
    for line in FENCED.sub("", INDENTED.sub("", text)).splitlines():
        assert len(line) <= COLUMNS or line.startswith(("|", "!", "`")), line
        assert not line.startswith("%"), f"to the site a comment, which is left out: {line}"
    blocks = "".join(FENCED.findall(text)) + textwrap.dedent("\n".join(INDENTED.findall(text)))
    for line in blocks.splitlines():
        assert len(line) <= LETTERS, f"wider than its box on the site: {line}"


def test_sentences_of_the_changelog() -> None:
    text = CHANGELOG.read_text()
    assert [s for s in [*prose(text), *cells(text)] if len(s.split()) > WORDS] == []


def test_readme_is_a_page() -> None:
    assert len(README.read_bytes()) <= LARGEST
    assert README.read_text().count("![") == 3


def test_every_page_is_in_one_group() -> None:
    """Each group of the index is a caption of the site's sidebar."""
    _, *groups = re.split(r"^## ", (ROOT / "docs" / "index.md").read_text(), flags=re.MULTILINE)
    listed = [re.findall(r"^\* \[[^]]+\]\(([^)#]+)\)", group, re.MULTILINE) for group in groups]
    others = [path.name for path in DOCS if path.stem != "index"]
    beside = ["../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md"]
    assert sorted(name for group in listed for name in group) == sorted([*beside, *others])
    assert 4 <= len(listed) <= 6
    configured = (ROOT / "docs" / "conf.py").read_text()
    generated = len(re.findall(r'^ *"\* \[', configured, re.MULTILINE))  # among the reference
    named = dict(zip((group.split("\n")[0] for group in groups), map(len, listed), strict=True))
    assert generated and max({**named, "Reference": named["Reference"] + generated}.values()) <= 8


def test_formulas_are_read() -> None:
    """The site's converter leaves what it does not know in the text as it is."""
    converter = pytest.importorskip(
        "latex2mathml.converter", reason="latex2mathml is not installed"
    )
    found = 0
    for path in DOCS:
        text = FENCED.sub("", path.read_text())
        for formula in DISPLAYED.findall(text) + INLINE.findall(
            CODE.sub("", DISPLAYED.sub("", text))
        ):
            written = converter.convert(formula.replace("{aligned}", "{align*}"))
            assert not re.search(r"\\|>&amp;<|>&<", written), f"{path.name}: {formula}"
            found += 1
    assert found > 60


@page
def test_formulas_are_rendered(path: Path) -> None:
    """None is spelt with letters of Unicode in a paragraph."""
    assert [s for s in prose(path.read_text()) if re.search(r"[ᵀΣ]|√\(|\w_\w+ *=", s)] == []


@pytest.mark.parametrize("command", shown())
def test_commands_parse(command: str) -> None:
    words = [PLACEHOLDERS.get(word, word) for word in shlex.split(re.sub(r"[\[\]…]", "", command))]
    if len(words) == 2 and words[1] in COMMANDS:
        return  # names the command, no more
    try:
        options = parser().parse_args(words[1:])
    except SystemExit:
        if "--help" not in words:
            raise
        return
    assert set(getattr(options, "names", ())) <= {*MEASUREMENTS, "all"}
    robot = getattr(options, "robot", "ROBOT")
    assert robot in {"ROBOT", *ROBOTS, *shipped_robots()}


def test_options_exist() -> None:
    """Options that stand alone in a text, too."""
    known = {option for command in COMMANDS.values() for option in command._option_string_actions}
    for path in PAGES:
        for code in CODE.findall(path.read_text()):
            if code.startswith("--"):
                assert code.split()[0] in known, f"{path.name}: {code}"


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for path in PAGES:
        text = path.read_text()
        for target in re.findall(r"(?:^    |`)make (\w+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@page
def test_files_exist(path: Path) -> None:
    """Those of this tree that a text names; those of a design stand in a folder D or in build."""
    for name in PATH.findall(path.read_text()):
        if not name.startswith(("D/", "build/")):
            assert any((ROOT / own / name).is_file() for own in ("", "rbdgen", "rbdgen_host")), name


def test_architecture_prints_what_it_shows() -> None:
    """By the command that the page names, which prints what is different."""
    (command,) = re.findall(r"^    python (-m doctest .+)$", ARCHITECTURE.read_text(), re.MULTILINE)
    words = [sys.executable, *command.split()]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_rooms_are_all_there() -> None:
    """And the floor that it stands on."""
    said = {room: int(floor) for room, floor in ROOM.findall(ROOMS.read_text())}
    assert said == {room: floor for room, floor in FLOOR.items() if not room.startswith("__")}


@pytest.mark.parametrize(
    "picture",
    [p if p.quick else pytest.param(p, marks=pytest.mark.slow) for p in PICTURES],
    ids=lambda picture: picture.name,
)
def test_pictures(picture: Picture, tmp_path: Path) -> None:
    """What the commands draw today; ``make pictures`` after a change that is meant."""
    kept = ROOT / "docs" / picture.name
    assert picture.made(tmp_path) == kept.read_bytes(), "make pictures"
    assert kept.stat().st_size < 100_000


@pytest.mark.parametrize("chart", charts(), ids=lambda chart: chart.name)
def test_charts(chart: Chart) -> None:
    """What their tables say today; ``make pictures`` after a table has changed."""
    assert chart.drawn() == (ROOT / "docs" / chart.name).read_text(), "make pictures"


def test_every_picture_has_its_command() -> None:
    folder = ROOT / "docs" / "pictures"
    drawn = {f"pictures/{path.name}" for path in folder.iterdir()}
    names = {picture.name for picture in (*PICTURES, *charts())}
    screenshots = drawn - names
    assert names < drawn
    assert all(
        f"[{Path(name).name}]({name})" in (ROOT / "docs" / "pictures.md").read_text()
        for name in screenshots
    )
    shown_there = "".join(path.read_text() for path in PAGES if path.stem != "pictures")
    assert all(f"{name})" in shown_there for name in drawn)


PYTHON = [
    (path, code)
    for path in PAGES
    if path.stem not in IN_ORDER
    for code in re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.M | re.S)
]


def test_the_driver_is_shown() -> None:
    assert any("Dynamics(" in code for _, code in PYTHON)


@pytest.mark.parametrize(("path", "code"), PYTHON, ids=lambda of: getattr(of, "name", ""))
def test_python_runs(
    path: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each example by itself, as pasted, on a robot that is made faster."""
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(code.replace('"iiwa14"', '"pendulum"'), found)
    if "Dynamics(" in code:
        assert np.isfinite(found["q"]).all()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as ``make docs`` makes it."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed")
    folder = tmp_path_factory.mktemp("site")
    pages, site = folder / "pages", folder / "site"
    shutil.copytree(ROOT / "docs", pages)
    for name in ("README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE"):
        shutil.copy(ROOT / name, pages)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run([*command, pages, site], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return site


def test_site(site: Path) -> None:
    """The pages become a site without a warning; no link in it is dead."""
    made = {file.name for file in site.glob("*.html")}
    assert {f"{file.stem}.html" for file in PAGES} <= made
    for file in site.glob("*.html"):
        links = re.findall(r'href="([^"#?:]+\.html)(?=["#])', file.read_text())
        dead = [link for link in links if not (site / link).is_file()]
        assert not dead, f"{file.name}: {', '.join(dead)}"
    assert "place-and-route" in (site / "command-synthesize.html").read_text()
    calls = [file.read_text() for file in site.glob("python-rbdgen_host.driver*.html")]
    assert any("computeRNEADerivatives" in text for text in calls)
    written = {file.name: file.read_text().count("\n") for file in site.parent.glob("pages/*.md")}
    assert {name: lines for name, lines in written.items() if lines > LINES} == {}
    assert "#rbdgen.api.generate" in (site / "genindex.html").read_text()
    assert "<math " in (site / "mathematics.html").read_text()


@pytest.mark.slow
@pytest.mark.skipif(not browser_there(), reason="chromium is not installed")
def test_screens(site: Path) -> None:
    """On a desk's screen and a telephone's nothing is cut, and no letter is under 10 px."""
    pages = sorted(path.name for path in site.glob("*.html"))
    seen = measured(site, pages)
    assert len(seen) == len(WIDTHS) * len(pages)
    assert [f"{own.page} at {own.width} px: {fault}" for own in seen for fault in own.faults] == []
