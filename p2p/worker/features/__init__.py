"""Features of bodies and parts, read from simulator states."""
