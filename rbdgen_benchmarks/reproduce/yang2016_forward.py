"""Yang, Wu and Pan, GPU-based Parallel Forward Dynamics (2016)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rbdgen.system.quoting import Progress

from .depths import depths
from .loglog import Panel, picture
from .report import Reproduction
from .times import about_devices, crossover, devices, measured, pinocchio_times, series
from .yang2016_scan import times_table

METHODS = ("jsiia", "hybrid_abia", "scanned_abia", "cfa")
LINKS, MORE_LINKS = (4, 8, 16), (4, 8, 16, 32, 64, 128, 256)
GROUPS, MORE_GROUPS = (1, 16, 256), (1, 4, 16, 64, 256, 1000)
CHAINS, MORE_CHAINS = (10,), (10, 200)
PAPER = """\
The paper (Tesla K40c, i7-6700; articulated inertias on the CPU):
Figure 2: one state, 10 to 1000 links: CFA is dearer for few links, best for many, grows least.
Figure 3a: many states of 10 links: JSIIA and CFA alike beyond 100, both faster than ABIA.
Figure 3b: many states of 200 links: CFA is best, JSIIA worst.
It contradicts itself: "ABIA is always dominated by JSIIA and CFA", and JSIIA worst at 200 links."""


def forward_dynamics(full: bool, place: Path, progress: Progress) -> Reproduction:
    """Figures 2 and 3 here: on this CPU, on a GPU where there is one; depth of FD."""
    links = MORE_LINKS if full else LINKS
    groups = MORE_GROUPS if full else GROUPS
    kinds = devices()
    table_of_depth, rows = depths(
        ("M composite", "JSIIA", "hybrid ABIA", "scanned ABIA", "CFA"), full, progress
    )
    text = [PAPER, about_devices(kinds), table_of_depth]
    numbers: dict[str, Any] = {"depth": rows}
    pictures = {}
    beside = pinocchio_times("fd", links, progress)
    for kind in kinds:
        one = measured("fd", METHODS, [(n, 1) for n in links], kind, progress)
        many = {
            n: measured("fd", METHODS, [(n, g) for g in groups], kind, progress)
            for n in (MORE_CHAINS if full else CHAINS)
        }
        text += [
            f"Figure 2 on {kind}, µs a call of one state\n\n"
            + times_table([*one, *beside], "links"),
            *(
                f"Figure 3 on {kind}, {n} links, µs a call\n\n{times_table(own, 'groups')}"
                for n, own in many.items()
            ),
            f"Crossovers on {kind}, one state: "
            + "; ".join(
                crossover(one, slow, fast)
                for slow, fast in (
                    ("hybrid_abia", "cfa"),
                    ("jsiia", "cfa"),
                    ("hybrid_abia", "scanned_abia"),
                )
            )
            + ".",
        ]
        numbers[kind] = [asdict(t) for t in (*one, *(t for own in many.values() for t in own))]
        panels = [Panel("Figure 2", "links", "µs", series([*one, *beside], "links"))]
        panels += [
            Panel(f"Figure 3, {n} links", "groups", "µs", series(own, "groups"))
            for n, own in many.items()
        ]
        pictures[f"001-figures-{kind}.svg"] = picture(f"001, Figures 2 and 3 on {kind}", panels)
    numbers["pinocchio"] = [asdict(t) for t in beside]
    text.append(
        "Measured: as for 000. The paper's: what is listed first. What differs: articulated "
        "inertias are computed where all else is, not on a CPU beside a GPU; they are a scan, "
        "too, in scanned_abia, which the paper holds to be of no use; CFA is corrected once by "
        "its residual, which costs a second elimination and gains a digit or two."
        + ("" if len(kinds) > 1 else " There is no GPU here: the paper's orders are of one.")
    )
    return Reproduction("\n\n".join(text), numbers, pictures)
