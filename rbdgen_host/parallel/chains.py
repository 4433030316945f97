"""Random chains: what the papers' experiments, and ours beside them, are made with."""

from __future__ import annotations

import numpy as np

from rbdgen.robot.model import Inertia, Joint, JointKind, Robot, Transform

LENGTH = 0.3  # m, from a joint to the next


def random_chain(n: int, seed: int = 0) -> Robot:
    """``n`` revolute joints about z of frames turned at random; links are boxes of 1 to 3 kg."""
    rng = np.random.default_rng(seed)
    joints = []
    for i in range(n):
        Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
        turn = Q * np.sign(np.diag(R))
        step = rng.normal(size=3)
        mass, squares = rng.uniform(1, 3), rng.uniform(0.05, 0.3, 3) ** 2
        inertia = mass / 12 * np.diag(squares.sum() - squares)
        joints.append(
            Joint(
                f"joint{i + 1}",
                JointKind.REVOLUTE,
                i - 1,
                Transform(turn * np.linalg.det(turn), LENGTH / np.linalg.norm(step) * step),
                f"link{i + 1}",
                Inertia.about_com(mass, rng.uniform(-0.1, 0.1, 3), inertia),
            )
        )
    return Robot(f"chain of {n}", tuple(joints))
