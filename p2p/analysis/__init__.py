"""Statistics of recorded numbers: criteria on rollouts, intervals, and the course of a training."""
