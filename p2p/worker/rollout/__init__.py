"""A policy acting in n environments: rollouts to learn from, and evaluation episodes."""
