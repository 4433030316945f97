"""Records: typed data that is written as JSON and read from it; words by name are among them.

Ports, packets, tasks, registers and programs consist of such words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Protocol, Self, Union, get_args, get_origin, get_type_hints

LARGEST = 2**64  # of integers: larger ones are no counts, and no words
WORD_BITS = 32  # of a host's word, in which packets and shells count
_types = cache(get_type_hints)


class NoRecord(ValueError):
    """Data that is not of a record: which entry is missing or wrong, in one line."""


@dataclass(frozen=True)
class Record:
    """Facts as fields. In JSON each is an entry, in their order; last come the properties and
    fields that ``LAST`` names.

    A field that is None by default is left out while it is None. ``from_`` is spelt ``from``.
    """

    LAST: ClassVar[tuple[str, ...]] = ()

    def to_json(self) -> dict[str, Any]:
        """The record in types that ``json`` writes."""
        default = {f.name: f.default for f in fields(self)}
        return {
            name.rstrip("_"): plain(value)
            for name in (*(n for n in default if n not in self.LAST), *self.LAST)
            if (value := getattr(self, name)) is not None or default.get(name, MISSING) is not None
        }

    @classmethod
    def from_json(cls, data: Any, where: str = "") -> Self:
        """The record that ``data`` is; entries that no field is for are passed over.

        ``where`` it stands, with a dot at its end. Raises NoRecord.
        """
        if not isinstance(data, Mapping):
            raise NoRecord(f"{where[:-1] or 'all of it'}: not an object")
        found, kinds = {}, _types(cls)  # type: ignore[arg-type]  # a class can be hashed
        for field in fields(cls):
            key = field.name.rstrip("_")
            if key in data:
                found[field.name] = _read(kinds[field.name], data[key], where + key)
            elif field.default is MISSING:
                raise NoRecord(f"no {where}{key}")
        return cls(**found)


def plain(value: Any) -> Any:
    """``value`` in types that ``json`` writes, whatever records are in it."""
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, Mapping):
        return {key: plain(own) for key, own in value.items()}
    return [plain(own) for own in value] if isinstance(value, list | tuple) else value


def _read(kind: Any, data: Any, where: str) -> Any:
    """``data`` as what a field of type ``kind`` holds."""
    if isinstance(kind, type) and issubclass(kind, Record):
        return kind.from_json(data, f"{where}.")
    inner = get_args(kind)
    if get_origin(kind) in (UnionType, Union):  # the first that fits
        if data is None and NoneType in inner:
            return None
        *first, last = (own for own in inner if own is not NoneType)
        for own in first:
            with suppress(NoRecord):
                return _read(own, data, where)
        return _read(last, data, where)
    if get_origin(kind) is tuple and isinstance(data, list):
        return tuple(_read(inner[0], own, f"{where}[{k}]") for k, own in enumerate(data))
    if get_origin(kind) is Mapping and isinstance(data, Mapping):
        return {key: _read(inner[1], own, f"{where}.{key}") for key, own in data.items()}
    known = {Any: (object,), float: (int, float)}.get(kind, (get_origin(kind) or kind,))
    if not isinstance(data, known) or (isinstance(data, bool) and kind in (int, float)):
        raise NoRecord(
            f"{where}: {str(data)[:40]!r}, which is no {getattr(kind, '__name__', kind)}"
        )
    if isinstance(data, int) and abs(data) >= LARGEST:
        raise NoRecord(f"{where}: a number of {len(str(data))} digits")
    if not _finite(data):  # Python's json reads them
        raise NoRecord(f"{where}: {str(data)[:40]!r}: a number that is not finite")
    return data


def _finite(data: Any) -> bool:
    """Whether all numbers in ``data`` are finite."""
    if isinstance(data, Mapping | list):
        return all(_finite(own) for own in (data.values() if isinstance(data, Mapping) else data))
    return not isinstance(data, float) or math.isfinite(data)


@dataclass(frozen=True)
class NamedWord(Record):
    """A word of ``width`` bits (1 to 64), the last ``fraction`` of them behind the binary point.

    It is in two's complement if it is ``signed``. ValueError for another width.
    """

    name: str
    width: int
    signed: bool = True
    fraction: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.width <= 64:
            raise ValueError(f"word {self.name!r} of {self.width} bits: 1 to 64 possible")

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value."""
        if self.signed:
            return -(1 << (self.width - 1)), (1 << (self.width - 1)) - 1
        return 0, (1 << self.width) - 1


class Scaled(Protocol):
    """A word of ``width`` bits, ``fraction`` of them behind the binary point."""

    @property
    def width(self) -> int: ...

    @property
    def fraction(self) -> int: ...


def named_words(words: Mapping[str, Scaled]) -> tuple[NamedWord, ...]:
    """The words of an interface, by name."""
    return tuple(
        NamedWord(name, word.width, fraction=word.fraction) for name, word in words.items()
    )
