"""Other machines: connect, prepare, and mirror job directories."""
