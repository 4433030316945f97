# amaranth: UnusedElaboratable=no
"""The hardware of a plan, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..graph.fixed import FixedGraph
from ..graph.node import Node, Op
from ..schedule.plan import Plan
from .core import RtlCore

if TYPE_CHECKING:
    from ..schedule.channels import Pipeline
    from ..schedule.fold import Fold
    from ..schedule.limbs import LimbPlan
    from ..schedule.round_plan import RoundPlan
    from .separate_module import Serves


def core_of(
    plan: Plan,
    name: str | None = None,
    *,
    sticky: bool = True,
    serves: Serves | None = None,
    woken: bool = False,
) -> RtlCore:
    """The hardware of ``plan``; ``name`` as in `RoundTrip`, ``sticky`` as in `RtlCore`.

    ``serves``: what each node serves, where another graph than the plan's stands in the text.
    ``woken``: a fold's phases, as in `Folded`; a pipeline has none.
    """
    return CORES[type(plan).__name__](plan, name, sticky, serves, woken)


def _pipeline(
    plan: Pipeline, name: str | None, sticky: bool, serves: Serves | None, woken: bool
) -> RtlCore:
    from .round_trip import RoundTrip

    return RoundTrip(plan, serves or _joint_of_each(plan.fixed), name, sticky=sticky)


def _fold(
    plan: Fold, name: str | None, sticky: bool, serves: Serves | None, woken: bool
) -> RtlCore:
    from .folded import Folded

    return Folded(plan, serves or _joint_of_each(plan.fixed), sticky=sticky, woken=woken)


def _limbs(
    plan: LimbPlan, name: str | None, sticky: bool, serves: Serves | None, woken: bool
) -> RtlCore:
    from .limbs import LIMB, SharedLimbs

    copies = ((visit.name.replace("_", " "), own) for visit, own in plan.program.copies.items())
    own, module = _serves(plan.whole, copies), f"{name}_{LIMB}" if name else None
    # it rests if the whole does
    limb = core_of(plan.template, module, sticky=False, serves=own, woken=sticky)
    return SharedLimbs(plan, limb, name, sticky=sticky)


def _rounds(
    plan: RoundPlan, name: str | None, sticky: bool, serves: Serves | None, woken: bool
) -> RtlCore:
    from .rounds import InRounds

    def copies() -> Iterable[tuple[str, Mapping[Node, Node]]]:
        for visit, datapath in plan.datapath.items():
            of, whole = plan.datapaths.copies[datapath], plan.program.copies[visit]
            yield _joints(visit.key), {of[node]: copy for node, copy in whole.items()}

    return InRounds(plan, _serves(plan.whole, copies()), sticky=sticky)


def _joints(numbers: tuple[int, ...]) -> str:
    return f"joint{'s' * (len(numbers) > 1)} {' '.join(map(str, numbers))}"


def _joint_of_each(fixed: FixedGraph) -> Serves:
    """Node → the joints of its region, and its line in the graph's own text."""
    nodes = fixed.graph.nodes
    return _serves(fixed, ((_joints(n.region[1:]), {n: n}) for n in nodes if n.region))


def _serves(whole: FixedGraph, copies: Iterable[tuple[str, Mapping[Node, Node]]]) -> Serves:
    """Node → ``joint 3 %98, joint 4 %142``: whom it serves, and as which line of the text of
    ``whole``. ``copies``: who, and node → its copy in ``whole``."""
    number, found = whole.graph.number, dict[Node, list[str]]()
    for who, own in copies:
        for node, copy in own.items():
            if node.op is not Op.CONST and copy.op is not Op.CONST and copy in number:
                found.setdefault(node, []).append(f"{who} %{number[copy]}")
    return {node: ", ".join(said) for node, said in found.items()}


# Class of a plan → its hardware, by the arguments of `core_of`.
CORES: Mapping[str, Callable[[Any, str | None, bool, Serves | None, bool], RtlCore]] = {
    "Pipeline": _pipeline,
    "Fold": _fold,
    "LimbPlan": _limbs,
    "RoundPlan": _rounds,
}
