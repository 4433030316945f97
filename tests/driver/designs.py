"""Accelerators for tests of their drivers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rbdgen.accelerate import Accelerated, accelerate
from rbdgen.accelerator.routes import CODES, place
from rbdgen.api.folder import MARK, sealed, write_folder
from rbdgen.api.generate import DESIGN, ROBOT, design_text
from rbdgen.driver.contract import Contract
from rbdgen.golden import minv, rnea
from rbdgen.robot.design import load
from rbdgen.robot.xml_lines import read_bytes
from rbdgen.rtl.accelerator import AcceleratorCore
from rbdgen.rtl.emit import core_files
from rbdgen.samples import sample_states

NAME = "gantry"
CHOICES: dict[str, Any] = {"functions": tuple(CODES), "ii": 2, "target": "xcup"}


def manifest_of(made: Accelerated, name: str) -> dict[str, Any]:
    """What a driver reads of an accelerator's manifest."""
    accelerator, robot = made.accelerator, made.front.robot
    contract = Contract.of(accelerator)
    functions = {
        own: {
            "code": CODES[own],
            "inputs": [
                {"name": k, "word": place(k), "width": f.width, "fraction": f.fraction}
                for k, f in accelerator.formats[own].items()
            ],
            "outputs": [
                {"name": k, "width": f.width, "fraction": f.fraction}
                for k, f in accelerator.result_formats[own].items()
            ],
            "interval": accelerator.interval(own),
            "latency": accelerator.latency(own),
        }
        for own in accelerator.functions
    }
    return {
        "generator": "rbdgen",
        "name": name,
        "robot": robot.name,
        "functions": list(accelerator.functions),
        "joint_names": robot.joint_names,
        "body_names": [robot.joints[i].body for i in robot.moving],
        "nq": robot.nq,
        "nv": robot.nv,
        "accelerator": {
            "functions": functions,
            "words": [{"name": k, "width": w} for k, w in accelerator.words.items()],
            "result": {"words": contract.result_words, "width": contract.result_width},
            "slots": accelerator.slots,
            "order": "finished",
        },
        "ports": contract.ports,
    }


def write_design(folder: Path) -> dict[str, Any]:
    """The gantry's accelerator as a generated folder; its manifest."""
    made = accelerate(NAME, **CHOICES)
    files = core_files(AcceleratorCore(made.accelerator, NAME), NAME)
    files[DESIGN] = design_text(made.front.design)
    files[ROBOT] = read_bytes(made.front.design.robot).decode()
    manifest = manifest_of(made, NAME)
    write_folder(folder, {**files, MARK: sealed(manifest)})
    return manifest


def states(robot: str, n: int, seed: int, **choices: Any) -> dict[str, np.ndarray]:
    """q (n, nq), v, a, tau (n, nv), Minv (n, nv, nv) within the design's limits."""
    design, loaded = load(robot, **choices)
    state = sample_states(design, loaded, n, seed)
    q, v, a = state["q"], state["qd"], state["qdd"]
    return {"q": q, "v": v, "a": a, "tau": rnea(loaded, q, v, a), "Minv": minv(loaded, q)}
