"""Benchmark: sentences × seeds, one session each, in one table."""
