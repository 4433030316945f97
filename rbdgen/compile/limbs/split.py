"""Limbs on a trunk that moves, or that others hang on too: what one limb computes stands for all.

The graph is split. What depends on no limb's joints is the *trunk's*; what depends on one limb's
joints, and on the trunk, is that *limb's*; the *rest* reads several limbs. A limb's part is a
function of its own inputs and of what the trunk gives it, and gives results and words to the rest.
Four legs under a floating base compute the same of that, up to signs: a leg that is another one's
mirror image sees the base in a mirror, where what points along an axis and what turns about one
change their signs. Where a leg stands does not matter, for it feels the motion of its hip: the same
leg elsewhere feels the same if the base moves so that the hips do alike. Arms and legs are two
groups of limbs, each with a part of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate

from ...graph.evaluate import Array
from ...graph.graph import Graph, cone, extracted
from ...graph.node import Node, Op
from ...graph.verify import verify
from ...graph.visits import LIMB, Program, Signed, in_turn, once, then
from ...graph.word import kind_of, spell
from ...robot.limbs import Group, Limbs, limbs_of
from ...robot.model import Robot
from ...tasks.routes import LIMBS, TRUNK
from .alike import FREE, SAME, Alike
from .names import OTHER, LimbError, Names

REST = "rest"  # the template beside the trunk and the limbs
NOBODY: Mapping[Node, str] = {}


@dataclass(frozen=True, eq=False)
class Split:
    """A graph split at the hips.

    ``trunk``: inputs → words ``base[i]``. ``groups``: of limbs that are alike, the visits to one of
    them, which read inputs and such words, and give outputs of the whole and words ``limbs[j,k]``,
    of limb k of all groups. ``rest``: inputs and all these → the other outputs; it reads the limbs'
    outputs by their names too. ``owner``: output of the trunk or of a limb → what the caller said
    of the node that gives it. ``apart``: why others are not time-multiplexed.
    """

    trunk: Graph
    groups: tuple[Program, ...]
    rest: Graph
    owner: Mapping[str, str]
    apart: tuple[str, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether there is nothing but limbs."""
        return not self.trunk.outputs and not self.rest.outputs

    def program(self, task: Collection[str]) -> Program:
        """One visit to the trunk, one for each limb, one to the rest; ``task``: its own words."""
        ends = (once(name, own) for name, own in ((TRUNK, self.trunk), (REST, self.rest)))
        first, last = ([own] if own.outputs else [] for own in ends)
        return reduce(lambda one, other: then(one, other, task), (*first, *self.groups, *last))


def split(
    graph: Graph,
    robot: Robot,
    states: Mapping[str, Array],
    owner: Mapping[Node, str],
    inner: Collection[str],
    first: Collection[str],
    partly: bool = True,
) -> Split:
    """Cut at the hips of the limbs that are alike, compared in ``states``, (N,) of every input.

    ``owner``: node → a name for what needs it first; the rest has those without. ``inner``: kinds
    of outputs that the rest may read. ``first``: owners whose nodes may be the trunk's. ``partly``:
    whether limbs may differ in some of what they compute, which is the rest's then. Raises
    LimbError where no limbs are alike, or where one computes anything else.
    """
    robot_limbs, why = limbs_of(robot), dict[Group, str]()
    left = [*robot_limbs.turning]
    while chosen := _disjoint(left):
        found = []
        for limbs in chosen:
            others = {j for other in chosen if other != limbs for own in other for j in own}
            try:
                alike = Alike(graph, robot_limbs, limbs, states, owner, first, others)
                if not partly:
                    alike.refuse_partly("; --fold limbs shares what is the same")
                found.append(alike)
            except LimbError as error:
                why[limbs] = str(error)
                left.remove(limbs)
        if len(found) == len(chosen):
            taken = {limb for limbs in chosen for limb in limbs}
            apart = (text for limbs, text in why.items() if not taken.issuperset(limbs))
            return _cut(found, inner, owner, tuple(apart))
    reasons = "; ".join(why.values())
    raise LimbError(reasons or "no link carries two limbs with joints of the same kinds")


def find_limbs(graph: Graph, robot: Robot, states: Mapping[str, Array]) -> Program:
    """Visits to the first limb of a graph whose results are of one limb each, or constants.

    Compared in ``states``, (N,) of each input. Raises LimbError where there is one limb only, or
    where one differs from the first.
    """
    robot_limbs = limbs_of(robot)
    whole = [own for own in robot_limbs.turning if _alone(graph, robot_limbs, own)]
    if not whole:
        on_base = [robot.joints[i].name for i in robot.children[-1]]
        if len(on_base) == 1:
            raise LimbError("there is one limb: one joint of the base carries all others")
        raise LimbError(
            f"after joints {', '.join(on_base)} come joints of several kinds, or not as many; "
            "limbs that are time-multiplexed are alike"
        )
    alike = Alike(graph, robot_limbs, whole[0], states, dict.fromkeys(graph.nodes, ""), [""])
    alike.refuse_partly(f"; limbs that are time-multiplexed must agree to {SAME:.0e}")
    found = _cut([alike])
    (limbs,) = found.groups
    outputs = {**limbs.outputs}
    outputs |= {n: node.value for n, node in found.rest.outputs.items() if node.op is Op.CONST}
    for name in graph.outputs:
        if name not in outputs:
            raise LimbError(f"{name} is of one limb, and another has none that is like it")
    return Program(limbs.templates, limbs.reads, {name: outputs[name] for name in graph.outputs})


def _alone(graph: Graph, robot_limbs: Limbs, limbs: Group) -> bool:
    """Whether every output that varies depends on joints of one limb alone."""
    try:
        names = Names(robot_limbs, limbs)
    except LimbError:
        return False
    reads: dict[Node, frozenset[int]] = {}
    for node in graph.nodes:
        own = names.limb(node.name) or {OTHER} if node.op is Op.INPUT else ()
        reads[node] = frozenset(own).union(*(reads[a] for a in node.args))
    found = [reads[node] for node in graph.outputs.values()]
    return all(len(own) < 2 and OTHER not in own for own in found)


def _disjoint(groups: Iterable[Group]) -> list[Group]:
    """The first of the groups that have no joint in common, as many as there are stages for."""
    found, taken = list[Group](), set[int]()
    for limbs in groups:
        joints = {joint for own in limbs for joint in own}
        if not joints & taken and len(found) < len(LIMBS):
            found.append(limbs)
            taken |= joints
    return found


class _Group:
    """Limbs that are alike: what their part reads and gives. ``number``: of the first of them."""

    def __init__(self, alike: Alike, number: int) -> None:
        self.alike, self.number = alike, number
        # of each limb: the first one's node that the rest reads in this limb → the sign
        self.signs: list[dict[Node, int]] = [{} for _ in alike.seen]

    def gives(self, node: Node) -> tuple[Node, int, int] | None:
        """The word that a limb's node is, of which limb, and its sign; None if limbs differ."""
        found = self.alike.like(node)
        if found is None:
            return None
        word, sign = found
        k = min(self.alike.of[node] or ())
        return word, k, sign * self.signs[k].setdefault(word, sign)

    @cached_property
    def words(self) -> dict[Node, int]:
        """The first limb's nodes that the rest reads of any limb, numbered once all are known."""
        nodes = {node for own in self.signs for node in own}
        return {node: j for j, node in enumerate(sorted(nodes, key=lambda n: n.index))}

    def name(self, word: Node, limb: int = 0) -> str:
        """The name of a limb's word."""
        return spell("limbs", self.words[word], self.number + limb)

    @cached_property
    def outputs(self) -> dict[str, Node]:
        """The first limb's outputs, and its words."""
        every = self.alike.graph.outputs
        found = {name: every[name] for name in self.alike.outputs}
        return found | {self.name(node): node for node in self.words}

    @cached_property
    def reads(self) -> dict[Node, list[tuple[Node, int]]]:
        """Node of the trunk that the first limb reads → what each limb reads there, the sign."""
        there = self.alike.counterparts
        return {n: there[n] for n in cone(self.outputs.values(), there.__contains__) if n in there}

    def limb(
        self, template: Graph, k: int, base: Mapping[Node, str]
    ) -> tuple[dict[str, Signed], dict[str, Signed]]:
        """The sources of limb k's inputs, and the names of its outputs, by the template's names."""
        pairs = ((n, *match[k]) for n, match in self.reads.items())
        read: dict[str, Signed] = {
            base.get(n, n.name): (base.get(m, m.name), s) for n, m, s in pairs
        }
        made: dict[str, Signed] = {name: signed[k] for name, signed in self.alike.outputs.items()}
        for node in self.words:
            made[self.name(node)] = self.name(node, k), self.signs[k].get(node, 1)
        seen = self.alike.seen[k]
        words = {name: read.get(name) or self.alike.own(name, seen) for name in template.inputs}
        return words, made


def _cut(
    alike: Sequence[Alike],
    inner: Collection[str] = (),
    owner: Mapping[Node, str] = NOBODY,
    apart: tuple[str, ...] = (),
) -> Split:
    """Outputs that all limbs have are the limbs'; what the others are made of, the rest's.

    The rest goes down from its outputs as far as to what the trunk gives, or every limb.
    """
    graph, every = alike[0].graph, alike[0].graph.outputs
    signed = [own for limbs in alike for own in limbs.outputs.values()]
    taken = {name for own in signed for name, _ in own}
    left = {name: node for name, node in every.items() if name not in taken}
    leaves: dict[Node, Signed] = {  # of the rest; outputs that it may read first
        node: (name, 1) for name, node in every.items() if name in taken and kind_of(name) in inner
    }
    numbers = accumulate((limbs.count for limbs in alike), initial=0)
    groups = [_Group(limbs, number) for limbs, number in zip(alike, numbers, strict=False)]
    of_trunk: dict[Node, None] = {}
    of_limbs: dict[Node, tuple[_Group, Node, int, int]] = {}

    def crosses(node: Node) -> bool:
        """Whether the rest reads a word for it; notes which."""
        if all(limbs.in_trunk(node) for limbs in alike) and node.op not in FREE:
            of_trunk[node] = None
            return True
        if node in leaves:
            return True
        for group in groups:
            if (found := group.gives(node)) is not None:
                of_limbs[node] = group, *found
                return True
        return False

    cone(left.values(), crosses)
    for group in groups:
        of_trunk |= {n: None for match in group.reads.values() for n, _ in match}
    given = sorted((n for n in of_trunk if n.op is not Op.INPUT), key=lambda n: n.index)
    base = {n: spell("base", i) for i, n in enumerate(given)}  # what others read of the trunk
    leaves |= {n: (name, 1) for n, name in base.items()}
    leaves |= {n: (group.name(word, k), by) for n, (group, word, k, by) in of_limbs.items()}

    def part(outputs: Mapping[str, Node], read: Mapping[Node, Signed]) -> Graph:
        return verify(extracted(outputs, graph.inputs, read))

    owners = {name: owner[node] for node, name in base.items() if node in owner}
    programs = []
    for number, group in enumerate(groups):
        of = {n: (base[n], 1.0) for n in group.alike.counterparts if n in base}
        template = part(group.outputs, of)
        limbs = [group.limb(template, k, base) for k in range(group.alike.count)]
        programs.append(in_turn(template, limbs, LIMB + str(number + 1) * bool(number)))
        owners |= {group.name(n): owner[n] for n in group.words}
    trunk = part({name: n for n, name in base.items()}, {})
    return Split(trunk, tuple(programs), part(left, leaves), owners, apart)
