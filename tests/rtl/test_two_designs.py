"""Two designs of one robot in one project: Icarus Verilog, Verilator and Yosys take both."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.api.output_paths import design_name
from rbdgen.compile.flow import compile_front, front_end
from rbdgen.compile.product import Product
from rbdgen.design.target import Ports, Stream
from rbdgen.rtl.separate_module import with_own_names
from rbdgen.shell.emit import emit
from rbdgen.tools.toolchain import YOSYS, run_tool
from rbdgen.tools.verilate import build
from tests.support.cores import Batch, any_words, check
from tests.support.icarus import Icarus, binary

DESIGNS = ({}, {"payload": "lower_rod"})
TASKS = 30

# Both in lock step: a task goes into both, or into none, and results come out together.
BOTH = """
module both(input clk, rst, clear, i__valid, o__ready, output i__ready, o__valid,
    input [@IN@:0] i__payload, output [@OUT@:0] o__payload);
    wire [1:0] takes, gives;
    assign i__ready = &takes;
    assign o__valid = &gives;
    @ONE@ one (.clk(clk), .rst(rst), .clear(clear),
        .i__valid(i__valid && takes[1]), .i__ready(takes[0]),
        .i__payload(i__payload[@ONE_IN@:0]),
        .o__valid(gives[0]), .o__ready(o__ready && gives[1]),
        .o__payload(o__payload[@ONE_OUT@:0]));
    @OTHER@ other (.clk(clk), .rst(rst), .clear(clear),
        .i__valid(i__valid && takes[0]), .i__ready(takes[1]),
        .i__payload(i__payload[@IN@:@ONE_IN@ + 1]),
        .o__valid(gives[1]), .o__ready(o__ready && gives[0]),
        .o__payload(o__payload[@OUT@:@ONE_OUT@ + 1]));
endmodule
"""


@dataclass(frozen=True)
class Pair:
    """The cores, the file of both and what holds them, and the ports of that."""

    cores: list[Product]
    source: Path
    ports: Ports

    def tasks(self) -> tuple[np.ndarray, list[Batch]]:
        batches = [any_words(core, TASKS, seed) for seed, core in enumerate(self.cores)]
        return np.concatenate([batch.tasks for batch in batches], axis=1), batches

    def check(self, outputs: np.ndarray, batches: list[Batch], run: object) -> None:
        first = 2 * batches[0].results.shape[1]
        for own, batch in zip((outputs[:, :first], outputs[:, first:]), batches, strict=True):
            check(replace(run, outputs=own), batch)  # type: ignore[type-var]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    cores = [compile_front(front_end("pendulum", fit=False, **choices)) for choices in DESIGNS]
    names = [design_name(core.front.robot.name, core.front.design) for core in cores]
    made = [emit(core.accelerator, name) for core, name in zip(cores, names, strict=True)]
    ports = [ports_of(port_facts(core)) for core, own in zip(cores, made, strict=True)]
    both = Ports(*(joined([getattr(own, way) for own in ports]) for way in ("input", "output")))
    values = {
        "ONE": names[0],
        "OTHER": names[1],
        "ONE_IN": ports[0].input.width - 1,
        "ONE_OUT": ports[0].output.width - 1,
        "IN": both.input.width - 1,
        "OUT": both.output.width - 1,
    }
    text = re.sub(r"@(\w+)@", lambda found: str(values[found[1]]), BOTH)
    source = tmp_path_factory.mktemp("both") / "both.v"
    texts = [own.files[f"{name}.v"] for own, name in zip(made, names, strict=True)]
    source.write_text("\n".join([*texts, text]))
    return Pair(cores, source, both)


def joined(streams: list[Stream]) -> Stream:
    """Their payloads side by side."""
    fields = [
        replace(own, name=f"{k}.{own.name}")
        for k, stream in enumerate(streams)
        for own in stream.fields
    ]
    return replace(streams[0], fields=tuple(fields))


def test_no_module_stands_in_both(pair: Pair) -> None:
    modules = re.findall(r"^module (\S+?) ?\(", pair.source.read_text(), re.MULTILINE)
    assert len(set(modules)) == len(modules) > 20
    assert {name.partition("_")[0] for name in modules} == {"pendulum", "both"}


@pytest.mark.rtl
def test_both_are_right_in_icarus(pair: Pair, tmp_path: Path) -> None:
    binary("iverilog")
    tasks, batches = pair.tasks()
    run = Icarus(pair.source, "both", pair.ports, tmp_path / "run").run(tasks, stall_out=0.3)
    pair.check(run.outputs, batches, run)


@pytest.mark.rtl
def test_both_are_right_in_verilator(pair: Pair) -> None:
    tasks, batches = pair.tasks()
    run = build([pair.source], "both", ports=pair.ports).run(tasks, seed=1)
    pair.check(run.outputs, batches, run)


@pytest.mark.rtl
def test_yosys_takes_both(pair: Pair, tmp_path: Path) -> None:
    script = tmp_path / "script.ys"
    script.write_text("read_verilog both.v\nhierarchy -check -top both\nproc\ncheck -assert\n")
    (tmp_path / "both.v").write_text(pair.source.read_text())
    run_tool(YOSYS, ["-q", "-s", "script.ys"], tmp_path)


UNITS = (
    *("ram_18x16", "block_18x512", "mul_18x18_l3", "mul_18x14_l4_logic", "sincos_14p12_12"),
    *("sincos_27p25_22_logic", "recip_12t0s3_12", "recip_30tm4s4_22_logic"),
)
OTHERS = ("ram_18x16_id", "mul_18x18_id", "mul_18x18", "tables_12", "sincos_14", "not_shared")


@pytest.mark.parametrize(("unit", "start"), [*itertools.product(UNITS, ("module", "  cell"))])
def test_units_get_the_designs_name(unit: str, start: str) -> None:
    for behind in (" \\one\n", "\n", " (\n") if start == "module" else (" \\one\n",):
        for mark in ("\\", ""):
            text = f"end\n{start} {mark}rbdgen_{unit}{behind}"
            assert with_own_names(text, "arm_id") == f"end\n{start} {mark}arm_id_{unit}{behind}"


@pytest.mark.parametrize("other", OTHERS)
def test_other_modules_are_left_as_they_are(other: str) -> None:
    for text in (f"module \\rbdgen_{other}\n", f"  wire \\rbdgen_{UNITS[0]}\n", f"# {UNITS[0]}\n"):
        assert with_own_names(text, "arm_id") == text
