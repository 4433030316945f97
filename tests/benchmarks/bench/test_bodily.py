"""Inertias that no body has are replaced, and the others stay."""

from __future__ import annotations

import numpy as np
import pytest

from rbdgen.robot.model import RobotError
from rbdgen.robot.urdf import parse_urdf
from rbdgen_benchmarks.bench.bodily import bodily

BAD = """<robot name="r"><link name="base"/>
<link name="a"><inertial><mass value="1"/>
<inertia ixx="-0.04" ixy="-0.015" ixz="0.035" iyy="-0.064" iyz="-0.043" izz="-0.075"/></inertial>
</link><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint>
<joint name="k" type="continuous"><parent link="a"/><child link="b"/></joint></robot>
"""


def test_inertias_of_bodies() -> None:
    """One that no body has is replaced, and the reader takes it; the others stay."""
    with pytest.raises(RobotError, match="no body has this inertia"):
        parse_urdf(BAD)
    text, changed = bodily(BAD.encode(), "bad.urdf")
    assert changed == ["a"]
    notes: list[str] = []
    a, b = parse_urdf(text, notes=notes).joints
    assert not [note for note in notes if "real body" in note]
    smallest, middle, largest = np.linalg.eigvalsh(a.inertia.J)
    assert 0 < smallest <= middle <= largest <= smallest + middle
    np.testing.assert_array_equal(b.inertia.J, np.eye(3))
    assert bodily(text.encode(), "good.urdf") == (text, [])
    with pytest.raises(RobotError, match=r'bad\.urdf: <inertia> of link "b": expected six numbers'):
        bodily(BAD.replace('ixx="1"', 'ixx="one"').encode(), "bad.urdf")
