"""Limbs that take turns on a trunk that moves: a robot's graph cut at the hips."""

from .cut import cut_hips

__all__ = ["cut_hips"]
