"""Judgments: measured, by code, by vision models, and by people."""
