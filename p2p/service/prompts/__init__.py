"""Prompt texts for authors of rewards and for visual judges."""
