"""Rewards inside the worker: loaded, run step by step or for whole blocks, and tried before anything is trained."""
