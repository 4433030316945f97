"""States in which signals are largest, found by gradient ascent."""
