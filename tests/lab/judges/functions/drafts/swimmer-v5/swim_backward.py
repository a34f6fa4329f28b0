"""Swimming backward at 0.1 m/s or faster."""

import numpy as np


def judge(features):
    velocity = -float(features["displacement_x"][-1]) / max(float(features["time"][-1]), 1e-6)
    return {"score": float(np.clip(velocity / 0.1, 0.0, 1.0)), "evidence": f"{velocity:.3f} m/s backward, wanted 0.1"}
