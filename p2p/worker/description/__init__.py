"""Facts of an environment, read from its live model."""
