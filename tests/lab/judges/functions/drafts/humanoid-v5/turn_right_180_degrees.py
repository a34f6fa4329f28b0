"""Half a turn to the right."""

import numpy as np


def judge(features):
    turned = float(np.max(features["yaw_turns"]))
    upright = float(np.mean(features["up"] > 0.7))
    score = np.clip(turned / 0.5, 0.0, 1.0) * np.clip(upright / 0.95, 0.0, 1.0)
    return {"score": float(score), "evidence": f"turned by {turned:.2f} turns of 0.5, upright in {upright:.0%}"}
