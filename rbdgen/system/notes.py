"""Notes: what is left out, approximated or chosen for the user, a line each."""

CHANGES = " (changes results)"


def changing(note: str) -> str:
    """The note, marked as one that makes results differ: from what the file says in full, or from
    what Pinocchio computes of it. The mark is text, so that files of all kinds carry it."""
    return note + CHANGES


def changes_results(note: str) -> bool:
    """Whether a note is marked so."""
    return note.endswith(CHANGES)
