"""Limbs that take turns on a trunk that moves: a robot's graph split at the hips."""

from .pieces import cut_hips, split_hips

__all__ = ["cut_hips", "split_hips"]
