"""Packets that are no tasks, between tasks: whether a shell answers each as it should, and goes on.

The AXI4-Stream shell of words around an accelerator, in Verilator, under random stalls on both
sides. Every packet has one answer: a task its result, all else the error that says what is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from rbdgen import api
from rbdgen.api.c_header import packet_format
from rbdgen.api.design_file import FOLDER, compiler_digest
from rbdgen.api.folder import read_manifest
from rbdgen.api.packets import Packets, packets_of
from rbdgen.api.results import STALL, Mismatch
from rbdgen.design.target import Ports
from rbdgen.shell.task_packets import MAX_FUNCTIONS, PacketFormat
from rbdgen.system.cache import cached_result
from rbdgen.system.quoting import Progress
from rbdgen.system.records import NamedWord
from rbdgen.tools.model import Model
from rbdgen.tools.toolchain import OF_LONG_RUNS
from rbdgen.tools.verilate import build

from .measurement import Row, measurement

Beats = Sequence[int]
ROBOT = "pendulum"
CHOICES: dict[str, Any] = {"functions": ("id", "m"), "ii": 4, "accelerator": True}
MALFORMED = 1_000_000
BATCH = 50_000
GOOD, TASKS = 0.1, 2000  # of packets; tasks that are there to choose from
SEED = 1
TOP = "links"
HEAD = ("malformed", "tasks", "beats", "answers", "wrong answers", "cycles")
LEGEND = (
    f"{ROBOT}, id and m behind AXI4-Stream, under stalls on either side in {STALL:.0%} of cycles. "
    "Malformed: of no\nfunction, with options that are none, too short or too long, up to three "
    "times as long as a task. Every answer\nis compared, beat by beat. A line that is still for "
    "10000 cycles ends the run in an error."
)
# The two links of a shell as two streams of beats; its registers are left alone.
LINKS = """module {top} (input clk, input rst,
  input i__valid, output i__ready, input [32:0] i__payload,
  output o__valid, input o__ready, output [32:0] o__payload);
  {shell} shell (.clk(clk), .rst(rst),
    .s_axis_tvalid(i__valid), .s_axis_tready(i__ready),
    .s_axis_tdata(i__payload[31:0]), .s_axis_tlast(i__payload[32]),
    .m_axis_tvalid(o__valid), .m_axis_tready(o__ready),
    .m_axis_tdata(o__payload[31:0]), .m_axis_tlast(o__payload[32]),
    .s_axil_awaddr(12'd0), .s_axil_awvalid(1'b0), .s_axil_wdata(32'd0), .s_axil_wstrb(4'd0),
    .s_axil_wvalid(1'b0), .s_axil_bready(1'b1), .s_axil_araddr(12'd0), .s_axil_arvalid(1'b0),
    .s_axil_rready(1'b1));
endmodule
"""


def _answered(found: list[dict[str, Any]]) -> None:
    """Mismatch where an answer is wrong."""
    if wrong := found[0]["wrong answers"]:
        raise Mismatch(f"{ROBOT}: wrong answers: {wrong}")


@measurement(
    "fuzz-packets",
    "minutes",
    HEAD,
    cases=lambda: [(MALFORMED,)],
    legend=LEGEND,
    page=True,
    check=_answered,
)
def malformed(place: Path, progress: Progress, packets: int) -> Iterator[Row]:
    """A million malformed packets, and tasks between them; Mismatch where an answer is wrong."""
    folder = place / ROBOT
    api.generate(ROBOT, folder, progress, force=True, **CHOICES)
    entry = read_manifest(folder).facts
    tasks, of = packets_of(folder, entry, TASKS, SEED), packet_format(entry.tasks)
    model = links_of(folder, entry.name, progress)
    total = np.zeros(len(HEAD), np.int64)
    for part, start in enumerate(range(0, packets, BATCH)):
        n = min(BATCH, packets - start)
        made = f"{ROBOT} {n} {part} {compiler_digest(FOLDER)}"
        run = partial(flooded, model, of, tasks, n, part)
        total += np.array(cached_result(place / "kept", "malformed", made, run, progress))
        progress(f"{total[0]} of {packets} malformed packets, {total[4]} wrong answers")
    yield [int(x) for x in total]


def links_of(folder: Path, name: str, progress: Progress) -> Model:
    """The shell of words of a generated accelerator, beats in and out."""
    shell = f"{name}_axi_words"
    links = folder / f"{TOP}.v"
    links.write_text(LINKS.format(top=TOP, shell=shell), "utf-8")
    beat = (NamedWord("data", 32, False), NamedWord("last", 1, False))
    return build(
        [folder / f"{name}.v", folder / f"{shell}.v", links],
        TOP,
        ports=Ports.of(beat, beat),
        optimisation=OF_LONG_RUNS,
        progress=progress,
    )


def flooded(model: Model, of: PacketFormat, tasks: Packets, n: int, seed: int) -> list[int]:
    """A row of the table: ``n`` malformed packets, and tasks between them. A hang raises."""
    rng = Random(seed)
    sent: list[Beats] = []
    due: list[Beats] = []
    good = 0
    while len(sent) - good < n:
        if rng.random() < GOOD:
            k = rng.randrange(len(tasks.tasks))
            sent.append(tasks.tasks[k])
            due.append(tasks.answers[k])
            good += 1
        else:
            sent.append(no_task(of, rng))
            due.append(of.refuse(sent[-1]))
    beats = [(beat, k == len(own) - 1) for own in sent for k, beat in enumerate(own)]
    run = model.run(
        np.array(beats, np.int64),
        awaited=sum(map(len, due)),
        stall_in=STALL,
        stall_out=STALL,
        seed=seed,
    )
    left = Counter(map(tuple, due))
    left.subtract(packets_in(run.outputs))
    missing = sum(own for own in left.values() if own > 0)
    differ = max(missing, missing - left.total())  # those that came and were not due
    return [n, good, len(beats), len(due), differ, run.cycles]


def packets_in(beats: np.ndarray[Any, np.dtype[np.int64]]) -> list[tuple[int, ...]]:
    """The packets of a link's beats, each with whether it is the last; an unfinished one, too."""
    ends = np.flatnonzero(beats[:, 1]) + 1
    return [tuple(map(int, own)) for own in np.split(beats[:, 0], ends) if len(own)]


def no_task(of: PacketFormat, rng: Random) -> list[int]:
    """A packet with something wrong: its function, its options, its length, or several."""
    code = rng.choice(list(of.functions))
    longest = 3 * max(map(of.task_beats, of.functions))
    while True:
        beats = [rng.getrandbits(32) for _ in range(rng.randint(1, longest))]
        if rng.random() < 0.2:
            beats = beats[:1] * of.task_beats(code)
        function = rng.randrange(MAX_FUNCTIONS) if rng.random() < 0.3 else code
        options = rng.getrandbits(8) if rng.random() < 0.2 else 0
        beats[0] = beats[0] >> 16 << 16 | options << 8 | function
        if of.judge_task(beats).is_error:
            return beats
