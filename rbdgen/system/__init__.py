"""What rbdgen asks of the machine: files that are whole or not there, a cache, an end by Ctrl-C."""
