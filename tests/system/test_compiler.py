"""The compilers that $CXX and $NVCC name: a path, blanks in it or not, or several words."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from rbdgen.codegen import nvcc
from rbdgen.system.compiler import NoCompiler, about, build, command_of, find_compiler

SOURCE = {"own.c": "int number(void)\n{\n    return NUMBER;\n}\n"}


@pytest.fixture
def wrapper(tmp_path: Path) -> Path:
    """A program before a compiler, as ccache is, that has a blank in its path."""
    file = tmp_path / "my tools" / "wrap"
    file.parent.mkdir()
    file.write_text('#!/bin/sh\necho "$@" >> "$(dirname "$0")/said"\nexec "$@"\n')
    file.chmod(0o755)
    return file


def test_several_words(wrapper: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXX", f"{shlex.quote(str(wrapper))} g++ -DNUMBER=7")
    assert find_compiler() == (str(wrapper), "g++", "-DNUMBER=7")
    assert "g++" in about(find_compiler())
    (tmp_path / "made").mkdir()
    assert build(SOURCE, tmp_path / "made").is_file()
    assert "g++ -DNUMBER=7 -x c" in (wrapper.parent / "said").read_text()


def test_a_path_with_a_blank(wrapper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, find in (("CXX", find_compiler), ("NVCC", nvcc.find_nvcc)):
        monkeypatch.setenv(name, str(wrapper))
        assert find() == (str(wrapper),)
        monkeypatch.setenv(name, f"'{wrapper}' -v")
        assert find() == (str(wrapper), "-v")


@pytest.mark.parametrize("text", ["no-such-program -O2", "'g++", "  ", "a b c", "/etc/passwd"])
def test_what_names_no_program(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command_of(text) == ()
    monkeypatch.setenv("CXX", text)
    with pytest.raises(NoCompiler, match=r"^no C\+\+ compiler .*, which \$CXX names: install"):
        find_compiler()
    monkeypatch.setenv("NVCC", text)
    with pytest.raises(nvcc.NoNvcc, match=r"^no nvcc .*, which \$NVCC names$"):
        nvcc.find_nvcc()
