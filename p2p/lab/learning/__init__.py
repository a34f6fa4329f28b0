"""What PPO learns by Gymnasium's own reward: presets, settings, learners."""
