"""The longest path of netlists whose delays can be added by hand."""

from pathlib import Path
from typing import Any

import pytest

from rbdgen.tools.timing import longest_of, longest_path
from rbdgen.tools.toolchain import SynthesisError


def cell(kind: str, inputs: dict[str, list[Any]], outputs: dict[str, list[Any]]) -> dict[str, Any]:
    directions = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
    return {
        "type": kind,
        "port_directions": directions,
        "connections": inputs | outputs,
        "parameters": {},
    }


def flip_flop(d: int, q: int, pin: str = "DI") -> dict[str, Any]:
    return cell("TRELLIS_FF", {"CLK": [1], pin: [d]}, {"Q": [q]})


def test_a_register_to_a_register_behind_its_lut() -> None:
    """Clock to output, a wire, a LUT, and no wire from there to the register of its slice."""
    cells = {
        "a": flip_flop(9, 2),
        "lut": cell("LUT4", {"A": [2]}, {"Z": [3]}),
        "b": flip_flop(3, 4),
    }
    path = longest_of({"cells": cells})
    assert (path.begins, path.ends, path.hops, path.far) == ("a", "b", 1, 0)
    assert path.logic == pytest.approx(0.395 + 0.18)


def test_a_carry_chain_has_no_wires() -> None:
    cells = {
        "a": flip_flop(9, 2),
        "low": cell("CCU2C", {"A0": [2], "CIN": ["0"]}, {"COUT": [3]}),
        "middle": cell("CCU2C", {"CIN": [3]}, {"COUT": [4], "S0": [5]}),
        "high": cell("CCU2C", {"CIN": [4]}, {"S1": [6]}),
        "b": flip_flop(6, 7),
    }
    path = longest_of({"cells": cells})
    assert (path.ends, path.hops) == ("b", 1)
    assert path.logic == pytest.approx(0.395 + 0.411 + 0.056 + 0.328)


def test_a_multiplier_is_far() -> None:
    cells = {
        "m": cell("MULT18X18D", {"A0": [7]}, {"P0": [2]}),
        "lut": cell("LUT4", {"B": [2]}, {"Z": [3]}),
        "a": flip_flop(3, 4),
        "b": flip_flop(2, 7, "M"),
    }
    path = longest_of({"cells": cells})
    assert (path.begins, path.ends, path.hops, path.far) == ("m", "a", 1, 1)
    assert path.logic == pytest.approx(0.578 + 0.18)


def test_a_memory_is_read_at_once_and_written_at_the_clock() -> None:
    ram = cell("TRELLIS_DPR16X4", {"RAD": [2, 2, 2, 2], "DI": [3], "WRE": [5]}, {"DO": [4]})
    cells = {"a": flip_flop(9, 2), "ram": ram, "b": flip_flop(4, 3), "c": flip_flop(9, 5)}
    path = longest_of({"cells": cells})
    assert (path.begins, path.ends, path.hops) == ("a", "b", 2)
    assert path.logic == pytest.approx(0.395 + 0.18)


def test_a_block_ram_without_its_register_is_slow() -> None:
    def ram(mode: str) -> dict[str, Any]:
        own = cell("DP16KD", {"ADA0": [7]}, {"DOA0": [2]})
        return own | {"parameters": {"REGMODE_A": mode}}

    slow, fast = (
        longest_of({"cells": {"ram": ram(mode), "b": flip_flop(2, 7, "M")}})
        for mode in ("NOREG", "OUTREG")
    )
    assert slow.logic > 5 * fast.logic


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "TypeError"),
        ('{"modules": {}}', "KeyError"),
        ('{"modules": {"top": {"cells": {}}}}', "no path from a register or a block"),
        ("[" * 100_000, "RecursionError"),
    ],
)
def test_what_is_no_netlist(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "netlist.json"
    file.write_text(text)
    with pytest.raises(SynthesisError, match=rf"netlist\.json: no netlist of top \(.*{why}"):
        longest_path(file, "top")
    with pytest.raises(SynthesisError, match=r"none\.json: no netlist of top \(FileNotFound"):
        longest_path(tmp_path / "none.json", "top")
