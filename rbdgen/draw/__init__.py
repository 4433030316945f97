"""Pictures and tables of what was made."""
