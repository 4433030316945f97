"""Another robot of a model, as a file or not."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from rbdgen.robot.canonical import merge_fixed
from rbdgen.robot.frames import align_axes
from rbdgen.robot.model import Robot
from rbdgen.robot.variations import count, varied
from rbdgen.system.templates import data_folder

TOLERANCE = 0.01  # each way: two robots differ by up to twice as much


def another(name: str, place: Path, seed: int, tolerance: float = TOLERANCE) -> Path:
    """A robot of the model, every parameter of its file up to ``tolerance`` off."""
    tree, rng = ET.parse(data_folder("robots") / f"{name}.urdf"), random.Random(seed)

    def off(text: str) -> str:
        return " ".join(
            repr(float(x) * (1 + rng.uniform(-tolerance, tolerance))) for x in text.split()
        )

    for inertial in tree.iter("inertial"):
        for part in inertial:
            for key in {"value", "xyz", *(f"i{a}{b}" for a in "xyz" for b in "xyz")} & set(
                part.keys()
            ):
                part.set(key, off(part.get(key, "")))
    for joint in tree.iter("joint"):
        origin = joint.find("origin")
        if origin is not None and origin.get("xyz"):
            origin.set("xyz", off(origin.get("xyz", "")))
    file = place / f"{name}_{seed}.urdf"
    tree.write(file)
    return file


def any_of_model(robot: Robot, tolerance: float, rng: np.random.Generator) -> Robot:
    """Another robot of the model: every parameter up to ``tolerance`` off, at random."""
    robot = align_axes(merge_fixed(robot))
    return varied(robot, rng.uniform(-tolerance, tolerance, count(robot)))
