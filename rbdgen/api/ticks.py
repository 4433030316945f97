"""The ticks of a design's controller: its words, what a manifest says of them, and notes."""

from __future__ import annotations

from dataclasses import fields

from ..compile.product import Product
from ..design.coordinates import Field
from ..design.design import Design
from ..design.gains import gains_of
from ..design.manifest import ManifestPorts, StreamPayload, TickFacts
from ..graph.fixed import FixedGraph
from ..graph.word import kind_of
from ..robot.model import Robot, RobotError
from ..shell.tick_model import COMMANDED, MEASURED, Ticks, Trip, slowest, ticks_of
from ..system.records import WORD_BITS

BEFORE = 5  # cycles from a tick to its efforts, besides the core's latency


def controller_top(name: str) -> str:
    """The module and file of the controller around the core ``name``."""
    return f"{name}_control"


def designed_ticks(design: Design, robot: Robot, fixed: FixedGraph) -> Ticks | None:
    """The ticks that a design asks for; None without any. RobotError where words have no room."""
    gains = gains_of(design, robot)
    if design.tick is None or gains is None:
        return None
    others = [name for name in fixed.inputs if kind_of(name) not in (*MEASURED, *COMMANDED)]
    if others or fixed.parameters:
        raise RobotError(
            f"{robot.name}: tick: {[*others, 'parameters'][0]}: neither a state nor a command has "
            "it; leave external_forces, payload and parameters out"
        )
    found = ticks_of(design.tick, design.watchdog, gains, fixed)
    for name, own in found.command.items():
        if own.width > WORD_BITS:
            raise RobotError(
                f"{robot.name}: tick: {name} has {own.width} bits, and a word of a command "
                f"{WORD_BITS}; a smaller --width"
            )
    return found


def checked_ticks(product: Product) -> Ticks | None:
    """The same of a core; RobotError where the next tick comes before it has computed."""
    front = product.front
    found = designed_ticks(front.design, front.robot, product.fixed) if product.is_core else None
    if found and found.cycles < (least := slowest(product.plan)):
        raise RobotError(
            f"{front.robot.name}: tick: {found.cycles}: the core takes {least} cycles from a tick "
            f"to the next; --tick {least} or more"
        )
    return found


def tick_facts(product: Product, ticks: Ticks, ports: ManifestPorts, name: str) -> TickFacts:
    """Facts of the controller around the core ``name``, for its manifest."""
    plan, known = product.plan, {own.name: own for own in fields(Field)}
    words = {
        own.name: Field(**{key: getattr(own, key) for key in known})
        for own in (*ports.input.fields, *ports.output.fields)
    }
    return TickFacts(
        top=controller_top(name),
        cycles=ticks.cycles,
        watchdog=ticks.watchdog,
        delay=(plan.latency + BEFORE, slowest(plan) + 1),
        state=StreamPayload.packed(words[own] for own in ticks.state).fields,
        command=tuple(words[own] for own in ticks.command),
        efforts=StreamPayload.packed(words[own] for own in ticks.results).fields,
        safe={own: str(word) for own, word in ticks.safe.items()},
        trip=tuple(own.name.lower() for own in Trip if own.name),
    )
