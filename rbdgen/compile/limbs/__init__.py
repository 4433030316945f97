"""Limbs that are alike: found, compared, and one of them made to stand for all."""
