"""Two turns to the left."""

import numpy as np


def judge(features):
    yaw = np.unwrap(features["yaw"])
    turns = float((yaw[-1] - yaw[0]) / (2 * np.pi))
    return {"score": float(np.clip(turns / 1.95, 0.0, 1.0)), "evidence": f"{turns:.2f} turns to the left, of 2"}
