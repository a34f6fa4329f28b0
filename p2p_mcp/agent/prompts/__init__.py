"""What the model is told at the start."""
