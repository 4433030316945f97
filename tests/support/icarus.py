"""A design in Icarus Verilog, with the face of `rbdgen.tools.model.Model`.

Icarus has four states and starts `always @*` blocks by events alone: what Verilator, which has two
and computes everything before its first cycle, lets pass comes out as X here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from rbdgen.api.facts import port_facts
from rbdgen.api.integer_model import ports_of
from rbdgen.compile.product import Product
from rbdgen.design.target import Ports
from rbdgen.shell.emit import emit
from rbdgen.system.records import NamedWord
from rbdgen.tools.model import Result

STALLED_FOR = 5000  # cycles without a transfer that end a run

BENCH = r"""`timescale 1ns / 1ps
module bench;
    localparam N = @TOKENS@, STALL_IN = @STALL_IN@, STALL_OUT = @STALL_OUT@;
    reg clock = 1'b0, reset = @RESET@, in_valid = 1'b0, out_ready = 1'b0;
    reg [@IN@:0] token;
    reg [@IN@:0] tokens [0:N - 1];
    wire in_ready, out_valid;
    wire [@OUT@:0] result;
    integer offered = 0, taken = 0, given = 0, cycle = 0, idle = 0, seed = 1;

    @TOP@ dut (
        .@CLOCK@(clock),@RESET_PORT@
        .@IN_PAYLOAD@(token), .@IN_VALID@(in_valid), .@IN_READY@(in_ready),
        .@OUT_PAYLOAD@(result), .@OUT_VALID@(out_valid), .@OUT_READY@(out_ready)@TIED@
    );

    initial begin
        $readmemh("tokens.hex", tokens);
        #5 clock = 1'b1;
        #5 clock = 1'b0;
        reset = 1'b0;
        while (given < N && idle < @IDLE@) begin
            // a token that was offered stays until it is taken
            if (!in_valid && offered < N && $unsigned($random(seed)) % 100 >= STALL_IN) begin
                in_valid = 1'b1;
                token = tokens[offered];
                offered = offered + 1;
            end
            out_ready = $unsigned($random(seed)) % 100 >= STALL_OUT;
            #4;
            if (in_ready === 1'bx || out_valid === 1'bx) begin
                $display("X in cycle %0d: ready %b, valid %b", cycle, in_ready, out_valid);
                $finish;
            end
            idle = idle + 1;
            if (in_valid && in_ready) begin
                $display("T %0d", cycle);
                taken = taken + 1;
                idle = 0;
            end
            if (out_valid && out_ready) begin
                $display("R %0d %h", cycle, result);
                given = given + 1;
                idle = 0;
            end
            #1 clock = 1'b1;
            #1 if (taken == offered) begin in_valid = 1'b0; token = {@IN_BITS@{1'bx}}; end
            #4 clock = 1'b0;
            cycle = cycle + 1;
        end
        $finish;
    end
endmodule
"""


@dataclass(frozen=True)
class Icarus:
    """A compiled design; every `run` starts it anew.

    ``reset``: assert it for one cycle, else leave it low from time zero on.
    """

    source: Path
    top: str
    ports: Ports
    folder: Path
    reset: bool = True

    def run(self, inputs: ArrayLike, *, stall_in: float = 0, stall_out: float = 0) -> Result:
        """As `Model.run`. Payloads are X where none is valid; an X that comes out is an error."""
        tokens = np.asarray(inputs)
        source, sink = self.ports.input, self.ports.output
        values = {
            "TOKENS": len(tokens),
            "IDLE": STALLED_FOR,
            "STALL_IN": int(100 * stall_in),
            "STALL_OUT": int(100 * stall_out),
            "RESET": int(self.reset),
            "IN": source.width - 1,
            "IN_BITS": source.width,
            "OUT": sink.width - 1,
            "TOP": self.top,
            "CLOCK": self.ports.clock,
            "RESET_PORT": f" .{self.ports.reset}(reset)," if self.ports.reset else "",
            "IN_PAYLOAD": source.payload,
            "IN_VALID": source.valid,
            "IN_READY": source.ready,
            "OUT_PAYLOAD": sink.payload,
            "OUT_VALID": sink.valid,
            "OUT_READY": sink.ready,
            "TIED": "",
        }
        if "input clear;" in self.source.read_text():
            values["TIED"] = ", .clear(1'b0)"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "tokens.hex").write_text(
            "".join(f"{_packed(token, source.fields):x}\n" for token in tokens.tolist())
        )
        return self._read(_simulated(BENCH, values, [self.source], self.folder), len(tokens))

    def _read(self, text: str, tokens: int) -> Result:
        lines = [line.split() for line in text.splitlines()]
        taken = [int(line[1]) for line in lines if line[0] == "T"]
        results = [line for line in lines if line[0] == "R"]
        unknown = [line[0] for line in lines if line[0] not in "TR"]
        assert not unknown, text.splitlines()[-1]
        assert len(taken) == len(results) == tokens, f"{len(taken)} taken, {len(results)} results"
        for _, cycle, word in results:
            assert "x" not in word.lower(), f"X in the result of cycle {cycle}: {word}"
        fields = self.ports.output.fields
        outputs = [_unpacked(int(word, 16), fields) for _, _, word in results]
        cycles = [int(cycle) for _, cycle, _ in results]
        return Result(np.array(outputs), np.array(taken), np.array(cycles), cycles[-1])


def binary(name: str) -> str:
    """The path of a tool of Icarus Verilog. Where tests must not skip, its absence is a failure."""
    found = shutil.which(name)
    if found is None:
        why = f"no {name}: apt-get install iverilog"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return found


def without_initial_values(source: Path) -> Path:
    """The same Verilog, its registers X until something is written to them; tables stay."""
    text = re.sub(r"^  initial \S+ += .*;\n", "", source.read_text(), flags=re.MULTILINE)
    stripped = source.with_name(f"{source.stem}_stripped.v")
    stripped.write_text(text)
    return stripped


START = r"""`timescale 1ns / 1ps
module bench;
    reg clk = 1'b0, rst = @RESET@;
    wire [@BITS@:0] out;
    @TOP@ dut (.clk(clk), .rst(rst)@PORTS@);
    initial begin
        repeat (20) begin
            #4 if (rst == 0) $display("%b", out);
            #1 clk = 1'b1;
            #5 clk = 1'b0;
            rst = 1'b0;
        end
        $finish;
    end
endmodule
"""


def started(sources: Sequence[Path], top: str, folder: Path, reset: bool) -> dict[str, set[str]]:
    """Output of one bit → what it was in some cycles without any input; rst in the first or never.

    ``top`` is in the last of the sources.
    """
    text = sources[-1].read_text()
    text = text[text.index(f"module {top}(") :]
    text = text[: text.index("endmodule")]
    ports = re.findall(r"^  (input|output) (\[\d+:0\] )?(\w+);", text, re.MULTILINE)
    outputs = [name for way, wide, name in ports if way == "output" and not wide]
    tied = [name for way, _, name in ports if way == "input" and name not in ("clk", "rst")]
    connected = [f", .{name}(0)" for name in tied]
    connected += [f", .{name}(out[{k}])" for k, name in enumerate(outputs)]
    values = {
        "RESET": int(reset),
        "BITS": len(outputs) - 1,
        "TOP": top,
        "PORTS": "".join(connected),
    }
    folder.mkdir(exist_ok=True)
    cycles = _simulated(START, values, sources, folder).split()
    return {name: {cycle[-1 - k] for cycle in cycles} for k, name in enumerate(outputs)}


def _simulated(
    bench: str, values: Mapping[str, object], sources: Sequence[Path], folder: Path
) -> str:
    """What ``bench`` prints, its ``@NAMES@`` filled in."""
    for key, value in values.items():
        bench = bench.replace(f"@{key}@", str(value))
    (folder / "bench.v").write_text(bench)
    compiler, simulator = binary("iverilog"), binary("vvp")
    files = [str(source.resolve()) for source in sources]
    printed = ""
    for command in (
        [compiler, "-g2005", "-o", "bench.vvp", "bench.v", *files],
        [simulator, "-n", "bench.vvp"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        printed = done.stdout
        assert not done.returncode, (printed + done.stderr)[-2000:]
    return printed


def _packed(token: Sequence[int], fields: Sequence[NamedWord]) -> int:
    word = offset = 0
    for value, f in zip(token, fields, strict=True):
        word |= (value & (1 << f.width) - 1) << offset
        offset += f.width
    return word


def _unpacked(word: int, fields: Sequence[NamedWord]) -> list[int]:
    values = []
    for f in fields:
        value = word & (1 << f.width) - 1
        word >>= f.width
        values.append(value - (1 << f.width) if f.signed and value > f.limits[1] else value)
    return values


def written(core: Product, name: str, place: Path) -> tuple[Path, Ports]:
    """A core's Verilog in ``place``, and its ports."""
    made = emit(core.accelerator, name)
    source = place / f"{name}.v"
    source.write_text(made.files[source.name])
    return source, ports_of(port_facts(core))
