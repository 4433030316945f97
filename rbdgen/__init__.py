"""rbdgen: from a robot's URDF to verified rigid-body-dynamics hardware."""

__version__ = "0.1.0"
