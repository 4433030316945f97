"""Modules that several processes write are those that one writes."""

import re
import warnings
from collections import Counter
from typing import Any

import pytest
from amaranth.hdl import UnusedElaboratable

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.design.functions import ON_ACCELERATORS
from rbdgen.robot.model import RobotError
from rbdgen.rtl import modules
from rbdgen.rtl.modules import Modules, write_modules
from rbdgen.rtl.multiplier import Multiplier
from rbdgen.shell.emit import wrapped
from tests.support.made import accelerate

DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    "pipelined": ("pendulum", {}),
    "multipliers_shared": ("pendulum", {"functions": ("fd",), "ii": 3}),
    "joints_in_turn": ("pendulum", {"functions": ("did",), "ii": 6, "fold": "joints"}),
    "limbs_in_turn": ("hyq", {"ii": 4, "fold": "limbs"}),
    "accelerator": ("pendulum", {"functions": ("id", "m"), "ii": 4, "accelerator": True}),
}


def made_from(design: str) -> Modules:
    robot, choices = DESIGNS[design]
    return Modules(compile_front(front_end(robot, **choices)).accelerator, design)


@pytest.mark.parametrize(
    "design",
    [pytest.param(k, marks=[pytest.mark.slow] * (k == "limbs_in_turn")) for k in DESIGNS],
)
def test_the_same_from_several_processes(design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = made_from(design)
    monkeypatch.setattr(modules, "cores", lambda: 1)
    alone = write_modules(made)
    monkeypatch.setattr(modules, "LARGE", 0)
    monkeypatch.setattr(modules, "cores", lambda: 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnusedElaboratable)
        apart = made.__reduce__()[0](*made.__reduce__()[1])
        together = write_modules(apart)
        del apart
    assert together == alone
    assert len(alone.texts) == 1 + len(made.core.parts)
    assert alone.units == Counter(made.core.placed)
    assert any(isinstance(unit, Multiplier) for unit in alone.units)


def test_an_accelerator_writes_once_what_it_reads_often() -> None:
    """Hardly an operator of its own module has the operands of another: a copy for each reader
    would be most of the text of a robot of many joints."""
    choices = {"functions": ON_ACCELERATORS, "ii": 32, "fold": "joints", "target": "xcup"}
    made = Modules(accelerate("pendulum", fit=False, **choices).accelerator, "made")
    text, _ = made.write("")
    cells: Counter[tuple[str, ...]] = Counter()
    for module in text.split("\nmodule ")[1:]:
        for kind, lines in re.findall(r"\n  cell (\$\w+) \S+\n((?:    .*\n)*)  end", module):
            ports = re.findall(r"connect (\\[A-Z]+ .*)", lines)  # what it gives comes last
            cells[module.split("\n")[0], kind, *ports[:-1]] += 1
    assert cells.total() > 500
    assert cells.total() < 1.15 * len(cells)


def test_long_lines_go_on_in_the_next() -> None:
    """Of tens of thousands of words in a line Verilator takes none."""
    long = f"  assign a = {{ {', '.join(f'word_{k}' for k in range(9000))} }};\n"
    text = f"module a;\n{long}endmodule\n"
    found = wrapped(text)
    assert found.replace("\n", "") == text.replace("\n", "")
    assert max(map(len, found.splitlines())) <= 1001
    assert all(line.endswith(", ") for line in found.splitlines()[1:-2])
    assert wrapped("module a;\n  assign a = b;\nendmodule\n").count("\n") == 3


@pytest.mark.parametrize(
    ("design", "most", "port"),
    [("pipelined", 30, r": i\.payload"), ("accelerator", 134, r"\.\w+: [io]\.payload")],
)
def test_ports_that_amaranth_has_no_words_for(
    design: str, most: int, port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain of 100 joints has a mass matrix of 95 952 bits, and Amaranth ports of 65 536."""
    monkeypatch.setattr(modules, "WIDEST", most)
    with pytest.raises(RobotError, match=f"^{design}{port} has \\d+ bits, .* more than {most}:"):
        write_modules(made_from(design))
