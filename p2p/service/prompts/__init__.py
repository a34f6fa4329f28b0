"""Texts for whoever writes rewards or judges pictures."""
