"""Swimming backward at 0.1 m/s or faster, and still doing so in the second half."""

import numpy as np


def judge(features):
    velocity = features["velocity_x"]
    half = len(velocity) // 2
    speed = -float(np.mean(velocity))
    later = -float(np.mean(velocity[half:]))
    moving = float(np.mean(velocity < -0.05))
    parts = (
        np.clip(speed / 0.1, 0.0, 1.0),
        np.clip(later / 0.05, 0.0, 1.0),
        np.clip(moving / 0.5, 0.0, 1.0),
    )
    evidence = f"{speed:.3f} m/s backward, {later:.3f} m/s in the second half, moving in {moving:.0%}"
    return {"score": float(np.prod(parts)), "evidence": evidence}
