"""A robot's functions as folders: of Verilog, with manifest and diagram, or of another language."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from ..design.choices import CODES, FLOAT_ERROR, LANGUAGES, OF_ACCELERATORS, OF_LOOPS, OF_NUMBERS
from ..design.design import Design, has_registers
from ..design.loading import load, refuse_unknown
from ..robot.xml_lines import did_you_mean
from ..system.lazy import names_from
from ..system.progress import Progress
from .compilation import Made
from .folder import UsageError, write_folder
from .output_paths import VERILOG, check_design_place, default_place
from .results import Generated

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
    **choices: Any,
) -> Generated: ...


@overload
def generate(
    robot: str,
    output: str | Path | None = None,
    progress: Progress = lambda _: None,
    force: bool = False,
    *,
    to: Sequence[str],
    **choices: Any,
) -> tuple[Generated, ...]: ...


def generate(
    robot: str,
    output: str | Path | None = None,
    progress: Progress = lambda _: None,
    force: bool = False,
    to: str | Sequence[str] = VERILOG,
    **choices: Any,
) -> Generated | tuple[Generated, ...]:
    """Compile ``robot`` and write the design's folder; returns where it is.

    ``to``: what it is written in, one of ``LANGUAGES`` or several, each into a folder of its own.
    A folder (``build/NAME``, and behind it a language that is not Verilog, unless ``output`` says;
    of several languages ``output`` has a folder for each) stands for itself: it holds the robot and
    the design that it was made from. The same input gives the same bytes. A folder of another
    robot or of other choices is replaced only with ``force``, and none that rbdgen did not make:
    OutputError before any work.
    """
    refuse_unknown(choices, generate)
    languages = [to] if isinstance(to, str) else list(dict.fromkeys(to))
    _refuse_unwritten(languages, bool(choices.get("accelerator")))
    design, loaded = load(robot, **choices)
    _refuse_unwritten(languages, design.accelerator)
    _refuse_loops(languages, design)
    _refuse_registers(languages, design)
    _refuse_float_error(languages, design)
    default = default_place(robot, loaded.name, design, choices)
    places = {}
    for language in languages:
        if output is None:
            behind = "" if language == VERILOG else f"_{language}"
            place = default.with_name(default.name + behind)
        else:
            place = Path(output) / language if not isinstance(to, str) else Path(output)
        check_design_place(place, loaded.name, design, force, language)
        places[language] = place
    made = Made(robot, progress, choices)
    for language, place in places.items():
        write_folder(place, writer(language)(made))
    found = tuple(Generated(place) for place in places.values())
    return found[0] if isinstance(to, str) else found


def _refuse_unwritten(languages: Sequence[str], accelerator: bool) -> None:
    """UsageError for a language that there is not, or that a design cannot be written in."""
    if not languages:
        raise UsageError(f"to: name at least one of {', '.join(LANGUAGES)}")
    for language in languages:
        if language not in LANGUAGES:
            hint = did_you_mean(str(language), LANGUAGES, f"; one of {', '.join(LANGUAGES)}")
            raise UsageError(f"to: no language {language!r}{hint}")
        if accelerator and language not in OF_ACCELERATORS:
            raise UsageError(
                f"to: {language} has no tasks, and thus no accelerator; leave --accelerator out, "
                "and one call computes all functions that --function names"
            )


def _refuse_registers(languages: Sequence[str], design: Design) -> None:
    """UsageError for registers of an accelerator in a language where it has none."""
    others = [language for language in languages if language != VERILOG]
    if has_registers(design) and design.accelerator and others:
        raise UsageError(
            f"parameters: an accelerator's registers are of {VERILOG}, not of {', '.join(others)}; "
            "generate those with --parameters constants"
        )


def _refuse_float_error(languages: Sequence[str], design: Design) -> None:
    """UsageError for an error of float in a language that has none."""
    others = [language for language in languages if language not in OF_NUMBERS]
    if design.float_error != FLOAT_ERROR and others:
        raise UsageError(
            f"float_error: of {', '.join(OF_NUMBERS)}, not of {', '.join(others)}; generate those "
            "by themselves, or leave float_error out"
        )


def _refuse_loops(languages: Sequence[str], design: Design) -> None:
    """UsageError for loops in a language that has none."""
    others = [language for language in languages if language not in OF_LOOPS]
    if design.code != CODES[0] and others:
        raise UsageError(
            f"code: {design.code} are of {', '.join(OF_LOOPS)}, not of {', '.join(others)}; "
            "generate those by themselves, or leave code out"
        )
    if design.code == "loops" and "hls" in languages and design.fold != "joints":
        raise UsageError("code: loops: of hls, for joints that take turns; add --fold joints")
