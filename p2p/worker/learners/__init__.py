"""PPO: act while a rollout is recorded, then learn from it."""
