"""Imports run one way, and nothing of the machine that wrote a file stays in it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "rbdgen"

# Room: the rooms it may import from. A top-level module that is no key here imports from none, and
# every room may import it.
HARDWARE = {"graph", "passes", "schedule", "accelerator"}
ALLOWED: dict[str, set[str]] = {
    "robot": set(),
    "golden": {"robot"},
    "graph": set(),
    "dynamics": {"robot", "graph"},
    "search": {"graph"},
    "passes": {"graph", "search"},
    "schedule": {"graph", "passes"},
    "accelerator": {"graph", "passes", "schedule"},
    "rtl": HARDWARE,
    "codegen": HARDWARE,
    "simulate": HARDWARE | {"rtl"},
    "estimate": HARDWARE | {"rtl"},
    "explore": {"schedule"},
    "synthesize": HARDWARE | {"rtl"},
}
# These put the rooms together. They see everything, and only each other see them.
TOP = {
    "accelerate",
    "columns",
    "compiler",
    "cutting",
    "hips",
    "fitting",
    "plans",
    "options",
    "parser",
    "paces",
    "samples",
    "api",
    "arguments",
    "cli",
    "commands",
    "demo",
    "bench",
    "cpu",
    "driver",
    "__main__",
}

IGNORED = {"build", "dist", "__pycache__"}
# Spelt so that this file does not contain them.
UNWANTED = ("/" + "work/", "/" + "root/")


def room_of(module: str) -> str:
    """``rbdgen.graph.node`` is in ``graph``; the package itself is ``__init__``."""
    return [*module.split("."), "__init__"][1]


def imports(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and full name of whatever of rbdgen ``source`` imports, wherever in it."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            # `from rbdgen import graph` names a room only in its last part.
            names = [f"{base}.{alias.name}" if base == "rbdgen" else base for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "rbdgen")


def is_arrow_back(importer: str, imported: str) -> bool:
    if importer in TOP or importer == imported:
        return False
    if imported in TOP:
        return True
    free = imported == "__init__" or imported not in ALLOWED
    return not free and imported not in ALLOWED.get(importer, set())


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_arrow_goes_back(path: Path) -> None:
    is_package = path.name == "__init__.py"
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = ".".join(parts[:-1] if is_package else parts)
    room = room_of(module)
    for line, name in imports(path.read_text(), module, is_package):
        assert not is_arrow_back(room, room_of(name)), (
            f"{path.relative_to(ROOT)}:{line}: {room} must not import {name}"
        )


def test_every_room_is_known() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms <= set(ALLOWED) | TOP, "say in ALLOWED what the new room may import"


def test_the_order_has_no_circle() -> None:
    done: set[str] = set()
    while left := set(ALLOWED) - done:
        ready = {room for room in left if ALLOWED[room] <= done}
        assert ready, f"a circle among {sorted(left)}"
        done |= ready


@pytest.mark.parametrize(
    ("importer", "source", "back"),
    [
        ("rbdgen.graph.node", "from rbdgen.robot import Robot", True),
        ("rbdgen.graph.node", "from rbdgen import robot", True),
        ("rbdgen.graph.node", "from ..robot.model import Robot", True),
        ("rbdgen.graph.node", "def f():\n    import rbdgen.passes.lower", True),
        ("rbdgen.dynamics.rnea", "from rbdgen.golden import rnea", True),
        ("rbdgen.rtl.units", "from rbdgen import compiler", True),
        ("rbdgen.rtl.units", "from rbdgen.graph import Op", False),
        ("rbdgen.rtl.units", "from .skid import Skid", False),
        ("rbdgen.simulate.run", "from rbdgen import __version__", False),
        ("rbdgen.compiler", "import rbdgen.robot, rbdgen.rtl.axi", False),
    ],
)
def test_the_check_itself(importer: str, source: str, back: bool) -> None:
    found = [name for _, name in imports(source, importer, is_package=False)]
    assert found
    assert any(is_arrow_back(room_of(importer), room_of(name)) for name in found) == back


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
