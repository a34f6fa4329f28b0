"""Durable jobs: what is long runs under a supervisor of its own and is known by its directory."""
