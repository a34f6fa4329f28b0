"""Running forward at 3 m/s or more: all the time, and the right way up."""

import numpy as np


def judge(features):
    velocity = features["velocity_x"]
    speed = float(np.mean(velocity))
    moving = float(np.mean(velocity > 1.5))
    upright = float(np.mean(features["up"] >= 0.7))
    fast = np.clip(speed / 3.0, 0.0, 1.0)
    steady = np.clip(moving / 0.5, 0.0, 1.0)
    right = np.clip(upright / 0.9, 0.0, 1.0)
    evidence = f"mean {speed:.2f} m/s (3), faster than 1.5 m/s in {moving:.0%} (50 %), upright in {upright:.0%} (90 %)"
    return {"score": float(fast * steady * right), "evidence": evidence}
