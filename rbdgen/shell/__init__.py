"""An accelerator on a board: a link to its host, the board's pins, clock and bitstream."""
