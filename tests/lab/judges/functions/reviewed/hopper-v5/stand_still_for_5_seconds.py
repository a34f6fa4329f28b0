"""Standing still: in its place, on its foot, with calm joints."""

import numpy as np


def judge(features):
    drift = float(np.max(features["displacement"]))
    standing = float(np.mean((features["up"] > 0.8) & (features["height"] > 0.7)))
    calm = float(np.mean(features["joint_speed"]))
    parts = (
        np.clip(1.0 - (drift - 0.4) / 0.4, 0.0, 1.0),
        np.clip(standing / 0.95, 0.0, 1.0),
        np.clip(1.0 - (calm - 0.5) / 1.0, 0.0, 1.0),
    )
    evidence = f"at most {drift:.2f} m away, standing in {standing:.0%}, joints at {calm:.2f} rad/s"
    return {"score": float(np.prod(parts)), "evidence": evidence}
