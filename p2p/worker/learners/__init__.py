"""PPO: what acts while a rollout is recorded, and learns from it afterwards."""
