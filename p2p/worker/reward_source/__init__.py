"""Text of a reward: gate, inputs, self-description, loading."""
