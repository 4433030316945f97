"""One fixed-point graph cut into pieces, each to become hardware of its own.

A piece is what some outputs need and no piece before it computes. Cutting changes no bit: the
pieces, one after the other, compute what the whole does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..graph.fixed import FixedGraph, Format
from ..graph.graph import CopyingBuilder, Graph, cone
from ..graph.node import STILL, Builder, Node, Op
from ..graph.verify import verify_fixed
from ..words.input_domain import InputDomain
from ..words.instances import FixedProgram
from ..words.ranges import Ranges

# Every piece that reads one has its own: what is free, and exponents, of which a shifter must know
# whose they are.
SHARED = (Op.INPUT, *STILL, Op.MULC, Op.EXPONENT)


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a graph.

    ``fixed``: its inputs are those of the whole that it reads, by their names, and words from
    pieces before it, called PIECE.K; its outputs likewise, its own first. ``reads``: for each
    word from a piece before it, that piece's name. ``program``: the visits that it is made of,
    where it is: to one template, of limbs or columns, or with ``joints`` to those of joints.
    """

    fixed: FixedGraph
    reads: Mapping[str, str]
    program: FixedProgram | None = None
    joints: bool = False


@dataclass(frozen=True, eq=False)
class StagePieces:
    """The piece of each stage, and the formats of the whole graph's inputs.

    ``given``: with states in which signals of the whole graph are largest, where these are known.
    ``ranges``: those of a core's one piece, or of the template that it is made of.
    """

    pieces: Mapping[str, Piece]
    inputs: Mapping[str, Format]
    given: InputDomain | None = None
    ranges: Ranges = field(default_factory=lambda: Ranges({}, frozenset()))


def cut(whole: FixedGraph, wanted: Mapping[str, Sequence[str | Node]]) -> dict[str, Piece]:
    """The pieces by name, in the order of ``wanted``: the outputs, or nodes, that each is for.

    A piece that is left without any operation or output of its own is left out.
    """
    drafts: dict[str, _Draft] = {}
    owner: dict[Node, _Draft] = {}
    for name, targets in wanted.items():
        outputs = [target for target in targets if isinstance(target, str)]
        own = _unowned((_node(whole, target) for target in targets), owner)
        if own or outputs:
            drafts[name] = _Draft(name, whole, owner, outputs)
            owner |= dict.fromkeys(own, drafts[name])
    for node in whole.graph.nodes:
        if node in owner:
            owner[node].copy(node)
    for draft in drafts.values():
        for output in draft.wanted:
            draft.outputs[output] = draft.local(whole.graph.outputs[output])
    return {name: draft.piece() for name, draft in drafts.items()}


def _node(whole: FixedGraph, target: str | Node) -> Node:
    return target if isinstance(target, Node) else whole.graph.outputs[target]


def _unowned(targets: Iterable[Node], owner: Mapping[Node, _Draft]) -> set[Node]:
    """The targets and what they need, as far as no piece has it yet."""
    found = cone(targets, owner.__contains__)
    return {node for node in found if node not in owner and node.op not in SHARED}


@dataclass(eq=False)
class _Draft:
    """A piece in the making."""

    name: str
    whole: FixedGraph
    owner: Mapping[Node, _Draft]
    wanted: list[str]  # outputs of the whole
    builder: Builder = field(default_factory=CopyingBuilder)
    copies: dict[Node, Node] = field(default_factory=dict)  # node of the whole → own
    inputs: dict[str, Format] = field(default_factory=dict)
    formats: dict[Node, Format] = field(default_factory=dict)
    outputs: dict[str, Node] = field(default_factory=dict)
    crossing: dict[Node, str] = field(default_factory=dict)  # own node → name, for later pieces
    reads: dict[str, str] = field(default_factory=dict)

    def local(self, node: Node) -> Node:
        """The piece's own copy of a node of the whole, or of the word that comes for it."""
        if node not in self.copies:
            sender = self.owner.get(node)
            if sender is None or sender is self:
                self.copy(node)
            else:
                name = sender.gives(node)
                self.reads[name] = sender.name
                word = replace(self.whole.formats[node], rounded=False)
                self.copies[node] = self._input(name, word)
        return self.copies[node]

    def copy(self, node: Node) -> None:
        word = self.whole.formats[node]
        if node.op is Op.INPUT:
            self.copies[node] = self._input(node.name, word)
            return
        args = [self.local(a) for a in node.args]
        with self.builder.in_region(node.region):
            made = self.builder.node(node.op, *args, value=node.value, name=node.name)
        self.copies[node] = made
        self.formats[made] = word

    def gives(self, node: Node) -> str:
        """The name under which a node of this piece crosses to later ones."""
        return self.crossing.setdefault(node, f"{self.name}.{len(self.crossing)}")

    def _input(self, name: str, word: Format) -> Node:
        made = self.builder.input(name)
        self.inputs[name] = self.formats[made] = word
        return made

    def piece(self) -> Piece:
        whole = self.whole
        outputs = self.outputs | {name: self.copies[n] for n, name in self.crossing.items()}
        steps = {self.copies[n]: k for n, k in whole.steps.items() if n in self.copies}
        mantissas = {self.copies[n]: w for n, w in whole.mantissas.items() if n in self.copies}
        graph = Graph(tuple(self.inputs), outputs)
        made = FixedGraph(
            graph, self.inputs, self.formats, whole.width, steps, mantissas, chain=whole.chain
        )
        return Piece(verify_fixed(made), self.reads)
