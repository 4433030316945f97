"""The host's side of rbdgen: calls of a robot's dynamics, and dynamics in logarithmic depth."""
