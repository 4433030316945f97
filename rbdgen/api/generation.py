"""A robot's functions as folders: of Verilog, with manifest and diagram, or of another language."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, overload

from ..design.choices import LANGUAGES, VERILOG
from ..design.effects import refused
from ..design.loading import refuse_unknown
from ..robot.xml_lines import did_you_mean
from ..system import names_from
from ..system.quoting import Progress
from .compilation import Compilation, wishes_of
from .folder import UsageError, refuse_foreign, write_folder
from .output_paths import check_design_place, check_place, default_place
from .results import Generated

if TYPE_CHECKING:
    from ..design.options import DesignChoices

# Verilog needs packages that programs do not.
writer = names_from(
    __package__, {".verilog": ("verilog",), ".programs": ("cpp", "c", "cuda", "hls")}
)


@overload
def generate(
    robot: str,
    output: str | Path | None = None,
    progress: Progress = lambda _: None,
    force: bool = False,
    to: str = VERILOG,
    latency: float | str | None = None,
    rate: float | str | None = None,
    power: float | str | None = None,
    **choices: Unpack[DesignChoices],
) -> Generated: ...


@overload
def generate(
    robot: str,
    output: str | Path | None = None,
    progress: Progress = lambda _: None,
    force: bool = False,
    *,
    to: Sequence[str],
    latency: float | str | None = None,
    rate: float | str | None = None,
    power: float | str | None = None,
    **choices: Unpack[DesignChoices],
) -> tuple[Generated, ...]: ...


def generate(
    robot: str,
    output: str | Path | None = None,
    progress: Progress = lambda _: None,
    force: bool = False,
    to: str | Sequence[str] = VERILOG,
    latency: float | str | None = None,
    rate: float | str | None = None,
    power: float | str | None = None,
    **choices: Unpack[DesignChoices],
) -> Generated | tuple[Generated, ...]:
    """Compile ``robot``, write the design's folder, and return its path.

    ``to`` is one of `LANGUAGES` or several, each written into a folder of its own. The default
    ``output`` is build/NAME, with the language appended unless it is Verilog. For several
    languages, ``output`` contains a folder for each. A folder contains the robot and the design
    that it was made from. The same input gives the same bytes. A folder of another robot or of
    other choices is replaced only with ``force``, and a folder that rbdgen did not make never is:
    OutputError before any work.

    ``latency`` [s, or as "3us"], ``rate`` [tasks/s, or as "1MHz"] and ``power`` [W, or as "200mW"]
    select the smallest Verilog design that should reach them. Its part is the smallest ECP5 unless
    ``choices`` or the design file have a target. If no design reaches them, the nearest is written,
    and the manifest's ``wanted`` says so.
    """
    refuse_unknown(choices, generate)
    wishes = wishes_of(latency, rate, power)
    languages = [to] if isinstance(to, str) else list(dict.fromkeys(to))
    _refuse_unwritten(languages)
    if wishes and languages != [VERILOG]:
        raise UsageError("latency, rate, power: are of Verilog; leave out --to")
    made = Compilation(robot, progress, choices, programs=True)
    name = made.robot.name
    if line := refused(made.design, to=languages):
        raise UsageError(line)
    if wishes:
        # the design, and so whether it may replace another, is not known yet
        place = Path(output or Path("build") / name)
        check_place(place, folder=True)
        if output is not None:
            refuse_foreign(place)
        made.choose(wishes)
    design = made.design
    default = default_place(robot, name, design, made.choices)
    places = {}
    for language in languages:
        if output is None:
            behind = "" if language == VERILOG else f"_{language}"
            place = default.with_name(default.name + behind)
        else:
            place = Path(output) / language if not isinstance(to, str) else Path(output)
        check_design_place(place, name, design, force, language)
        places[language] = place
    for language, place in places.items():
        write_folder(place, writer(language)(made))
    found = tuple(Generated(place) for place in places.values())
    return found[0] if isinstance(to, str) else found


def _refuse_unwritten(languages: Sequence[str]) -> None:
    """UsageError for a language that there is not."""
    if not languages:
        raise UsageError(f"to: name at least one of {', '.join(LANGUAGES)}")
    for language in languages:
        if language not in LANGUAGES:
            hint = did_you_mean(str(language), LANGUAGES, f"; one of {', '.join(LANGUAGES)}")
            raise UsageError(f"to: no language {language!r}{hint}")
