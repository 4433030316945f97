"""Robots in MJCF, as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdgen.design.loading import load
from rbdgen.robot.model import JointKind, Robot

Array = NDArray[np.float64]
# Degrees, Euler angles, defaults, anchors, a position of 0 that is elsewhere, two joints a body,
# inertias of geometries, a body that is fixed to another, and all that is left out.
ARM = """<mujoco model="arm">
  <compiler angle="degree" eulerseq="zyx" autolimits="true"/>
  <option gravity="0 0 -1.62" density="1.2"/>
  <default>
    <joint damping="0.1" armature="0.01"/>
    <default class="heavy"><geom density="7800"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="base" pos="0 0 1"><geom size="0.1"/>
      <body name="upper" pos="0.1 0 0" euler="10 20 30">
        <joint name="turn" pos="0.1 0.2 0.3" axis="0 1 1" range="-90 90" ref="20"/>
        <joint name="tilt" pos="-0.1 0.2 0" axis="1 0 0" stiffness="3" actuatorfrcrange="-7 7"/>
        <geom type="capsule" fromto="0 0 0 0.3 0.1 0.4" size="0.05" class="heavy"/>
        <body name="lower" pos="0.3 0.1 0.4" quat="1 2 3 4">
          <joint name="slide" type="slide" axis="1 2 3" range="-1 1" ref="0.3"/>
          <joint name="roll" axis="0 0 1" pos="0 0.1 0" frictionloss="0.2"/>
          <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="20 0 0"/>
          <body name="tool" pos="0 0 0.2" axisangle="1 1 0 40">
            <inertial pos="0.01 0.02 0.03" mass="0.5" fullinertia="0.2 0.3 0.25 0.01 0.02 0.03"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="t"><joint joint="turn" coef="1"/></fixed></tendon>
  <equality><joint joint1="turn" joint2="tilt"/></equality>
  <actuator><motor joint="turn" gear="100"/></actuator>
</mujoco>"""


def read(text: str, place: Path) -> tuple[Robot, list[str]]:
    """The robot of a file with that text, and its notes."""
    notes: list[str] = []
    place.write_text(text)
    return load(place, notes=notes)[1], notes


def followed(model: Any, robot: Robot) -> tuple[Array, Array]:
    """G (theirs, ours) and b (theirs,): MuJoCo's velocities are G times ours; where no joint is
    free, its positions are G times ours and b."""
    G, b = np.zeros((model.nv, robot.nv)), np.zeros(model.nv)
    joints = {joint.name: joint for joint in robot.joints}
    for k in range(model.njnt):
        joint, name = joints[model.joint(k).name], model.joint(k).name
        dof = model.jnt_dofadr[k]
        if joint.kind is JointKind.FIXED:
            b[dof] = model.qpos0[model.jnt_qposadr[k]]  # unless a test says
            continue
        factor = 1.0
        if joint.mimic:
            factor, b[dof] = joint.mimic.multiplier, joint.mimic.offset
            name = robot.joints[joint.mimic.joint].name
        column = robot.free.index(list(joints).index(name))
        start = sum(robot.joints[i].kind.nv for i in robot.free[:column])
        own = joint.kind.nv
        G[dof : dof + own, start : start + own] = factor * np.eye(own)
    return G, b
