"""The rule for a design's name, which is an identifier of every language that is written."""

from __future__ import annotations

import keyword
import re

from ..robot.xml_lines import quoted

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
allocated release copy finish launched bytes through_columns with_copies in_turn to_columns to_rows
shared columns states inputs outputs repair doubt wide loaded stored broken reciprocal mantissa
exponent scale runs core shell clk rst
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
