"""Clips that judges are measured on: known motions, changed ones, and those of trained policies; their pictures."""
