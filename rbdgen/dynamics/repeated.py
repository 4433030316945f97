"""Templates of joints' steps: joints that are alike share them, and two passes their results.

Joints of one kind, placed alike, visit the same templates.

Forward dynamics goes out and back without acceleration; its gradients go once more, with the
acceleration that was found. Places and velocities are the same in both. The second pass is recorded
like the first, as visits of its own, and each result that depends on nothing but what the first
one read, too, is the first visit's.

That must be so in all visits to a template, which are alike. So every result is taken for the
first visit's at the beginning, and those are left out that differ, until no more do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..graph.graph import Graph
from ..graph.node import Node, Op
from ..graph.visits import Scaled, Visit, VisitResult
from ..robot.angles import NOISE
from ..robot.model import Array, Joint, JointKind, Robot
from .spatial import differs
from .steps import Kept, Leaf, input_name, mapped

BASE = "_base"


def step_of(name: str, robot: Robot, i: int) -> Visit:
    """The visit of joint ``i``."""
    return Visit(name + _way(robot, i) + _place(robot, i), (i,))


def gathering(robot: Robot, i: int) -> Visit:
    """The visit of joint ``i`` on the way back, where all that its body carries comes together."""
    several = len(robot.children[i])
    name = f"back_of{several}" if several > 1 else "back"
    return step_of(name, robot, i)


def meeting(robot: Robot, i: int, n: int, below: int, above: int) -> Visit:
    """The visit of coordinate ``n`` of joint ``i`` that takes its column from the body ``below``
    to joint ``above``, where it meets that joint's axes."""
    joint = robot.joints[above]
    mimics = joint.mimic is None and robot.joints[i].mimic is not None
    to = _kind(joint, "_to") + "_mimics" * mimics
    name = "column" + _way(robot, below) + to + _place(robot, above)
    return Visit(name, (i, n, above) if robot.joints[i].kind.nv > 1 else (i, above))


def by_kind(name: str, robot: Robot, i: int) -> Visit:
    """The visit of joint ``i`` for what is alike wherever a joint of its kind stands."""
    return Visit(name + _kind(robot.joints[i]), (i,))


def by_place(name: str, robot: Robot, i: int) -> Visit:
    """The same for what is less on the base, and has a factor where the joint mimics another."""
    return Visit(name + _kind(robot.joints[i]) + _place(robot, i), (i,))


def weight_of(joint: Joint, i: int) -> Visit:
    """The visit of joint ``i`` for its base's acceleration less gravity, along other axes."""
    return Visit("weight" + _kind(joint) + turns_of(joint.placement.rotation), (i,))


def pairing(robot: Robot, i: int, above: int) -> Visit:
    """The visit of joint ``i`` and one above it for the entries of their coordinates."""
    joint, other = robot.joints[i], robot.joints[above]
    mimics = "_mimics" * (other.mimic is None and joint.mimic is not None)
    name = f"pair{_kind(joint)}{_kind(other, '_to')}{mimics}"
    return Visit(name + _place(robot, above), (i, above))


def on_link(joint: Joint, i: int) -> Visit:
    """The visit of joint ``i`` for the external force on its link."""
    return Visit("external" + turns_of(joint.link_frame.rotation), (i,))


def weighing(i: int) -> Visit:
    """The visit of joint ``i`` that takes its body's numbers apart, registers or a payload's."""
    return Visit("weigh", (i,))


def loading(i: int) -> Visit:
    """The visit of joint ``i`` that adds its payload, which few bodies have, to its body."""
    return Visit("load", (i,))


def _way(robot: Robot, i: int) -> str:
    """The joint's kind, and what its placement is but a turn about x and a shift."""
    joint = robot.joints[i]
    if joint.parent < 0:
        return _kind(joint)
    return _kind(joint) + turns_of(joint.placement.rotation)


def _kind(joint: Joint, before: str = "") -> str:
    return "" if joint.kind is JointKind.REVOLUTE else f"{before}_{joint.kind.value}"


def turns_of(R: Array) -> str:
    """A suffix for the template's name: how a rotation differs from a turn about x."""
    if differs(R[2, 0], 0.0, NOISE):
        return "_oblique"
    turned = differs(R[1, 0], 0.0, NOISE) or differs(R[0, 0], 1.0, NOISE)
    return "_turned" if turned else ""


def _place(robot: Robot, i: int) -> str:
    joint = robot.joints[i]
    return "_mimic" * (joint.mimic is not None) + BASE * (joint.parent < 0)


Steps = Mapping[Visit, Sequence[Kept]]


class _Step(NamedTuple):
    """A step of a repeated visit.

    ``reads``: result → the step's inputs that it depends on. ``pairs``: input → what the first
    visit's step took in its place, and what this one takes, where the two are not equal; None: the
    first visit has no such step.
    """

    template: str
    reads: dict[str, frozenset[str]]
    pairs: list[tuple[str, Leaf, Leaf]] | None


def reading_once(steps: Steps, firsts: Mapping[Visit, Visit]) -> Callable[[str, Leaf], Leaf]:
    """A replacement for each leaf of a repeated visit; the path of the leaf is ignored.

    ``firsts``: each repeated visit → the one that it repeats.
    """
    pairs = [step for own, first in firsts.items() for step in _steps(own, first, steps)]
    same = {(step.template, name) for step in pairs for name in step.reads}

    def once(_: str, leaf: Leaf) -> Leaf:
        if isinstance(leaf, Scaled) and isinstance(leaf.of, VisitResult):
            return Scaled(_first(leaf.of), leaf.by)
        return _first(leaf) if isinstance(leaf, VisitResult) else leaf

    def _first(result: VisitResult) -> VisitResult:
        known = (result.visit.template, result.name) in same
        return VisitResult(firsts[result.visit], result.name) if known else result

    while other := {(s.template, n) for s in pairs for n in _differing(s, once)} & same:
        same -= other
    return once


def _steps(own: Visit, first: Visit, steps: Steps) -> Iterator[_Step]:
    before = steps.get(first, ())
    for number, kept in enumerate(steps[own]):
        pairs = None
        if number < len(before) and before[number].shape(first) == kept.shape(own):
            found = zip(_leaves(before[number]), _leaves(kept), strict=True)
            pairs = [(input_name(path, leaf), a, leaf) for (_, a), (path, leaf) in found]
            pairs = [(name, a, b) for name, a, b in pairs if a != b]
        yield _Step(own.template, _reads(kept.results), pairs)


def _leaves(kept: Kept) -> list[tuple[str, Leaf]]:
    found: list[tuple[str, Leaf]] = []

    def note(path: str, leaf: Leaf) -> Leaf:
        found.append((path, leaf))
        return leaf

    mapped(kept.args, note)
    return found


def _reads(results: Mapping[str, Node]) -> dict[str, frozenset[str]]:
    """Each result → the inputs that it depends on."""
    found: dict[Node, frozenset[str]] = {}
    for node in Graph((), dict(results)).nodes:
        own = {node.name} if node.op is Op.INPUT else set[str]()
        found[node] = frozenset(own.union(*(found[a] for a in node.args)))
    return {name: found[node] for name, node in results.items()}


def _differing(step: _Step, once: Callable[[str, Leaf], Leaf]) -> Iterator[str]:
    """The results that depend on what differs from the first visit's."""
    if step.pairs is None:
        yield from step.reads
        return
    others = {name for name, first, own in step.pairs if once("", own) != first}
    for name, reads in step.reads.items():
        if not reads.isdisjoint(others):
            yield name
