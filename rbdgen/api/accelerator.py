"""An accelerator as a folder, and that folder simulated: every bit, and what it takes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..accelerate import Accelerated, accelerate
from ..accelerator.integration import STEP
from ..accelerator.model import evaluate_task
from ..accelerator.picture import picture
from ..accelerator.routes import CODES, kind_of, place
from ..accelerator.stages import TAG
from ..accelerator.timeline import Task, timeline
from ..dynamics.interface import clip, from_columns, to_columns
from ..graph.fixed import Format
from ..graph.text import to_text
from ..robot.choices import mix
from ..robot.design import Design, whole_turns, within_a_turn
from ..robot.xml_lines import read_bytes
from ..rtl.accelerator import AcceleratorCore
from ..rtl.emit import CoreInstance, core_files, shell_files
from ..rtl.task_packets import FORMAT_VERSION, Function
from ..rtl.task_registers import register_table
from ..rtl.task_shell import TaskShell
from ..samples import sample_states
from ..simulate.model import Model, Result
from ..simulate.stays import tasks_of
from .errors import STALL, Error, Mismatch
from .folder import MARK, OutputError, read_manifest, sealed, write_file, write_folder
from .info import accelerator_facts, given_angles, robot_facts
from .names import DESIGN, ROBOT, design_text, module_name
from .reference import golden_model
from .rtl import load_core

Progress = Callable[[str], None]
Integers = NDArray[np.int64]
Array = NDArray[np.float64]
BATCH = 256  # tasks, as in Dadu-RBD's evaluation
REPORT = "simulation.json"
WIDE = 16  # words of a beat
LARGEST_STEP, MOST_STEPS = 4096, 4  # 2^-22 s; of the rollouts that are tried
PICTURE = "accelerator.svg"
WAVES, TIMELINE = "simulation.vcd", "timeline.svg"
BURST = 24  # tasks in the waves


def generate_accelerator(
    robot: str, output: str | Path | None, progress: Progress, choices: Mapping[str, Any]
) -> Path:
    """Compile the accelerator of ``robot`` and write its folder, as `generate` does."""
    from ..driver.header import c_header  # the driver reads what is written here

    made = accelerate(robot, progress, **choices)
    name = module_name(made.front.robot.name, "accelerator")
    progress("Verilog")
    core = AcceleratorCore(made.accelerator, name)
    files = core_files(core, name)
    robot_text = read_bytes(made.design.robot).decode("utf-8", "surrogateescape")
    identity = identity_of(robot_text, design_text(made.design))
    shells = shells_of(made, core, name, identity)
    for kind, shell in shells.items():
        files |= shell_files(shell, f"{name}_axi_{kind}")
    for own, stage in made.accelerator.stages.items():
        files[f"graph_{own}.txt"] = to_text(stage.fixed)
    files[PICTURE] = picture(made.accelerator, f"{made.front.robot.name}: accelerator")
    files[ROBOT] = robot_text
    files[DESIGN] = design_text(made.design)
    manifest = accelerator_manifest(made, core, name, files)
    manifest["axi"] = {kind: _about_shell(made, shell) for kind, shell in shells.items()}
    manifest["packet_format"] = FORMAT_VERSION
    manifest["identity"] = f"{identity:016x}"
    files[f"{name}.h"] = c_header(manifest)
    manifest["files"][f"{name}.h"] = _hash(files[f"{name}.h"])
    files[MARK] = sealed(manifest)
    folder = Path(output) if output is not None else Path("build") / name
    write_folder(folder, files)
    return folder


def accelerator_manifest(
    made: Accelerated, core: AcceleratorCore, name: str, files: Mapping[str, str]
) -> dict[str, Any]:
    """What a host or a tool must know of an accelerator."""
    facts, accelerator = robot_facts(made.front), made.accelerator
    head = [_field("function", 4), _field("tag", TAG)]
    words = [_field(word, width, True) for word, width in accelerator.words.items()]
    results = [_field(f"w[{k}]", core.result_width, True) for k in range(core.result_words)]
    return {
        "generator": f"rbdgen {__version__}",
        "name": name,
        **{key: facts[key] for key in ("robot", "functions", "joint_names", "body_names")},
        **{key: facts[key] for key in ("base", "root", "nq", "nv")},
        "gravity": list(made.design.gravity),
        "angles": given_angles(made.front.canonical, accelerator.words),
        "target": made.design.target,
        "width": made.design.width,
        "multipliers": {
            "hardware": accelerator.multipliers,
            "logic": sum(unit.style == "logic" for unit in core.multipliers),
        },
        "ports": {
            "clock": "clk",
            "reset": "rst",
            "input": {"fields": head + words},
            "output": {"fields": [*head, _field("overflow", 1), *results]},
        },
        "accelerator": accelerator_facts(made),
        "files": {name: _hash(text) for name, text in files.items()},
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def identity_of(*texts: str) -> int:
    """64 bits that tell robots and designs apart, in the registers of the shell."""
    return int(_hash("\0".join(texts))[:16], 16)


def shells_of(
    made: Accelerated, core: AcceleratorCore, name: str, identity: int
) -> dict[str, TaskShell]:
    """The core behind AXI: with words of 32 bits, and with beats of ``WIDE`` words."""
    accelerator = made.accelerator
    functions = {
        CODES[f]: Function(f, len(accelerator.formats[f]), len(accelerator.results[f]))
        for f in accelerator.functions
    }
    return {
        kind: TaskShell(CoreInstance(core, name), functions, identity=identity, lanes=lanes)
        for kind, lanes in (("words", 1), ("wide", WIDE))
    }


def _about_shell(made: Accelerated, shell: TaskShell) -> dict[str, Any]:
    accelerator = made.accelerator
    return {
        "lanes": shell.packets.lanes,
        "clocks_per_task": {
            f: shell.clocks_per_task(CODES[f], accelerator.interval(f))
            for f in accelerator.functions
        },
        "registers": [
            {
                "name": register.name,
                "offset": register.offset,
                "meaning": register.meaning,
                "bits": [{"name": bit.name, "position": bit.position} for bit in register.bits],
            }
            for register in register_table(shell.packets.functions)
        ],
    }


def _field(name: str, width: int, signed: bool = False) -> dict[str, Any]:
    return {"name": name, "width": width, "signed": signed, "fraction": 0}


def simulate_accelerator(
    folder: Path,
    states: int,
    seed: int,
    progress: Progress = lambda _: None,
    waves: bool = False,
) -> dict[str, Any]:
    """Run every function, alone and mixed, through the Verilated accelerator in ``folder``.

    Each function: one task alone, for its latency, then a batch of 256, for its interval; then
    ``states`` tasks of all functions in random order, at full rate and under random stalls on
    both sides. Every bit and tag is compared with the integer model, and the values of the batch
    with the golden model. With ``waves`` also simulation.vcd and timeline.svg, of a few tasks.

    Raises Mismatch where hardware, model or manifest disagree.
    """
    entry = read_manifest(folder)
    made = accelerate(str(folder / DESIGN), progress)
    same_graphs(folder, made)
    model = load_core(folder, entry, progress=progress)
    state = within_limits(made, BATCH, seed)
    traffic = Traffic(made, inputs_of(made, state))
    functions = {}
    for function in made.accelerator.functions:
        alone = traffic.run(model, [function])
        batch = traffic.run(model, [function] * BATCH)
        later = batch.result_cycle[BATCH // 2 :]
        functions[function] = {
            "latency": int(alone.result_cycle[0] - alone.accept_cycle[0]),
            "interval": round(float(later[-1] - later[0]) / (len(later) - 1), 2),
            "batch_cycles": int(batch.result_cycle[-1] - batch.accept_cycle[0]),
            "overflows": int(traffic.expected[function][1].sum()),
            "errors": {
                name: error.report() for name, error in traffic.errors(function, state).items()
            },
        }
        progress(f"{function}: {BATCH} tasks, every bit equal")
    mixed = traffic.mixed(states, seed)
    run = traffic.run(model, mixed)
    progress(f"{states} tasks of all functions mixed, every bit equal")
    for stall_in, stall_out in ((STALL, STALL), (0.0, 0.9)):
        traffic.run(model, mixed[:1000], stall_in=stall_in, stall_out=stall_out, seed=seed)
    progress("the same under random stalls")
    report = {
        "states": states,
        "seed": seed,
        "bit_exact": True,
        "batch": BATCH,
        "functions": functions,
        "mixed": {
            "tasks": states,
            "cycles": int(run.result_cycle[-1] - run.accept_cycle[0]),
        },
        "multipliers": entry["multipliers"]["hardware"],
    }
    write_file(folder / REPORT, json.dumps(report, indent=2) + "\n")
    if waves:
        traced_run(traffic, folder, entry, seed, progress)
    return report


def traced_run(
    traffic: Traffic, folder: Path, entry: dict[str, Any], seed: int, progress: Progress
) -> tuple[list[Task], Result]:
    """Write the waves of a burst of all functions, and who was where in it as a picture."""
    model = load_core(folder, entry, trace=True, progress=progress)
    run = traffic.run(model, traffic.mixed(BURST, seed), waves=folder / WAVES)
    accelerator = traffic.made.accelerator
    tasks = tasks_of(folder / WAVES, accelerator, entry["name"])
    title = f"{entry['robot']}: {BURST} tasks of {len(accelerator.functions)} functions"
    write_file(folder / TIMELINE, timeline(accelerator, tasks, title))
    progress(f"{WAVES} and {TIMELINE}: {BURST} tasks")
    return tasks, run


def same_graphs(folder: Path, made: Accelerated) -> None:
    """OutputError if this rbdgen makes another accelerator of the design than the folder's."""
    for name, stage in made.accelerator.stages.items():
        file = folder / f"graph_{name}.txt"
        try:
            there = file.read_bytes()
        except OSError as error:
            raise OutputError(f"{file}: {error.strerror}") from None
        if there != to_text(stage.fixed).encode():
            raise OutputError(f"{folder}: made by another version of rbdgen; generate it again")


def within_limits(made: Accelerated, states: int, seed: int) -> dict[str, Array]:
    """Random states that the design is for; what others have sized is brought to its edge."""
    robot = made.front.canonical
    state = sample_states(made.design, robot, states, [seed, 0])
    limits = {}
    for own in made.accelerator.formats.values():
        for name, word in own.items():
            largest = float(word.real(np.array(word.highest)))
            limits[name] = -largest, largest
    clip(robot, limits, state)
    rng = np.random.default_rng([seed, 2])
    counts = rng.integers(0, LARGEST_STEP + 1, states)
    step = np.asarray(STEP.real(counts))
    return state | {
        "h": np.stack([step, step * 4 / 3], axis=1),
        "steps": rng.integers(1, MOST_STEPS + 1, (states, 1)).astype(np.float64),
    }


def inputs_of(made: Accelerated, state: Mapping[str, Array]) -> dict[str, dict[str, Integers]]:
    """Function → its inputs (N,), as words."""
    found = {}
    for function, formats in made.accelerator.formats.items():
        known = [name for name in formats if kind_of(name) in (*state, "sin", "cos")]
        columns = to_columns(made.front.canonical, known, state)
        found[function] = {
            # a word that the function does not read may be anything
            name: word.quantize(columns.get(name, np.zeros(len(state["q"]))))
            for name, word in formats.items()
        }
    return found


@dataclass(frozen=True, eq=False)
class Traffic:
    """Tasks for an accelerator, and what it must make of them.

    ``inputs``: function → its inputs as words, of as many states for each.
    """

    made: Accelerated
    inputs: Mapping[str, Mapping[str, Integers]]

    @property
    def states(self) -> int:
        return len(next(iter(next(iter(self.inputs.values())).values())))

    @cached_property
    def expected(self) -> dict[str, tuple[Integers, NDArray[np.bool_]]]:
        """Function → result words (states, outputs) and flags (states,), by the integer model."""
        found, accelerator = {}, self.made.accelerator
        for function in accelerator.functions:
            results, flags = evaluate_task(accelerator, function, self.inputs[function])
            found[function] = np.stack(list(results.values()), axis=1), flags
        return found

    @cached_property
    def tasks(self) -> dict[str, Integers]:
        """Function → rows (states, 2 + words) for the input stream, without tags."""
        accelerator = self.made.accelerator
        made = {}
        for function in accelerator.functions:
            own = {place(name): column for name, column in self.inputs[function].items()}
            rows = np.zeros((self.states, 2 + len(accelerator.words)), np.int64)
            rows[:, 0] = CODES[function]
            for k, word in enumerate(accelerator.words):
                # what a function does not take may be anything
                rows[:, 2 + k] = own.get(word, -1)
            made[function] = rows
        return made

    def mixed(self, n: int, seed: int) -> list[str]:
        """Functions in random order, as often as the design's mix says."""
        functions, share = self.made.accelerator.functions, self.made.design.mix
        shares = mix(share) if share else dict.fromkeys(functions, 1)
        each = [f for f in functions for _ in range(shares.get(f, 0))]
        return [each[k] for k in np.random.default_rng(seed).integers(0, len(each), n)]

    def run(self, model: Model, functions: Sequence[str], **stalls: Any) -> Result:
        """One task of each of ``functions``; Mismatch for a bit, a flag or a tag that is wrong.

        The result's ``accept_cycle`` is by task, all else in the order in which results came.
        """
        tags = np.arange(len(functions)) % (1 << TAG)
        states = np.arange(len(functions)) % self.states
        rows = np.stack([self.tasks[f][k] for f, k in zip(functions, states, strict=True)])
        rows[:, 1] = tags
        run = model.run(rows, **stalls)
        came = self._tasks_of(run, tags)
        for i, k in enumerate(came):
            function = functions[k]
            words, flags = self.expected[function]
            got = run.outputs[i]
            if got[0] != CODES[function]:
                raise Mismatch(f"tag {k} is of {function}, and came with function code {got[0]}")
            wrong = np.flatnonzero(got[3 : 3 + words.shape[1]] != words[states[k]])
            if wrong.size:
                output = self.made.accelerator.results[function][wrong[0]]
                raise Mismatch(
                    f"{output} of {function}, state {states[k]}: hardware {got[3 + wrong[0]]}, "
                    f"integer model {words[states[k], wrong[0]]}"
                )
            if got[2] != flags[states[k]]:
                raise Mismatch(f"the overflow flag of {function}, state {states[k]}, is {got[2]}")
        return run

    def _tasks_of(self, run: Result, tags: Integers) -> Integers:
        """The task of each result, in the order in which they came."""
        waiting: dict[int, list[int]] = {}
        for task in range(len(tags) - 1, -1, -1):
            waiting.setdefault(int(tags[task]), []).append(task)
        came = []
        for tag in run.outputs[:, 1]:
            if not waiting.get(int(tag)):
                raise Mismatch(f"a result came with tag {tag}, which no task waits for")
            came.append(waiting[int(tag)].pop())
        return np.array(came, np.int64)

    def errors(self, function: str, state: Mapping[str, Array]) -> dict[str, Error]:
        """Of each array that a function gives for ``state``, against the golden model."""
        accelerator, robot = self.made.accelerator, self.made.front.canonical
        words, _ = self.expected[function]
        formats: dict[str, Format] = accelerator.result_formats[function]
        columns = {name: word.real(words[:, k]) for k, (name, word) in enumerate(formats.items())}
        design: Design = replace(self.made.design, functions=(function,), mix=None)
        reference = golden_model(design, self.made.front.robot, state)
        errors = {}
        for name, values in from_columns(columns, robot.nv).items():
            errors[name] = Error()
            if name == "q":  # an angle within ±π may come out at the other end
                around = [k for k, turns in whole_turns(design, robot).items() if turns]
                off = values[:, around] - reference[name][:, around]
                values[:, around] = reference[name][:, around] + within_a_turn(off)
            errors[name].add(values, reference[name])
        return errors
