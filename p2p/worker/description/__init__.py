"""What is read from an environment's live model: its facts, its parts, and what each observation means."""
