"""Hopping forward at 1 m/s, with flight phases."""

import numpy as np


def judge(features):
    airborne = features["airborne"] > 0.5
    first = np.flatnonzero(airborne)[0]
    phases = int(np.sum(airborne[first + 1 :] & ~airborne[first:-1])) + 1
    speed = float(np.mean(features["velocity_x"][first:]))
    standing = float(features["up"][-1])
    score = np.clip(speed, 0.0, 1.0) * np.clip(phases / 3, 0.0, 1.0) * np.clip(standing / 0.8, 0.0, 1.0)
    return {
        "score": float(score),
        "evidence": f"{speed:.2f} m/s, {phases} phases in the air, up {standing:.2f} at the end",
    }
