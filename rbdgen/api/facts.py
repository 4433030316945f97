"""Facts of a robot and a design: operation counts after each rewrite, formats, accelerator."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from ..compile.accelerator_area import accelerator_features
from ..compile.front import Front
from ..compile.product import Product, clocks_of, energy_of
from ..design.bounds import whole_turns
from ..design.coordinates import Field, Meanings
from ..design.design import Design, choice_of, has_rollouts
from ..design.facts import (
    Area,
    BoardLine,
    Chosen,
    DesignFacts,
    DrivetrainRow,
    Formats,
    FunctionFacts,
    HardwareFacts,
    LimbFacts,
    Operand,
    OverflowFacts,
    ResultWords,
    Rewritten,
    StageFacts,
    TaskFacts,
    Width,
)
from ..design.functions import ROLLOUTS
from ..design.manifest import (
    Angle,
    ManifestPorts,
    OverflowPorts,
    ParameterRegister,
    RegisterPorts,
    StreamPayload,
)
from ..design.nested import FITTED
from ..dynamics.interface import turning_inputs
from ..graph.fixed import FixedGraph, parameter_formats, parameter_words
from ..graph.node import Op
from ..graph.word import kind_of, spell
from ..robot.model import Robot
from ..schedule.area import NoModel, estimated, model_error
from ..system.records import NamedWord, named_words
from ..tasks.latency import latency_of, longest_latency
from ..tasks.routes import CODES, OF_ROLLOUTS, UNREAD
from ..tasks.stages import TAG
from .compilation import robot_facts

# Ways of bringing a design up, of which either is enough.
START = (
    "rst high for one rising edge of clk; none is needed where registers begin with their initial "
    "values, as in FPGAs and simulators"
)


def hardware_facts(product: Product, notes: Sequence[str] = ()) -> HardwareFacts:
    """A design in fixed point, without what it takes a trace of each rewritten robot to know;
    ``notes`` come last."""
    front, design = product.front, product.design
    facts = HardwareFacts(
        **vars(robot_facts(front, (*product.notes, *notes))),
        target=front.target.name,
        style=design.style,
        clock=design.clock,
        width=design.width,
        fitted=chosen(design),
        tasks=task_facts(product),
    )
    if not product.is_core:
        return facts
    return replace(
        facts,
        rewrites=rewrites_of(front),
        width=product.fixed.width,
        formats=formats(product),
        ranges=ranges_of(product),
        latency=product.plan.latency,
        initiation_interval=product.plan.interval,
    )


def rewrites_of(front: Front) -> tuple[Rewritten, ...]:
    """Operations after each rewrite."""
    return tuple(Rewritten(name, count) for name, count in front.rewrites)


def design_facts(product: Product, notes: Sequence[str] = ()) -> DesignFacts:
    """The design before it is written: joints, rewrites, what the passes left, schedule."""
    front, robot = product.front, product.front.robot
    facts = replace(hardware_facts(product, notes), rewrites=rewrites_of(front))
    plans = [stage.plan for stage in product.accelerator.stages.values() if stage.plan]
    graphs = [plan.fixed for plan in plans]
    bits = [(node, fixed.formats[node].width) for fixed in graphs for node in fixed.arithmetic]
    lowered = Counter[str]()
    for fixed in graphs:
        lowered.update(fixed.graph.operations())
    return DesignFacts(
        **vars(facts),
        file=front.design.robot,
        bodies=len(robot.joints) + 1,
        joints=len(front.canonical.joints),
        depth=robot.depth,
        merged=tuple(j.body for j in robot.joints if not j.kind.nv),
        drivetrains=tuple(
            DrivetrainRow(joint.name, own.armature, own.damping, own.friction, own.width)
            for joint in robot.joints
            if not (own := joint.drivetrain).is_zero
        ),
        lowered_operations=dict(lowered),
        adder_bits=sum(own for node, own in bits if node.op is not Op.MUL),
        mean_width=round(sum(own for _, own in bits) / max(len(bits), 1), 2),
        multipliers=facts.tasks.multipliers,
        estimated=area_of(product),
        lines=_lines(facts),
        errors=product.expected,
        largest_errors=largest_errors(product) if product.is_core else {},
        limbs=limbs_of(product) if product.is_core else None,
        clocks=clocks_of(product),
        energy=energy_of(product),
    )


def _lines(facts: HardwareFacts) -> dict[str, BoardLine]:
    """Function → its calls on the line to a board; of a core with several functions none."""
    from .c_header import board_lines  # packets, and what they cost on each line

    return board_lines(facts.tasks) if not facts.is_core or len(facts.functions) == 1 else {}


def limbs_of(core: Product) -> LimbFacts:
    """How many limbs are time-multiplexed, and the operations of one."""
    turns = core.plan.turns
    limbs = turns if turns and turns.what == "limbs" else None
    graph = (limbs and limbs.graph) or core.front.graph
    return LimbFacts(limbs.count if limbs else 1, graph.operations())


def chosen(design: Design) -> Chosen | None:
    """The choices that made a design fit its part; None if it was not fitted."""
    choice = choice_of(design, FITTED)
    return Chosen.from_json({"ii": None, "fold": "auto", **choice.entry}) if choice else None


def given_angles(canonical: Robot, inputs: Container[str]) -> dict[str, Angle]:
    """How a host makes the angle of each sine and cosine among ``inputs`` from a coordinate."""
    return {
        f"{spell('sin', i)}, {spell('cos', i)}": Angle(
            joint=joint.name,
            coordinate=canonical.v_slices[i].start,
            multiplier=joint.mimic.multiplier if joint.mimic else 1.0,
            offset=joint.offset + (joint.mimic.offset if joint.mimic else 0.0),
        )
        for i, joint in enumerate(canonical.joints)
        if spell("sin", i) in inputs
    }


def ranges_of(core: Product) -> OverflowFacts:
    """The number of scheduled signals that are proved not to overflow, and of the others."""
    fixed = core.plan.fixed
    able = [node for node in fixed.graph.nodes if fixed.overflowing(node)]
    proven = sum(node in core.proof.holds for node in able) if core.proof else 0
    return OverflowFacts(proven, len(able) - proven)


def largest_errors(core: Product) -> dict[str, float | None]:
    """Array → the error of its entries, at most, where words are proven."""
    if core.design.proven == "none":
        return {}
    found: dict[str, float] = {}
    for name, error in core.output_errors.items():
        found[kind_of(name)] = max(error, found.get(kind_of(name), 0.0))
    return {kind: error if math.isfinite(error) else None for kind, error in found.items()}


def area_of(made: Product) -> Area | None:
    """An estimate of a design's cells, with the model's relative RMS error; None if no model."""
    family = made.front.target.family
    try:
        cells = estimated(family, accelerator_features(made.accelerator))
        return Area(**cells, error=model_error(family).rms)
    except NoModel:
        return None


def formats(core: Product) -> Formats:
    """The formats of what comes in and what goes out."""
    fixed = core.fixed
    outputs = {name: fixed.formats[node] for name, node in fixed.graph.outputs.items()}
    given, found = (
        {name: Width(f.width, f.fraction) for name, f in words.items()}
        for words in (fixed.inputs, outputs)
    )
    return Formats(given, found)


def operand_called(field: str, function: str, k: int) -> str:
    """The name of a function's operand, the ``k``-th word of its task.

    Words of rollouts stand before M⁻¹, so that the task of another function has them unread.
    """
    others = function not in ROLLOUTS and kind_of(field) in OF_ROLLOUTS
    return spell(UNREAD, k) if others else field


def task_facts(made: Product) -> TaskFacts:
    """Functions with their words, stages with their rates; a core is a stage without slots."""
    accelerator = made.accelerator
    results = accelerator.result_formats
    meanings = meanings_of(made)
    return TaskFacts(
        slots=accelerator.slots,
        order="issued" if accelerator.in_order else "finished",
        multipliers=accelerator.multipliers,
        functions={
            function: FunctionFacts(
                code=CODES[function],
                inputs=tuple(
                    Operand(
                        **vars(meanings.field(n, f)) | {"name": operand_called(n, function, k)},
                        word=accelerator.word_of(n),
                        turns=around.get(n),
                    )
                    for k, (n, f) in enumerate(accelerator.formats[function].items())
                ),
                outputs=meanings.fields(results[function]),
                interval=accelerator.interval(function),
                latency=latency_of(accelerator, function),
                latency_of="step" if function in ROLLOUTS else "first task",
                longest=longest_latency(accelerator, function),
                route={
                    str(v): tuple(map(str, to)) for v, to in accelerator.route(function).items()
                },
            )
            for function, around in around_of(made).items()
        },
        words=tuple(NamedWord(word, width) for word, width in accelerator.words.items()),
        result=ResultWords(
            words=accelerator.result_words,
            width=max(f.width for own in results.values() for f in own.values()),
        ),
        stages={
            name: StageFacts(
                interval=stage.interval,
                latency=stage.latency,
                multipliers=stage.multipliers,
                limbs_in_turn=stage.limbs,
                operations=stage.fixed.graph.operations(),
                takes_every=stage.takes_every,
                reads=stage.piece.reads or None,
            )
            for name, stage in accelerator.stages.items()
        },
        inputs=None if made.is_core else named_words(accelerator.inputs),
    )


def port_facts(made: Product) -> ManifestPorts:
    """Clock, reset, the fields of tasks and of results; of a core a flag for each output, else one
    for all, behind the task's function and tag."""
    accelerator, registers = made.accelerator, register_ports(made.graphs)
    if made.is_core:
        fixed, meanings = made.fixed, meanings_of(made)
        outputs = {name: fixed.formats[node] for name, node in fixed.graph.outputs.items()}
        flags = [
            Field(spell("overflow", k), 1, False, of=name, unit="1")
            for k, name in enumerate(outputs)
        ]
        sticky = OverflowPorts(sticky="overflow", clear="clear", bits=tuple(outputs))
        streams = (
            StreamPayload.packed(meanings.fields(fixed.inputs)),
            StreamPayload.packed((*meanings.fields(outputs), *flags)),
        )
        return ManifestPorts("clk", "rst", START, *streams, overflow=sticky, registers=registers)
    head = [Field("function", 4, False), Field("tag", TAG, False)]
    operands = (Field(word, width) for word, width in accelerator.words.items())
    results = (
        Field(spell("w", k), accelerator.result_width) for k in range(accelerator.result_words)
    )
    streams = (
        StreamPayload.packed((*head, *operands)),
        StreamPayload.packed((*head, Field("overflow", 1, False), *results)),
    )
    return ManifestPorts("clk", "rst", START, *streams, registers=registers)


def register_ports(graphs: Mapping[str, FixedGraph]) -> RegisterPorts | None:
    """The ports by which a design's parameters are written; None for a design without any."""
    initial, formats = parameter_words(graphs), parameter_formats(graphs)
    if not formats:
        return None
    from ..rtl.core import FIRST, WORD, WRITE  # which takes a while, and few designs need

    words = [
        ParameterRegister(k, f.width, fraction=f.fraction, initial=int(initial[k]))
        for k, f in formats.items()
    ]
    width = max(fixed.chain for fixed in graphs.values())
    return RegisterPorts(WORD, WRITE, FIRST, width, tuple(words))


def meanings_of(made: Product) -> Meanings:
    """The owners and units of a design's words."""
    return Meanings(made.front.canonical, made.design)


def around_of(made: Product) -> dict[str, dict[str, int]]:
    """The angles among each function's inputs → the number of turns after which they repeat.

    What a rollout gives back as it came in is none, unless it goes all the way round there, too.
    """
    every = turning_inputs(made.design, made.front.canonical)
    found = dict.fromkeys(made.accelerator.functions, every)
    if has_rollouts(made.design):
        turns = whole_turns(made.design, made.front.robot)
        around = [spell("q", k) for k, own in turns.items() if own]
        kept = {name: n for name, n in every.items() if name in around}
        found |= {function: kept for function in found if function in ROLLOUTS}
    return found
