"""Estimates of a plan's cost in cells, before RTL is generated."""
