"""Text that a model wrote runs in a process of its own: arrays go in, numbers come out, and it can do nothing else."""
