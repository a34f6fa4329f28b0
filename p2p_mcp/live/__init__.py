"""Changes of jobs, told to clients while they happen."""
