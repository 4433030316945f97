"""Tasks and results by their types in SystemVerilog: benches that count no bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rbdgen.api import evaluate
from rbdgen.api.filed_design import filed_design
from rbdgen.api.hdl_types import hdl_types, identifier
from rbdgen.api.integer_model import integer_results
from tests.support import hdl_designs
from tests.support.hdl_designs import entry_of, filled, run_in_icarus
from tests.support.lint import said

pytestmark = pytest.mark.rtl

STATES = 5
THREE = {"torque": "id", "mass": "m", "many": "id"}  # of the folders, in one simulation
# What a user writes from README alone: numbers to fields, a task after another, fields to numbers.
# Icarus 11 reads fields as unsigned, and knows no types as PACKAGE::TYPE.
BENCH = """
module @NAME@_bench;
    import @NAME@_pkg::*;
    reg clk = 0, rst = 1, task_valid = 0;
    wire task_ready, result_valid;
    task_t task_in;
    @RESULT@ result;
    always #5 clk = !clk;
    @NAME@ dynamics (
        .clk(clk), .rst(rst), @CLEAR@
        .i__payload(task_in), .i__valid(task_valid), .i__ready(task_ready),
        .o__payload(result), .o__valid(result_valid), .o__ready(1'b1));
    initial begin
        repeat (2) @(negedge clk);
        rst = 0;
@TASKS@
    end
endmodule
"""
TASK = """
        @FIELDS@
        task_valid = 1;
        while (!task_ready) @(negedge clk);
        @(negedge clk) task_valid = 0;
        while (!result_valid) @(negedge clk);
        $display("@NAME@ @PRINTED@", @RESULTS@);
"""


@pytest.fixture(scope="module")
def folders() -> dict[str, Path]:
    return hdl_designs.folders()


def test_three_designs_in_one_simulation(folders: dict[str, Path], tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    benches, expected = [], []
    for name, function in THREE.items():
        entry = entry_of(folders[name])
        prefix = "" if entry.is_core else f"{function}_"
        own = entry.tasks.functions[function]
        results = [f"$signed(result.{identifier(o.name)})" for o in own.outputs]
        shown = " ".join(["%0d"] * len(results))
        values = {"NAME": name, "PRINTED": shown, "RESULTS": ", ".join(results)}
        tasks = [filled(TASK, FIELDS=f"task_in = {prefix}EXAMPLE_TASK;", **values)]
        right = next(e.result for e in entry.examples if function in e.functions)
        expected.append([name, *(str(right[o.name]) for o in own.outputs)])
        for _ in range(STATES):
            numbers = {operand: float(rng.uniform(-1, 1)) for operand in own.inputs}
            fields = ["task_in = 0;"]
            fields += [] if entry.is_core else [f"task_in.code = {prefix}CODE;"]
            fields += [
                f"task_in.{identifier(i.word)} = $rtoi($floor({x!r} * "
                f"2.0 ** {prefix}task_{identifier(i.name)}_FRACTION + 0.5));"
                for i, x in numbers.items()
            ]
            tasks.append(filled(TASK, FIELDS="\n        ".join(fields), **values))
            words = {
                i.name: np.array([int(np.floor(x * 2.0**i.fraction + 0.5))])
                for i, x in numbers.items()
            }
            made = filed_design(folders[name], entry)
            found, _ = integer_results(made, words, "" if entry.is_core else function)
            expected.append([name, *(str(int(found[o.name][0])) for o in own.outputs)])
        clear = ".clear(1'b0), .overflow()," if entry.is_core else ""
        values = {"NAME": name, "RESULT": f"{prefix}result_t", "CLEAR": clear}
        benches.append(filled(BENCH, TASKS="".join(tasks), **values))
    top = "module top; initial #20000 $finish; "
    top += " ".join(f"{name}_bench {name}_bench ();" for name in THREE) + " endmodule\n"
    bench = tmp_path / "bench.sv"
    bench.write_text("`timescale 1ns / 1ps\n" + top + "".join(benches))
    sources = [folders[own] / f"{own}{end}" for own in folders for end in ("_pkg.sv", ".v")]
    lines = [line.split() for line in run_in_icarus(bench, "top", sources)]
    assert sorted(lines) == sorted(expected)


# Written from README alone.
STRANGER = """`timescale 1ns / 1ps
module tb;
    import torque_pkg::*;
    logic clk = 0, rst = 1, task_valid = 0;
    wire task_ready, result_valid;
    wire [1:0] sticky_overflow;
    task_t task_in;
    result_t result;
    always #5 clk = !clk;

    torque dynamics (
        .clk(clk), .rst(rst),
        .i__payload(task_in), .i__valid(task_valid), .i__ready(task_ready),
        .o__payload(result), .o__valid(result_valid), .o__ready(1'b1),
        .overflow(sticky_overflow), .clear(1'b0)
    );

    function automatic int word(real x, int fraction);
        return $rtoi($floor(x * 2.0 ** fraction + 0.5));
    endfunction

    task automatic run;
        task_valid = 1;
        while (!task_ready) @(negedge clk);
        @(negedge clk) task_valid = 0;
        while (!result_valid) @(negedge clk);
    endtask

    initial begin
        repeat (2) @(negedge clk);
        rst = 0;
        task_in = EXAMPLE_TASK;
        run;
        if (result !== EXAMPLE_RESULT) $fatal(1, "%h, not %h", result, EXAMPLE_RESULT);
        task_in = '0;
        task_in.q_0 = word(0.5, task_q_0_FRACTION);
        task_in.q_1 = word(-1.0, task_q_1_FRACTION);
        task_in.qd_1 = word(2.0, task_qd_1_FRACTION);
        @(negedge clk) run;
        $display("%f %f", $signed(result.tau_0) / 2.0 ** result_tau_0_FRACTION,
            $signed(result.tau_1) / 2.0 ** result_tau_1_FRACTION);
        if (sticky_overflow) $fatal(1, "overflow");
        $finish;
    end
endmodule
"""


def test_a_strangers_bench(folders: dict[str, Path], tmp_path: Path) -> None:
    """45 lines without a number of bits: the example, then numbers and the reference's efforts."""
    assert STRANGER.count("\n") == 45
    bench = tmp_path / "tb.sv"
    bench.write_text(STRANGER)
    sources = [folders["torque"] / f"torque{end}" for end in ("_pkg.sv", ".v")]
    assert said([*sources, bench], "tb", "--timing", "-Wno-WIDTH") == []
    found = np.array(run_in_icarus(bench, "tb", sources, "-Wall")[0].split(), np.float64)
    state = {"q": [[0.5, -1.0]], "qd": [[0.0, 2.0]], "qdd": [[0.0, 0.0]]}
    right = evaluate("pendulum", {name: np.array(rows) for name, rows in state.items()})
    np.testing.assert_allclose(found, right["tau"][0], rtol=5e-3)


PACKETS = """
module bench;
    import @NAME@_pkg::*;
    reg clk = 0, rst = 1, valid = 0;
    wire ready, given, last;
    wire [31:0] found;
    @PREFIX@task_t task_in;
    @PREFIX@result_t right;
    reg [31:0] sent [0:@PREFIX@TASK_WORDS - 1], came [0:@PREFIX@RESULT_WORDS - 1], due;
    reg ends;
    integer k = 0, n = 0;
    @HEADER@
    always #5 clk = !clk;
    @NAME@_axi_words dynamics (
        .clk(clk), .rst(rst), @LITE@
        .s_axis_tdata(sent[k]), .s_axis_tvalid(valid), .s_axis_tready(ready),
        .s_axis_tlast(ends),
        .m_axis_tdata(found), .m_axis_tvalid(given), .m_axis_tready(1'b1), .m_axis_tlast(last));
    always_comb ends = k == @PREFIX@TASK_WORDS - 1; // names in a port's expression become wires
    initial begin
        task_in = @PREFIX@EXAMPLE_TASK;
        right = @PREFIX@EXAMPLE_RESULT;
        @FILL@
        repeat (2) @(negedge clk);
        rst = 0;
        valid = 1;
        while (n < @PREFIX@RESULT_WORDS) @(negedge clk) if (given === 1) begin
            if (last != (n == @PREFIX@RESULT_WORDS - 1)) $fatal(1, "TLAST");
            came[n] = found;
            n = n + 1;
        end
        @CHECK@
        $display("right");
        $finish;
    end
    always @(posedge clk) if (valid && ready) begin
        #1 valid = !ends;
        if (valid) k = k + 1;
    end
    initial #20000 $fatal(1, "no result");
endmodule
"""


@pytest.mark.parametrize(("name", "function"), [("many", "id"), ("many", "m"), ("torque", "")])
def test_packets_by_the_constants(
    folders: dict[str, Path], name: str, function: str, tmp_path: Path
) -> None:
    """The example as a packet and its result, every word by the names in the package alone."""
    prefix = f"{function}_" if function else ""
    task, result = [own for own in hdl_types(entry_of(folders[name])) if own.function == function]
    fill = [f"sent[{task.word_of(f)}] = $signed(task_in.{f.name});" for f in task.numbers]
    check = [
        f"due = $signed(right.{f.name}); "
        f'if (came[{result.word_of(f)}] !== due) $fatal(1, "{f.name}");'
        for f in result.numbers
    ]
    lite = header = ""
    if function:
        header = "task_header_t first; result_header_t answer;"
        fill += [f"first = '0; first.code = {prefix}CODE; first.tag = 16'hBEE5; sent[0] = first;"]
        check += ["answer = came[0];", 'if (answer.tag != 16\'hBEE5) $fatal(1, "tag");']
        check += [f'if (answer.code != {prefix}CODE) $fatal(1, "code");']
        check += ['if (answer.status != STATUS_OK) $fatal(1, "status");']
        ports = ("awaddr", "awvalid", "wdata", "wstrb", "wvalid", "bready")
        ports += ("araddr", "arvalid", "rready")
        lite = " ".join(f".s_axil_{port}('0)," for port in ports)
    else:
        flags = [f for f in result.fields if not f.signed]
        check += [f'if (came[{result.word_of(f)}] != 0) $fatal(1, "{f.name}");' for f in flags]
    text = filled(
        PACKETS,
        NAME=name,
        PREFIX=prefix,
        HEADER=header,
        LITE=lite,
        FILL="\n        ".join(fill),
        CHECK="\n        ".join(check),
    )
    bench = tmp_path / "bench.sv"
    bench.write_text(text)
    ends = "_pkg.sv", ".v", "_axi_words.v"
    sources = [folders[name] / f"{name}{end}" for end in ends]
    assert run_in_icarus(bench, "bench", sources) == ["right"]
