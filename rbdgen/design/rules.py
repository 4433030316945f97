"""The table of what options do not go with, in the order in which it is asked.

`docs/limits.md` prints it. What depends on a robot's own numbers, or on what a schedule found, is
said where that is known.
"""

from __future__ import annotations

from ..system.quoting import listed
from .choices import (
    LARGEST_INTERVAL,
    LATHROP,
    LOOPED_FORMULATIONS,
    OF_ACCELERATORS,
    OF_ID,
    OF_LOOPS,
    OF_NUMBERS,
    TURNING_FORMULATIONS,
    VERILOG,
)
from .functions import (
    ALONE,
    AT_FRAMES,
    GIVEN_BASE,
    INVERTING,
    LOOPED,
    MOVING,
    ON_ACCELERATORS,
    ROLLOUTS,
    TURNING,
)
from .rule import IDLE, Rule, Where, beyond, but, of, said, without

# Who asks, if not a design when it is made.
FILE, TRACE, LOOPS, JOINTS = "file", "trace", "loops", "joints"
ON_TRUNKS, STAGES, QUICK = "limbs on a trunk", "stages", "quick"
ONE_TASK, PARALLEL = "one task", "parallel"

LEAVE = "leave it out"
_TASKS = (*ON_ACCELERATORS, *ROLLOUTS, *GIVEN_BASE)


def _computed(names: tuple[str, ...]) -> str:
    """A list, in words, of the functions that visits compute."""
    beside = " and step" if "step" in names else ""
    return f"{listed(names)} (difd without dfd{beside}), or {listed(ALONE, 'or')} alone"


def _in_visits(at: str, who: str, names: tuple[str, ...], *where: Where) -> tuple[Rule, ...]:
    """The rules of functions that are computed as visits: they are some of ``names``, or alone."""
    line = f"functions: {{values}}: {who} compute {_computed(names)}"
    beside = tuple(name for name in ("dfd", "step") if name in names)
    return (
        Rule((but("functions", *names, *ALONE), *where), line, at=at),
        *(
            Rule((of("functions", name), but("functions", name), *where), line, at=at)
            for name in ALONE
        ),
        Rule((of("functions", "difd"), of("functions", *beside), *where), line, at=at),
    )


# Options and functions that ask for what the other does not have.
OF_DESIGNS = (
    Rule(
        (beyond("ii", LARGEST_INTERVAL), but("fold", "joints")),
        f"ii: a whole number of cycles from 1 to {LARGEST_INTERVAL}, not {{value}}",
    ),
    Rule(
        (of("functions", *AT_FRAMES), of("frames", ())),
        "functions: {value} is of frames; name their links: --frames LINK",
    ),
    Rule(
        (of("angles", "sincos"), of("functions", *MOVING)),
        "angles: sincos: {other} moves angles on, of which only sines come in; leave it out",
    ),
    *(
        Rule((but(key, *known), of("functions", "cfd")), f"{key}: {{value}}: {why}; {LEAVE}")
        for key, known, why in (
            ("factorisation", ("auto", "ltdl"), "cfd goes between the factors of LᵀDL"),
            ("inverse", ("computed",), "cfd takes M's factors, not M⁻¹ of a state nearby"),
            ("root", ("free", "ignored"), "cfd has no base whose motion is given"),
        )
    ),
    *(
        Rule(
            (said(key), of("functions", "step")),
            f"{key}: {{value}}: step moves the file's base by what it computes; {LEAVE}",
        )
        for key in ("root", "base_link")
    ),
    Rule(
        (said("inverse"), said("integrator"), of("functions", "step")),
        f"inverse: {{value}}: integrator {{other}} has M⁻¹ of the first point alone; {LEAVE}",
    ),
    Rule(
        (said("base_link"), of("functions", "ddid")),
        f"base_link: {{value}}: ddid is not carried to the file's base; {LEAVE}",
    ),
    *(
        Rule(
            (of("functions", given), but("root", "each")),
            f"functions: {given} is there with --root each, beside {free}",
        )
        for given, free in GIVEN_BASE.items()
    ),
    Rule(
        (of("root", "each"), of("accelerator", False)),
        "root: each: tasks of an accelerator say what the base does; --accelerator, or root free "
        "or given",
    ),
    *(
        Rule(
            (where, of("root", "each")),
            f"{where.key}: {{value}}: not with root: each; leave one out",
        )
        for where in (
            said("base_link"),
            of("factorisation", "mminvgen"),
            of("fold", "limbs", "joints"),
        )
    ),
    Rule(
        (but("functions", *_TASKS), of("accelerator", True)),
        f"functions: {{value}} is no task of an accelerator, which has {', '.join(_TASKS)}; make "
        "it a design of its own",
    ),
    *(
        Rule(
            (where, of("parameters", "registers")),
            f"{where.key}: {{value}}: not with --parameters registers; leave one out",
        )
        for where in (
            said("alike"),
            of("fold", "limbs", "joints"),
            of("formulation", *LATHROP),
            of("functions", "ddid"),
        )
    ),
    *(
        Rule((said(key), where), f"{key}: {{value}}: {name} has words of its own; leave one out")
        for key in ("guard", "proven")
        for name, where in (
            ("error", said("error")),
            ("accelerator", of("accelerator", True)),
            ("fold: joints", of("fold", "joints")),
        )
        if (key, name) != ("proven", "error")
    ),
    Rule(
        (of("inverse", "near"), without("functions", *INVERTING)),
        f"inverse: near is for {', '.join(INVERTING)}, not {{functions}}",
    ),
    Rule(
        (of("inverse", "near"), of("functions", "difd")),
        "inverse: near: difd takes M⁻¹ itself as Minv; make it a design of its own",
    ),
    Rule(
        (said("factorisation"), of("inverse", "near")),
        f"factorisation: {{value}}: inverse: near factorises nothing; {LEAVE}",
    ),
    Rule(
        (of("functions", *ROLLOUTS), of("accelerator", False)),
        "functions: {value} is a task of an accelerator; --accelerator",
    ),
    *(
        Rule(
            (where, of("style", "latency")),
            f"{where.key}: {{value}} is for style throughput, not latency",
        )
        for where in (of("fold", "limbs", "joints"), of("scheduler", "exact"))
    ),
    Rule(
        (said("ii"), said("multipliers"), of("style", "throughput")),
        "ii and multipliers: one follows from the other; give one of them",
    ),
    Rule(
        (said("root"), of("base", "fixed")),
        "root: {value} is for a floating base; write base: floating",
        at=FILE,
    ),
    Rule(
        (said("base_link"), said("root")),
        "base_link: with root: {other} the base is the file's",
        at=FILE,
    ),
)

# A language that does not have it.
OF_LANGUAGES = (
    Rule(
        (but("to", *OF_ACCELERATORS), of("accelerator", True)),
        "to: {value} has no tasks, and thus no accelerator; leave --accelerator out, and one call "
        "computes all functions that --function names",
    ),
    Rule(
        (said("code"), but("to", *OF_LOOPS)),
        f"code: {{value}} are of {', '.join(OF_LOOPS)}, not of {{others}}; generate those by "
        "themselves, or leave code out",
    ),
    Rule(
        (of("code", "loops"), of("to", "hls"), but("fold", "joints")),
        "code: loops: of hls, for joints that are time-multiplexed; add --fold joints",
    ),
    Rule(
        (of("parameters", "registers"), but("to", VERILOG), of("accelerator", True)),
        f"parameters: an accelerator's registers are of {VERILOG}, not of {{others}}; generate "
        "those with --parameters constants",
    ),
    Rule(
        (said("float_error"), but("to", *OF_NUMBERS)),
        f"float_error: of {', '.join(OF_NUMBERS)}, not of {{others}}; generate those by "
        "themselves, or leave float_error out",
    ),
)

# What an algorithm does not have.
OF_ALGORITHMS = (
    Rule(
        (of("formulation", *OF_ID), but("functions", "id")),
        "formulation: {value} has id alone, not {others}; use logarithmic or composite",
        at=TRACE,
    ),
    Rule(
        (of("formulation", *LATHROP), said("payload")),
        "formulation: {value} takes no payload; use logarithmic",
        at=TRACE,
    ),
    Rule(
        (of("formulation", *LATHROP), said("external_forces")),
        "formulation: {value} takes no external forces; use logarithmic",
        at=TRACE,
    ),
    Rule(
        (of("factorisation", "mminvgen"), of("formulation", "logarithmic")),
        "factorisation: mminvgen goes from link to link, and --formulation logarithmic does not; "
        "use ltdl or auto",
        at=TRACE,
    ),
    Rule(
        (of("inverse", "near"), of("accelerator", True)),
        "inverse: near is not for the accelerator, whose stages hand M⁻¹ on; leave it out, or "
        "--accelerator",
        at=TRACE,
    ),
    *_in_visits(LOOPS, "loops", LOOPED),
    *(
        Rule((where,), f"{where.key}: loops {line}", at=LOOPS)
        for where, line in (
            (but("formulation", *LOOPED_FORMULATIONS), f"have {listed(LOOPED_FORMULATIONS, 'or')}"),
            (said("products"), "have plain"),
            (said("inverse"), "compute it"),
            (but("factorisation", "auto", "ltdl"), "have ltdl"),
            (said("integrator"), "have euler"),
            (said("angles"), "make their own sines"),
            (said("external_forces"), "take none"),
        )
    ),
    *_in_visits(JOINTS, "time-multiplexed joints", TURNING, of("accelerator", False)),
    *(
        Rule(where, line, at=JOINTS)
        for where, line in (
            (
                (but("formulation", *TURNING_FORMULATIONS),),
                f"formulation: time-multiplexed joints have {listed(TURNING_FORMULATIONS, 'or')}",
            ),
            ((said("angles"),), "angles: time-multiplexed joints make their own sines"),
            (
                (said("error"), of("accelerator", True)),
                "error: time-multiplexed joints in an accelerator have words of the design's width",
            ),
            (
                (of("scheduler", "exact"),),
                "scheduler: time-multiplexed joints have the list scheduler",
            ),
            (
                (of("fold", "joints"), of("ii", None), of("multipliers", None)),
                "fold: joints: say how often with ii, or with how much with multipliers",
            ),
        )
    ),
    *(
        Rule((where,), line, at=ON_TRUNKS)
        for where, line in (
            (
                of("formulation", "logarithmic"),
                "sums in one frame are not cut where limbs meet a trunk",
            ),
            (
                of("functions", *ROLLOUTS),
                "of rollouts, limbs are time-multiplexed only where they stand on what does not "
                "move",
            ),
            (said("error"), "of what limbs give a trunk, no error can be asked for"),
        )
    ),
    Rule(
        (of("style", "latency"), of("accelerator", True)),
        "style: latency is not for the accelerator, whose stages are pipelines",
        at=STAGES,
    ),
)

# What a command does not do.
OF_COMMANDS = (
    *(
        Rule((where,), line, at=QUICK)
        for where, line in (
            (but("style", "throughput"), "style: quick schedules are of style throughput"),
            (but("scheduler", "list"), "scheduler: quick schedules are made by a list scheduler"),
            (said("error"), "error: quick designs have words of one width; give --widths"),
            (
                but("fold", "auto", "none"),
                "fold: in quick designs multipliers are shared, and nothing is time-multiplexed",
            ),
        )
    ),
    Rule(
        (of("accelerator", True),),
        "accelerator: this compares what one task computes, and an accelerator's compute one "
        "function each; leave it out, and a task computes all",
        at=ONE_TASK,
    ),
    *(
        Rule(
            (said(key),),
            f"{key} is a choice of hardware; leave it out of the design",
            at=PARALLEL,
        )
        for key in ("base_link", "root")
    ),
    Rule(
        (said("payload"),),
        "payload: here robots carry none; leave it out of the design, or give the Robot that "
        "rbdgen.robot.variations.carrying makes",
        at=PARALLEL,
    ),
)

RULES = (*IDLE, *OF_DESIGNS, *OF_LANGUAGES, *OF_ALGORITHMS, *OF_COMMANDS)
