"""Trainings: plan, run, follow, aggregate."""
