"""A jump of 0.15 m."""

import numpy as np


def judge(features):
    height = features["height"]
    rise = float(np.max(height) - height[0])
    upright = float(np.mean(features["up"]))
    score = np.clip(rise / 0.15, 0.0, 1.0) * np.clip(upright / 0.5, 0.0, 1.0)
    return {"score": float(score), "evidence": f"rose by {rise:.2f} m of 0.15 m, mean up {upright:.2f}"}
