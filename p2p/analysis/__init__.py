"""What recorded numbers say: criteria measured on rollouts, intervals, and the course of a training."""
