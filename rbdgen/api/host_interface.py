"""The packets of a design's tasks: on the shell of words, and on the line to a board."""

from __future__ import annotations

from ..design.facts import BoardLine, TaskFacts
from ..schedule.host_links import UART, UDP
from ..shell.packets import PacketWidths
from ..shell.task_packets import PacketFormat, TaskFunction


def packet_format(tasks: TaskFacts) -> PacketFormat:
    """The packets of the shell of words.

    A function takes the first so many of a task's words and gives the first so many of a result's.
    """
    functions = {
        own.code: TaskFunction(name, len(own.inputs), len(own.outputs))
        for name, own in tasks.functions.items()
    }
    return PacketFormat(functions, tuple(word.width for word in tasks.words))


def line_layouts(tasks: TaskFacts) -> dict[int, PacketWidths]:
    """Code of each function → how its words are packed on the line to a board."""
    widths = tuple(word.width for word in tasks.words)
    return {
        own.code: PacketWidths(widths[: len(own.inputs)], tuple(word.width for word in own.outputs))
        for own in tasks.functions.values()
    }


def board_lines(tasks: TaskFacts) -> dict[str, BoardLine]:
    """Function → bytes of its frames, a call and tasks a second of a serial line and Ethernet."""
    layouts, found = line_layouts(tasks), {}
    for name, function in tasks.functions.items():
        frames = layouts[function.code].line_bytes
        found[name] = BoardLine(
            *frames,
            *(round(1e6 * UART.call(*frames)), round(UART.pace(*frames))),
            *(round(1e6 * UDP.call(*frames)), round(UDP.pace(*frames))),
        )
    return found
