"""PPO: act while a rollout is recorded, then learn from it. `ppo.py` is the whole of it."""
