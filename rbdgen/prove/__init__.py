"""Ranges that no state within the limits exceeds, and how far words are off at most."""
