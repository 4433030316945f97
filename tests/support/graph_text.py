"""Read a graph from its text, which `rbdgen.graph.text` writes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rbdgen.graph.graph import Graph
from rbdgen.graph.node import Builder, Node, Op, Region
from rbdgen.graph.text import DEFAULT_VALUE, FORMER, VALUE_WORD

NAMED = {op.value: op for op in Op}
INTERFACE = re.compile(r"input (?P<name>\S+)")
RESULT = re.compile(r"output (?P<name>\S+) = (?P<node>%\d+)")
NODE = re.compile(
    r"(?P<node>%\d+) = (?P<op>[a-z]+)(?P<args>( %\d+)*)( (?P<rest>[^@]*?))?"
    r"(\s+@ (?P<kind>\w+) (?P<joint>-?\d+))?"
)


class TextError(ValueError):
    """A text that is no graph: the line, and what is wrong with it."""


def from_text(text: str) -> Graph:
    """The graph that the text says, nothing simplified and nothing checked but the grammar.

    Raises TextError where a line is none, names an unknown operation or an unknown node.
    """
    builder = Builder()
    inputs: list[str] = []
    nodes: dict[str, Node] = {}
    outputs: dict[str, Node] = {}

    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        try:
            if not line:
                continue
            if match := INTERFACE.fullmatch(line):
                inputs.append(match["name"])
            elif match := RESULT.fullmatch(line):
                outputs[match["name"]] = nodes[match["node"]]
            elif match := NODE.fullmatch(line):
                if match["node"] in nodes:
                    raise TextError(f"{match['node']} stands twice")
                nodes[match["node"]] = _read(builder, match, nodes)
            else:
                raise TextError("neither an input, nor a node, nor an output")
        except KeyError as error:
            raise TextError(f"line {number}: no node {error.args[0]} above: {line}") from None
        except TextError as error:
            raise TextError(f"line {number}: {error}: {line}") from None
    return Graph(tuple(inputs), outputs)


def _read(builder: Builder, match: re.Match[str], nodes: Mapping[str, Node]) -> Node:
    """The node of a line that has the form of one."""
    op = NAMED.get(FORMER.get(match["op"], match["op"]))
    if op is None:
        raise TextError(f"no operation {match['op']!r}")
    args = [nodes[name] for name in match["args"].split()]
    if len(args) != op.arity:
        raise TextError(f"{op.value} takes {op.arity} operands")
    words = (match["rest"] or "").split()
    if op is Op.PARAMETER:
        if len(words) != 2:
            raise TextError(f"{op.value} is written 'parameter NAME NUMBER'")
        with builder.in_region(_region(match)):
            return builder.node(op, name=words[0], value=_number(words[1]))
    name, value = "", DEFAULT_VALUE.get(op, 0.0)
    if words or (op in VALUE_WORD and op not in DEFAULT_VALUE):
        *before, last = words or [""]
        if not last or " ".join(before) != VALUE_WORD.get(op):
            raise TextError(f"{op.value} is written {_form(op)!r}")
        name, value = (last, 0.0) if op is Op.INPUT else ("", _number(last))
    with builder.in_region(_region(match)):
        return builder.node(op, *args, value=value, name=name)


def _region(match: re.Match[str]) -> Region | None:
    return (match["kind"], int(match["joint"])) if match["kind"] else None


def _form(op: Op) -> str:
    """How a line of this operation looks."""
    words = [op.value, *["%N"] * op.arity]
    if op in VALUE_WORD:
        words += [*VALUE_WORD[op].split(), "NAME" if op is Op.INPUT else "NUMBER"]
    return " ".join(words)


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise TextError(f"{word!r} is no number") from None
