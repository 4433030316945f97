"""Modules of a folder, and the test files that mirror a module of the package."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
# of the arithmetic core: the tests that are first to see a change, and the others of its rooms
CORE = {
    "graph/fixed": "graph/fixed",
    "graph/reciprocal": "graph/reciprocal",
    "graph/sincos": "graph/sincos",
    "graph/word": "graph/word",
    "rtl/arithmetic": "rtl/units",
    "rtl/multiplier": "rtl/multiplier",
    "rtl/function_units": "rtl/function_units",
    "rtl/units": "rtl/units",
}
_GRAPH = [f"graph/{name}" for name in ("fixed", "fixed_graph", "reciprocal", "sincos", "verify")]
_RTL = [f"rtl/{name}" for name in ("arithmetic", "units", "placed_units", "multiplier")]
OTHERS = {
    "graph": (*_GRAPH, "graph/word", "rtl/function_units"),  # hardware of the same algorithms
    "rtl": (*_RTL, "rtl/function_units"),
}
ROOMS = {"cli": "api"}  # rooms whose tests lie in another folder


def modules_of(place: str) -> list[str]:
    """Names as ``rtl/pipeline``, of a folder or of one file: ``rbdgen/rtl``, ``rtl/pipeline.py``.

    ValueError where there is none.
    """
    inside = place.removeprefix("./").removeprefix("rbdgen").strip("/").removesuffix(".py")
    path = ROOT / "rbdgen" / inside
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    files = [file for file in files if file.is_file() and not file.stem.startswith("__")]
    if not files:
        raise ValueError(f"{place}: no module or folder of rbdgen, as rbdgen/rtl")
    return [file.relative_to(ROOT / "rbdgen").with_suffix("").as_posix() for file in files]


def seen_by(module: str) -> list[str]:
    """The test files that try a module, its own first: of others than the core all of the room.

    ValueError where the room has none.
    """
    room, _, name = module.partition("/")
    if module in CORE:
        names = [CORE[module], *OTHERS[room]]
    else:
        room = ROOMS.get(room, room)
        files = (ROOT / "tests" / room).glob("test_*.py")
        found = sorted(file.stem.removeprefix("test_") for file in files)
        names = [f"{room}/{own}" for own in sorted(found, key=lambda own: own != name)]
    if not names:
        raise ValueError(f"rbdgen/{module}.py: no tests in tests/{room}")
    pairs = (own.split("/") for own in dict.fromkeys(names))
    return [f"tests/{folder}/test_{own}.py" for folder, own in pairs]
