# amaranth: UnusedElaboratable=no
"""The modules of a core as RTLIL, each by itself: large cores have several processes write them.

Amaranth takes a millisecond for an operation or two, whatever it is; that is most of the time in
which a design becomes Verilog. Its own objects cannot be handed to another process. What they are
made from can: each makes the core anew, and writes the modules that it is asked for. A core of
which this process writes nothing is not reported as unused: the first line sees to that, here
and where parts of cores are made.
"""

from __future__ import annotations

import gc
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from amaranth.hdl import Value
from amaranth.lib import wiring

from ..robot.model import RobotError
from ..system.workers import cores, hand_back, in_workers
from ..tasks.stages import Accelerator
from .core import RtlCore
from .cores import core_of
from .function_units import PlacedUnit
from .region import RegionPipeline
from .separate_module import to_rtlil

if TYPE_CHECKING:
    from .accelerator import AcceleratorCore

LARGE = 1500  # operations: a second and a half for a process to begin pays from here
WIDEST = 1 << 16  # bits of one port, or register, in Amaranth
MOST_WORKERS = 4  # the largest module is a quarter of a core or more
UNCOLLECTED = 8_000_000  # characters of RTLIL, whose netlists take some 400 MB


@dataclass(frozen=True)
class Written:
    """Modules as RTLIL, one text for each, and how many of each unit they instantiate."""

    texts: list[str]
    units: Counter[PlacedUnit]


def hardware_of(accelerator: Accelerator, name: str) -> RtlCore | AcceleratorCore:
    """The hardware behind two streams: a core's is that of its one plan, with nothing around it."""
    if accelerator.slots:
        from .accelerator import AcceleratorCore

        return AcceleratorCore(accelerator, name)
    (stage,) = accelerator.stages.values()
    assert stage.plan is not None
    return core_of(stage.plan, name)


@dataclass(frozen=True, eq=False)
class Modules:
    """The modules of the core called ``name``: its own, "", and those of its `parts`."""

    source: Accelerator
    name: str

    @cached_property
    def core(self) -> RtlCore | AcceleratorCore:
        """The hardware. Its lists of units know of modules that this process has written."""
        return hardware_of(self.source, self.name)

    @cached_property
    def components(self) -> dict[str, wiring.Component]:
        """Part → what is written as the module NAME_PART; "": the core."""
        return {"": self.core, **self.core.parts}

    def __reduce__(self) -> tuple[Any, ...]:
        return Modules, (self.source, self.name)  # a copy makes a core of its own

    def units(self) -> Counter[PlacedUnit]:
        """The modules that this process has written, and those of the core's own constructor."""
        return Counter(self.core.placed)

    def write(self, part: str) -> tuple[str, Counter[PlacedUnit]]:
        """A part's module, and the units that it adds."""
        before = self.units()
        text = to_rtlil(self.components[part], f"{self.name}_{part}" if part else self.name)
        return text, self.units() - before


def write_modules(modules: Modules) -> Written:
    """Every module of a core, the core's own first, in the order of its parts.

    Raises RobotError where one gives more bits at a time than Amaranth has words for.
    """
    for part, component in modules.components.items():
        _refuse_wide(f"{modules.name}{part and '.'}{part}", component)
    sizes = {part: _operations(component) for part, component in modules.components.items()}
    workers = min(cores(), MOST_WORKERS) if sum(sizes.values()) > LARGE else 1
    units = modules.units()
    if workers > 1:
        hand_back()  # each makes the core anew
    # the largest first: none is left for the end; the core's own has no operations, but wide words
    order = sorted(sizes, key=lambda part: (part != "", -sizes[part]))
    written = in_workers(_Writer(modules), [(part,) for part in order], workers)
    found = dict(zip(order, written, strict=True))
    for _, added in found.values():
        units += added
    return Written([found[part][0] for part in sizes], units)


def _refuse_wide(name: str, component: wiring.Component) -> None:
    for path, _, port in component.signature.flatten(component):
        bits = len(Value.cast(port))
        if bits > WIDEST:
            raise RobotError(
                f"{name}: {'.'.join(map(str, path))} has {bits} bits, all words of a task, and "
                f"Amaranth writes no port of more than {WIDEST}: leave functions out whose "
                "matrices have so many entries, or make words narrower by --width"
            )


@dataclass
class _Writer:
    """Writes modules, and now and then drops what Amaranth made of those before."""

    modules: Modules
    since: int = 0

    def __call__(self, part: str) -> tuple[str, Counter[PlacedUnit]]:
        found = self.modules.write(part)
        self.since += len(found[0])
        if self.since > UNCOLLECTED:
            gc.collect(0)
            self.since = 0
        return found


def _operations(component: wiring.Component) -> int:
    """A module's count without its submodules: a module with parts only connects them."""
    if isinstance(component, RegionPipeline):
        return len(component.nodes)
    alone = isinstance(component, RtlCore) and not component.parts
    return len(component.fixed.graph.nodes) if alone else 0
