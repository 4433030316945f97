"""A design of many modules in parts that Yosys maps in runs of their own.

As WebAssembly, Yosys has 4 GB of memory, and its time grows faster than a design. Modules that
flattening leaves as they are do not touch each other in the mapping, so that each may have a run,
in which the modules that stand in it are black boxes.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from .partition import partition
from .toolchain import SynthesisError

SIZE = 4_000_000  # bytes of RTLIL that a part is filled up to
TOP = "rbdgen_part"  # of a part: one of each of its modules stands in it

_MODULE = re.compile(r"^(?:attribute .*\n)*module (\S+)\n(?:.*\n)*?end\n", re.MULTILINE)
_CELL = re.compile(r"^  cell (\S+) ", re.MULTILINE)
_PORT = re.compile(r"^  wire .*\b(?:input|output|inout) \d+ .*\n", re.MULTILINE)
_OUTPUT = re.compile(r"^  wire .*\boutput \d+ +(?:signed +)?(\S+)$", re.MULTILINE)
_KEPT = re.compile(r"^attribute \\keep_hierarchy ", re.MULTILINE)


@dataclass(frozen=True)
class MappedPart:
    """Modules that one run maps, named without backslash.

    ``text``: RTLIL of a module `TOP` that they all stand in.
    """

    modules: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class _Module:
    text: str  # with its attributes
    cells: frozenset[str]  # their types
    kept: bool  # flattening leaves it as it is

    @property
    def outputs(self) -> frozenset[str]:
        """The names of its outputs."""
        return frozenset(_OUTPUT.findall(self.text))

    @property
    def black_box(self) -> str:
        head = next(line for line in self.text.splitlines() if line.startswith("module "))
        return f"attribute \\blackbox 1\n{head}\n{''.join(_PORT.findall(self.text))}end\n"


def parts(
    texts: Iterable[str],
    top: str,
    kept: Sequence[str] = (),
    flattened: Sequence[str] = (),
    size: int = SIZE,
    longest: int = SIZE,
) -> list[MappedPart]:
    """The modules of a design that keep their borders, each with all that is flattened into it.

    Args:
        texts: RTLIL; modules of later ones replace those of earlier ones.
        top: the module that all others stand in.
        kept: patterns of names of other modules that keep their borders; so do those marked
            ``keep_hierarchy``.
        flattened: patterns of those among them that do not.
        size: see `SIZE`.
        longest: bytes of a module that is not parted.

    Returns:
        Every such module once; the largest first.

    Raises:
        SynthesisError: no ``top``.
    """
    modules: dict[str, _Module] = {}
    for text in texts:
        modules |= _modules(text, (top, *kept), flattened)
    if f"\\{top}" not in modules:
        raise SynthesisError(f"no module {top} in the sources")
    for name in _standing_in(f"\\{top}", modules):
        if len(modules[name].text) > longest:
            modules |= _parted(name, modules, longest)
    inside = _standing_in(f"\\{top}", modules)

    def runs() -> dict[str, list[str]]:
        marked = {name for name in inside if modules[name].kept}
        return {name: _standing_in(name, modules, marked) for name in marked}

    for own in runs().values():  # one that is long with its datapaths leaves them their borders
        if sum(len(modules[name].text) for name in own) > longest:
            datapaths = [name for name in own[1:] if "." in name]
            modules |= {name: _module(modules[name].text, kept=True) for name in datapaths}
    whole = runs()
    cost = {name: sum(len(modules[m].text) for m in own) for name, own in whole.items()}
    bins: list[list[str]] = []
    for name in sorted(whole, key=lambda name: (-cost[name], name)):
        room = (b for b in bins if cost[name] + sum(cost[m] for m in b) <= size)
        if (found := next(room, None)) is None:
            bins.append([name])
        else:
            found.append(name)
    return [
        MappedPart(tuple(m.removeprefix("\\") for m in b), _text(b, whole, modules)) for b in bins
    ]


def _modules(rtlil: str, kept: Sequence[str], flattened: Sequence[str]) -> dict[str, _Module]:
    found = {}
    for module in _MODULE.finditer(rtlil):
        name, text = module[1], module[0]
        mark, flat = (
            any(fnmatchcase(name.removeprefix("\\"), pattern) for pattern in patterns)
            for patterns in (kept, flattened)
        )
        found[name] = _module(text, (mark and not flat) or bool(_KEPT.search(text)))
    return found


def _module(text: str, kept: bool) -> _Module:
    if kept and not _KEPT.search(text):
        text = f"attribute \\keep_hierarchy 1\n{text}"
    return _Module(text, frozenset(_CELL.findall(text)), kept)


def _parted(name: str, modules: Mapping[str, _Module], size: int) -> dict[str, _Module]:
    """A long module and its pieces, which all keep their borders; none if it cannot be parted."""
    module = modules[name]
    outputs = {cell: modules[cell].outputs for cell in module.cells if cell in modules}
    pieces = partition(name, module.text, outputs, size) or {}
    return {piece: _module(text, kept=True) for piece, text in pieces.items()}


def _standing_in(name: str, modules: Mapping[str, _Module], but: Container[str] = ()) -> list[str]:
    """``name``, then all modules that stand in it, ``but`` these and what stands in them alone."""
    found = [name]
    for each in found:  # grows
        inner = sorted(cell for cell in modules[each].cells if cell in modules)
        found += [cell for cell in inner if cell not in but and cell not in found]
    return found


def _text(
    own: Sequence[str], whole: Mapping[str, Sequence[str]], modules: Mapping[str, _Module]
) -> str:
    """A part's RTLIL: its modules, black boxes for those of other parts, and `TOP`."""
    inside = list(dict.fromkeys(m for name in own for m in whole[name]))
    used = {cell for m in inside for cell in modules[m].cells if cell in modules}
    return "".join(
        [
            *(modules[m].text for m in inside),
            *(modules[m].black_box for m in sorted(used - set(inside))),
            *_standing(own),
        ]
    )


def _standing(own: Sequence[str]) -> Iterator[str]:
    """`TOP`, with one of each module; kept, though nothing is connected."""
    yield f"attribute \\keep_hierarchy 1\nmodule \\{TOP}\n"
    for k, name in enumerate(own):
        yield f"  attribute \\keep 1\n  cell {name} \\part_{k}\n  end\n"
    yield "end\n"
