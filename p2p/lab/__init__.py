"""Measures p2p itself: speed, what presets learn, how often judges are right. The product imports nothing of it."""
