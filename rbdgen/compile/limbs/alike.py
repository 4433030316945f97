"""Limbs on a trunk, compared: which of a limb's nodes are the first limb's, and with which sign."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...graph.evaluate import Array, evaluate
from ...graph.graph import Graph
from ...graph.node import Node, Op
from ...graph.visits import Signed
from ...graph.word import FRAMES, SHAPES, indices, kind_of, spell
from ...robot.limbs import Group, Limbs
from ...robot.model import JointKind, Transform
from .names import OTHER, LimbError, Names, Signs, seen_quaternion

SAME = 1e-9  # of an output's largest value
FREE = (Op.INPUT, Op.CONST)
Apart = tuple[float, str]  # by how much of its size an output differs from another limb's


@dataclass(frozen=True, eq=False)
class Seen:
    """A limb as the first one.

    ``values``: of the trunk and the first limb, in states in which the first limb moves as this one
    does. ``like``: own node → the first limb's that is the same up to a sign, and the sign.
    """

    limb: int
    apart: Apart  # by how much what its joints feel differs, and where it does most
    signs: Mapping[int, Signs]
    values: Mapping[Node, Array]
    like: Mapping[Node, tuple[Node, int]]


class Alike:
    """The nodes that are the same in ``limbs``, in ``states``; ``owner``, ``first`` as for `split`.

    ``others``: joints of limbs of another group, what depends on which is neither theirs nor the
    trunk's.
    ``of``: node → the limbs that it depends on, the trunk's on none; None where it is the rest's.
    ``seen``: each limb. ``counterparts``: node of the trunk → what each limb reads where the first
    one reads it, and the sign. ``common``: those of the first limb's nodes that all limbs have.
    ``outputs``: the first limb's that all have → what they are called in each, and the signs.
    """

    def __init__(
        self,
        graph: Graph,
        found: Limbs,
        limbs: Group,
        states: Mapping[str, Array],
        owner: Mapping[Node, str],
        first: Collection[str],
        others: Collection[int] = (),
    ) -> None:
        self.graph, self.robot, self.states = graph, found.robot, states
        read = [node.name for node in graph.nodes if node.op is Op.INPUT]
        self.names, self.count = Names(found, limbs, read, others), len(limbs)
        self.reads: dict[Node, frozenset[int]] = {}  # the limbs that a node depends on
        self.of: dict[Node, frozenset[int] | None] = {}  # the same; None where it is the rest's
        for node in graph.nodes:
            own = self.names.limb(node.name) if node.op is Op.INPUT else frozenset()
            own = own.union(*(self.reads[a] for a in node.args))
            late = not own and owner.get(node) not in first
            apart = len(own) > 1 or OTHER in own
            apart |= node.op not in FREE and (late or node not in owner)
            self.reads[node] = own
            self.of[node] = None if apart or any(self.of[a] is None for a in node.args) else own
        for name, node in graph.outputs.items():
            if SHAPES.get(kind_of(name), ())[:1] == (FRAMES,) and len(self.reads[node]) == 1:
                (k,) = self.reads[node]
                if k != OTHER and (frame := indices(name)[0]) not in self.names.frames[k]:
                    self.names.frames[k].append(frame)
        if len(set(map(len, self.names.frames))) > 1:
            raise LimbError("one limb carries more of the named frames than another")
        self.values: dict[Node, Array] = {}
        evaluate(graph, states, self.values.__setitem__)
        self.seen = [self._see(k) for k in range(self.count)]
        # of the trunk's nodes, what each limb reads where the first one reads them, and the sign
        self.counterparts: dict[Node, list[tuple[Node, int]]] = {}
        able = self._able()
        matched = [{t for t, _ in own.like.values()} for own in self.seen]
        self.common = able.intersection(*matched)  # of the first limb's nodes, what all have
        self.outputs = self._outputs(able)

    def _in(self, node: Node, limb: int) -> bool:
        return self.of[node] == frozenset([limb])

    def in_trunk(self, node: Node) -> bool:
        return self.of[node] == frozenset()

    def _see(self, limb: int) -> Seen:
        """The limb seen with the signs that make most that its joints feel the same; the fewest."""
        graph = self.graph
        first = [n for n in graph.nodes if self.reads[n] <= {0}]
        cone = Graph(graph.inputs, {str(n.index): n for n in first})
        tried: list[tuple[int, Mapping[int, Signs], dict[Node, Array], list[Apart]]] = []
        for signs in self.names.choices(limb):
            values: dict[Node, Array] = {}
            evaluate(cone, self._states(limb, signs), values.__setitem__)
            off = self._off(limb, values)
            if not off:
                raise LimbError("nothing that is asked for is of one limb only")
            tried.append((sum(apart <= SAME for apart, _ in off), signs, values, off))
            if tried[-1][0] == len(off):
                break
        fits, chosen, values, off = max(tried, key=lambda own: own[0])
        if not fits:
            raise LimbError(
                f"{self._differs(*min(min(own[-1]) for own in tried))}, in whatever mirror; limbs "
                f"that are time-multiplexed must agree to {SAME:.0e}"
            )
        own = [n for n in graph.nodes if self._in(n, limb) and n.op is not Op.INPUT]
        there = [n for n in first if self._in(n, 0) and n.op not in (Op.NEG, Op.INPUT)]
        pairs = _pairs([self.values[n] for n in own], [values[n] for n in there])
        like = {own[k]: (there[t], sign) for k, (t, sign) in pairs.items()}
        return Seen(limb, max(off), chosen, values, like)

    def refuse_partly(self, cure: str) -> None:
        """LimbError where joints of one limb feel anything else than those of the first one."""
        apart, name = max(own.apart for own in self.seen)
        if apart > SAME:
            raise LimbError(self._differs(apart, name) + cure)

    def _differs(self, apart: float, name: str) -> str:
        joints = {self.robot.joints[joint].name for joint, _ in self.names.joints(name)[:1]}
        of = "".join(f", of joint {joint}," for joint in joints)
        return f"{name}{of} differs from the same of another limb by {apart:.1e} of its size"

    def _states(self, limb: int, signs: Mapping[int, Signs]) -> dict[str, Array]:
        """States in which the first limb moves as this one does in ``states``, up to the signs."""
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
        joints, (base, *after) = self.robot.joints, self.names.carriers or (-1,)
        if base >= 0 and joints[base].kind is JointKind.FLOATING:
            self._turn_base(found, base, signs[base].q)
            # what stands on the base: the trunk's next joint, which carries all limbs, or they
            on = [joints[after[0] if after else self.names.limbs[k][0]] for k in (limb, 0)]
            self._move_hip(found, base, on[0].placement, on[1].placement, signs[base].v)
        return found

    def _turn_base(self, found: dict[str, Array], base: int, signs: Array) -> None:
        """Give the base the orientation in which it feels gravity as seen through the mirror."""
        start = self.robot.q_slices[base].start
        names = [spell("q", start + k) for k in range(3, 7)]
        if found.keys() >= set(names):
            seen = seen_quaternion([self.states[name] for name in names], signs[:3])
            found |= dict(zip(names, seen, strict=True))

    def _move_hip(
        self, found: dict[str, Array], base: int, here: Transform, first: Transform, signs: Array
    ) -> None:
        """Give the base the twists that make one hip move as the other one does.

        Motion vectors, rates and accelerations alike, are of the point at the base's origin.
        """
        start = self.robot.v_slices[base].start
        for kind in ("qd", "qdd"):
            names = [spell(kind, start + k) for k in range(6)]
            if not found.keys() >= set(names):
                continue
            along, about = (
                np.stack([self.states[name] for name in part], axis=1)
                for part in (names[:3], names[3:])
            )
            at_hip = (along + np.cross(about, here.translation)) * signs[:3]
            about = about * signs[3:6]
            along = at_hip - np.cross(about, first.translation)
            found |= dict(zip(names, (*along.T, *about.T), strict=True))

    def _off(self, limb: int, values: Mapping[Node, Array]) -> list[Apart]:
        """How far off what the limb's own joints feel is, and the outputs' names; where they feel
        nothing that is asked for, all that is of the limb."""
        own, others = list[Apart](), list[Apart]()
        for name, node in self.graph.outputs.items():
            mine = self.reads[node] == {0} and self.names.limb(name) <= {0}
            there = self.graph.outputs.get(self.names.other(name, limb)) if mine else None
            if there:
                inside = all(joint in self.names.limb_of for joint, _ in self.names.joints(name))
                apart, _ = _apart(values[node], self.values[there])
                (own if inside else others).append((apart, name))
        return own or others

    def _able(self) -> set[Node]:
        """The first limb's nodes, and the trunk's, that can be computed for each limb.

        Nothing else can be: where a limb reads the base's velocity itself, and not its hip's.
        """
        able: set[Node] = set()
        trunk = [n for n in self.graph.nodes if self.in_trunk(n) and n.op is not Op.CONST]
        read = [n for n in trunk if any(not self.in_trunk(u) for u in self.graph.users[n])]
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
        found: dict[str, list[Signed]] = {}
        for name, node in self.graph.outputs.items():
            if not self._in(node, 0) or node not in able or not self.names.limb(name) <= {0}:
                continue
            signed: list[Signed] = []
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

    def like(self, node: Node) -> tuple[Node, int] | None:
        """The first limb's node that a limb's is the same as, where all limbs have such a one."""
        own = self.of[node]
        found = self.seen[min(own)].like.get(node) if own else None
        return found if found is not None and found[0] in self.common else None

    def own(self, name: str, seen: Seen) -> Signed:
        return self.names.other(name, seen.limb), int(self.names.sign(name, seen.signs))


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
