"""Rules of rewards, in plain Python: processes that run generated code load nothing heavier."""

from typing import Literal

Method = Literal["vectorised", "hand-written", "loop"]
"""How a reward is evaluated: all steps of a rollout at once, by its rewritten source or its own `compute_batch`, or one
after the other."""

ALLOWED_IMPORTS = (
    *("__future__", "abc", "collections", "dataclasses", "enum", "functools", "itertools", "math", "typing"),
    *("numpy", "p2p.rewards", "p2p.training.reward_function"),
)
"""What a reward may import."""

MAX_CANDIDATES = 8
"""Rewards of one iteration; the prompts know as many shapes."""
