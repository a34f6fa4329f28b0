"""Measured results: sentences x seeds, each a session of its own, in one table."""
