"""Options that nothing reads, and what each of them is for: rows of the table in `rules`."""

from __future__ import annotations

from .functions import AT_FRAMES, FACTORING, FRICTIONLESS, NEEDS, OF_MOTION, SLOPES
from .rule import Rule, but, idle_unless, of, only, said, without

LOGARITHMIC = "formulation logarithmic", but("formulation", "logarithmic")
OF_ACCELERATOR = "an accelerator", of("accelerator", False)
OF_FRICTION = "functions that friction changes"
TURNS = "robots with joints that turn"
FOLDED = "folded designs, and this one takes a task every cycle"
TO_FOLD = "--ii, --multipliers, or leave it out"
SAYS = "designs that do not say how they share hardware"
SAID = "ii, multipliers or fold says it"
_WITHOUT_QD = [name for name, states in NEEDS.items() if "qd" not in states]
_WITHOUT_QDD = [name for name, states in NEEDS.items() if {"qdd", "tau"}.isdisjoint(states)]


IDLE = (
    idle_unless("network", *LOGARITHMIC, cure="--formulation logarithmic"),
    idle_unless("products", *LOGARITHMIC, cure="--formulation logarithmic"),
    idle_unless(
        "products",
        f"gradients, of {', '.join(SLOPES)}",
        without("functions", *SLOPES),
        noted=True,
    ),
    idle_unless("frame", *LOGARITHMIC, cure="--formulation logarithmic"),
    idle_unless("inverse", *LOGARITHMIC, cure="--formulation logarithmic"),
    idle_unless("nearby", "inverse near", but("inverse", "near"), cure="--inverse near"),
    idle_unless(
        "frames",
        f"functions of them, {', '.join(AT_FRAMES)}",
        without("functions", *AT_FRAMES),
        cure="name that, too",
    ),
    *(
        idle_unless(
            key,
            f"the function {function}",
            without("functions", function),
            cure="name that, too",
        )
        for key, function in (
            ("contact", "cfd"),
            ("contact_damping", "cfd"),
            ("step", "step"),
            ("integrator", "step"),
        )
    ),
    idle_unless(
        "tolerance",
        "parameters in registers",
        but("parameters", "registers"),
        cure="--parameters registers",
    ),
    idle_unless(
        "factorisation",
        f"functions that invert the mass matrix, {', '.join(FACTORING)}",
        without("functions", *FACTORING),
        cure="name one, or leave it out",
        noted=True,
    ),
    *(
        idle_unless(key, *OF_ACCELERATOR, cure="--accelerator, or leave it out", noted=True)
        for key in ("slots", "mix", "order")
    ),
    idle_unless("clock", "style latency", but("style", "latency"), cure="--style latency"),
    idle_unless("scheduler", FOLDED, of("ii", 1), cure=TO_FOLD, noted=True),
    idle_unless(
        "scheduler",
        FOLDED,
        of("ii", None),
        of("multipliers", None),
        of("fit", False),
        but("fold", "limbs", "joints"),
        cure=TO_FOLD,
        noted=True,
    ),
    idle_unless(
        "width",
        "designs whose words have one width",
        said("error"),
        cure="error says how many bits each word has",
        noted=True,
    ),
    *(
        idle_unless("fit", SAYS, said(key), cure=SAID, noted=True)
        for key in ("ii", "multipliers", "fold")
    ),
    Rule(
        (of("formulation", "recursive"), without("functions", *SLOPES)),
        f"formulation: {{value}} is for gradients, of {', '.join(SLOPES)}; leave it out",
        noted=True,
    ),
    idle_unless(
        "gravity",
        "functions that it changes",
        only("functions", *OF_MOTION),
        noted=True,
    ),
    *(
        idle_unless(key, OF_FRICTION, only("functions", *FRICTIONLESS), noted=True)
        for key in ("friction", "friction_width")
    ),
    idle_unless(
        "velocity", "functions of velocities, qd", only("functions", *_WITHOUT_QD), noted=True
    ),
    idle_unless(
        "acceleration",
        "functions of accelerations or efforts, qdd or tau",
        only("functions", *_WITHOUT_QDD),
        noted=True,
    ),
    idle_unless("rotation", TURNS, of("turning_joints", False), noted=True),
    idle_unless("angles", TURNS, of("turning_joints", False), noted=True),
)
