"""The packets of a multifunction accelerator, in software.

One core computes several functions, so a packet says which. Words have 32 bits, little-endian. A
*beat* of a link carries ``lanes`` words, the first in its lowest bits; TLAST is set on the last
beat of a packet. Lanes of the last beat that no word needs are zero in a response and ignored in a
task. There is no TKEEP: a packet is as long as its function says.

=========  ============================================  ==========================================
word       task                                          response
=========  ============================================  ==========================================
0          bits 0-7 function, 8-15 options (zero),       bits 0-7 function, 8-15 status, 16-31 tag
           16-31 tag
1, 2, ...  the function's ``words_in`` operands,         the function's ``words_out`` results,
           sign-extended                                 sign-extended; none if the status is an
                                                         error
=========  ============================================  ==========================================

The tag is the host's: the response brings it back, and responses may come in another order than
their tasks. Bits of an operand above its field are ignored by the hardware; `encode_task` refuses
what does not fit. Every packet gets one response. If several things are wrong with it the status
names the first of: the function, the options, the length. (A length can only be judged for a known
function, and options that are not understood might have changed it.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from ..system.records import WORD_BITS

FORMAT_VERSION = 1
"""The version of the packet format; the shell's identity registers report it."""

MAX_FUNCTIONS = 256
LANES = (1, 2, 4, 8, 16)


class Status(IntEnum):
    """Byte 1 of a response. From `UNKNOWN_FUNCTION` on it is an error without words."""

    OK = 0
    OVERFLOW = 1  # a result, but some value in it overflowed
    UNKNOWN_FUNCTION = 2
    TOO_SHORT = 3
    TOO_LONG = 4
    BAD_OPTIONS = 5

    @property
    def is_error(self) -> bool:
        return self >= Status.UNKNOWN_FUNCTION


@dataclass(frozen=True)
class TaskFunction:
    """A function by its code: name, and the number of words of its operands and results."""

    name: str
    words_in: int
    words_out: int


@dataclass(frozen=True)
class Response:
    """A response as the host sees it; ``words`` are signed, and empty for an error."""

    function: int
    status: Status
    tag: int
    words: tuple[int, ...] = ()


@dataclass(frozen=True)
class PacketFormat:
    """The packets of one design; the hardware agrees with the methods bit for bit.

    ``functions`` maps a code to its function, ``widths`` are those of the operands, in bits, in
    the order of their words, ``lanes`` is the number of words in a beat. Raises ValueError for
    what cannot be built.
    """

    functions: Mapping[int, TaskFunction]
    widths: tuple[int, ...]
    lanes: int = 1

    def __post_init__(self) -> None:
        if self.lanes not in LANES:
            raise ValueError(f"lanes = {self.lanes} is none of {', '.join(map(str, LANES))}")
        if not self.functions:
            raise ValueError("a design without functions")
        if len({function.name for function in self.functions.values()}) < len(self.functions):
            raise ValueError("two functions of one name")
        for width in self.widths:
            if not 0 < width <= WORD_BITS:
                raise ValueError(f"an operand of {width} bits does not fit a word of {WORD_BITS}")
        for code, function in self.functions.items():
            if not 0 <= code < MAX_FUNCTIONS:
                raise ValueError(
                    f"function {function.name}: code {code} is not below {MAX_FUNCTIONS}"
                )
            if not 0 <= function.words_in <= len(self.widths) or function.words_out < 0:
                raise ValueError(
                    f"function {function.name}: {function.words_in} words in and "
                    f"{function.words_out} out, with {len(self.widths)} operands in all"
                )

    def task_beats(self, code: int) -> int:
        """Beats of a task of function ``code``."""
        return self._beats(self.functions[code].words_in)

    def response_beats(self, code: int) -> int:
        """Beats of a result of function ``code``; an error response has one."""
        return self._beats(self.functions[code].words_out)

    def encode_task(self, code: int, tag: int, words: Sequence[int]) -> list[int]:
        """The beats of one task, as unsigned ``tdata``.

        Raises ValueError for an unknown function, a tag beyond 16 bits, another number of words
        than the function takes, and a word that does not fit its operand.
        """
        function = self._function(code)
        if len(words) != function.words_in:
            raise ValueError(f"{function.name} takes {function.words_in} words, not {len(words)}")
        for k, (word, width) in enumerate(zip(words, self.widths, strict=False)):
            if not -(1 << width - 1) <= word < 1 << width - 1:
                raise ValueError(f"{function.name}: word {k} = {word} does not fit {width} bits")
        return self._pack([_header(code, 0, tag), *words])

    def judge_task(self, beats: Sequence[int]) -> Status:
        """The shell's verdict on a packet of at least one beat: `Status.OK` or the error."""
        function, options, _ = _split(beats[0])
        if function not in self.functions:
            return Status.UNKNOWN_FUNCTION
        if options:
            return Status.BAD_OPTIONS
        if len(beats) == self.task_beats(function):
            return Status.OK
        return Status.TOO_SHORT if len(beats) < self.task_beats(function) else Status.TOO_LONG

    def refuse(self, beats: Sequence[int]) -> list[int]:
        """The beats of the error response to a malformed packet."""
        function, _, tag = _split(beats[0])
        return self.encode_response(Response(function, self.judge_task(beats), tag))

    def encode_response(self, response: Response) -> list[int]:
        """The beats of one response; ValueError if it is none the shell could send."""
        given, due = len(response.words), self._words_due(response.function, response.status)
        if given != due:
            raise ValueError(f"a response of {due} words was given {given}")
        for word in response.words:
            if not -(1 << WORD_BITS - 1) <= word < 1 << WORD_BITS - 1:
                raise ValueError(f"result {word} does not fit {WORD_BITS} bits")
        header = _header(response.function, response.status, response.tag)
        return self._pack([header, *response.words])

    def decode_response(self, beats: Sequence[int]) -> Response:
        """The inverse of `encode_response`; ValueError for what the shell does not send."""
        if not beats:
            raise ValueError("a response of no beats")
        function, code, tag = _split(beats[0])
        try:
            status = Status(code)
        except ValueError:
            raise ValueError(f"a response of unknown status {code}") from None
        due = self._words_due(function, status)
        if len(beats) != self._beats(due):
            raise ValueError(f"a response of {self._beats(due)} beats came with {len(beats)}")
        mask = (1 << WORD_BITS) - 1
        words = [beat >> WORD_BITS * k & mask for beat in beats for k in range(self.lanes)]
        if any(words[1 + due :]):
            raise ValueError("a response with words in lanes that have none")
        sign = 1 << WORD_BITS - 1
        results = tuple((word ^ sign) - sign for word in words[1 : 1 + due])
        return Response(function, status, tag, results)

    def _function(self, code: int) -> TaskFunction:
        if code not in self.functions:
            known = ", ".join(f"{k} {f.name}" for k, f in sorted(self.functions.items()))
            raise ValueError(f"function {code} is none of {known}")
        return self.functions[code]

    def _words_due(self, code: int, status: Status) -> int:
        return 0 if status.is_error else self._function(code).words_out

    def _beats(self, words: int) -> int:
        return -(-(1 + words) // self.lanes)

    def _pack(self, words: Sequence[int]) -> list[int]:
        bits = [word & (1 << WORD_BITS) - 1 for word in words]
        beats = (bits[at : at + self.lanes] for at in range(0, len(bits), self.lanes))
        return [sum(word << WORD_BITS * k for k, word in enumerate(beat)) for beat in beats]


def _header(function: int, options_or_status: int, tag: int) -> int:
    if not 0 <= function < 1 << 8:
        raise ValueError(f"function {function} does not fit 8 bits")
    if not 0 <= tag < 1 << 16:
        raise ValueError(f"tag {tag} does not fit 16 bits")
    return function | options_or_status << 8 | tag << 16


def _split(beat: int) -> tuple[int, int, int]:
    """Function, options or status, and tag of a packet's first beat."""
    return beat & 0xFF, beat >> 8 & 0xFF, beat >> 16 & 0xFFFF
