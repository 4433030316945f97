"""Imports run one way, and nothing of the machine that wrote a file stays in it."""

import ast
import subprocess
import sys
from collections.abc import Container, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = (ROOT / "rbdgen", ROOT / "rbdgen_host", ROOT / "rbdgen_benchmarks")

# A floor may import from those that stand above it in this list, and a room from itself. In a room,
# files may import each other in any order that has no circle.
FLOORS = (
    {"__init__", "graph", "system"},
    {"codegen", "passes", "robot"},
    {"design", "golden", "words"},
    {"dynamics", "schedule", "tools"},
    {"tasks"},
    {"compile", "draw", "rtl"},
    {"shell"},
    {"api"},
    {"cli"},
)
# Of the packages beside it: above ``api``, and known to ``cli`` alone.
BESIDE = ({"driver", "parallel"}, {"compare"}, {"bench"}, {"reproduce"})
DOORS = ("rbdgen.__main__", "rbdgen.driver", "rbdgen.parallel")  # files beside the rooms: above all
NAMES = {package.name for package in PACKAGES}
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
ORDER = (*FLOORS[:-1], *BESIDE, FLOORS[-1])
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}

# Runs a command, and fails if that imported a benchmark.
COMMAND = """
import sys
from rbdgen.cli.main import main
main(sys.argv[1:])
assert not [name for name in sys.modules if name.startswith("rbdgen_benchmarks")]
"""

IGNORED = {"build", "dist", "__pycache__"}
# Spelt so that this file does not contain them.
UNWANTED = ("/" + "work/", "/" + "root/")


def room_of(module: str) -> str:
    """``rbdgen.graph.node`` is in ``graph``; a package itself is ``__init__``."""
    return "cli" if module in DOORS else [*module.split("."), "__init__"][1]


def imports(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and full name of whatever of the packages ``source`` imports, wherever in it.

    ``from rbdgen.graph import node`` is `rbdgen.graph.node`, a file or a name in one.
    """
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] in NAMES)


def modules() -> dict[str, Path]:
    """Every file of the packages, by its module's name."""
    found = {}
    for path in sorted(path for package in PACKAGES for path in package.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if path.name == "__init__.py" else parts)] = path
    return found


def file_of(name: str, known: Container[str]) -> str:
    """The module that a name which is imported stands in."""
    return name if name in known else name.rpartition(".")[0]


def faults(sources: Mapping[str, tuple[str, bool]]) -> list[str]:
    """Imports of files from a room on a floor that is not below, and circles of files.

    ``sources``: module → its text, and whether it is a package's ``__init__``.
    """
    found = []
    arrows: dict[str, set[str]] = {module: set() for module in sources}
    for module, (text, is_package) in sources.items():
        room = room_of(module)
        for line, name in imports(text, module, is_package):
            to = room_of(name) if room_of(name) in RANK else "__init__"
            if to != room and RANK[to] >= RANK[room]:
                found.append(f"{module}:{line}: {room} must not import {name}")
            # a package's face names its files, and they may name others of theirs
            if (other := file_of(name, sources)) != module:
                arrows[module].add(other)
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        found.append("a circle: " + " -> ".join(error.args[1]))
    return found


def test_imports_run_one_way() -> None:
    sources = {
        module: (path.read_text(), path.name == "__init__.py") for module, path in modules().items()
    }
    assert {room_of(module) for module in sources} == set(RANK), "say in FLOORS where a room is"
    assert not faults(sources)


# What a command of a core alone does without: each of these is imported where it is chosen.
CHOSEN = (
    *("rbdgen.compile.accelerator", "rbdgen.compile.formulation", "rbdgen.compile.holding"),
    *("rbdgen.compile.parameters", "rbdgen.draw.accelerator", "rbdgen.draw.plan_pictures"),
    *("rbdgen.dynamics.contacts", "rbdgen.dynamics.logarithmic", "rbdgen.dynamics.program"),
    *("rbdgen.dynamics.second", "rbdgen.dynamics.stepping", "rbdgen.golden.derivatives"),
    *("rbdgen.robot.limbs", "rbdgen.robot.xacro_files", "rbdgen.rtl.accelerator"),
    *("rbdgen.rtl.folded", "rbdgen.rtl.rounds", "rbdgen.schedule.chained"),
    *("rbdgen.schedule.modulo", "rbdgen.shell.task_shell", "rbdgen.words.program_words"),
)


def at_start(source: str) -> str:
    """The part of a text that runs when it is imported: no functions, nothing for types alone."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [ast.Pass()]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    return ast.unparse(tree)


def test_what_is_chosen_is_imported_where_it_is_chosen() -> None:
    known, seen = modules(), set[str]()
    left = ["rbdgen.cli.main", "rbdgen.cli.commands", "rbdgen.api.generation", "rbdgen.api.verilog"]
    left += ["rbdgen.rtl.round_trip", "rbdgen.draw.diagram"]  # the choices of a pipeline
    while left:
        module = left.pop()
        if module in seen:
            continue
        seen.add(module)
        path = known[module]
        found = imports(at_start(path.read_text()), module, path.name == "__init__.py")
        left += [own for _, name in found if (own := file_of(name, known)) in known]
    assert set(CHOSEN) <= known.keys(), "a file has another name"
    assert not seen.intersection(CHOSEN)


def test_names_that_are_imported_late_are_no_files() -> None:
    """Once a file is imported, its package has it as an attribute, and asks nobody for the name."""
    clashes = []
    for path in (path for path in modules().values() if path.name == "__init__.py"):
        body = ast.parse(path.read_text()).body
        late = [node for block in body if isinstance(block, ast.If) for node in block.body]
        names = {a.name for node in late if isinstance(node, ast.ImportFrom) for a in node.names}
        clashes += [f"{path}: {name}" for name in names if (path.parent / f"{name}.py").exists()]
    assert not clashes


def test_each_room_is_in_one_package() -> None:
    rooms = [{path.parent.name for path in package.glob("*/*.py")} for package in PACKAGES]
    assert all(rooms) and not set.intersection(*rooms)


def test_commands_start_without_the_benchmarks() -> None:
    """The command line alone knows them, and imports them for the commands that run them."""
    command = [sys.executable, "-c", COMMAND, "robots"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("importer", "source", "fault"),
    [
        ("rbdgen.graph.node", "from rbdgen.robot import Robot", "rbdgen.robot.Robot"),
        ("rbdgen.graph.node", "from rbdgen import robot", "rbdgen.robot"),
        ("rbdgen.graph.node", "from ..robot.model import Robot", "rbdgen.robot.model.Robot"),
        ("rbdgen.graph.node", "def f():\n    import rbdgen.passes.lower", "rbdgen.passes.lower"),
        ("rbdgen.dynamics.rnea", "from rbdgen.schedule import fold", "rbdgen.schedule.fold"),
        ("rbdgen.rtl.units", "from rbdgen import compile", "rbdgen.compile"),
        ("rbdgen.compile.flow", "from ..rtl.units import UNIT", "rbdgen.rtl.units.UNIT"),
        ("rbdgen.rtl.units", "from .other import a", "a circle"),
        ("rbdgen.api.info", "from rbdgen_benchmarks.bench import cpu", "rbdgen_benchmarks.bench"),
        ("rbdgen_benchmarks.bench.cpu", "from rbdgen.cli import main", "rbdgen.cli.main"),
        ("rbdgen_benchmarks.bench.cpu", "from ..reproduce import times", "reproduce.times"),
        ("rbdgen_benchmarks.bench.cpu", "from rbdgen_host import driver", None),
        ("rbdgen_benchmarks.reproduce.times", "from ..bench.cpu import cpu", None),
        ("rbdgen.cli.commands", "from rbdgen_benchmarks.bench.demo import demo", None),
        ("rbdgen.rtl.units", "from rbdgen.graph import Op", None),
        ("rbdgen.rtl.units", "from .skid import Skid", None),
        ("rbdgen.tools.run", "from rbdgen import __version__", None),
        ("rbdgen.rtl.units", "import rbdgen.robot, rbdgen.tasks.stages", None),
    ],
)
def test_the_check_itself(importer: str, source: str, fault: str | None) -> None:
    others = {"rbdgen.rtl.other": ("from .units import b", False)}
    found = faults({importer: (source, False), **others})
    assert [f for f in found if fault in f] if fault else not found


def files() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        hidden = parts[0].startswith(".") and parts[0] != ".ci" and len(parts) > 1
        hidden |= parts[0] == ".git"  # a file, in a second working tree
        if path.is_file() and not hidden and not IGNORED.intersection(parts):
            yield path


def test_no_path_of_this_machine_ships() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word}"
        for path in files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        for word in UNWANTED
        if word in line
    ]
    assert not found, "\n".join(found)
