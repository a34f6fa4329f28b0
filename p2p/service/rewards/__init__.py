"""Criteria, rewards and revisions: write, check, repair, choose."""
