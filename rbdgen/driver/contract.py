"""What a host must know of an accelerator: the words that its functions take and give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..accelerator.routes import CODES, place
from ..accelerator.stages import TAG, Accelerator
from ..graph.fixed import Format
from ..rtl.station import FUNCTION

UNREAD = "u"  # an operand of that kind: the function does not read the word, which is the others'


@dataclass(frozen=True)
class Operand:
    """An input of a function, as ``qdd[2]``, and the word that it comes in, as ``u[2]``."""

    name: str
    word: str
    format: Format


@dataclass(frozen=True)
class Function:
    """Code, operands in the order of a task's words, outputs in that of a result's."""

    code: int
    inputs: tuple[Operand, ...]
    outputs: Mapping[str, Format]


@dataclass(frozen=True)
class Contract:
    """Functions by name; the width of each word of a task; how many words a result has, how wide.

    A function takes the first so many of a task's words and gives the first so many of a result's.
    """

    functions: Mapping[str, Function]
    words: Mapping[str, int]
    result_words: int
    result_width: int

    @classmethod
    def of(cls, accelerator: Accelerator) -> Contract:
        functions = {
            name: Function(
                CODES[name],
                tuple(
                    Operand(operand, place(operand), _plain(word))
                    for operand, word in accelerator.formats[name].items()
                ),
                {o: _plain(word) for o, word in accelerator.result_formats[name].items()},
            )
            for name in accelerator.functions
        }
        results = [own.outputs for own in functions.values()]
        width = max(word.width for outputs in results for word in outputs.values())
        return cls(functions, dict(accelerator.words), max(map(len, results)), width)

    @classmethod
    def from_manifest(cls, entry: Mapping[str, Any]) -> Contract:
        """From ``manifest["accelerator"]``."""
        functions = {
            name: Function(
                own["code"],
                tuple(
                    Operand(i["name"], i["word"], Format(i["width"], i["fraction"]))
                    for i in own["inputs"]
                ),
                {o["name"]: Format(o["width"], o["fraction"]) for o in own["outputs"]},
            )
            for name, own in entry["functions"].items()
        }
        words = {word["name"]: word["width"] for word in entry["words"]}
        return cls(functions, words, entry["result"]["words"], entry["result"]["width"])

    @property
    def ports(self) -> dict[str, Any]:
        """The streams of the core, as a manifest describes them."""

        def unsigned(name: str, width: int) -> dict[str, Any]:
            return {"name": name, "width": width, "signed": False}

        head = [unsigned("function", FUNCTION), unsigned("tag", TAG)]
        words = [{"name": name, "width": width} for name, width in self.words.items()]
        results = [
            {"name": f"w[{k}]", "width": self.result_width} for k in range(self.result_words)
        ]
        return {
            "input": {"fields": head + words},
            "output": {"fields": [*head, unsigned("overflow", 1), *results]},
        }


def _plain(word: Format) -> Format:
    return Format(word.width, word.fraction)
