"""What a plan will cost in cells, before any RTL is made of it."""
