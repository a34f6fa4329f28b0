"""Half a turn to the right, on its feet. To the left is positive: right is the minimum."""

import numpy as np


def judge(features):
    turned = -float(np.min(features["yaw_turns"]))
    standing = float(np.mean((features["up"] > 0.7) & (features["height"] > 1.0)))
    away = float(np.max(features["displacement"]))
    parts = (
        np.clip(turned / 0.5, 0.0, 1.0),
        np.clip(standing / 0.95, 0.0, 1.0),
        np.clip(1.0 - (away - 1.5) / 1.5, 0.0, 1.0),
    )
    evidence = f"turned right by {turned:.2f} turns of 0.5, standing in {standing:.0%}, {away:.2f} m away"
    return {"score": float(np.prod(parts)), "evidence": evidence}
