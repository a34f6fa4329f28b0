"""Trainings: planned, run in the background, followed, measured and handed out."""
