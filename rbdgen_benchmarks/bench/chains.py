"""Chains of any length, for measuring how the compiler grows."""

from __future__ import annotations

import numpy as np


def chain_urdf(joints: int, seed: int = 0) -> str:
    """A URDF of ``joints`` revolute joints in a row, axes at right angles, bodies of an arm."""
    rng = np.random.default_rng(seed)
    lines = ['<robot name="chain">', '  <link name="base"/>']
    for k in range(joints):
        parent = "base" if k == 0 else f"link{k - 1}"
        roll = (0.0, np.pi / 2, -np.pi / 2)[0 if k == 0 else 1 + k % 2]
        mass, size = rng.uniform(1, 4), rng.uniform(0.05, 0.2, 3)
        com = rng.uniform(-0.05, 0.05, 3)
        inertia = mass / 3 * (np.sum(size**2) - size**2)  # of a box with these half sides
        lines += [
            f'  <joint name="joint{k}" type="continuous">',
            f'    <parent link="{parent}"/><child link="link{k}"/>',
            f'    <origin xyz="0 {0.2 * (k % 2)} 0.1" rpy="{roll!r} 0 0"/>',
            '    <axis xyz="0 0 1"/><limit effort="100" velocity="3"/>',
            "  </joint>",
            f'  <link name="link{k}"><inertial>',
            f'    <origin xyz="{com[0]:.4f} {com[1]:.4f} {com[2]:.4f}"/><mass value="{mass:.4f}"/>',
            f'    <inertia ixx="{inertia[0]:.6f}" iyy="{inertia[1]:.6f}" izz="{inertia[2]:.6f}"'
            ' ixy="0" ixz="0" iyz="0"/>',
            "  </inertial></link>",
        ]
    return "\n".join([*lines, "</robot>", ""])
