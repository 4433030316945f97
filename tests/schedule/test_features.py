"""What is counted of a plan is what its hardware is made of."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.graph.node import Op
from rbdgen.rtl.delay_line import BlockRam, LutRam
from rbdgen.rtl.function_units import FunctionUnit, PlacedUnit
from rbdgen.rtl.multiplier import Multiplier
from rbdgen.schedule.channels import Pipeline
from rbdgen.schedule.features import NAMES, TABLE_WIDTH, features, memory, operations
from rbdgen.shell.emit import emit
from rbdgen_benchmarks.bench.chains import chain_urdf
from tests.support.made import compiled
from tests.support.marks import fast_at

DESIGNS: tuple[dict[str, Any], ...] = (
    {"functions": ("did",)},
    {"functions": ("did",), "ii": 3, "width": 24},
    {"functions": ("fd",)},
    {"functions": ("fd",), "ii": 5},
    {"functions": ("id",), "style": "latency", "clock": 30.0},
)


def pendulum(**choices: Any) -> Product:
    return compiled("pendulum", **{"width": 18, **choices})


def emitted(core: Product) -> tuple[list[LutRam], list[Multiplier], list[PlacedUnit]]:
    """The memories, multipliers and tables of the emitted RTL."""
    placed = emit(core.accelerator, "core").core.placed
    rams = [unit for unit in placed if isinstance(unit, LutRam)]
    multipliers = [unit for unit in placed if isinstance(unit, Multiplier)]
    return rams, multipliers, [unit for unit in placed if isinstance(unit, FunctionUnit)]


@pytest.mark.parametrize("choices", fast_at((0, 3, 4), DESIGNS), ids=str)
def test_counts_of_the_hardware(choices: dict[str, Any]) -> None:
    """Memories, multipliers and tables as the emitted RTL has them."""
    core = pendulum(**choices)
    found = features(core.plan)
    assert set(found) == set(NAMES) and min(found.values()) >= 0
    rams, multipliers, tables = emitted(core)
    cells = sum(-(-ram.width // 4) * -(-ram.depth // 16) for ram in rams)
    assert found["memory_cells"] == cells
    chained = found["chained_products"]
    assert found["products"] + chained == core.plan.multipliers
    assert found["products"] == sum(unit.hardware_multipliers for unit in multipliers)
    assert (found["tables"] > 0) == bool(tables)
    graph = core.fixed.graph
    sums = [n for n in graph.nodes if n.op in (Op.ADD, Op.SUB, Op.NEG)]
    assert found["sums"] >= len(sums)
    assert found["sum_bits"] >= sum(core.fixed.formats[n].width for n in sums)
    least = operations(core.fixed)
    assert all(least[name] <= found[name] for name in NAMES)
    assert least["sums"] >= len(sums) > 0


@pytest.mark.parametrize(
    ("robot", "functions", "interval"),
    [("pendulum", ("did",), 6), ("iiwa14", ("id",), 12)],
)
def test_counts_of_joints_in_turn(robot: str, functions: tuple[str, ...], interval: int) -> None:
    """Memories between datapaths, those of results and flags, and a table of sines."""
    core = compile_front(front_end(robot, functions=functions, fold="joints", ii=interval))
    found = features(core.plan)
    assert set(found) == set(NAMES) and min(found.values()) >= 0
    every, multipliers, tables = emitted(core)
    blocks = [ram for ram in every if isinstance(ram, BlockRam)]
    rams = [ram for ram in every if not isinstance(ram, BlockRam)]
    assert found["memory_cells"] == sum(-(-r.width // 4) * -(-r.depth // 16) for r in rams) > 0
    assert found["slice_memories"] == sum(-(-r.width // (14 if r.depth <= 32 else 7)) for r in rams)
    wide = sum(-(-ram.width // TABLE_WIDTH) for ram in blocks)
    assert max(ram.depth for ram in blocks) <= 512
    assert found["tables"] == wide + len(tables)
    assert len(blocks) > len(core.plan.datapaths.copies) / 2
    assert found["products"] == core.plan.multipliers
    assert found["products"] == sum(unit.hardware_multipliers for unit in multipliers)
    assert found["result_words"] == len(core.fixed.graph.outputs)


def test_what_sines_and_reciprocals_take(tmp_path: Path) -> None:
    """Of words of 26 bits: two sines of second order, 28 bits and their slopes in tables that are
    two block RAMs wide, each of two products of short factors and two of a slope by δ; two
    reciprocals with a step of Newton's, of pivots of 30 bits that are shifted in two steps, each
    of a table and three products."""
    file = tmp_path / "chain.urdf"
    file.write_text(chain_urdf(3))
    choices = {"functions": ("minv",), "width": 26, "fit": False}
    cores = [compile_front(front_end(str(file), target=t, **choices)) for t in ("xc7", "ecp5-25f")]
    expected = {
        "sine_bits": 2 * 26,
        "sine_order_bits": 2 * 26 * (2 - 1),
        "reciprocal_bits": 2 * 26 * (1 + 1),
        "reciprocal_steps": 2 * 30 * 2,
        "tables": 2 * 2 + 2 * 1,
    }
    for core in cores:
        assert features(core.plan).items() >= expected.items()
    # a part with fewer multipliers has all of these products in logic, and some of the others
    units = 2 * 2 * (12 * 12 + 23 * 22) + 2 * (12 * 11 + 30 * 18 + 18 * 13)
    plan = cores[1].plan
    assert isinstance(plan, Pipeline)
    others = [*plan.schedule.binding.style.values()].count("logic")
    assert others and features(plan)["logic_product_bits"] == units + others * 26 * 26


def test_results_that_only_fifos_read_have_no_registers() -> None:
    """Of a pendulum's gravity all sums have a register, with a flag where they could overflow; but
    five words of 18 bits: two of the shoulder that the elbow reads, its share, and both results."""
    core = pendulum(functions=("g",), fit=False)
    fixed = core.fixed
    sums = [node for node in fixed.graph.nodes if node.op in (Op.ADD, Op.SUB)]
    bits = sum(fixed.formats[node].width + fixed.overflowing(node) for node in sums)
    assert features(core.plan)["result_bits"] == bits - 5 * 18


def test_what_chooses_operands() -> None:
    """Of two multipliers, a sine and a reciprocal: registers before each operand, and a word of 18
    bits for each that a port chooses of, of 22 for each angle."""
    found = features(pendulum(functions=("fd",), ii=5).plan)
    assert found["port_bits"] == 2 * 2 * 18 + 22 + 22
    assert found["multiplexed_bits"] == 18 * 18 + 2 * 22  # 18 for ten products: two read one again
    # with a bit for each choice, three for each phase, and what gathers overflows
    least = found["one_hot_bits"] - 18 - 2 - 3 * 5
    assert 0 < least < 15
    found = features(pendulum(functions=("m",), ii=2, fit=False).plan)  # one product, one sine
    assert (found["port_bits"], found["multiplexed_bits"]) == (2 * 18 + 22, 0)
    assert found["one_hot_bits"] < 20


def test_joints_in_turn_are_fewer_sums_in_more_memory() -> None:
    folds = {
        fold: features(compile_front(front_end("iiwa14", fold=fold, ii=12)).plan)
        for fold in ("none", "joints")
    }
    assert folds["joints"]["sum_bits"] < 0.6 * folds["none"]["sum_bits"]
    assert folds["joints"]["tables"] > folds["none"]["tables"]


def test_more_work_is_more_of_everything(tmp_path: Path) -> None:
    """A longer chain has more sums, registers and products."""
    found = []
    for joints in (1, 2):
        file = tmp_path / f"chain{joints}.urdf"
        file.write_text(chain_urdf(joints))
        found.append(features(compile_front(front_end(str(file), functions=("did",))).plan))
    for name in ("sums", "sum_bits", "result_bits", "waiting_bits", "products", "checks"):
        assert found[0][name] < found[1][name]


def test_folding_trades_products_for_multiplexers() -> None:
    whole, folded = (features(pendulum(functions=("did",), ii=ii).plan) for ii in (1, 4))
    assert folded["products"] < whole["products"]
    assert folded["multiplexed_bits"] > whole["multiplexed_bits"] == 0
    assert folded["sums"] == whole["sums"]


@pytest.mark.parametrize(
    ("width", "depth", "slices", "beyond"),
    [(14, 16, 1, 0), (15, 32, 2, 0), (7, 33, 1, 0), (14, 64, 2, 0), (8, 65, 4, 8)],
)
def test_memories_of_an_ultrascale(width: int, depth: int, slices: int, beyond: int) -> None:
    """A RAM32M16 has 14 bits for one who writes and one who reads, a RAM64M8 seven."""
    count: Counter[str] = Counter()
    memory(width, depth, count)
    assert (count["slice_memories"], count["slice_bank_bits"]) == (slices, beyond)
