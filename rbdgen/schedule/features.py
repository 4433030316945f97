"""The area features of a plan: bits of sums, registers, memories, multiplexer inputs, and so on.

Each feature is a number of things of one kind, so that more of it never takes fewer cells. How
many cells one of each takes is measured (``area``); here they are only counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..design.target import Style, Target
from ..graph.fixed import FixedGraph, Format
from ..graph.node import STILL, Node, Op, Region
from .channels import Pipeline
from .difference_constraints import ADDRESSED, BANK, LOADS, LONGEST_RING, capacity
from .fold import Fold, job_operands, register_number
from .fused_sums import reads_at
from .pipelined import INPUT, OUTPUT, region_of
from .plan import Channel, Plan
from .units import Binding, UnitKind, angles, nodes_of, pivots, shifting, sincos_products

if TYPE_CHECKING:
    from .limbs import LimbPlan
    from .round_plan import RoundPlan

UNITS = (Op.SIN, Op.COS, Op.MANTISSA, Op.EXPONENT)  # whose results are registers of their unit's
SLICE_WORDS = 64  # of 7 bits, in the LUT-RAM that a slice of an UltraScale+ is; half as many of 14
TABLE_WIDTH = 36  # bits of a block RAM's word at the 512 words of a sine table
NAMES = {
    "sums": "carry chains: sums, differences, negations, rounding of products",
    "sum_bits": "bits of their results",
    "select_bits": "bits of selections",
    "shift_bits": "bits of barrel shifters, times their steps",
    "checks": "results whose overflow is looked at",
    "result_bits": "bits of results in registers of their own",
    "waiting_bits": "bits of registers in which values wait",
    "ring_bits": "bits that go through LUT-RAMs while they wait",
    "multiplexed_bits": "inputs of operand multiplexers, times their width",
    "one_hot_bits": "registers that choose among them, or enable others",
    "port_bits": "bits of registers between a shared unit and what chooses its operands",
    "counter_bits": "bits of counters and addresses",
    "shift_register_bits": "registers that follow a FIFO's pushes and pops",
    "memory_cells": "LUT-RAMs of 16 words by 4 bits",
    "bank_bits": "bits of memories, times the banks beyond the first",
    "slice_memories": "LUT-RAMs of 32 words by 14 bits, or 64 by 7: a slice of an UltraScale+",
    "slice_bank_bits": "bits of memories, times those of 64 words beyond the first",
    "result_words": "outputs with a flag of their own",
    "products": "hardware multipliers, their registers on",
    "chained_products": "those of products within a clock",
    "wide_product_bits": "bits of products of several hardware multipliers, beyond the first",
    "logic_product_bits": "bits of one operand times bits of the other, of products in logic",
    "sine_bits": "bits of sine and cosine units",
    "sine_order_bits": "bits of those of second order",
    "reciprocal_bits": "bits of reciprocal units",
    "reciprocal_steps": "bits of their operands, times the steps of normalisation",
    "tables": "block RAMs of 512 words by 36 bits",
}

Features = Mapping[str, int]


def features(plan: Plan) -> dict[str, int]:
    """How many of each of ``NAMES`` are in a plan."""
    count: Counter[str] = Counter()
    FEATURES[type(plan).__name__](plan, count)
    for channel in plan.channels:
        _channel(channel, count)
    return {name: count[name] for name in NAMES}


@lru_cache(maxsize=4)  # of many plans of one graph
def _additions(fixed: FixedGraph) -> tuple[tuple[str, int], ...]:
    return tuple((name, number) for name, number in operations(fixed).items() if number)


def operations(fixed: FixedGraph) -> dict[str, int]:
    """The features of every plan in which only products share hardware: those of its additions."""
    count: Counter[str] = Counter()
    for node in fixed.graph.nodes:
        if node.op not in (*STILL, Op.MULC):
            _operation(fixed, node, count)
    return {name: count[name] for name in NAMES}


def _limbs(plan: LimbPlan, count: Counter[str]) -> None:
    """One limb's hardware, a task's and a result's registers, and the signs of mirrored limbs."""
    FEATURES[type(plan.template).__name__](plan.template, count)
    whole, fixed, real = plan.whole, plan.template.fixed, plan.program.real
    count["waiting_bits"] += sum(word.width for word in whole.inputs.values())
    results = [whole.formats[n].width + 1 for n in whole.graph.outputs.values()]
    count["waiting_bits"] += sum(results)
    for words, ways in ((fixed.inputs, real.read), (_results(fixed), real.given)):
        limbs = [ways(limb) for limb in plan.limbs]
        for name, word in words.items():
            if any(name in own and own[name][1] < 0 for own in limbs):
                count["sums"] += 1
                count["sum_bits"] += word.width


def _rounds(plan: RoundPlan, count: Counter[str]) -> None:
    """The datapaths, a task's registers, the memories between and what chooses of them."""
    _datapath(plan.template, count)
    whole = plan.whole
    count["result_words"] += len(whole.graph.outputs)
    count["waiting_bits"] += sum(word.width for word in whole.inputs.values())
    for (datapath, port), phases in plan.origins.items():
        width = plan.program.templates[datapath.template].inputs[port].width
        read = {None if isinstance(x, float) else x for x, _ in phases.values()}
        count["multiplexed_bits"] += width * (len(read) - 1)
        count["waiting_bits"] += width * (None in read)
    for group in plan.groups:
        count["counter_bits"] += 2 * group.depth.bit_length()
        for words in (words for parts in plan.memories(group).values() for words in parts):
            width = sum(plan.word(group.sender, word).width for word in words)
            if group.in_block_ram:
                count["tables"] += -(-width // TABLE_WIDTH)
            else:
                memory(width, group.depth, count)
                count["waiting_bits"] += width
    for kept in plan.results.values():
        width = sum(plan.fixed.formats[node].width for node in kept)
        count["tables"] += -(-width // TABLE_WIDTH)
    count["tables"] += len(plan.checks)
    count["waiting_bits"] += sum(whole.formats[n].width for n in whole.graph.outputs.values())


def _results(fixed: FixedGraph) -> dict[str, Format]:
    return {name: fixed.formats[node] for name, node in fixed.graph.outputs.items()}


def _pipeline(plan: Pipeline, count: Counter[str]) -> None:
    count["result_words"] += len(plan.fixed.graph.outputs)
    schedule = plan.schedule
    fixed, ring = schedule.fixed, schedule.target.ring
    # (value, region) → the cycles, from the region's firing, in which something reads it there
    wanted: dict[tuple[Node, Region], set[int]] = defaultdict(set)
    first: dict[tuple[Node, Region], int] = {}
    for channel in plan.channels:
        for word in channel.words:
            if word.node is not None and channel.receiver != OUTPUT:
                first[word.node, channel.receiver] = word.read
    for node in schedule.time:
        if node.op is Op.INPUT:
            continue
        region = region_of(node)
        first[node, region] = plan.offset(node)
        for operand in fixed.reads[node]:
            start = schedule.start(node) - plan.base[region]
            wanted[operand, region].add(reads_at(fixed, node, start, first[operand, region]))
    for channel in plan.channels:
        for word in channel.words:
            if word.node is None or channel.sender == INPUT:
                continue
            if word.written >= plan.offset(word.node):
                wanted[word.node, channel.sender].add(word.written)
    rings: set[tuple[Region, int]] = set()
    for (node, place), cycles in wanted.items():
        width = fixed.formats[node].width
        for size in _steps(first[node, place], cycles, LONGEST_RING, ring):
            count["waiting_bits"] += width
            if size > 1:
                count["ring_bits"] += width
                memory(width, size - 1, count)
                rings.add((place, size - 1))
    count["counter_bits"] += sum((max(size, 2) - 1).bit_length() for _, size in rings)
    task = {n for n in schedule.time if n.op is Op.INPUT}
    count["waiting_bits"] += sum(fixed.formats[n].width for n in task)
    for node in schedule.time:
        _operation(fixed, node, count)
        out = fixed.formats[node]
        in_unit = node.op in UNITS or node in fixed.in_cell
        if not in_unit and (node.op is not Op.MUL or out.rounded):
            stored = (node, region_of(node)) in wanted  # else a FIFO stands in for its register
            count["result_bits"] += out.width * stored + fixed.overflowing(node)
    count["one_hot_bits"] += 2 * len(plan.fire)  # what fires, and what may
    results = [fixed.formats[n].width + 1 for n in fixed.graph.outputs.values()]
    memory(sum(results), BANK, count)
    _units(fixed, schedule.binding, schedule.target, count)


def _steps(first: int, wanted: Iterable[int], longest: int, ring: int) -> list[int]:
    """Delays from one wanted cycle to the next: registers of one cycle, rings of several."""
    steps, now = [], first
    for cycle in sorted(wanted):
        while now < cycle:
            step = min(cycle - now, longest)
            steps.append(step if step >= ring else 1)
            now += steps[-1]
    return steps


def _fold(fold: Fold, count: Counter[str]) -> None:
    count["result_words"] += len(fold.fixed.graph.outputs)
    _datapath(fold, count)


def _datapath(fold: Fold, count: Counter[str]) -> None:
    fixed, ring = fold.fixed, fold.target.ring
    last: dict[Node, set[int]] = defaultdict(set)
    time, kept, interval = fold.time, fold.registered, fold.interval
    for node in time:
        start = fold.start(node)
        for operand in fixed.reads[node]:
            age = start - time[operand]
            last[operand].add(register_number(operand in kept, age, interval))
    loads, rings = 0, set()
    for name, number in _additions(fixed):
        count[name] += number
    for node in fold.time:
        held = fold.held(node)
        width = fixed.formats[node].width
        if (held or (fold.chain is None and fold.own(node))) and node.op not in UNITS:
            count["result_bits"] += width + fixed.overflowing(node)
        loads += width * held
        if not last[node]:
            continue
        now = 0
        if not held and any(last[node]):  # its first register can only be its own
            count["waiting_bits"] += width
            loads += width
            now = 1
        for size in _steps(now, (n for n in last[node] if n > now), LONGEST_RING, ring):
            count["waiting_bits"] += width
            loads += width
            if size > 1:
                count["ring_bits"] += width
                memory(width, size - 1, count)
                rings.add((fold.loads(node), size - 1))
    count["counter_bits"] += sum((max(size, 2) - 1).bit_length() for _, size in rings)
    # the ring of phases, at least a relay and a copy of each, and what gathers overflow bits
    count["one_hot_bits"] += 3 * fold.interval + loads // LOADS + len(fold.checks)
    ports: dict[tuple[UnitKind, int, int], set[tuple[int, int]]] = defaultdict(set)
    for own, place in fold.place.items():
        read = job_operands(own)
        (start,) = {fold.start(n) for n in nodes_of(fixed, own)}
        for k, operand in enumerate(read[::-1] if place.swapped else read):
            choice = operand.index, fold.register(operand, start)
            ports[place.kind, place.number, k].add(choice)
    for (kind, _, k), choices in ports.items():
        if len(choices) > 1:
            count["multiplexed_bits"] += len(choices) * kind.widths[k]
            count["one_hot_bits"] += len(choices)
        count["port_bits"] += kind.widths[k] * fold.in_port(kind)
    for kind, units in fold.units.items():
        _shared(fold, kind, units, count)
    for node in fold.time if fold.chain is not None else ():
        if node.op is Op.MUL and not fold.shared(node):
            a, b = (fixed.formats[n].width for n in node.args)
            count["chained_products"] += fold.target.hardware_multipliers(a, b)


def _operation(fixed: FixedGraph, node: Node, count: Counter[str]) -> None:
    """A node's own hardware, but the register that it ends in."""
    out = fixed.formats[node]
    count["checks"] += fixed.overflowing(node)
    if node in fixed.in_cell:
        return
    if node.op in (Op.ADD, Op.SUB, Op.NEG) or (node.op is Op.MUL and out.rounded):
        count["sums"] += 1
        count["sum_bits"] += out.width
    elif node.op is Op.SATURATE:  # a sum if it rounds, and two comparisons if bits do not do
        own = fixed.formats[node.args[0]]
        rounds, compares = own.fraction > out.fraction, not fixed.saturates_by_bits(node)
        count["sums"] += rounds + 2 * compares
        count["sum_bits"] += rounds * out.width + 2 * compares * own.width
        count["select_bits"] += out.width
    elif node.op is Op.SELECT:
        count["select_bits"] += out.width
    elif node.op is Op.SCALE:
        spec = fixed.scale(node)
        count["shift_bits"] += spec.operand * spec.steps
        count["waiting_bits"] += spec.operand * len(shifting(spec.steps))
        count["sums"] += 1
        count["sum_bits"] += out.width


def _units(fixed: FixedGraph, binding: Binding, target: Target, count: Counter[str]) -> None:
    """Multipliers, sine and reciprocal units, where each operation has its own."""
    for node, style in binding.style.items():
        a, b = (fixed.formats[n].width for n in node.args)
        _product(target, a, b, style, count)
    for angle, node in angles(fixed).items():
        _sine(fixed, node, target, binding.sincos[angle], count)
    for pivot, node in pivots(fixed).items():
        _reciprocal(fixed, node, target, binding.recip[pivot], count)


def _shared(fold: Fold, kind: UnitKind, units: int, count: Counter[str]) -> None:
    example = nodes_of(fold.fixed, fold.jobs.of[kind][0])[0]
    for _ in range(units):
        if kind.name == "mul":
            a, b = kind.widths
            _product(fold.target, a, b, kind.style, count)
        elif kind.name == "sincos":
            _sine(fold.fixed, example, fold.target, "dsp", count)
        else:
            _reciprocal(fold.fixed, example, fold.target, "dsp", count)


def _product(target: Target, a: int, b: int, style: Style, count: Counter[str]) -> None:
    if style == "logic":
        count["logic_product_bits"] += a * b
        return
    parts, rows = target.spent(a, b)
    if any(rows):  # LUTs add a triple, and a word for each pair of bits
        count["sum_bits"] += (max(a, b) + 2) * (1 + sum(-(-bits // 2) for bits in rows))
    count["products"] += parts
    count["wide_product_bits"] += (a + b) * (parts - 1)


def _sine(fixed: FixedGraph, node: Node, target: Target, style: Style, count: Counter[str]) -> None:
    spec = fixed.sincos(node)
    count["sine_bits"] += spec.width
    count["sine_order_bits"] += spec.width * (spec.order - 1)
    count["tables"] += -(-2 * spec.table_fraction // TABLE_WIDTH)
    for made in sincos_products(spec, target, style):
        _product(target, made.a, made.b, made.style, count)


def _reciprocal(
    fixed: FixedGraph, node: Node, target: Target, style: Style, count: Counter[str]
) -> None:
    spec = fixed.reciprocal(node)
    count["reciprocal_bits"] += spec.width * (1 + spec.newton)
    count["reciprocal_steps"] += spec.operand * spec.steps
    count["tables"] += 1
    for a, b in spec.products:
        _product(target, a, b, style, count)


def _channel(channel: Channel, count: Counter[str]) -> None:
    """The FIFO of a channel, as ``rbdgen.rtl.queues`` builds it."""
    size = capacity(channel)
    count["shift_register_bits"] += max(*(w.written for w in channel.words), channel.delay - 1, 1)
    count["shift_register_bits"] += max(*(w.read for w in channel.words), channel.hold + 1)
    groups: Counter[tuple[int, int]] = Counter()
    for word in channel.words:
        groups[word.written, word.read] += word.width
    addresses = 0
    reached: dict[tuple[str, int], int] = {}  # bits that the last copy of an address has
    for (written, read), width in sorted(groups.items()):
        memory(width, size, count)
        for own in (("write", written), ("read", read)):
            full = own not in reached or reached[own] + width > ADDRESSED
            addresses += full
            reached[own] = width + (0 if full else reached[own])
    count["counter_bits"] += addresses * (size - 1).bit_length() + 2 * size.bit_length()


def memory(width: int, depth: int, count: Counter[str]) -> None:
    banks = -(-depth // BANK)
    count["memory_cells"] += -(-width // 4) * banks
    count["bank_bits"] += width * (banks - 1)
    deep = -(-depth // SLICE_WORDS)
    each = 7 if depth > SLICE_WORDS // 2 else 14
    count["slice_memories"] += -(-width // each) * deep
    count["slice_bank_bits"] += width * (deep - 1)


# Class of a plan → what counts its hardware, but for its FIFOs.
FEATURES: Mapping[str, Callable[[Any, Counter[str]], None]] = {
    "Pipeline": _pipeline,
    "Fold": _fold,
    "LimbPlan": _limbs,
    "RoundPlan": _rounds,
}
