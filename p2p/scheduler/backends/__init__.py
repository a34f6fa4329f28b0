"""Backends: where jobs run, one module per kind of place."""
