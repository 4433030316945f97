"""XML as elements that know their line, so that every complaint can point at the file.

Only what a robot description needs: tags, attributes, children, and text up to its first tag.
Namespaces are not resolved; a tag keeps its prefix (``drake:joint`` is not ``joint``).
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from xml.parsers import expat

from ..system.files import read_regular
from ..system.quoting import printable
from .model import NotFound, RobotError

MAX_BYTES = 16 * 2**20  # the largest real URDFs are near 1 MiB; a mistaken mesh or log is larger
CLOSE = 0.75  # `difflib`'s ratio of a name and what was meant, from which initials may differ
MAX_DEPTH = 100  # <robot>/<link>/<inertial>/<origin> is 4
MAX_CONTENT = 100  # characters; the texts that are read are numbers


@dataclass(eq=False)
class Element:
    """One XML element: ``line`` is that of its ``<``, counted from 1."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    content: str = ""  # the text before its first child, ``MAX_CONTENT`` characters at most

    def __iter__(self) -> Iterator[Element]:
        return iter(self.children)

    def all(self, tag: str) -> list[Element]:
        """Direct children of that tag, in file order; deeper ones belong to someone else."""
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str) -> Element | None:
        """The direct child of that tag, or None; two are refused, as one would be ignored."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(
                f"a second <{tag}> (the first is on line {found[0].line}); keep one of them"
            )
        return found[0] if found else None

    def below(self, into: Callable[[Element], bool] = lambda _: True) -> Iterator[Element]:
        """The elements in it, in file order; ``into`` says which of them, with all in them."""
        for child in self.children:
            if into(child):
                yield child
                yield from child.below(into)

    @property
    def root(self) -> Element:
        element = self
        while element.parent is not None:
            element = element.parent
        return element

    @property
    def label(self) -> str:
        """``<joint name="elbow">``; a nameless one says what it belongs to, two levels up."""
        parts: list[str] = []
        element: Element | None = self
        while element is not None and len(parts) < 3:
            named = "name" in element.attributes
            if parts and element.parent is None:
                break  # everything is of <robot>
            name = f' name="{one_line(element.attributes["name"])}"' if named else ""
            parts.append(f"<{one_line(element.tag)}{name}>")
            element = None if named else element.parent
        return " of ".join(parts)

    def text(self, message: str) -> str:
        """``message`` with this element's file, line and label before it."""
        return f"{self.file}:{self.line}: {self.label}: {message}"

    def error(self, message: str) -> RobotError:
        return RobotError(self.text(message))


def one_line(value: str, width: int = 60) -> str:
    """``value`` fit for a one-line message: printable and not too long."""
    shown = printable(value)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def quoted(value: str) -> str:
    return f'"{one_line(value)}"'


def did_you_mean(wrong: str, known: Iterable[str], otherwise: str = "", cutoff: float = 0.6) -> str:
    """``; did you mean "right"?`` where a known name is close, else ``otherwise``."""
    match = closest(wrong, known, cutoff)
    return f"; did you mean {quoted(match)}?" if match else otherwise


def closest(wrong: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that was probably meant: one that begins with another letter has to be
    `CLOSE`."""
    names = list(known)
    near = get_close_matches(wrong, names, n=len(names) or 1, cutoff=cutoff)
    sure = get_close_matches(wrong, near, n=len(near) or 1, cutoff=max(cutoff, CLOSE))
    return next((name for name in near if name in sure or name[:1] == wrong[:1]), None)


def neighbour(path: str | Path, otherwise: str = "") -> str:
    """``; did you mean "right"?`` where the folder has a name like that, else ``otherwise``."""
    try:
        names = [file.name for file in Path(path).parent.iterdir()]
    except (OSError, ValueError):
        return otherwise
    return did_you_mean(Path(path).name, names, otherwise)


def read_bytes(path: str | Path, most: int = MAX_BYTES) -> bytes:
    """The content of an ordinary file, or one clear line (RobotError) about why there is none."""
    shown = one_line(str(path), 200)
    try:
        return read_regular(path, most)
    except FileNotFoundError:
        hint = neighbour(path, "; check the path")
        raise NotFound(f"{shown}: no such file{hint}", path) from None
    except IsADirectoryError:
        raise RobotError(f"{shown}: is a folder; name a file in it") from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise RobotError(f"{shown}: {error.strerror}; that is no robot description") from None
        raise RobotError(f"{shown}: cannot be read: {error.strerror}") from None


def parse_xml(source: str | bytes, file: str) -> Element:
    """The root element of an XML text. Entities and external DTDs are refused, never expanded."""
    # Bytes carry their own encoding declaration; in a str that declaration is void.
    encoding = "utf-8" if isinstance(source, str) else None
    data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    # A blank line before `<?xml` is common and harmless, but expat refuses it.
    body = data.lstrip(b" \t\r\n")
    if not body:
        raise RobotError(f"{file}:1: the file is empty; expected <robot name=...>")
    skipped = data[: len(data) - len(body)].count(b"\n")
    builder = _Builder(file, skipped, encoding)
    try:
        builder.parser.Parse(body, True)
    except RobotError:
        raise
    except expat.ExpatError as error:
        raise builder.explain(error, body) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know
        raise RobotError(f"{file}:{1 + skipped}: {error}; save the file as UTF-8") from None
    assert builder.root is not None  # expat raises on a text without an element
    return builder.root


class _Builder:
    """expat's callbacks, growing the tree of elements."""

    def __init__(self, file: str, skipped: int, encoding: str | None) -> None:
        self.file = file
        self.skipped = skipped
        self.root: Element | None = None
        self.open: list[Element] = []
        self.parser = expat.ParserCreate(encoding)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity
        self.parser.StartDoctypeDeclHandler = self.doctype

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber + self.skipped

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        parent = self.open[-1] if self.open else None
        element = Element(tag, attributes, self.file, self.line, parent)
        if parent is None:
            self.root = element
        elif len(self.open) >= MAX_DEPTH:
            raise element.error(f"more than {MAX_DEPTH} elements deep; URDF needs 4")
        else:
            parent.children.append(element)
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        element = self.open[-1]
        if not element.children and len(element.content) < MAX_CONTENT:
            element.content = (element.content + text).lstrip()[:MAX_CONTENT]

    def entity(self, name: str, *_: object) -> None:
        raise RobotError(
            f"{self.file}:{self.line}: <!ENTITY {one_line(name)}>: entities are not expanded; "
            "write their text where they are used"
        )

    def doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        if system or public:
            raise RobotError(
                f"{self.file}:{self.line}: <!DOCTYPE {one_line(name)}>: an external DTD is not "
                "loaded; remove this line"
            )

    def explain(self, error: expat.ExpatError, body: bytes) -> RobotError:
        line = error.lineno + self.skipped
        if (dashes := _dashes(body, self.parser.ErrorByteIndex)) is not None:
            line = 1 + body.count(b"\n", 0, dashes) + self.skipped
            return RobotError(
                f"{self.file}:{line}: two dashes (--) inside a comment, which XML forbids; "
                "remove one of them"
            )
        start = f"{self.file}:{line}: not well-formed XML: {expat.ErrorString(error.code)}"
        if not _is_unicode(body):
            return RobotError(f"{start}; the file is not UTF-8: save it as UTF-8")
        if self.root is None:
            return RobotError(f"{start}; expected a URDF file, which starts with <robot name=...>")
        if self.open:
            opened = self.open[-1]
            return RobotError(
                f"{start} at column {error.offset + 1}, inside {opened.label} "
                f"of line {opened.line}: close it, or mend what stands before this point"
            )
        return RobotError(f"{start}; nothing may follow the root element's end")


def _dashes(body: bytes, at: int) -> int | None:
    """Where ``--`` stands inside a comment, if the error at ``at`` is of that.

    A parser stops at the first fault, so that all comments before that one are right.
    """
    start = body.rfind(b"<!--", 0, at + 1)
    dashes = body.find(b"--", start + len(b"<!--"))
    inside = start >= 0 and dashes >= 0 and at <= dashes + 3
    return dashes if inside and body[dashes + 2 : dashes + 3] != b">" else None


def _is_unicode(body: bytes) -> bool:
    try:
        body.decode("utf-16" if body[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    except UnicodeDecodeError:
        return False
    return True
