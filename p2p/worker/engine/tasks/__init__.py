"""The environments whose rules are written for many rows at once."""
