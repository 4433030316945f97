"""YAML values that know their line, so that a misspelt key is reported where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

from ..robot.model import RobotError
from ..robot.xml_lines import did_you_mean, quoted


@dataclass(frozen=True)
class YamlNode:
    """One value of a YAML file."""

    file: str
    node: yaml.Node

    def error(self, message: str) -> RobotError:
        return RobotError(f"{self.file}:{self.node.start_mark.line + 1}: {message}")

    def mapping(self, known: list[str] | None, what: str) -> dict[str, YamlNode]:
        """Key → value; a key that is not ``known`` (None: any) or stands twice is refused."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"{what}: expected lines of the form key: value")
        entries: dict[str, YamlNode] = {}
        for key_node, value in self.node.value:
            at = YamlNode(self.file, key_node)
            key = at.text()
            if known is not None and key not in known:
                hint = did_you_mean(key, known, f"; the keys are {', '.join(known)}")
                raise at.error(f"unknown key {quoted(key)}{hint}")
            if key in entries:
                raise at.error(f"the key {quoted(key)} stands twice; keep one of them")
            entries[key] = YamlNode(self.file, value)
        return entries

    def value_of(self, *path: str) -> YamlNode:
        """The value under a chain of keys that is there."""
        node = self
        for key in path:
            node = node.mapping(None, key)[key]
        return node

    def text(self) -> str:
        """A scalar as it is written."""
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value:
            raise self.error("expected a word")
        return str(self.node.value)

    def plain(self) -> Any:
        """The value in Python: str for scalars (the reader knows the type), list, dict."""
        if isinstance(self.node, yaml.SequenceNode):
            return [YamlNode(self.file, item).text() for item in self.node.value]
        return self.text()

    def checked(self, key: str, check: Callable[[Any], Any]) -> Any:
        """``check`` of the value; its ValueError becomes a line of this file."""
        try:
            return check(self.plain())
        except RobotError:
            raise
        except ValueError as error:
            raise self.error(f"{key}: {error}") from None


def parse_yaml(data: bytes, file: str) -> YamlNode:
    """The root of a YAML file with one document."""
    try:
        root = yaml.compose(data, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        raise RobotError(f"{file}:{line}: not YAML: {problem}") from None
    except RecursionError:
        raise RobotError(f"{file}:1: not a design: brackets nested too deep") from None
    if root is None:
        raise RobotError(f"{file}:1: the file is empty; write at least robot: FILE.urdf")
    return YamlNode(file, root)
