"""Durable jobs: each runs under its own supervisor and is known by its directory."""
