"""Joints with drivetrains."""

from __future__ import annotations

JOINTS = {
    "shoulder": {"armature": 0.1, "damping": 0.6, "friction": 1.5, "friction_width": 0.5},
    "elbow": {"armature": 0.02, "damping": 0.2, "friction": 0.5, "friction_width": 1.0},
}
