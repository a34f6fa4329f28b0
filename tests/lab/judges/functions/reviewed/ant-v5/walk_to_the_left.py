"""Walking to the left (+y) at 0.5 m/s or more, upright, along a line and to the end."""

import numpy as np


def judge(features):
    seconds = max(float(features["time"][-1]), 1e-6)
    left = features["velocity_y"]
    speed = float(features["displacement_y"][-1]) / seconds
    across = abs(float(features["displacement_x"][-1])) / seconds
    moving = float(np.mean(left > 0.25))
    upright = float(np.mean(features["up"] > 0.5))
    parts = {
        "speed": np.clip(speed / 0.5, 0.0, 1.0),
        "line": np.clip(1.0 - (across - 0.4) / 0.4, 0.0, 1.0),
        "steady": np.clip(moving / 0.5, 0.0, 1.0),
        "upright": np.clip(upright / 0.9, 0.0, 1.0),
    }
    evidence = f"{speed:.2f} m/s left, {across:.2f} m/s across, moving in {moving:.0%}, upright in {upright:.0%}"
    return {"score": float(np.prod(list(parts.values()))), "evidence": evidence}
