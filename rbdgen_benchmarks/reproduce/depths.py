"""Depth and work of every formulation, traced from real graphs of random chains."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

from rbdgen.draw.tables import table
from rbdgen.system.quoting import Progress
from rbdgen_host.parallel.chains import random_chain
from rbdgen_host.parallel.depth import depth
from rbdgen_host.parallel.graphs import traced

# (function, method) → its name, largest size without and with --full, and the bound that tests
# and this table hold it to, as a text and as a function of n and L = ⌈log₂ n⌉.
FORMS: dict[tuple[str, str], tuple[str, int, int]] = {
    ("id", "serial"): ("ID serial", 128, 128),
    ("id", "link"): ("ID link", 64, 128),
    ("id", "world"): ("ID world", 64, 128),
    ("id", "axes"): ("ID axes", 128, 128),
    ("m", "composite"): ("M composite", 32, 128),
    ("fd", "jsiia"): ("JSIIA", 16, 128),
    ("fd", "hybrid_abia"): ("hybrid ABIA", 32, 128),
    ("fd", "scanned_abia"): ("scanned ABIA", 16, 128),
    ("fd", "cfa"): ("CFA", 16, 128),
}
BOUNDS = {
    "ID serial": ("10 n", lambda n, L: 10 * n),
    "ID link": ("11 L + 10", lambda n, L: 11 * L + 10),
    "ID axes": ("9 L + 16", lambda n, L: 9 * L + 16),
    "M composite": ("5 L + 23", lambda n, L: 5 * L + 23),
    "CFA": ("33 L + 46", lambda n, L: 33 * L + 46),
}
SIZES = (4, 8, 16, 32, 64, 128)


def depths(
    names: tuple[str, ...], full: bool, progress: Progress
) -> tuple[str, list[dict[str, Any]]]:
    """A table of the forms called ``names``, and its rows as data."""
    rows = []
    for (function, method), (name, few, many) in FORMS.items():
        if name not in names:
            continue
        for n in SIZES:
            if n > (many if full else few):
                break
            progress(f"depth of {name}, {n} links")
            graph = traced(random_chain(n), function, method, bias=None)
            found, count = depth(graph), graph.operations()
            said, bound = BOUNDS.get(name, ("", None))
            L = ceil(log2(n))
            rows.append(
                {
                    "form": name,
                    "links": n,
                    "depth": found.operations,
                    "bound": f"{said} = {bound(n, L)}" if bound else "",
                    "multiplications in a row": found.multiplications,
                    "divisions in a row": found.divisions,
                    "multiplications": count["mul"],
                    "by constants": count["mulc"],
                    "additions": count["add"],
                }
            )
    text = table(list(rows[0]), [list(row.values()) for row in rows])
    return (
        f"{text}\n\nDepth in operations, traced from graphs, Sklansky's network, L = ⌈log₂ n⌉; "
        "sines given, sums as terms arrive. Forward dynamics without its bias.",
        rows,
    )
