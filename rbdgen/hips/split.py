"""Limbs on a trunk that moves, or that others hang on too: what one limb computes stands for all.

Hips cut the graph in three. What depends on no limb's joints is the *trunk's*; what depends on one
limb's joints, and on the trunk, is that *limb's*; the *rest* reads several limbs. A limb's part is
a function of its own inputs and of what the trunk gives it, and gives results and words to the
rest. Four legs under a floating base compute the same of that, up to signs: a leg that is another
one's mirror image sees the base in a mirror, where what points along an axis and what turns about
one change their signs. Where a leg stands does not matter, for it feels the motion of its hip: the
same leg elsewhere feels the same if the base moves so that the hips do alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..graph.evaluate import Array, evaluate
from ..graph.graph import Graph
from ..graph.node import Builder, Node, Op
from ..graph.verify import verify
from ..passes.limbs import SAME, Limb, LimbError, Limbs, Signed
from ..robot.model import JointKind, Robot, Transform
from .names import Names, groups, parts_of

FREE = (Op.INPUT, Op.CONST)


@dataclass(frozen=True, eq=False)
class Split:
    """A graph cut at the hips.

    ``trunk``: inputs → words ``base[i]``. ``limbs``: inputs and such words → outputs of the whole
    and words ``limbs[j,k]``, of limb k. ``rest``: inputs and all these → the other outputs; it
    reads the limbs' outputs by their names too. ``owner``: output of the template → what the
    caller said of the node that gives it.
    """

    trunk: Graph
    limbs: Limbs
    rest: Graph
    owner: Mapping[str, str]


def split(
    graph: Graph,
    robot: Robot,
    states: Mapping[str, Array],
    owner: Mapping[Node, str],
    inner: Collection[str],
    first: Collection[str],
) -> Split:
    """Cut at the hips of the limbs that are alike, compared in ``states``, (N,) of every input.

    ``owner``: node → a name for what needs it first; the rest has those without. ``inner``: kinds
    of outputs that the rest may read. ``first``: owners whose nodes may be the trunk's. Raises
    LimbError where no limbs are alike, or where one computes anything else.
    """
    why = []
    for limbs in groups(robot):
        try:
            return _Splitting(graph, robot, limbs, states, owner, inner, first).split()
        except LimbError as error:
            why.append(str(error))
    raise LimbError("; ".join(why) or "no link carries two limbs with joints of the same kinds")


@dataclass(frozen=True, eq=False)
class _Seen:
    """A limb as the first one.

    ``values``: of the trunk and the first limb, in states in which the first limb moves as this one
    does. ``like``: own node → the first limb's that is the same up to a sign, and the sign.
    """

    limb: int
    signs: Mapping[int, Array]
    values: Mapping[Node, Array]
    like: Mapping[Node, tuple[Node, int]]


class _Splitting:
    def __init__(
        self,
        graph: Graph,
        robot: Robot,
        limbs: tuple[tuple[int, ...], ...],
        states: Mapping[str, Array],
        owner: Mapping[Node, str],
        inner: Collection[str],
        first: Collection[str],
    ) -> None:
        self.graph, self.robot, self.states = graph, robot, states
        self.owner, self.inner = owner, inner
        self.names, self.count = Names(robot, limbs), len(limbs)
        self.reads: dict[Node, frozenset[int]] = {}  # the limbs that a node depends on
        self.of: dict[Node, frozenset[int] | None] = {}  # the same; None where it is the rest's
        for node in graph.nodes:
            own = self.names.limb(node.name) if node.op is Op.INPUT else frozenset()
            own = own.union(*(self.reads[a] for a in node.args))
            late = not own and owner.get(node) not in first
            apart = len(own) > 1 or (node.op not in FREE and (late or node not in owner))
            self.reads[node] = own
            self.of[node] = None if apart or any(self.of[a] is None for a in node.args) else own
        self.values: dict[Node, Array] = {}
        evaluate(graph, states, self.values.__setitem__)
        self.seen = [self._see(k) for k in range(self.count)]
        # of the trunk's nodes, what each limb reads where the first one reads them, and the sign
        self.counterparts: dict[Node, list[tuple[Node, int]]] = {}
        able = self._able()
        matched = [{t for t, _ in own.like.values()} for own in self.seen]
        self.common = able.intersection(*matched)  # of the first limb's nodes, what all have
        self.outputs = self._outputs(able)
        self.base: dict[Node, str] = {}  # the trunk's nodes that others read → their names there

    def _in(self, node: Node, limb: int) -> bool:
        return self.of[node] == frozenset([limb])

    def _in_trunk(self, node: Node) -> bool:
        return self.of[node] == frozenset()

    def _see(self, limb: int) -> _Seen:
        """With the signs that most of what its joints feel is the same with; the fewest of them."""
        graph = self.graph
        first = [n for n in graph.nodes if self.reads[n] <= {0}]
        cone = Graph(graph.inputs, {str(n.index): n for n in first})
        found: tuple[int, Mapping[int, Array], dict[Node, Array]] | None = None
        least = np.inf, ""
        for signs in self.names.choices(limb):
            values: dict[Node, Array] = {}
            evaluate(cone, self._states(limb, signs), values.__setitem__)
            off = self._off(limb, values)
            fits = sum(apart <= SAME for apart, _ in off)
            least = min([least, *off])
            if fits > (found[0] if found else 0):
                found = fits, signs, values
            if fits == len(off):
                break
        if found is None:
            apart, name = least
            if not name:
                raise LimbError("nothing that is asked for is of one limb only")
            joint = self.robot.joints[self.names.joints(name)[0][0]].name
            raise LimbError(
                f"{name}, of joint {joint}, differs from the same of another limb by {apart:.1e} "
                f"of its size, in whatever mirror; limbs that take turns must agree to {SAME:.0e}"
            )
        _, chosen, values = found
        own = [n for n in graph.nodes if self._in(n, limb) and n.op is not Op.INPUT]
        there = [n for n in first if self._in(n, 0) and n.op not in (Op.NEG, Op.INPUT)]
        pairs = _pairs([self.values[n] for n in own], [values[n] for n in there])
        like = {own[k]: (there[t], sign) for k, (t, sign) in pairs.items()}
        return _Seen(limb, chosen, values, like)

    def _states(self, limb: int, signs: Mapping[int, Array]) -> dict[str, Array]:
        """In which the first limb moves as this one does in the ``states``, up to the signs."""
        found = {}
        for name, column in self.states.items():
            whose = self.names.limb(name)
            if not whose <= {0}:
                found[name] = column
                continue
            there = self.names.other(name, limb) if whose else name
            if there not in self.states:
                raise LimbError(f"{name} is an input, {there} is none")
            found[name] = self.names.sign(name, signs) * self.states[there]
        hips = [self.robot.joints[joints[0]] for joints in self.names.limbs]
        carrier = hips[0].parent
        if carrier >= 0 and self.robot.joints[carrier].kind is JointKind.FLOATING:
            self._move_hip(found, carrier, hips[limb].placement, hips[0].placement, signs[carrier])
        return found

    def _move_hip(
        self, found: dict[str, Array], base: int, here: Transform, first: Transform, signs: Array
    ) -> None:
        """Give the base the twists that make one hip move as the other one does.

        Motion vectors, rates and accelerations alike, are of the point at the base's origin.
        """
        start = self.robot.v_slices[base].start
        for kind in ("qd", "qdd"):
            names = [f"{kind}[{start + k}]" for k in range(6)]
            if not found.keys() >= set(names):
                continue
            along, about = (
                np.stack([self.states[name] for name in part], axis=1)
                for part in (names[:3], names[3:])
            )
            at_hip = (along + np.cross(about, here.translation)) * signs[7:10]
            about = about * signs[10:13]
            along = at_hip - np.cross(about, first.translation)
            found |= dict(zip(names, (*along.T, *about.T), strict=True))

    def _off(self, limb: int, values: Mapping[Node, Array]) -> list[tuple[float, str]]:
        """How far off what the limb's own joints feel is, and the outputs' names."""
        found = []
        for name, node in self.graph.outputs.items():
            if self.reads[node] != {0} or any(
                joint not in self.names.limb_of for joint, _ in self.names.joints(name)
            ):
                continue
            there = self.graph.outputs.get(self.names.other(name, limb))
            if there is not None:
                found.append((_apart(values[node], self.values[there])[0], name))
        return found

    def _able(self) -> set[Node]:
        """The first limb's nodes, and the trunk's, that can be computed for each limb.

        Nothing else can be: where a limb reads the base's velocity itself, and not its hip's.
        """
        able: set[Node] = set()
        trunk = [n for n in self.graph.nodes if self._in_trunk(n) and n.op is not Op.CONST]
        read = [n for n in trunk if any(not self._in_trunk(u) for u in self.graph.users[n])]
        there = [self.values[n] for n in trunk]
        pairs = [_pairs([own.values[n] for n in read], there) for own in self.seen]
        for k, node in enumerate(read):
            if all(k in own for own in pairs):
                self.counterparts[node] = [(trunk[own[k][0]], own[k][1]) for own in pairs]
        for node in self.graph.nodes:
            if self.reads[node] <= {0} and (
                node in self.counterparts
                or (node.op is Op.INPUT and self._in(node, 0))
                or (node.op is not Op.INPUT and all(a in able for a in node.args))
            ):
                able.add(node)
        return able

    def _outputs(self, able: set[Node]) -> dict[str, list[Signed]]:
        """The first limb's outputs that all have → what they are called in each, and the signs."""
        found = {}
        for name, node in self.graph.outputs.items():
            if not self._in(node, 0) or node not in able:
                continue
            signed = []
            for own in self.seen:
                there = self.names.other(name, own.limb)
                if there not in self.graph.outputs:
                    break
                wanted = self.values[self.graph.outputs[there]]
                off, sign = _apart(own.values[node], wanted)
                if off > SAME:
                    break
                signed.append((there, sign))
            else:
                found[name] = signed
        return found

    def split(self) -> Split:
        """Outputs that all limbs have are the limbs'; what the others are made of, the rest's.

        The rest goes down from its outputs as far as to what the trunk gives, or every limb.
        """
        taken = {name for signed in self.outputs.values() for name, _ in signed}
        named = {  # output that the rest may read → its name
            node: (name, 1)
            for name, node in self.graph.outputs.items()
            if name in taken and parts_of(name)[0] in self.inner
        }
        left = {name: node for name, node in self.graph.outputs.items() if name not in taken}
        words: dict[Node, None] = {}  # the first limb's nodes that the rest reads of any limb
        of_trunk: dict[Node, None] = {}

        def crosses(node: Node) -> bool:
            """Whether the rest reads a word for it; notes which."""
            if self._in_trunk(node) and node.op not in FREE:
                of_trunk[node] = None
                return True
            found = None if node in named else self._like(node)
            if found is not None:
                words[found[0]] = None
            return node in named or found is not None

        _walk(left.values(), crosses)
        ordered = sorted(words, key=lambda node: node.index)
        outputs = {name: self.graph.outputs[name] for name in self.outputs}
        outputs |= {f"limbs[{j},0]": node for j, node in enumerate(ordered)}
        counterparts: list[dict[Node, tuple[Node, int]]] = [{} for _ in self.seen]

        def comes(node: Node) -> bool:
            """Whether a limb's part reads this node of the trunk, rather than computing it too."""
            if node not in self.counterparts:
                return False
            for own, match in zip(counterparts, self.counterparts[node], strict=True):
                own[node] = match
            return True

        _walk(outputs.values(), comes)
        of_trunk |= dict.fromkeys(n for own in counterparts for n, _ in own.values())
        kept = sorted((n for n in of_trunk if n.op is not Op.INPUT), key=lambda n: n.index)
        self.base = {n: f"base[{i}]" for i, n in enumerate(kept)}

        number = {node: j for j, node in enumerate(ordered)}
        signs: list[dict[Node, int]] = [{} for _ in self.seen]  # word → its sign, by limb

        def in_rest(node: Node, builder: Builder) -> Node | None:
            if node in self.base:
                return builder.input(self.base[node])
            name, sign = named.get(node, ("", 1))
            if not name:
                found = self._like(node)
                if found is None:
                    return None
                k = min(self.of[node] or ())
                name = f"limbs[{number[found[0]]},{k}]"
                sign = found[1] * signs[k].setdefault(*found)
            word = builder.input(name)
            return word if sign > 0 else builder.neg(word)

        def in_limb(node: Node, builder: Builder) -> Node | None:
            given = node in self.counterparts and node in self.base
            return builder.input(self.base[node]) if given else None

        rest = self._copy(left, in_rest)
        template = self._copy(outputs, in_limb)
        trunk = self._copy({name: n for n, name in self.base.items()}, lambda node, builder: None)
        limbs = []
        for own, of in zip(self.seen, counterparts, strict=True):
            read = {self._trunk_name(n): (self._trunk_name(m), s) for n, (m, s) in of.items()}
            made = {name: signed[own.limb] for name, signed in self.outputs.items()}
            for j, node in enumerate(ordered):
                made[f"limbs[{j},0]"] = f"limbs[{j},{own.limb}]", signs[own.limb].get(node, 1)
            limbs.append(Limb({n: read.get(n) or self._own(n, own) for n in template.inputs}, made))
        owners = {f"limbs[{j},0]": self.owner[node] for j, node in enumerate(ordered)}
        return Split(trunk, Limbs(template, tuple(limbs)), rest, owners)

    def _like(self, node: Node) -> tuple[Node, int] | None:
        """The first limb's node that a limb's is the same as, where all limbs have such a one."""
        own = self.of[node]
        found = self.seen[min(own)].like.get(node) if own else None
        return found if found is not None and found[0] in self.common else None

    def _own(self, name: str, seen: _Seen) -> Signed:
        return self.names.other(name, seen.limb), int(self.names.sign(name, seen.signs))

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
        inputs = [name for name in self.graph.inputs if name in read]
        inputs += sorted(read.difference(inputs), key=lambda name: (parts_of(name)[:2], name))
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


def _apart(made: Array, wanted: Array) -> tuple[float, int]:
    """How far one is off the other, either sign allowed, of its size; and the sign."""
    size = max(float(np.abs(wanted).max()), np.finfo(float).tiny)
    plus, minus = (float(np.abs(wanted - s * made).max()) / size for s in (1, -1))
    return (plus, 1) if plus <= minus else (minus, -1)


def _pairs(wanted: Sequence[Array], there: Sequence[Array]) -> dict[int, tuple[int, int]]:
    """Entry of ``wanted`` → the first of ``there`` that is ± the same, and the sign."""
    if not wanted or not there:
        return {}
    table = np.array([np.broadcast_to(x, np.shape(there[0])) for x in there])
    sizes = np.abs(table[:, 0])
    order = np.argsort(sizes, kind="stable")
    found = {}
    for k, values in enumerate(wanted):
        size = max(float(np.abs(values).max()), np.finfo(float).tiny)
        first = abs(float(np.ravel(values)[0]))
        low, high = np.searchsorted(sizes[order], (first - SAME * size, first + SAME * size))
        for t in sorted(order[low:high]):
            off, sign = _apart(table[t], values)
            if off <= SAME:
                found[k] = int(t), sign
                break
    return found
