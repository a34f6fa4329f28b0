"""Running forward at 3 m/s or more."""

import numpy as np


def judge(features):
    speed = float(np.mean(features["velocity_x"]))
    return {"score": float(np.clip(speed / 3.0, 0.0, 1.0)), "evidence": f"mean velocity {speed:.2f} m/s, wanted 3"}
