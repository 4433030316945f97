"""Checks of the values of options, and of a design's name.

Each takes a value from Python, or text, and returns it in its final type, or raises ValueError that
says what would be right. A name is an identifier of every language that is written.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..robot.xml_lines import did_you_mean, quoted
from .choices import (
    BEST,
    FOLDS,
    FORMULATIONS,
    LARGEST_GAIN,
    LARGEST_OF_JOINTS,
    LARGEST_SHARE,
    MOST_SLOTS,
)
from .functions import ALIASES, CONTROLLERS, FUNCTIONS, GIVEN_BASE, ROLLOUTS


def finite(value: Any) -> float:
    """A number, neither infinite nor NaN."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected a number, not {quoted(str(value))}") from None
    if not math.isfinite(number):
        raise ValueError("must be finite")
    return number


def _numbers(count: int) -> Callable[[Any], tuple[float, ...]]:
    def check(value: Any) -> tuple[float, ...]:
        if isinstance(value, str | int | float) or len(value) != count:
            raise ValueError(f"expected {count} numbers in brackets")
        return tuple(finite(v) for v in value)

    return check


def _positive(value: Any) -> float:
    number = finite(value)
    if number <= 0:
        raise ValueError(f"must be above 0, is {number:g}")
    return number


def _not_negative(value: Any) -> float:
    number = finite(value)
    if number < 0:
        raise ValueError(f"must not be below 0, is {number:g}")
    return number


def _interval(value: Any) -> tuple[float, ...]:
    lower, upper = _numbers(2)(value)
    if not lower < upper:
        raise ValueError(f"lower ({lower:g}) must be below upper ({upper:g})")
    return lower, upper


class OneOf:
    """A check of words, one of those that are ``known``."""

    def __init__(self, *known: str) -> None:
        self.known = known

    def __call__(self, value: Any) -> str:
        if value not in self.known:
            hint = did_you_mean(str(value), self.known, f"; one of {', '.join(self.known)}")
            raise ValueError(f"{quoted(str(value))} is unknown{hint}")
        return str(value)


class OneName(OneOf):
    """The same of names, in which hyphens are as good as underscores."""

    def __call__(self, value: Any) -> str:
        name = str(value).replace("-", "_")
        return super().__call__(name if name in self.known else value)


class OneNumber:
    """A check of whole numbers of ``what``, one of those that are ``known``."""

    def __init__(self, what: str, *known: int) -> None:
        self.what, self.known = what, known

    def __call__(self, value: Any) -> int:
        if finite(value) not in self.known:
            raise ValueError(f"{' or '.join(map(str, self.known))} {self.what}, not {value}")
        return int(finite(value))


def words(value: Any) -> tuple[str, ...]:
    """Names, none of them twice; one alone is as good."""
    several = (value,) if isinstance(value, str) else tuple(value)
    if len(set(several)) < len(several):
        raise ValueError("a name stands twice")
    return tuple(str(word) for word in several)


def base_name(value: Any) -> str | None:
    """A link's name, or `BEST`."""
    return _name(value, f"a link's name, or {BEST}")


def called(value: Any) -> str | None:
    """The name of a design, an identifier."""
    return None if value is None else identifier(value)


def link_name(value: Any) -> str | None:
    """A link's name."""
    return _name(value, "a link's name")


def _name(value: Any, what: str) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError(f"{what}, not {quoted(str(value))}")
    return value


def _function(value: Any) -> str:
    """A function by its name here, or by Pinocchio's."""
    word, known = str(value), (*FUNCTIONS, *ROLLOUTS, *GIVEN_BASE)
    name = ALIASES.get(word, word.replace("-", "_"))
    if name not in known:
        hint = did_you_mean(word, (*known, *ALIASES), f"; one of {', '.join(known)}")
        raise ValueError(f"{quoted(word)} is unknown{hint}")
    return name


def functions(value: Any) -> tuple[str, ...]:
    """Functions by their names; Pinocchio's do too."""
    names = words([_function(word) for word in words(value)])
    if not names:
        raise ValueError(f"name at least one of {', '.join((*FUNCTIONS, *ROLLOUTS))}")
    return names


def real(
    what: str,
    lowest: float,
    highest: float,
    above: bool = False,
    below: bool = False,
    unset: bool = False,
) -> Callable[[Any], float | None]:
    """A check of numbers from ``lowest`` to ``highest``, or ``above`` or ``below`` these, which
    ``what`` says; ``unset``: or None."""

    def check(value: Any) -> float | None:
        if value is None and unset:
            return None
        number = finite(value)
        enough = number > lowest if above else number >= lowest
        if not enough or not (number < highest if below else number <= highest):
            raise ValueError(f"{what}, not {number:g}")
        return number

    return check


def whole(lowest: int, highest: int, what: str, unset: bool = True) -> Callable[[Any], int | None]:
    """A check of whole numbers of ``what`` from ``lowest`` to ``highest``; ``unset``: or None."""

    def check(value: Any) -> int | None:
        if value is None and unset:
            return None
        number = finite(value)
        if number != int(number) or not lowest <= number <= highest:
            raise ValueError(f"a whole number of {what} from {lowest} to {highest}, not {value}")
        return int(number)

    return check


def flag(value: Any) -> bool:
    """True or false."""
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"true or false, not {quoted(str(value))}")
    return str(value).lower() == "true"


def gravity(value: Any) -> tuple[float, ...] | None:
    """A vector (3,)."""
    return None if value is None else _numbers(3)(value)


def arguments(value: Any) -> dict[str, str] | None:
    """``{"tool": 2}`` or ``["tool:=2"]`` → ``{"tool": "2"}``."""
    if value is None:
        return None
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Mapping):
        if wrong := [word for word in value if ":=" not in str(word).lstrip(":=")]:
            raise ValueError(f"NAME:=VALUE, not {quoted(str(wrong[0]))}")
        value = dict(str(word).split(":=", 1) for word in value)
    texts = {True: "true", False: "false"}
    return {str(k): texts[v] if isinstance(v, bool) else str(v) for k, v in value.items()}


def mix(value: Any) -> dict[str, int]:
    """``id=8,dfd=1`` → how many tasks of each function come together."""
    found: dict[str, int] = {}
    for part in str(value).replace(" ", "").split(","):
        name, _, number = part.partition("=")
        name = _function(name)
        if name in found or not number.isdecimal() or not 0 < int(number) <= LARGEST_SHARE:
            raise ValueError(
                f"functions once each, with a number from 1 to {LARGEST_SHARE}, such as "
                f"id=8,dfd=1; not {quoted(str(value))}"
            )
        found[name] = int(number)
    return found


def mix_text(value: Any) -> str | None:
    """The same as text, in one spelling."""
    if value is None:
        return None
    return ",".join(f"{name}={number}" for name, number in mix(value).items())


def by_joint(value: Any) -> dict[str, float]:
    """``3``, ``3,wrist=8`` or ``elbow=2,wrist=8`` → number by joint's name, "" of all others.

    A mapping of the same is as good.
    """
    if isinstance(value, Mapping):
        parts = [(str(name), number) for name, number in value.items()]
    else:
        words = [word.strip().rpartition("=") for word in str(value).split(",")]
        parts = [(name.strip(), number) for name, _, number in words]
    found: dict[str, float] = {}
    for name, number in parts:
        if name in found:
            what = quoted(name) if name else "the number of all joints"
            raise ValueError(f"{what} stands twice; keep one of them")
        if "," in name or "=" in name:
            raise ValueError(f"{quoted(name)} cannot be named here; use limits: joints: of a file")
        found[name] = _positive(number)
    return found


def number_by_joint(value: Any) -> float | str | None:
    """The same as a number, or as text in one spelling."""
    if value is None:
        return None
    found = by_joint(value)
    if list(found) == [""]:
        return found[""]
    return ",".join(
        f"{name}={number!r}" if name else repr(number) for name, number in found.items()
    )


def gain_by_joint(value: Any) -> float | str | None:
    """The same of a controller's gains, which words and doubles have room for."""
    if value is not None and (most := max(by_joint(value).values())) > LARGEST_GAIN:
        raise ValueError(f"a gain up to {LARGEST_GAIN:g}, not {most:g}")
    return number_by_joint(value)


def slots(value: Any) -> int | None:
    """A power of two."""
    number = whole(2, MOST_SLOTS, "tasks")(value)
    if number is not None and number & (number - 1):
        raise ValueError(f"a power of two, not {number}")
    return number


CONTROLLER = OneName(*CONTROLLERS)
# Of what `load` or the search chooses, too.
INTERVAL = whole(1, LARGEST_OF_JOINTS, "cycles")
FOLD, FORMULATION = OneOf(*FOLDS), OneOf(*FORMULATIONS)

LIMIT_CHECKS: dict[str, Callable[[Any], Any]] = {
    "velocity": _positive,
    "acceleration": _positive,
    "position": _interval,
    "force": _positive,
    "moment": _positive,
    "effort": _positive,
    **dict.fromkeys(("payload_mass", "payload_reach", "payload_inertia"), _positive),
    **dict.fromkeys(("contact_force", "contact_moment"), _positive),
}
JOINT_LIMITS = ("velocity", "acceleration", "position", "effort")  # what may differ by joint

# of a joint's rotor, damping and friction
DRIVETRAIN_CHECKS: dict[str, Callable[[Any], Any]] = {
    "armature": _not_negative,
    "damping": _not_negative,
    "friction": _not_negative,
    "friction_width": _positive,
}


LONGEST = 60  # characters of a name that a user gives
_RULE = re.compile(r"[a-z](?:_?[a-z0-9])*")

_C = """
alignas alignof asm auto bool break case catch char class concept const consteval constexpr
constinit continue decltype default delete do double else enum explicit export extern false float
for friend goto if inline int long mutable namespace new noexcept not nullptr operator or private
protected public register reinterpret_cast requires restrict return short signed sizeof static
static_assert static_cast struct switch template this thread_local throw true try typedef typeid
typename union unsigned using virtual void volatile while xor and and_eq bitand bitor compl
const_cast dynamic_cast not_eq or_eq xor_eq co_await co_return co_yield import module final override
char8_t char16_t char32_t wchar_t typeof asm unix linux near far
"""
# Functions and types of the C library and of POSIX, which the linker has by these names alone.
_LIBRARY = """
abort abs accept access acos acosh alarm asin asinh atan atan2 atanh atexit atof atoi atol bind
brk calloc cbrt ceil clock close connect copysign cos cosh ctime div dup environ erf erfc errno
execl execv exit exp exp2 expm1 fabs fclose fdim feof ferror fflush fgetc fgets floor fma fmax fmin
fmod fopen fork fprintf fputc fputs fread free freopen frexp fscanf fseek ftell fwrite gamma getc
getenv gets gmtime hypot ilogb index ioctl isalpha isdigit isinf isnan j0 j1 jn kill labs ldexp
ldiv lgamma link listen localtime log log10 log1p log2 logb longjmp lrint lround main malloc memchr
memcmp memcpy memmove memset mktime mmap modf nan nearbyint nextafter open pause perror pipe poll
pow printf putc puts qsort raise rand read realloc recv remainder remove remquo rename rewind rindex
rint round scalbln scalbn scanf select send setenv setjmp shutdown signal sin sincos sinh size_t
sleep socket sprintf sqrt srand sscanf stat std stderr stdin stdout strcat strchr strcmp strcpy
strlen strncmp strstr strtod strtol system tan tanh tgamma time times trunc ungetc unlink usleep
wait write y0 y1 yn int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
"""
_VERILOG = """
accept_on alias always always_comb always_ff always_latch assert assign assume automatic before
begin bind bins binsof bit buf bufif0 bufif1 byte casex casez cell chandle checker clocking cmos
config constraint context cover covergroup coverpoint cross deassign defparam design disable dist
edge endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface
endmodule endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask
event eventually expect extends first_match force foreach forever forkjoin function generate genvar
global highz0 highz1 iff ifnone ignore_bins illegal_bins implements implies incdir include initial
inout input inside instance integer interconnect interface intersect join join_any join_none large
let liblist library local localparam logic macromodule matches medium modport nand negedge nettype
nexttime nmos nor noshowcancelled notif0 notif1 null output package packed parameter pmos posedge
primitive priority program property protect pull0 pull1 pulldown pullup pulsestyle_ondetect
pulsestyle_onevent pure randc randcase randsequence rcmos real realtime ref reg reject_on release
repeat restrict rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until
s_until_with scalared sequence shortint shortreal showcancelled small soft solve specify specparam
string strong strong0 strong1 super supply0 supply1 sync_accept_on sync_reject_on table tagged task
throughout timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type
unique unique0 until until_with untyped use uwire var vectored wait_order wand weak weak0 weak1
wildcard wire with within wor xnor end
"""
# Targets of CMake, and names that stand in the generated text beside a design's own.
_OTHERS = """
all clean edit_cache example help install package rebuild_cache test crocoddyl_example tb
in out overflow words expected values width fraction limit scaled value result task operands
operand parameters singular workspace buffers stream compute blocks rows kernel kernels together
chosen threaded threads takes gives isa names jacobians vector unread square turned sizes
allocated release locked unlock copy finish launched with_copies in_turn to_columns to_rows in_rows
compute_rows write_rows array_of first_of array_of_host rows_at results
shared columns states inputs outputs repair doubt wide loaded stored broken reciprocal mantissa
exponent scale runs core shell clk rst rbdgen
"""
RESERVED = frozenset(
    " ".join([_C, _LIBRARY, _VERILOG, _OTHERS, *map(str.lower, keyword.kwlist)]).split()
)


def identifier(value: object) -> str:
    """``value``, a name that every language and every file system takes as it is.

    Raises ValueError for what is longer or has other characters, and for a word that a language,
    the C library or the generated text itself has. Capitals are refused, since macros are made of
    them and some file systems do not tell them apart; so are two underscores in a row, which C++
    has for itself.
    """
    if not isinstance(value, str) or not _RULE.fullmatch(value) or len(value) > LONGEST:
        raise ValueError(
            f"up to {LONGEST} lower-case letters, digits and single underscores, a letter first, "
            f"such as left_arm; not {quoted(str(value))}"
        )
    if value in RESERVED or len(value) == 1:
        raise ValueError(f"{value} means something else in generated text; such as my_{value}")
    return value
