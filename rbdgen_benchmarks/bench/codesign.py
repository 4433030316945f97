"""Who does what of ∇FD: the host alone, or a coprocessor (Plancher et al., RA-L 2021, §IV and V).

    split             v, a, f on the host; their gradients on the coprocessor; M⁻¹ times those on
                      the host
    fused             the gradients with all that they need on the coprocessor; M⁻¹ on the host
    completely fused  all of it on the coprocessor, which is given M⁻¹

The host is this machine's processor, one core and all of them. The coprocessor is the RTL:
simulated cycles at the paper's clock, which nobody has placed it at, behind a model of the link.
The three stages of a bar follow one another; within a link tasks follow each other closely.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.codegen.interface import Array, ArrayEntry, ArrayInterface
from rbdgen.compile.flow import Front, compile_front, front_end
from rbdgen.compile.plans import planned
from rbdgen.compile.words import sample_inputs
from rbdgen.draw.tables import table
from rbdgen.graph.evaluate import evaluate
from rbdgen.graph.graph import Graph
from rbdgen.graph.word import kind_of
from rbdgen.schedule.pipelined import HostLink
from rbdgen.system.quoting import Progress
from rbdgen.words.ascent_schedule import joined
from rbdgen.words.input_domain import InputDomain, largest_inputs
from rbdgen.words.order import EXACT, UNITS, run, to_words

from ..compare import grouped_bars as groups
from ..compare.link_times import PCIE, Timing
from ..compare.timing import ProgramTimes, graph_times
from .measurement import measurement
from .split import motion, product, slopes

ROBOT = "iiwa14_fast"
CHOICES: Mapping[str, Any] = {"width": 18, "target": "xcup", "style": "latency", "clock": 18.0}
CLOCK = 1e3 / 18  # MHz
SIZES = (16, 32, 64, 128)  # knot points, the paper's
MARGIN = 0.1  # of words between the halves, beyond the largest that a search found
WORD = 4  # bytes, as the paper's and our shells' are
DIVISIONS = ("split", "fused", "completely fused")
FEW, SEED = 4, 5
# What the paper says of its figures: an FPGA at the same clock behind PCIe Gen1, a GPU, a CPU of
# 2017 with four cores. Numbers of knot points → ratio.
PAPER = (
    "Figure 1: one gradient takes the FPGA a 5.6th of the CPU's time, a 13.8th of the GPU's.",
    "Figure 2: completely fused is 1.9 (N = 16) to 2.8 times (N = 128) as fast as split, GPU.",
    "Figure 3: against the CPU's four cores the FPGA is 1.9 (16) to 1.6 times (128) as fast, the "
    "GPU 1.2 (16) to 3.0 times (128).",
)


@dataclass(frozen=True)
class Half:
    """A coprocessor: latency and interval [cycles], multipliers, words of a task in and out."""

    latency: int
    interval: int
    multipliers: int
    taken: int
    given: int

    @property
    def timing(self) -> Timing:
        """Latency and interval in seconds, at the paper's clock."""
        return Timing(self.latency / CLOCK * 1e-6, self.interval / CLOCK * 1e-6)

    def microseconds(self, link: HostLink, tasks: int) -> float:
        """The time [µs] of so many tasks, from the host's memory and back into it."""
        return 1e6 * self.timing.through(link, WORD * self.taken, WORD * self.given, tasks)


@dataclass(frozen=True)
class Measured:
    """Both sides: the host's part by name, the coprocessor's by division."""

    host: Mapping[str, ProgramTimes]
    halves: Mapping[str, Half]

    def host_us(self, part: str, tasks: int, cores: bool = True) -> float:
        """The host's time [µs] for so many tasks, on all cores unless one core is faster."""
        own = self.host[part].of[tasks]
        return 1e-3 * tasks * (min(own.rows, own.threads) if cores else own.rows)

    def parts(self, division: str, link: HostLink | None, tasks: int) -> dict[str, float]:
        """µs of a bar's parts; no link: the host alone."""
        before, within, after = _STAGES[division]
        bar = {}
        if before:
            bar["v, a, f: host"] = self.host_us(before, tasks)
        if link is None:
            bar["gradients: host"] = self.host_us(within, tasks)
        else:
            bar["gradients: coprocessor and link"] = self.halves[division].microseconds(link, tasks)
        if after:
            bar["product: host"] = self.host_us(after, tasks)
        return bar


_STAGES = {  # before, within, after
    "split": ("motion", "slopes", "product"),
    "fused": ("", "did", "product"),
    "completely fused": ("", "difd", ""),
}


@measurement("codesign", "minutes")
def codesign(place: Path, progress: Progress) -> Any:
    """∇FD split, fused, completely fused: this CPU, RTL behind links, N = 16 to 128; pictures."""
    threads = os.cpu_count() or 1
    measured = _measured(threads, progress)
    pictures = {
        "codesign-1.svg": _figure_1(measured),
        "codesign-2.svg": _figure_2(measured),
        "codesign-3.svg": _figure_3(measured),
    }
    place.mkdir(parents=True, exist_ok=True)
    for name, text in pictures.items():
        (place / name).write_text(text, "utf-8")
    rows = [
        [n, division, "host" if link is None else link.name, *_row(measured, division, link, n)]
        for n in SIZES
        for division in DIVISIONS
        for link in (None, *PCIE)
    ]
    head = ("N", "division", "boundary", "µs", "µs a gradient", "times the host")
    print(_about(measured, threads), table(head, rows), *PAPER, _ratios(measured), sep="\n\n")
    print("\n".join(str(place / name) for name in pictures))
    return {"rows": [dict(zip(head, row, strict=True)) for row in rows], "paper": list(PAPER)}


def _row(measured: Measured, division: str, link: HostLink | None, n: int) -> list[float]:
    time = sum(measured.parts(division, link, n).values())
    alone = _host(measured, n)
    return [round(time, 2), round(time / n, 3), round(alone / time, 2)]


def _host(measured: Measured, n: int) -> float:
    """µs of the host alone at its best."""
    return min(sum(measured.parts(d, None, n).values()) for d in DIVISIONS)


def _measured(threads: int, progress: Progress) -> Measured:
    front = front_end(ROBOT, functions=("id",), **CHOICES)
    graphs = {
        "motion": _exact(motion(front.canonical)),
        "slopes": _exact(slopes(front.canonical)),
    }
    graphs["product"] = product(front.canonical, list(graphs["slopes"].outputs))
    halves = {}
    for division, function in (("fused", "did"), ("completely fused", "difd")):
        progress(f"{division}: {function}")
        core = compile_front(front_end(ROBOT, functions=(function,), **CHOICES), progress)
        graph = core.front.graph
        # τ comes with did for nothing; it stays where it is
        outputs = {k: v for k, v in graph.outputs.items() if kind_of(k) != "tau"}
        graphs[function] = Graph(graph.inputs, outputs)
        halves[division] = Half(
            core.plan.latency,
            core.plan.interval,
            core.plan.multipliers,
            len(graph.inputs),
            len(outputs),
        )
    progress("split: gradients of a motion that is given")
    halves["split"] = _split(front, graphs["motion"], graphs["slopes"], progress)
    host = {}
    for name, graph in graphs.items():
        progress(f"host: {name}")
        host[name] = graph_times(graph, _interface(graph), SIZES, threads, progress)
    return Measured(host, halves)


def _exact(graph: Graph) -> Graph:
    """The graph after the passes over real numbers."""
    rng = np.random.default_rng(SEED)
    return run(EXACT, graph, {name: rng.normal(size=FEW) for name in graph.inputs})


def _split(front: Front, first: Graph, second: Graph, progress: Progress) -> Half:
    """The half that takes v, a and f, which are searched for as functions of the state."""
    known = sample_inputs(front)
    assert known.domain is not None
    domain = replace(known.domain, derived=first)
    names = second.inputs
    samples = {**known.samples, **evaluate(first, known.samples)}
    samples = {name: samples[name] for name in names}
    extremes = {name: v for name, v in largest_inputs(domain, samples).items() if name in samples}
    seen = joined(samples, extremes)
    related = frozenset(name for name in names if name in first.outputs)
    limits = {
        name: known.limits[name] if name not in related else _around(seen[name]) for name in names
    }
    few = {name: values[-FEW:] for name, values in samples.items()}
    given = InputDomain(limits, samples, few, related, extremes, domain)
    _, fixed = to_words(run(UNITS, second, None), given, front.design.width, progress=progress)
    plan = planned(front.design, fixed, front.target)
    return Half(plan.latency, plan.interval, plan.multipliers, len(names), len(fixed.graph.outputs))


def _around(values: Any) -> tuple[float, float]:
    largest = (1 + MARGIN) * float(np.abs(values).max())
    return -largest, largest


def _interface(graph: Graph) -> ArrayInterface:
    """Each kind of word as one array, in the graph's order."""
    inputs, takes = _arrays(graph.inputs)
    outputs, gives = _arrays(graph.outputs)
    return ArrayInterface(takes, gives, inputs, {name: (entry,) for name, entry in outputs.items()})


def _arrays(names: Any) -> tuple[dict[str, ArrayEntry], tuple[Array, ...]]:
    count: dict[str, int] = {}
    entries = {}
    for name in names:
        kind = kind_of(name)
        entries[name] = ArrayEntry(kind, count.get(kind, 0))
        count[kind] = entries[name].at + 1
    return entries, tuple(Array(kind, (size,)) for kind, size in count.items())


def _about(measured: Measured, threads: int) -> str:
    halves = [
        [division, h.latency, h.interval, h.multipliers, h.taken, h.given]
        for division in DIVISIONS
        for h in [measured.halves[division]]
    ]
    head = ("division", "latency", "II", "multipliers", "words in", "words out")
    host = [
        [name, round(own.one), *(round(own.of[n].rows, 1) for n in SIZES)]
        for name, own in measured.host.items()
    ]
    names = ("on one core, ns", "one state", *(f"a state of {n}" for n in SIZES))
    links = [
        f"{link.name}: {link.rate / 1e6:g} MB/s, {1e6 * link.turn:g} µs a turn; {link.source}"
        for link in PCIE
    ]
    return "\n\n".join(
        [
            f"{ROBOT}, 18-bit words in 32, at {CLOCK:.1f} MHz: scheduled for it, not placed; "
            f"{threads} cores of this machine; no GPU is timed here",
            table(head, halves),
            table(names, host),
            "\n".join(links),
        ]
    )


def _ratios(measured: Measured) -> str:
    """The paper's ratios between its machines, for these machines."""
    first, last = SIZES[0], SIZES[-1]
    gen1 = PCIE[0]

    def total(division: str, n: int, link: HostLink | None = gen1) -> float:
        return sum(measured.parts(division, link, n).values())

    fused = [total("split", n) / total("completely fused", n) for n in (first, last)]
    host = [_host(measured, n) / total("completely fused", n) for n in (first, last)]
    core = 1e-3 * measured.host["difd"].one
    alone = 1e6 * measured.halves["completely fused"].timing.latency
    return (
        f"Here: one gradient takes the core {alone:.3g} µs, this CPU {core:.3g} µs. Behind "
        f"{gen1.name} completely fused is {fused[0]:.2g} (N = {first}) to {fused[1]:.2g} times "
        f"(N = {last}) as fast as split, and {host[0]:.2g} to {host[1]:.2g} times as fast as this "
        "host alone."
    )


def _figure_1(measured: Measured) -> str:
    """The latency of one: the host's three stages, the core."""
    names = {"motion": "v, a, f", "slopes": "gradients", "product": "product"}
    staged = {name: 1e-3 * measured.host[part].one for part, name in names.items()}
    whole = {"all at once": 1e-3 * measured.host["difd"].one}
    core = {"core": 1e6 * measured.halves["completely fused"].timing.latency}
    bars = {
        "CPU": [groups.Bar("stages", staged), groups.Bar("fused", whole)],
        "RTL": [groups.Bar("core", core)],
    }
    return groups.picture(f"{ROBOT}: one gradient of forward dynamics", "µs", bars)


def _figure_2(measured: Measured) -> str:
    """Time of N: the three divisions behind the paper's link."""
    short = ("s", "f", "c")
    return groups.picture(
        f"{ROBOT}: N gradients behind {PCIE[0].name}: split, fused, completely fused",
        "µs",
        {
            f"N = {n}": _bars(measured, n, zip(short, DIVISIONS, strict=True), PCIE[0])
            for n in SIZES
        },
    )


def _bars(measured: Measured, n: int, divisions: Any, link: HostLink) -> Sequence[groups.Bar]:
    return [groups.Bar(name, measured.parts(own, link, n)) for name, own in divisions]


def _figure_3(measured: Measured) -> str:
    """Time of N: the host alone, and all on the coprocessor behind two links."""
    bars = {}
    for n in SIZES:
        own = [groups.Bar("C", {"host alone": _host(measured, n)})]
        for name, link in (("1", PCIE[0]), ("3", PCIE[1])):
            time = measured.halves["completely fused"].microseconds(link, n)
            own.append(groups.Bar(f"F{name}", {f"completely fused, {link.name}": time}))
        bars[f"N = {n}"] = own
    return groups.picture(f"{ROBOT}: N gradients, host and coprocessor", "µs", bars)
