"""Text of others in each language: its own tools read what stands around it, and run none of it."""

from __future__ import annotations

import ast
import random
import shutil
import subprocess
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from rbdgen.system import quoting
from rbdgen.system.quoting import C, printable
from tests.support.icarus import binary

PARTS = (
    *(
        "*/",
        "/*",
        "//",
        '"',
        "'",
        '"""',
        "'''",
        "\\",
        "\n",
        "\r",
        "\0",
        "\x1b[2J",
        "\u202e",
        "\ud800",
    ),
    *(
        "??/",
        "??)",
        "`",
        "`include",
        "$",
        "${x}",
        "$(x)",
        "$x",
        "[exit 7]",
        "{",
        "}",
        "{{ 7 }}",
        "{%",
    ),
    *(
        "]]>",
        "</script>",
        "<script>",
        "-->",
        "<!--",
        "<b>",
        "&lt;",
        "%",
        "%n",
        "#",
        ";",
        "@x@",
        "|",
    ),
    *(
        "](x)",
        "![",
        "[x]: y",
        "http://x",
        "www.x",
        "_",
        "__",
        "*",
        "~~",
        "- ",
        ": ",
        "é",
        "\N{WHALE}",
    ),
    *("x", "7", " ", "(", ")", "endmodule", "error(x)"),
)
AT_EDGES = ("\\", "*/", "/", "*", "??/", "/\\", '"', "-", "_x_", "*x*", "$", "[", "{", "")


def texts() -> list[str]:
    """Each part alone, and some of them in any order."""
    draw = random.Random(3)
    drawn = ["".join(draw.choices(PARTS, k=draw.randint(2, 12))) for _ in range(150)]
    return [*AT_EDGES, *PARTS, *drawn]


def put_out(command: Sequence[str | Path]) -> bytes:
    """What a program prints; it ends well and has no complaints."""
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return done.stdout


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    "command",
    [("gcc", "-std=c99", "-xc"), ("g++", "-std=c++17", "-xc++")],
    ids=["C", "C++"],
)
def test_c(command: tuple[str, ...], tmp_path: Path) -> None:
    lines = ["#include <stdio.h>", "int main(void)", "{"]
    for text in texts():
        lines += [f"    /* {C.plain(text)} */ // {C.plain(text)}"]
        lines += [f'    puts("{C.plain(text)}");']
        lines += [f"    fwrite({C.literal(text)}, 1, {len(utf8(text))}, stdout);", '    puts("");']
    source = tmp_path / "main.c"
    source.write_text("\n".join([*lines, "    return 0;", "}", ""]), "utf-8")
    flags = ("-Wall", "-Wextra", "-Werror", "-trigraphs", "-o", tmp_path / "main")
    assert put_out([*command, *flags, source]) == b""
    said = b"".join(utf8(C.plain(text)) + b"\n" + utf8(text) + b"\n" for text in texts())
    assert put_out([tmp_path / "main"]) == said


def test_verilog(tmp_path: Path) -> None:
    """Icarus prints what stands in its strings, of which NUL is no character."""
    kept = [text for text in texts() if "\0" not in text]
    lines = ["module main;", "initial begin"]
    for text in kept:
        lines += [f"    /* {C.plain(text)} */ // {C.plain(text)}"]
        lines += [
            f'    $display("%0s", "{C.plain(text)}");',
            f'    $display("%0s", {C.literal(text)});',
        ]
    source = tmp_path / "main.v"
    source.write_text("\n".join([*lines, "end", "endmodule", ""]), "utf-8")
    assert put_out([binary("iverilog"), "-g2012", "-o", tmp_path / "main", source]) == b""
    said = [line for text in kept for line in (C.plain(text), text)]
    found = put_out([binary("vvp"), "-n", tmp_path / "main"])
    assert found == b"".join(utf8(line) + b"\n" for line in said)


def test_python() -> None:
    own = quoting.PYTHON
    for text in texts():
        source = f'"""{own.plain(text)}"""\n# {own.plain(text)}\nx = {own.literal(text)}\n'
        body = ast.parse(source).body
        assert [type(node) for node in body] == [ast.Expr, ast.Assign]
        assert ast.literal_eval(body[0].value) == own.plain(text)  # type: ignore[attr-defined]
        assert ast.literal_eval(body[1].value) == text  # type: ignore[attr-defined]


def test_tcl() -> None:
    """In the body of a procedure, where braces count within comments, too."""
    tkinter = pytest.importorskip("tkinter")
    tcl = tkinter.Tcl()
    for text in texts():
        fit = quoting.TCL.plain(text)
        tcl.eval(f'proc said {{}} {{\n    # {fit}\n    return "{fit}"\n}}')
        assert tcl.eval("said") == fit


def test_cmake(tmp_path: Path) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("no CMake")
    own = [quoting.CMAKE.plain(text) for text in texts()]
    lines = [f'# {fit}\nlist(APPEND all "{fit}")' for fit in own]
    place = tmp_path / "CMakeLists.txt"
    place.write_text("\n".join([*lines, 'file(WRITE said "${all}")', ""]), "utf-8")
    subprocess.run([cmake, "-P", place], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "said").read_text("utf-8") == ";".join(own).removeprefix(";")


def test_yaml() -> None:
    for text in texts():
        own = quoting.YAML
        entries = {"plain": own.plain(text), "literal": text}
        source = f'# {own.plain(text)}\nplain: "{own.plain(text)}"\nliteral: {own.literal(text)}\n'
        assert yaml.safe_load(source) == entries


class Tags(HTMLParser):
    """The tags of a page, with what they have; and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", data))


def test_html() -> None:
    for text in texts():
        seen = printable(text, "\n")
        found = Tags(f'<p title="{quoting.markup(text)}">{quoting.markup(text)}</p>')
        assert found.tags == [("p", [("title", seen)])]
        assert found.text == seen


def test_markdown() -> None:
    """Running text stays that, as it is, and what stands in marks of code stays there."""
    markdown = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    for text in texts():
        code, prose = quoting.MARKDOWN.plain(text), quoting.MARKDOWN.literal(text)
        found = Tags(markdown.render(f"|{prose}.\n\n| a |\n|---|\n| `x {code}` {prose} |\n"))
        tags = [tag for tag, _ in found.tags]
        assert tags == ["p", "table", "thead", "tr", "th", "tbody", "tr", "td", "code"], prose
        assert found.text.startswith(f"|{printable(text)}.")


def test_what_is_not_seen() -> None:
    assert printable("a\x1b[31m\u202eb\n\tc\ud800\xa0é") == "a�[31m�b��c��é"
    assert printable(b"\xc3\xa9.urdf".decode("ascii", "surrogateescape")) == "é.urdf"
    assert printable(b"\xc3(".decode("ascii", "surrogateescape")) == "�("
    assert quoting.lines("a\nb\x07") == "a\nb�"
