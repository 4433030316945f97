"""Words: the range of every signal, its binary point, and proofs of what rounding does."""
