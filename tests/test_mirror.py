"""Every module of the package has tests, which a change of it is tried by."""

from __future__ import annotations

import pytest

from tests.support.mirror import CORE, ROOT, modules_of, seen_by


def test_modules_have_tests() -> None:
    for module in modules_of("rbdgen"):
        room, _, name = module.partition("/")
        files, own = seen_by(module), f"tests/{room}/test_{name}.py"
        assert files and all((ROOT / file).is_file() for file in files), module
        assert len(set(files)) == len(files)
        assert module in CORE or files[0] == own or not (ROOT / own).is_file()


@pytest.mark.parametrize("place", ["rbdgen/schedule/", "schedule", "./rbdgen/schedule"])
def test_a_folder_has_its_modules(place: str) -> None:
    found = modules_of(place)
    assert "schedule/fold" in found and all(own.startswith("schedule/") for own in found)


def test_a_file_is_one_module() -> None:
    for place in ("rbdgen/shell/axi.py", "shell/axi", "shell/axi.py"):
        assert modules_of(place) == ["shell/axi"]
    assert set(CORE) <= set(modules_of("."))


@pytest.mark.parametrize("place", ["rbdgen/nosuch", "tests", "rbdgen/__main__.py"])
def test_what_is_no_module_is_refused(place: str) -> None:
    with pytest.raises(ValueError, match="no module or folder of rbdgen"):
        modules_of(place)
