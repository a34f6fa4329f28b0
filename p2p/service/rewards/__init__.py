"""Criteria, rewards and revisions: written, checked, repaired, chosen among."""
