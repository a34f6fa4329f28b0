"""Rearing: nose up for three seconds without a break, on its legs."""

import numpy as np


def longest(flags):
    best = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        best = max(best, run)
    return best


def judge(features):
    time = features["time"]
    dt = float(np.median(np.diff(time))) if len(time) > 1 else 0.05
    pitch = features["pitch"]
    reared = (pitch > 1.0) & (pitch < 2.15) & (features["torso_contact"] < 0.5)
    held = longest(reared) * dt
    return {"score": float(np.clip(held / 3.0, 0.0, 1.0)), "evidence": f"reared for {held:.2f} s at a stretch, of 3 s"}
