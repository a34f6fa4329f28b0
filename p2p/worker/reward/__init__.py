"""Rewards: computed block by block in a host, checked in the trainer, and tried before training."""
