"""Jobs of a runs directory: start, queue, wait, end."""
