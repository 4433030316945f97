"""Services of the machine: files written whole or not at all, a cache, an end by Ctrl-C."""
