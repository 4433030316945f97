"""Cores of graphs written by hand: compiled as a robot's are, Verilated, with what to expect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rbdgen.design.target import Ports, Stream, Target, find_target
from rbdgen.graph.fixed import FixedGraph, evaluate_fixed
from rbdgen.graph.graph import Graph
from rbdgen.graph.verify import verify, verify_fixed
from rbdgen.passes.identities import reciprocals
from rbdgen.passes.sums import balance
from rbdgen.schedule.channels import Pipeline, plan
from rbdgen.schedule.pipelined import schedule
from rbdgen.schedule.plan import Plan
from rbdgen.schedule.units import bind
from rbdgen.shell.emit import emit
from rbdgen.system.records import NamedWord
from rbdgen.tasks.stages import Accelerator, one_stage
from rbdgen.tools.model import Model
from rbdgen.tools.verilate import build
from rbdgen.words.constant_multiply import constant_multiply, tolerances
from rbdgen.words.ranges import analyse
from rbdgen.words.wordlength import input_formats, wordlength
from tests.support.cores import Batch

States = Mapping[str, np.ndarray]


def in_fixed_point(graph: Graph, states: States, width: int) -> FixedGraph:
    """The graph lowered and given formats for inputs as large as those of ``states``."""
    limits = {name: (float(v.min()), float(v.max())) for name, v in states.items()}
    graph = verify(reciprocals(graph))
    slack = tolerances(graph, analyse(graph, limits, states), width)
    graph = verify(balance(verify(constant_multiply(graph, slack))))
    ranges = analyse(graph, limits, states)
    formats = input_formats(graph, limits, width)
    return verify_fixed(wordlength(graph, ranges, width, formats))


def plan_of(fixed: FixedGraph, target: Target | None = None) -> Pipeline:
    part = target or find_target("ecp5-85f")
    return plan(schedule(fixed, bind(fixed, part), part))


def batch(of: Pipeline, words: States) -> Batch:
    """What the integer model says of N tasks."""
    fixed = of.schedule.fixed
    done = evaluate_fixed(fixed, words)
    tasks = np.stack([words[name] for name in fixed.inputs], axis=1)
    results = np.stack(list(done.outputs.values()), axis=1)
    return Batch(tasks, results, of.flagged(done.overflowed, len(tasks)))


def any_words(fixed: FixedGraph, n: int, seed: int) -> dict[str, np.ndarray]:
    """Every input anywhere in its word, small words as often as large ones, ends among them."""
    rng = np.random.default_rng(seed)
    words = {}
    for name, word in fixed.inputs.items():
        size = np.exp2(rng.uniform(0, word.width - 1, n)).astype(np.int64) - rng.integers(0, 2, n)
        words[name] = np.where(rng.random(n) < 0.2, -size - 1, size)
        words[name][:3] = word.lowest, word.highest, 0
        words[name] = np.clip(rng.permutation(words[name]), word.lowest, word.highest)
    return words


def alone(plan: Plan) -> Accelerator:
    """A plan as a design of one function."""
    return one_stage(plan, {"id": tuple(plan.whole.graph.outputs)})


def verilated(of: Pipeline, folder: Path, name: str) -> Model:
    source = folder / f"{name}.v"
    source.write_text(emit(alone(of), name).files[source.name])
    return build([source], name, ports=ports(of.schedule.fixed))


def ports(fixed: FixedGraph) -> Ports:
    inputs = tuple(NamedWord(name, form.width) for name, form in fixed.inputs.items())
    outputs = fixed.graph.outputs
    results = [NamedWord(name, fixed.formats[node].width) for name, node in outputs.items()]
    flags = [NamedWord(f"overflow[{k}]", 1, signed=False) for k in range(len(outputs))]
    return Ports(
        Stream(inputs, "i__payload", "i__valid", "i__ready"),
        Stream((*results, *flags), "o__payload", "o__valid", "o__ready"),
    )
