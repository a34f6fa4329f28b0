"""Walking slowly, between 0.2 and 0.8 m/s, upright to the end."""

import numpy as np


def judge(features):
    velocity = features["velocity_x"]
    speed = float(np.mean(velocity))
    off = max(0.2 - speed, speed - 0.8, 0.0)
    moving = float(np.mean((velocity > 0.1) & (velocity < 1.6)))
    standing = float(np.mean((features["up"] > 0.7) & (features["height"] > 0.8)))
    parts = (
        np.clip(1.0 - off / 0.2, 0.0, 1.0),
        np.clip(moving / 0.5, 0.0, 1.0),
        np.clip(standing / 0.95, 0.0, 1.0),
    )
    evidence = f"mean speed {speed:.2f} m/s, walking in {moving:.0%} of the steps, upright in {standing:.0%}"
    return {"score": float(np.prod(parts)), "evidence": evidence}
