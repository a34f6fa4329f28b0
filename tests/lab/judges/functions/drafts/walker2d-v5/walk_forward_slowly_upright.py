"""Walking slowly, between 0.2 and 0.8 m/s, upright."""

import numpy as np


def judge(features):
    speed = float(np.mean(features["forward_velocity"]))
    off = max(0.2 - speed, speed - 0.8, 0.0)
    upright = float(np.mean(features["up"] > 0.7))
    score = np.clip(1.0 - off / 0.2, 0.0, 1.0) * np.clip(upright / 0.8, 0.0, 1.0)
    return {"score": float(score), "evidence": f"mean speed {speed:.2f} m/s, upright in {upright:.0%} of the steps"}
