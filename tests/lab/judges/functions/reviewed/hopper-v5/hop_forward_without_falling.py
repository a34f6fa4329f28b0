"""Hopping forward at 1 m/s or more: at least three real flights, on its foot to the end."""

import numpy as np


def judge(features):
    high = np.concatenate([[False], features["clearance"] > 0.03])
    hops = int(np.sum(high[1:] & ~high[:-1]))
    seconds = max(float(features["time"][-1]), 1e-6)
    speed = float(features["displacement_x"][-1]) / seconds
    standing = float(np.mean((features["up"] > 0.8) & (features["height"] > 0.7)))
    moving = float(np.mean(features["velocity_x"] > 0.5))
    parts = (
        np.clip(speed / 1.0, 0.0, 1.0),
        np.clip(hops / 3, 0.0, 1.0),
        np.clip(standing / 0.95, 0.0, 1.0),
        np.clip(moving / 0.5, 0.0, 1.0),
    )
    evidence = f"{speed:.2f} m/s, {hops} hops, standing in {standing:.0%}, moving in {moving:.0%}"
    return {"score": float(np.prod(parts)), "evidence": evidence}
