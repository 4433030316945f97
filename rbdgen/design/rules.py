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
from .controllers import OF_CONTROLLERS
from .functions import (
    ALONE,
    AT_FRAMES,
    GIVEN_BASE,
    INVERTING,
    LOOPED,
    MOVING,
    OF_CONTACTS,
    ON_ACCELERATORS,
    REGRESSING,
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
        "functions: {value} needs frames; name their links: --frames LINK",
    ),
    Rule(
        (of("angles", "sincos"), of("functions", *MOVING)),
        "angles: sincos: {other} integrates angles, whose sines alone are inputs; leave it out",
    ),
    *(
        Rule((but(key, *known), of("functions", name)), f"{key}: {{value}}: {name} {why}; {LEAVE}")
        for name in OF_CONTACTS
        for key, known, why in (
            ("factorisation", ("auto", "ltdl"), "uses the factors of LᵀDL"),
            ("inverse", ("computed",), "uses the factors of M, not M⁻¹ of a nearby state"),
            ("root", ("free", "ignored"), "has no base with prescribed motion"),
        )
    ),
    *(
        Rule(
            (said(key), of("functions", "step")),
            f"{key}: {{value}}: step integrates the motion of the file's base; {LEAVE}",
        )
        for key in ("root", "base_link")
    ),
    Rule(
        (said("inverse"), said("integrator"), of("functions", "step")),
        f"inverse: {{value}}: integrator {{other}} would have M⁻¹ of the first point only; {LEAVE}",
    ),
    Rule(
        (said("base_link"), of("functions", "ddid", "dcfd", "subcom", *REGRESSING)),
        f"base_link: {{value}}: {{other}} is not converted to the file's base; {LEAVE}",
    ),
    *(
        Rule(
            (of("functions", given), but("root", "each")),
            f"functions: {given} needs --root each, beside {free}",
        )
        for given, free in GIVEN_BASE.items()
    ),
    Rule(
        (of("root", "each"), of("accelerator", False)),
        "root: each: only tasks of an accelerator select the base's role; --accelerator, or root "
        "free or given",
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
        "it a separate design",
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
        Rule((said(key), where), f"{key}: {{value}}: {name} determines the words; leave one out")
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
        "inverse: near: difd takes M⁻¹ itself as Minv; make it a separate design",
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
        f"code: {{value}} are for {', '.join(OF_LOOPS)}, not for {{others}}; generate those "
        "separately, or leave code out",
    ),
    Rule(
        (of("code", "loops"), of("to", "hls"), but("fold", "joints")),
        "code: loops: in hls only with time-multiplexed joints; add --fold joints",
    ),
    Rule(
        (of("parameters", "registers"), but("to", VERILOG), of("accelerator", True)),
        f"parameters: an accelerator's registers are for {VERILOG}, not for {{others}}; generate "
        "those with --parameters constants",
    ),
    Rule(
        (said("real"), but("to", "c")),
        "real: {value} is for c, not for {others}; generate those separately, or leave real out",
    ),
    *(
        Rule((said("real"), where), f"real: {{value}}: {why}; leave one out")
        for where, why in (
            (of("accelerator", True), "tasks of an accelerator are in integers"),
            (of("parameters", "registers"), "C in float has the robot's numbers as constants"),
        )
    ),
    Rule(
        (said("float_error"), but("to", *OF_NUMBERS)),
        f"float_error: for {', '.join(OF_NUMBERS)}, not for {{others}}; generate those "
        "separately, or leave float_error out",
    ),
)

# What an algorithm does not have.
OF_ALGORITHMS = (
    Rule(
        (of("formulation", *OF_ID), but("functions", "id")),
        "formulation: {value} supports only id, not {others}; use logarithmic or composite",
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
        "factorisation: mminvgen recurses from link to link, --formulation logarithmic does not; "
        "use ltdl or auto",
        at=TRACE,
    ),
    Rule(
        (of("inverse", "near"), of("accelerator", True)),
        "inverse: near is not for the accelerator, whose stages pass M⁻¹ forward; leave it out, "
        "or --accelerator",
        at=TRACE,
    ),
    *_in_visits(LOOPS, "loops", LOOPED),
    *(
        Rule((where,), f"{where.key}: loops {line}", at=LOOPS)
        for where, line in (
            (
                but("formulation", *LOOPED_FORMULATIONS),
                f"support {listed(LOOPED_FORMULATIONS, 'or')}",
            ),
            (said("products"), "support only plain"),
            (said("inverse"), "compute it"),
            (but("factorisation", "auto", "ltdl"), "support only ltdl"),
            (said("integrator"), "support only euler"),
            (said("angles"), "compute the sines themselves"),
            (said("external_forces"), "support none"),
        )
    ),
    *_in_visits(JOINTS, "time-multiplexed joints", TURNING, of("accelerator", False)),
    *(
        Rule(where, line, at=JOINTS)
        for where, line in (
            (
                (but("formulation", *TURNING_FORMULATIONS),),
                "formulation: time-multiplexed joints support "
                f"{listed(TURNING_FORMULATIONS, 'or')}",
            ),
            ((said("angles"),), "angles: time-multiplexed joints compute the sines themselves"),
            (
                (said("error"), of("accelerator", True)),
                "error: time-multiplexed joints in an accelerator have words of the design's width",
            ),
            (
                (of("scheduler", "exact"),),
                "scheduler: time-multiplexed joints use the list scheduler",
            ),
            (
                (of("fold", "joints"), of("ii", None), of("multipliers", None)),
                "fold: joints: give the interval with ii, or the multipliers with multipliers",
            ),
        )
    ),
    *(
        Rule((where,), line, at=ON_TRUNKS)
        for where, line in (
            (
                of("formulation", "logarithmic"),
                "the common-frame formulation cannot be split where limbs meet a trunk",
            ),
            (
                of("functions", *ROLLOUTS),
                "in rollouts, limbs are time-multiplexed only on a fixed trunk",
            ),
            (said("error"), "limbs on a trunk have no error bound"),
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
            (
                of("accelerator", True),
                "accelerator: quick designs are cores; leave --quick out",
            ),
            (said("error"), "error: quick designs have words of one width; give --widths"),
            (
                but("fold", "auto", "none"),
                "fold: quick designs share multipliers, without time-multiplexed limbs or joints",
            ),
        )
    ),
    Rule(
        (of("accelerator", True),),
        "accelerator: this evaluates all functions in one task, and a task of an accelerator "
        "computes one; leave it out",
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
        "payload: not supported here; leave it out of the design, or give the Robot that "
        "rbdgen.robot.variations.carrying makes",
        at=PARALLEL,
    ),
)

RULES = (*IDLE, *OF_DESIGNS, *OF_CONTROLLERS, *OF_LANGUAGES, *OF_ALGORITHMS, *OF_COMMANDS)
