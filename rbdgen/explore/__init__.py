"""Designs of one function compared with each other: the Pareto front, as a table and a picture."""
