"""Two turns to the left, on its feet and in place."""

import numpy as np


def judge(features):
    turns = float(np.max(features["yaw_turns"]))
    upright = float(np.mean(features["up"] > 0.5))
    away = float(np.max(features["displacement"]))
    parts = (
        np.clip(turns / 2.0, 0.0, 1.0),
        np.clip(upright / 0.9, 0.0, 1.0),
        np.clip(1.0 - (away - 1.5) / 1.5, 0.0, 1.0),
    )
    evidence = f"{turns:.2f} turns of 2, upright in {upright:.0%}, at most {away:.2f} m away"
    return {"score": float(np.prod(parts)), "evidence": evidence}
