"""Kubernetes: trainings as Jobs of one pod, through the official client."""
