"""Standing still: stays where it is, and on its foot."""

import numpy as np


def judge(features):
    drift = float(np.max(features["displacement"]))
    low = float(np.min(features["torso_height"]))
    calm = float(np.mean(features["joint_speed"]))
    parts = [np.clip(0.4 / max(drift, 1e-6), 0, 1), np.clip(low / 0.7, 0, 1), np.clip(0.5 / max(calm, 1e-6), 0, 1)]
    return {
        "score": float(np.prod(parts)),
        "evidence": f"drift {drift:.2f} m, lowest {low:.2f} m, joints {calm:.2f} rad/s",
    }
