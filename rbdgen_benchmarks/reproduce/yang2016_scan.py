"""Yang, Wu and Pan, Parallel Dynamics Computation using Prefix Sum Operations (2016)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rbdgen.draw.tables import table
from rbdgen.system.quoting import Progress

from .depths import depths
from .loglog import Panel, picture
from .report import Reproduction
from .times import (
    Time,
    about_devices,
    crossover,
    devices,
    measured,
    pinocchio_times,
    series,
)

LINKS, MORE_LINKS = (4, 8, 16, 32, 64), (4, 8, 16, 32, 64, 128, 256)
FORWARD_LINKS, MORE_FORWARD = (4, 8, 16, 32), (4, 8, 16, 32, 64, 128, 256)
GROUPS, MORE_GROUPS = (1, 16, 256), (1, 4, 16, 64, 256, 1000)
INVERSE_CHAINS, MORE_INVERSE_CHAINS = (10,), (10, 100)
FORWARD_CHAINS, MORE_FORWARD_CHAINS = (10,), (10, 200)
INVERSE = ("serial", "link", "axes")
FORWARD = ("serial", "jsiia", "hybrid_abia")
PAPER = """\
The paper (Tesla K40c, i7-6700; 1000 random inputs, mean; precision not said):
Figure 1a: one ID call, linear in the links on the CPU, about log n on the GPU.
Figure 1b: one FD call; GPU JSIIA is fastest first, hybrid ABIA overtakes it beyond 100 links,
serial ABIA beyond 190.
Figure 2: ID of many groups, 10 and 100 links; about 100 times a CPU's threads at 1000 groups.
Figure 3: FD of many groups; of 10 links GPU JSIIA is always best, of 200 hybrid ABIA.
Its Introduction says 500 times at most for ID and 100 for FD; no sentence of its section V has
the 500."""


def prefix_sums(full: bool, place: Path, progress: Progress) -> Reproduction:
    """Figures 1, 2 and 3 here: on this CPU, on a GPU where there is one; depth of ID."""
    chosen = (
        (MORE_LINKS, MORE_FORWARD, MORE_GROUPS, MORE_INVERSE_CHAINS, MORE_FORWARD_CHAINS)
        if full
        else (LINKS, FORWARD_LINKS, GROUPS, INVERSE_CHAINS, FORWARD_CHAINS)
    )
    links, forward_links, groups, inverse_chains, forward_chains = chosen
    kinds = devices()
    table_of_depth, depth_rows = depths(
        ("ID serial", "ID link", "ID world", "ID axes", "M composite"), full, progress
    )
    text = [PAPER, about_devices(kinds), table_of_depth]
    numbers: dict[str, Any] = {"depth": depth_rows}
    pictures = {}
    beside = {
        "id": pinocchio_times("id", links, progress),
        "fd": pinocchio_times("fd", forward_links, progress),
    }
    for kind in kinds:
        inverse = measured("id", INVERSE, [(n, 1) for n in links], kind, progress)
        forward = measured("fd", FORWARD, [(n, 1) for n in forward_links], kind, progress)
        many = {
            ("id", n): measured("id", INVERSE, [(n, g) for g in groups], kind, progress)
            for n in inverse_chains
        } | {
            ("fd", n): measured("fd", FORWARD, [(n, g) for g in groups], kind, progress)
            for n in forward_chains
        }
        text += [
            f"Figure 1 on {kind}, µs a call of one state\n\n"
            + times_table([*inverse, *beside["id"]], "links")
            + "\n\n"
            + times_table([*forward, *beside["fd"]], "links"),
            *(
                f"Figure {2 if function == 'id' else 3} on {kind}, {function} of {n} links, "
                f"µs a call\n\n{times_table(own, 'groups')}"
                for (function, n), own in many.items()
            ),
            f"Crossovers on {kind}, one state: "
            + "; ".join(
                [
                    crossover(inverse, "serial", "axes"),
                    crossover(inverse, "serial", "link"),
                    crossover(forward, "jsiia", "hybrid_abia") + " (paper: 100)",
                    crossover(forward, "jsiia", "serial") + " (paper: 190)",
                ]
            )
            + ".",
        ]
        numbers[kind] = [
            asdict(t) for t in (*inverse, *forward, *(t for own in many.values() for t in own))
        ]
        pictures[f"000-figure-1-{kind}.svg"] = picture(
            f"000, Figure 1 on {kind}: one state",
            [
                Panel("ID", "links", "µs", series([*inverse, *beside["id"]], "links")),
                Panel("FD", "links", "µs", series([*forward, *beside["fd"]], "links")),
            ],
        )
        pictures[f"000-figures-2-3-{kind}.svg"] = picture(
            f"000, Figures 2 and 3 on {kind}: many states",
            [
                Panel(f"{function} of {n} links", "groups", "µs", series(own, "groups"))
                for (function, n), own in many.items()
            ],
        )
    numbers["pinocchio"] = [asdict(t) for own in beside.values() for t in own]
    text.append(
        "Measured: times of rbdgen_host.parallel as above, each the least of several calls, "
        "checked against the golden model; Pinocchio's C++ called from Python, one state a call.\n"
        "The paper's: what is listed first; its figures have no numbers in the text.\n"
        "What differs: the machines; our JSIIA sums composite inertias, the paper's does an "
        "inverse dynamics for each column; the paper times loops on CPU threads, here XLA "
        "compiles both. On a CPU with few cores a scan does more work than a loop and gains only "
        "where one state leaves the processor idle; the paper's log n needs a GPU."
        + ("" if len(kinds) > 1 else " Here is none: its orders are not reproduced by this run.")
    )
    return Reproduction("\n\n".join(text), numbers, pictures)


def times_table(times: list[Time], along: str) -> str:
    """A row for each method, a column for each size."""
    sizes = sorted({getattr(t, along) for t in times})
    of = {(t.method, getattr(t, along)): t.us for t in times}
    rows = [
        [method, *(round(of[method, n], 1) if (method, n) in of else "" for n in sizes)]
        for method in dict.fromkeys(t.method for t in times)
    ]
    return table((along, *map(str, sizes)), rows)
