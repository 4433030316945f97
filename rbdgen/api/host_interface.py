"""The host interface of an accelerator: operands and results, and what they take on a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..board.packets import Layout
from ..design.facts import AcceleratorFacts, BoardLine
from ..estimate.links import UART, UDP
from ..graph.fixed import Format
from ..rtl import task_packets
from ..rtl.task_packets import PacketFormat


@dataclass(frozen=True)
class Operand:
    """An input of a function, as ``qdd[2]``, and the word that it comes in, as ``u[2]``.

    ``turns``: of an angle [rad], after how many it means the same again; None where never.
    """

    name: str
    word: str
    format: Format
    turns: int | None = None


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
    def of(cls, facts: AcceleratorFacts) -> Contract:
        """The contract that a manifest's facts of an accelerator make."""
        functions = {
            name: Function(
                own.code,
                tuple(
                    Operand(i.name, i.word, Format(i.width, i.fraction), i.turns)
                    for i in own.inputs
                ),
                {o.name: Format(o.width, o.fraction) for o in own.outputs},
            )
            for name, own in facts.functions.items()
        }
        words = {word.name: word.width for word in facts.words}
        return cls(functions, words, facts.result.words, facts.result.width)

    @property
    def packets(self) -> PacketFormat:
        """The packets of the shell of words."""
        functions = {
            own.code: task_packets.Function(name, len(own.inputs), len(own.outputs))
            for name, own in self.functions.items()
        }
        return PacketFormat(functions, tuple(self.words.values()))

    @property
    def layouts(self) -> dict[int, Layout]:
        """Code of each function → how its words are packed on the line to a board."""
        widths = tuple(self.words.values())
        return {
            own.code: Layout(
                widths[: len(own.inputs)], tuple(word.width for word in own.outputs.values())
            )
            for own in self.functions.values()
        }


def board_lines(facts: AcceleratorFacts) -> dict[str, BoardLine]:
    """Function → bytes of its frames, a call and tasks a second of a serial line and Ethernet."""
    contract = Contract.of(facts)
    layouts = contract.layouts
    found = {}
    for name, function in contract.functions.items():
        frames = layouts[function.code].line_bytes
        found[name] = BoardLine(
            *frames,
            *(round(1e6 * UART.call(*frames)), round(UART.pace(*frames))),
            *(round(1e6 * UDP.call(*frames)), round(UDP.pace(*frames))),
        )
    return found
