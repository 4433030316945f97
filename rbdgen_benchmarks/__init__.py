"""Measurements of what rbdgen makes, and papers' tables beside ours; no part of the compiler."""
