"""Training plans: what is trained, and what is collected from it."""
