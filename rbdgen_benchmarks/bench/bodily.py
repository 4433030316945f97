"""Inertias that bodies can have, in place of a URDF's others."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from rbdgen.robot.model import RobotError
from rbdgen.robot.xml_lines import parse_xml, quoted

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
LEAST = 1e-3  # of the largest second moment of mass: no body is thinner


def bodily(source: bytes, file: str) -> tuple[str, list[str]]:
    """The URDF with inertias that bodies can have in place of others; the links that had such.

    What is read is the matrix of second moments of mass, ∫ x xᵀ dm = ½ tr J 1 - J: a body's has
    no negative eigenvalue. Each becomes its magnitude, at least ``LEAST`` of the largest, about
    the same axes. So what is there to be computed stays the same, zeros and all, and what is
    computed from it is another robot's.

    RobotError where the file is no XML, or a moment no number.
    """
    parse_xml(source, file)  # says what is no XML, and where
    tree = ElementTree.fromstring(source)
    changed = []
    for link in tree.findall("link"):
        for element in link.iterfind("inertial/inertia"):
            try:
                xx, xy, xz, yy, yz, zz = (float(element.get(key, "")) for key in MOMENTS)
            except ValueError:
                name = quoted(link.get("name", ""))
                raise RobotError(
                    f"{file}: <inertia> of link {name}: expected six numbers"
                ) from None
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            moments, axes = np.linalg.eigh(np.trace(J) / 2 * np.eye(3) - J)
            largest = np.abs(moments).max()
            if moments.min() >= -1e-6 * largest:
                continue
            second = axes @ np.diag(np.maximum(np.abs(moments), LEAST * largest)) @ axes.T
            J = np.trace(second) * np.eye(3) - second
            for key, (i, j) in zip(MOMENTS, zip(*np.triu_indices(3), strict=True), strict=True):
                element.set(key, f"{J[i, j]:.9g}")
            changed.append(link.get("name", ""))
    ElementTree.indent(tree)
    return ElementTree.tostring(tree).decode() + "\n", changed
