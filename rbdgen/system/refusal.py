"""The error of a line that says what is wrong, where, and what cures it."""


class Refusal(Exception):
    """An error that the command line prints as it is, in one line, without a traceback."""

    usage = False  # whether it is of what was typed
