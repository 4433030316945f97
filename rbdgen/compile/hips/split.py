"""Limbs on a trunk that moves, or that others hang on too: what one limb computes stands for all.

The graph is split in three. What depends on no limb's joints is the *trunk's*; what depends on one
limb's joints, and on the trunk, is that *limb's*; the *rest* reads several limbs. A limb's part is
a function of its own inputs and of what the trunk gives it, and gives results and words to the
rest. Four legs under a floating base compute the same of that, up to signs: a leg that is another
one's mirror image sees the base in a mirror, where what points along an axis and what turns about
one change their signs. Where a leg stands does not matter, for it feels the motion of its hip: the
same leg elsewhere feels the same if the base moves so that the hips do alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from ...graph.evaluate import Array
from ...graph.graph import Graph
from ...graph.node import Builder, Node, Op
from ...graph.verify import verify
from ...graph.visits import Program, once, then
from ...graph.word import indices, kind_of, spell
from ...passes.limbs import LimbError, Signed, in_turn
from ...robot.model import Robot
from ...tasks.visit import TRUNK
from .alike import FREE, Alike
from .names import groups

REST = "rest"  # the template beside the trunk and the limb


@dataclass(frozen=True, eq=False)
class Split:
    """A graph split at the hips.

    ``trunk``: inputs → words ``base[i]``. ``limbs``: visits to one limb that read inputs and such
    words, and give outputs of the whole and words ``limbs[j,k]``, of limb k. ``rest``: inputs and
    all these → the other outputs; it reads the limbs' outputs by their names too. ``owner``:
    output of the limb → what the caller said of the node that gives it.
    """

    trunk: Graph
    limbs: Program
    rest: Graph
    owner: Mapping[str, str]

    def program(self, task: Collection[str]) -> Program:
        """One visit to the trunk, one for each limb, one to the rest; ``task``: its own words."""
        trunk = once(TRUNK, self.trunk) if self.trunk.outputs else Program({}, {}, {})
        return then(then(trunk, self.limbs, task), once(REST, self.rest), task)


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
    why = []
    for limbs in groups(robot):
        try:
            alike = Alike(graph, robot, limbs, states, owner, first)
            if not partly:
                alike.refuse_partly()
            return _Splitting(alike, inner).split(owner)
        except LimbError as error:
            why.append(str(error))
    raise LimbError("; ".join(why) or "no link carries two limbs with joints of the same kinds")


class _Splitting:
    """Outputs that all limbs have are the limbs'; what the others are made of, the rest's.

    The rest goes down from its outputs as far as to what the trunk gives, or every limb.
    """

    def __init__(self, alike: Alike, inner: Collection[str]) -> None:
        self.alike = alike
        every = alike.graph.outputs
        taken = {name for signed in alike.outputs.values() for name, _ in signed}
        self.left = {name: node for name, node in every.items() if name not in taken}
        self.named = {  # output that the rest may read → its name
            node: name for name, node in every.items() if name in taken and kind_of(name) in inner
        }
        words: dict[Node, None] = {}  # the first limb's nodes that the rest reads of any limb
        of_trunk: dict[Node, None] = {}

        def crosses(node: Node) -> bool:
            """Whether the rest reads a word for it; notes which."""
            if alike.in_trunk(node) and node.op not in FREE:
                of_trunk[node] = None
                return True
            found = None if node in self.named else alike.like(node)
            if found is not None:
                words[found[0]] = None
            return node in self.named or found is not None

        _walk(self.left.values(), crosses)
        self.words = {node: j for j, node in enumerate(sorted(words, key=lambda n: n.index))}
        self.outputs = {name: every[name] for name in alike.outputs}
        self.outputs |= {spell("limbs", j, 0): node for node, j in self.words.items()}
        # of each limb: the trunk's node that the first one reads → that which it reads, the sign
        self.reads: list[dict[Node, tuple[Node, int]]] = [{} for _ in alike.seen]

        def comes(node: Node) -> bool:
            """Whether a limb's part reads this node of the trunk, rather than computing it too."""
            if node not in alike.counterparts:
                return False
            for own, match in zip(self.reads, alike.counterparts[node], strict=True):
                own[node] = match
            return True

        _walk(self.outputs.values(), comes)
        of_trunk |= dict.fromkeys(n for own in self.reads for n, _ in own.values())
        kept = sorted((n for n in of_trunk if n.op is not Op.INPUT), key=lambda n: n.index)
        # what others read of the trunk
        self.base = {n: spell("base", i) for i, n in enumerate(kept)}
        self.signs: list[dict[Node, int]] = [{} for _ in alike.seen]  # word → its sign, by limb

    def split(self, owner: Mapping[Node, str]) -> Split:
        rest = self._copy(self.left, self._in_rest)  # finds the signs of the limbs' words
        template = self._copy(self.outputs, self._in_limb)
        trunk = self._copy({name: n for n, name in self.base.items()}, lambda node, builder: None)
        limbs = in_turn(template, [self._limb(template, k) for k in range(len(self.reads))])
        owners = {spell("limbs", j, 0): owner[node] for node, j in self.words.items()}
        return Split(trunk, limbs, rest, owners)

    def _limb(self, template: Graph, k: int) -> tuple[dict[str, Signed], dict[str, Signed]]:
        seen, of = self.alike.seen[k], self.reads[k]
        read = {self._trunk_name(n): (self._trunk_name(m), s) for n, (m, s) in of.items()}
        made: dict[str, Signed] = {name: signed[k] for name, signed in self.alike.outputs.items()}
        for node, j in self.words.items():
            made[spell("limbs", j, 0)] = spell("limbs", j, k), self.signs[k].get(node, 1)
        own = {name: read.get(name) or self.alike.own(name, seen) for name in template.inputs}
        return own, made

    def _in_rest(self, node: Node, builder: Builder) -> Node | None:
        if node in self.base:
            return builder.input(self.base[node])
        if node in self.named:
            return builder.input(self.named[node])
        found = self.alike.like(node)
        if found is None:
            return None
        k = min(self.alike.of[node] or ())
        sign = found[1] * self.signs[k].setdefault(*found)
        word = builder.input(spell("limbs", self.words[found[0]], k))
        return word if sign > 0 else builder.neg(word)

    def _in_limb(self, node: Node, builder: Builder) -> Node | None:
        given = node in self.alike.counterparts and node in self.base
        return builder.input(self.base[node]) if given else None

    def _trunk_name(self, node: Node) -> str:
        return node.name if node.op is Op.INPUT else self.base[node]

    def _copy(self, outputs: Mapping[str, Node], rule: Rule) -> Graph:
        """A graph of its own; ``rule`` makes what takes the place of nodes that become inputs."""
        builder = Builder()
        new: dict[Node, Node] = {}
        needed = _walk(outputs.values(), lambda node: rule(node, Builder()) is not None)
        for node in sorted(needed, key=lambda n: n.index):
            with builder.in_region(node.region):
                word = rule(node, builder)
                new[node] = word or builder.same(node, [new[a] for a in node.args])
        found = {name: new[node] for name, node in outputs.items()}
        read = {n.name for n in Graph((), found).nodes if n.op is Op.INPUT}
        inputs = [name for name in self.alike.graph.inputs if name in read]
        inputs += sorted(read.difference(inputs), key=lambda n: (kind_of(n), indices(n), n))
        return verify(Graph(tuple(inputs), found))


Rule = Callable[[Node, Builder], Node | None]


def _walk(targets: Iterable[Node], ends: Callable[[Node], bool]) -> set[Node]:
    """The targets and what they are made of, as far as where it ``ends``."""
    found: set[Node] = set()
    stack = list(targets)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += () if ends(node) else node.args
    return found
